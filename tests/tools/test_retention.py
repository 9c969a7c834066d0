"""What has expired leaves recall by itself, and its note only when the owner says so."""

import json

import pytest
from zibaldone.tools import history
from zibaldone.tools.cli import run
from zibaldone.tools.notes import get_note
from zibaldone.tools.recall import recall
from zibaldone.tools.refusals import OwnerOnly
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.retention import Expired, expired, sweep
from zibaldone.tools.vault import Caller, Vault

NOTE = """---
id: k2m9qx4tb1c7
category: General
---
# General

- The API is slow. [expires:: 2020-01-31] ^m3k9f2
- The mill is open. [expires:: 2999-01-31] ^q81xz0
- The bridge is closed. [Expires:: 2020-06-30]
"""
THREAD = """---
id: t2m9qx4tb1c7
kind: thread
title: Deploy
expires: 2020-01-31
---
# Deploy

- state: half way. ^a1b2c3
"""


@pytest.fixture
def owner(vault_dir):
    (vault_dir / "agent-memory").mkdir()
    (vault_dir / "agent-memory" / "general.md").write_text(NOTE)
    with Vault.open(vault_dir) as opened:
        yield opened
        assert opened.store.ledger.journal.verify() == []


def test_what_has_expired_is_listed_and_not_recalled(owner, vault_dir):
    assert recall(owner, "API bridge").sources == ()
    path, note = "agent-memory/general.md", "k2m9qx4tb1c7"
    assert expired(owner) == (
        Expired(note, path, "2020-01-31", "m3k9f2", "The API is slow.", 2),
        Expired(note, path, "2020-06-30", None, "The bridge is closed.", 4),
    )
    assert (vault_dir / path).read_text() == NOTE


def test_it_is_forgotten_on_the_owners_word_and_can_be_restored(owner):
    answer = sweep(owner)
    assert (answer.moved, len(answer.expired)) == (True, 2)
    left = get_note(owner, "agent-memory/general.md").observations
    assert [each.observation_id for each in left] == ["q81xz0"]
    last = history.history(owner, "m3k9f2").revisions[-1]
    assert (last.op, last.agent, last.reason) == ("forget", "owner", "expired")
    history.restore(owner, "m3k9f2")
    assert "The API is slow." in get_note(owner, "general").content
    told = history.history(owner, "k2m9qx4tb1c7").revisions
    stamped = {each.observation_id for each in told} - {"m3k9f2", "q81xz0", None}
    history.restore(owner, stamped.pop())
    assert "[origin:: owner] [expires:: 2020-06-30]" in get_note(owner, "general").content


def test_a_thread_that_is_over_goes_to_the_trash(owner, vault_dir):
    thread = vault_dir / "agent-memory" / "deploy.md"
    thread.write_text(THREAD)
    assert Expired("t2m9qx4tb1c7", "agent-memory/deploy.md", "2020-01-31") in expired(owner)
    sweep(owner)
    assert not thread.exists()
    assert [each.note_id for each in history.trash(owner)] == ["t2m9qx4tb1c7"]


def test_nothing_else_is_swept(owner):
    remember_about_user(owner, "Sails.", expires="2999-12-31")
    before = get_note(owner, "agent-memory/general.md").content
    sweep(owner)
    assert sweep(owner).expired == ()
    left = get_note(owner, "agent-memory/general.md").content
    assert set(left.splitlines()) < set(before.splitlines())


def test_agents_do_not_sweep(owner):
    agent = owner.with_caller(Caller("planner"))
    for attempt in (lambda: expired(agent), lambda: sweep(agent)):
        with pytest.raises(OwnerOnly):
            attempt()


def test_the_command_lists_and_moves(owner, vault_dir, capsys):
    here = ["--vault", str(vault_dir)]
    assert run(["sweep", *here]) == 0
    told = capsys.readouterr().out
    assert "Expired: agent-memory/general.md#^m3k9f2 (2020-01-31) The API is slow.\n" in told
    assert "zib sweep --yes" in told
    assert run(["sweep", "--yes", "--json", *here]) == 0
    assert json.loads(capsys.readouterr().out)["moved"] is True
    assert run(["sweep", *here]) == 0
    assert capsys.readouterr().out == "Nothing has expired.\n"
