"""The rules as their owner sees them, and `zib rules`."""

import json

import pytest
from zibaldone.tools.cli import run
from zibaldone.tools.recall import recall
from zibaldone.tools.refusals import OwnerOnly
from zibaldone.tools.rulebook import rulebook
from zibaldone.tools.vault import OWNER

NOTES = {
    "agent-memory/rules.md": (
        "---\nkind: rules\n---\n"
        "- must: never recall #health ^no_health\n"
        "- must: never recall #work [status:: unreviewed] ^asked\n"
        "- prefer: tea [expires:: 2020-01-31] ^old\n"
        "- must: never remember secrets ^vague\n"
        "- avoid: noise [status:: superseded]\n"
    ),
    "agent-memory/habits.md": "- Canary seeds. #health\n- Canary knees. #health\n- Canary walks.\n",
}


@pytest.fixture
def agent(opened):
    vault = opened(NOTES)
    assert "walks" in recall(vault, "canary").context
    return vault


def test_each_rule_says_whether_it_binds_and_what_it_stopped(agent):
    found = {one.name: one for one in rulebook(agent.with_caller(OWNER))}
    assert {name: (one.state, one.enforced, one.line) for name, one in found.items()} == {
        "no_health": ("binds", True, 4),
        "asked": ("waits", True, 5),
        "old": ("expired", False, 6),
        "vague": ("binds", False, 7),
        "": ("does not bind", False, 8),
    }
    one = found["no_health"]
    assert one.stopped >= 2
    assert (one.last_agent, one.last_moment) == ("tester", "recall")
    assert "'secrets' is none of" in found["vague"].problem
    assert [each.stopped for name, each in found.items() if name != "no_health"] == [0] * 4


def test_no_agent_sees_what_was_stopped(agent):
    with pytest.raises(OwnerOnly):
        rulebook(agent)


def test_the_command_shows_the_same(agent, vault_dir, capsys):
    assert run(["rules", "--vault", str(vault_dir)]) == 0
    shown = capsys.readouterr().out
    assert "must: never recall #health\n  agent-memory/rules.md:4 no_health  binds" in shown
    assert "the last recall by tester at" in shown
    assert "It cannot be kept: 'secrets' is none of" in shown
    assert "Canary" not in shown
    assert run(["rules", "--json", "--vault", str(vault_dir)]) == 0
    assert [one["name"] for one in json.loads(capsys.readouterr().out)][:2] == [
        "no_health",
        "asked",
    ]


def test_without_rules_the_command_says_so(vault_dir, capsys):
    assert run(["rules", "--vault", str(vault_dir)]) == 0
    assert capsys.readouterr().out == "There are no rules.\n"
