"""What agents ask and are given goes into the audit; the owner's own looking leaves no trace."""

import errno
import json
import logging
import os

import pytest
from zibaldone.tools import auditing
from zibaldone.tools.auditing import COUNTED, GIVEN, QUERY_LENGTH
from zibaldone.tools.notes import get_note
from zibaldone.tools.recall import recall
from zibaldone.tools.refusals import RuleForbids
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.search import search
from zibaldone.tools.tokens import count_tokens
from zibaldone.tools.vault import OWNER, Caller
from zibaldone.vault.audit import read_audit
from zibaldone.vault.errors import InvalidArgument, NoteNotFound, PathRefused
from zibaldone.vault.revision import Actor
from zibaldone.vault.source import token_of

PLANNER = Caller("planner", "i1", "s1", "2.0", "agent")
NOTES = {
    "agent-memory/food.md": "---\nid: a23456789012\n---\n- Likes quince jelly. ^q1zzzz\n",
    "projects/boat/Hull.md": "---\nid: b23456789012\n---\n# Hull\n\nNo quince but oak.\n",
}


@pytest.fixture
def agent(opened):
    """A vault with two notes about quince, opened by an agent."""
    return opened(NOTES, caller=PLANNER)


def kept(vault):
    found = read_audit(vault.layout.state_dir)
    assert found.damaged == 0
    return found.retrievals


def revision(path):
    return token_of(NOTES[path].encode())[:16]


def test_a_search_is_kept_with_who_asked_what_and_what_was_shown(agent):
    answer = search(agent, "quince", note_class="agent-memory", limit=5)
    (one,) = kept(agent)
    assert (one.tool, one.query, one.found) == ("search", "quince", 1)
    assert one.caller == Actor("planner", "i1", "s1", "2.0", "agent")
    assert one.filters == {"class": "agent-memory", "limit": 5}
    (part,) = one.given
    assert (part.note, part.observation, part.version) == ("a23456789012", "q1zzzz", 1)
    assert part.revision == revision("agent-memory/food.md")
    assert part.tokens == count_tokens(answer.results[0].snippet) == one.tokens
    assert one.time.endswith("Z")


def test_no_word_of_a_note_is_kept(agent, vault_dir):
    search(agent, "quince")
    recall(agent, "quince")
    get_note(agent, "b23456789012")
    (file,) = vault_dir.glob(".zibaldone/audit/*/*.jsonl")
    for word in ("jelly", "oak", "Hull", "food", "boat"):
        assert word not in file.read_text()


def test_a_recall_is_kept_with_its_costs_and_with_what_was_left_out(agent):
    answer = recall(agent, "quince", project="boat", budget_tokens=60, depth=0)
    (one,) = kept(agent)
    assert (one.tool, one.found, one.tokens) == ("recall", len(answer.sources), answer.tokens)
    assert one.filters == {"project": "boat", "budgetTokens": 60, "depth": 0}
    assert [part.tokens for part in one.given] == [source.tokens for source in answer.sources]
    assert answer.omitted, "this budget should leave something out"
    assert [(each.note, each.reason, each.tokens) for each in one.left_out] == [
        (each.note_id, each.reason, each.tokens) for each in answer.omitted
    ]
    known = {"a23456789012": "agent-memory/food.md", "b23456789012": "projects/boat/Hull.md"}
    assert [part.revision for part in one.given] == [revision(known[p.note]) for p in one.given]


def test_the_revision_is_that_of_the_file_that_was_shown(agent, vault_dir):
    search(agent, "jelly")
    made = remember_about_user(agent, "Likes quince paste.", "food")
    search(agent, "jelly")
    get_note(agent, "food")
    tokens = [one.given[0].revision for one in kept(agent)]
    assert tokens == [revision("agent-memory/food.md"), *[made.version_token[:16]] * 2]
    records = agent.store.ledger.journal.records("a23456789012")
    assert [each.after[:16] for each in records if each.op == "append"] == [tokens[1]]


def test_a_note_that_was_read_is_kept_and_a_long_one_is_estimated(agent, fill):
    fill({"long.md": "word " * (2 * COUNTED)})
    get_note(agent, "Hull")
    answer = get_note(agent, "long")
    short, long = kept(agent)
    assert (short.tool, short.query, short.found) == ("get_note", "Hull", 1)
    assert short.given[0].version is None
    assert abs(long.tokens - count_tokens(answer.content)) < 0.02 * long.tokens


def test_what_finds_nothing_and_what_is_refused_is_kept_as_well(agent, fill):
    search(agent, "zeppelin")
    recall(agent, "zeppelin")
    for error, attempt in (
        (NoteNotFound, lambda: get_note(agent, "Zeppelin")),
        (PathRefused, lambda: search(agent, "quince", project="../x")),
        (InvalidArgument, lambda: recall(agent, "quince", depth=9)),
    ):
        with pytest.raises(error):
            attempt()
    fill({"agent-memory/rules.md": "---\nkind: rules\n---\n- must: never recall project:boat\n"})
    with pytest.raises(RuleForbids):
        search(agent, "oak", project="boat")
    told = [(one.tool, one.found, one.tokens, one.error) for one in kept(agent)]
    assert told == [
        ("search", 0, 0, ""),
        ("recall", 0, 0, ""),
        ("get_note", 0, 0, "note_not_found"),
        ("search", 0, 0, "path_refused"),
        ("recall", 0, 0, "invalid_argument"),
        ("search", 0, 0, "rule_forbids"),
    ]


def test_a_fault_inside_is_kept_and_goes_on(agent, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(agent.index, "find", broken)
    with pytest.raises(ZeroDivisionError):
        search(agent, "quince")
    assert [one.error for one in kept(agent)] == ["error"]


def test_the_first_passages_are_listed_and_the_others_counted(agent, fill):
    fill({"many.md": "".join(f"## Part {n}\n\nquince {n}\n\n" for n in range(GIVEN + 7))})
    search(agent, "quince part", limit=100)
    (one,) = kept(agent)
    assert (len(one.given), one.more_given) == (GIVEN, 9)


def test_the_owner_leaves_no_trace(opened, vault_dir):
    owner = opened(NOTES, caller=OWNER)
    search(owner, "quince")
    recall(owner, "quince")
    get_note(owner, "Hull")
    with pytest.raises(NoteNotFound):
        get_note(owner, "Zeppelin")
    assert not (vault_dir / ".zibaldone").exists()


SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" * 2


@pytest.mark.parametrize(
    ("query", "more", "left"),
    [
        (f"where is {SECRET}", {}, ""),
        ("my password is hunter2zX9", {}, ""),
        ("quince", {"category": SECRET}, "quince"),
        ("x" * (QUERY_LENGTH - 20) + f" {SECRET}", {}, ""),
    ],
)
def test_a_secret_in_a_question_is_struck_and_its_kind_is_told(agent, vault_dir, query, more, left):
    search(agent, query, **more)
    (one,) = kept(agent)
    assert one.query == left
    assert one.struck
    raw = b"".join(path.read_bytes() for path in vault_dir.rglob("*") if path.is_file())
    for part in (SECRET[:12], "hunter2"):
        assert part.encode() not in raw


def test_a_long_question_is_cut(agent):
    search(agent, "quince " * 1000)
    (one,) = kept(agent)
    assert (len(one.query), one.query[-1]) == (QUERY_LENGTH + 1, "…")


@pytest.fixture
def complaints(caplog):
    auditing._complain.cache_clear()
    caplog.set_level(logging.WARNING, logger=auditing.__name__)
    return lambda: [one.getMessage() for one in caplog.records if one.name == auditing.__name__]


def test_an_audit_that_cannot_be_written_fails_no_question_and_is_told_once(
    agent, vault_dir, complaints
):
    (vault_dir / ".zibaldone").mkdir()
    (vault_dir / ".zibaldone" / "audit").write_text("in the way")
    assert search(agent, "quince").total == 2
    assert recall(agent, "quince").sources
    assert get_note(agent, "Hull").title == "Hull"
    with pytest.raises(NoteNotFound):
        get_note(agent, "Zeppelin")
    (said,) = complaints()
    assert said.startswith("What agents ask cannot be kept:")


def test_a_full_disk_fails_no_question_and_what_is_kept_later_is_whole(
    agent, monkeypatch, complaints
):
    search(agent, "quince")
    real = os.write

    def full(descriptor, data):
        if bytes(data[:5]) == b'{"v":':
            real(descriptor, bytes(data[:30]))
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(descriptor, data)

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        assert search(agent, "quince").total == 2
    assert len(complaints()) == 1
    search(agent, "oak")
    found = read_audit(agent.layout.state_dir)
    assert ([one.query for one in found.retrievals], found.damaged) == (["quince", "oak"], 1)


def test_answers_say_nothing_of_the_audit(agent, opened):
    owner = agent.with_caller(OWNER)
    for question in (lambda v: search(v, "quince"), lambda v: get_note(v, "Hull")):
        assert question(agent) == question(owner)
    assert "audit" not in json.dumps(str(recall(agent, "quince")))
