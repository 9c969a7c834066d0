"""The owner looks through what agents asked; agents see none of it; a purge strikes it."""

import json
from datetime import datetime, timedelta

import pytest
from zibaldone.tools import audit as auditing
from zibaldone.tools.audit import (
    Use,
    Wanted,
    askers,
    audit,
    blind_spots,
    daily,
    most_asked,
    outdated,
    uses,
)
from zibaldone.tools.cli import run
from zibaldone.tools.definition import TOOLS
from zibaldone.tools.lifecycle import update_memory
from zibaldone.tools.notes import create_note, delete_note, edit_note, get_note, list_notes
from zibaldone.tools.purge import purge
from zibaldone.tools.recall import recall
from zibaldone.tools.refusals import OwnerOnly
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.retention import listed, sweep
from zibaldone.tools.search import search
from zibaldone.tools.vault import OWNER, Caller, Vault
from zibaldone.vault.audit import Retrieval, read_audit, record
from zibaldone.vault.errors import InvalidArgument, NoteNotFound
from zibaldone.vault.revision import Actor, as_time

PLANNER = Caller("planner", "i1", "s1", "2.0", "agent")
WRITER = Caller("writer", "i2", "s2", "1.0", "untrusted")
NOTES = {
    "agent-memory/food.md": "---\nid: a23456789012\n---\n- Likes quince jelly. ^q1zzzz\n",
    "projects/boat/Hull.md": "---\nid: b23456789012\n---\n# Hull\n\nNo quince but oak.\n",
}


@pytest.fixture
def owner(opened):
    return opened(NOTES, caller=OWNER)


@pytest.fixture
def asked(owner):
    """The owner's vault, after two agents have asked this and that."""
    planner, writer = owner.with_caller(PLANNER), owner.with_caller(WRITER)
    search(planner, "zeppelin")
    search(planner, "quince")
    recall(writer, "Zeppelin ")
    search(writer, "oak", limit=3)
    for name in ("Zeppelin", "Airship"):
        with pytest.raises(NoteNotFound):
            get_note(writer, name)
    return owner


def queries(answer):
    return [one.query for one in answer.retrievals]


def test_the_newest_is_first_and_notes_are_named_by_where_they_lie_now(asked):
    answer = audit(asked, limit=3)
    assert queries(answer) == ["Airship", "Zeppelin", "oak"]
    assert (answer.total, answer.damaged, answer.notice) == (6, 0, None)
    assert answer.paths == {"b23456789012": "projects/boat/Hull.md"}
    delete_note(asked, "Hull")
    assert audit(asked).paths == {"a23456789012": "agent-memory/food.md"}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Wanted(agent="planner"), ["quince", "zeppelin"]),
        (Wanted(instance="i2", tool="search"), ["oak"]),
        (Wanted(session="s2", query="ZEPP"), ["Zeppelin", "Zeppelin "]),
        (Wanted(tool="recall"), ["Zeppelin "]),
        (Wanted(agent="plan"), []),
        (Wanted(since="2999-01-01"), []),
        (Wanted(since="2020-01-01T09:00", agent="planner"), ["quince", "zeppelin"]),
    ],
)
def test_filters_narrow(asked, wanted, found):
    assert queries(audit(asked, wanted)) == found


@pytest.mark.parametrize("name", ["since", "until"])
def test_what_should_be_a_time_and_is_none_is_refused(owner, name):
    with pytest.raises(InvalidArgument, match=f"{name}.*yesterday"):
        audit(owner, Wanted(**{name: "yesterday"}))


def test_pages_and_an_end_narrow(asked):
    assert queries(audit(asked, limit=2, skip=1)) == ["Zeppelin", "oak"]
    assert audit(asked, Wanted(until="2020-01-01")).total == 0
    moment = audit(asked, limit=1).retrievals[0].time
    assert "Airship" in queries(audit(asked, Wanted(since=moment, until=moment)))


def test_days_are_those_of_this_machine_and_count_what_found_nothing(asked):
    days = daily(asked, days=3)
    today = datetime.now().astimezone().date()
    assert [one.day for one in days] == [today - timedelta(days=back) for back in (2, 1, 0)]
    assert [(one.asked, one.missed) for one in days] == [(0, 0), (0, 0), (6, 4)]
    assert days[-1].tokens == sum(one.tokens for one in audit(asked).retrievals) > 0
    assert daily(asked, Wanted(query="oak"), days=1)[0].asked == 1
    now = datetime.now().astimezone()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    for moment in (midnight, midnight - timedelta(milliseconds=1)):
        told = Retrieval(as_time(moment), "search", Actor("late"), "at midnight")
        record(asked.layout.state_dir, "d", told)
    late = daily(asked, Wanted(agent="late"), days=2)
    assert [(one.asked, one.missed) for one in late] == [(1, 1), (1, 1)]


def test_who_has_asked(asked):
    assert askers(asked) == ("planner", "writer")


def test_blind_spots_are_what_is_asked_most_and_was_not_found_when_asked_last(asked, fill):
    first, second = blind_spots(asked)
    assert (first.query, first.times, first.agents) == ("Zeppelin", 3, ("planner", "writer"))
    assert (second.query, second.times) == ("Airship", 1)
    assert blind_spots(asked, Wanted(agent="planner"))[0].times == 1
    fill({"Airship.md": "# Airship\n"})
    get_note(asked.with_caller(PLANNER), "airship")
    assert [one.query for one in blind_spots(asked)] == ["Zeppelin"]
    assert len(blind_spots(asked, limit=0)) == 0


def test_a_wrong_call_is_no_blind_spot(owner):
    with pytest.raises(InvalidArgument):
        recall(owner.with_caller(PLANNER), "quince", depth=9)
    assert blind_spots(owner) == ()


def test_the_most_frequent_questions_are_told_and_struck_ones_are_none(asked):
    search(asked.with_caller(PLANNER), "my password is hunter2zX9")
    told = [(one.query, one.times, one.found) for one in most_asked(asked)]
    assert told == [("Zeppelin", 3, 0), ("Airship", 1, 0), ("oak", 1, 1), ("quince", 1, 2)]


def test_uses_are_counted_by_answer(asked):
    found = uses(asked)
    assert {part: use.times for part, use in found.items()} == {
        ("a23456789012", "q1zzzz"): 1,
        ("b23456789012", ""): 2,
    }
    newest = next(one for one in audit(asked).retrievals if one.query == "oak")
    assert found["b23456789012", ""] == Use(2, newest.time)


# For the owner alone


def test_agents_see_none_of_it(asked, vault_dir):
    agent = asked.with_caller(PLANNER)
    for attempt in (audit, blind_spots, most_asked, uses, outdated, auditing.sweep_audit):
        with pytest.raises(OwnerOnly):
            attempt(agent)
    assert not any("audit" in one.name for one in TOOLS)
    (file,) = vault_dir.glob(".zibaldone/audit/*/*.jsonl")
    path = file.relative_to(vault_dir).as_posix()
    for ref in (path, path.removesuffix(".jsonl"), f"./{path}", path.replace("/", "\\"), file.name):
        with pytest.raises(NoteNotFound) as refused:
            get_note(agent, ref)
        assert "planner" not in str(refused.value)
    with pytest.raises(NoteNotFound):
        edit_note(agent, path, "append", "x")
    search(agent, "airship")
    answers = str(search(agent, "airship zeppelin")) + recall(agent, "airship zeppelin").context
    assert "Airship" not in answers + str(list_notes(agent))


def test_the_command_is_refused_in_the_shell_of_an_agent(asked, vault_dir, monkeypatch, capsys):
    monkeypatch.setenv("ZIBALDONE_AGENT", "planner")
    for more in ([], ["--blind-spots"], ["--json"]):
        assert run(["audit", "--vault", str(vault_dir), *more]) == 4
        out, err = capsys.readouterr()
        assert "zeppelin" not in (out + err).lower()


# The end of it


def test_a_purge_strikes_the_words_in_lines_as_they_are_written(owner, vault_dir):
    planner = owner.with_caller(PLANNER)
    made = remember_about_user(planner, "Hides the violet key under the mat.", "house")
    search(planner, "hides the VIOLET key under the mat")
    recall(planner, "where is: Hides the violet key under the mat.")
    update_memory(planner, made.observation_id, "Hides nothing.")
    search(planner, "the key")
    file = next(vault_dir.glob(".zibaldone/audit/*/*.jsonl"))
    assert b"iolet" in file.read_bytes()
    purge(owner, made.observation_id)
    for path in (path for path in vault_dir.rglob("*") if path.is_file()):
        assert b"violet" not in path.read_bytes().lower()
    answer = audit(owner)
    assert answer.damaged == 0
    assert [(one.query, one.redacted) for one in answer.retrievals] == [
        ("the key", False),
        ("", True),
        ("", True),
    ]
    assert answer.retrievals[-1].given[0].observation == made.observation_id


def test_a_note_that_was_purged_is_named_no_more(owner):
    made = create_note(owner, "boat", "The violet key of the house", "It lies under the mat.")
    planner = owner.with_caller(PLANNER)
    get_note(planner, "the violet key of the house")
    search(planner, "mat")
    purge(owner, made.note_id)
    answer = audit(owner)
    assert [one.query for one in answer.retrievals] == ["mat", ""]
    assert made.note_id not in answer.paths
    assert answer.damaged == 0
    assert run(["audit", "--vault", str(owner.layout.root)]) == 0


def test_what_is_too_old_is_listed_and_swept(opened):
    owner = opened({"zibaldone.toml": "audit_days = 30\n"}, caller=OWNER)
    state, device = owner.layout.state_dir, owner.store.ledger.journal.device
    old = Retrieval("2020-01-31T09:00:00.000Z", "search", Actor("a"), "old")
    record(state, device, old)
    record(state, "another", old)
    search(owner.with_caller(PLANNER), "new")
    assert outdated(owner) == listed(owner).audited == 2
    assert sweep(owner).audited == 2
    assert [one.query for one in read_audit(state).retrievals] == ["new"]
    assert sweep(owner).audited == 0


# The command


@pytest.fixture
def zib(asked, vault_dir, capsys):
    def call(*arguments):
        assert run(["audit", "--vault", str(vault_dir), *arguments]) == 0
        return capsys.readouterr().out

    return call


def test_the_command_tells_who_asked_what_and_what_it_was_given(zib):
    told = zib("--query", "oak")
    assert "search  oak\n" in told
    assert "by writer 1.0 i2 s2 (untrusted)  limit=3  found 1, " in told
    assert "  1. projects/boat/Hull.md  " in told
    assert told.endswith("1 retrieval.\n")
    assert "refused: note_not_found" in zib("--tool", "get-note")
    assert zib("--limit", "2").endswith("6 retrievals, 2 shown.\n")


def test_the_command_tells_of_blind_spots_and_of_the_most_asked(zib):
    assert zib("--blind-spots").startswith("3×  Zeppelin  found 0, last ")
    assert "1×  quince  found 2, last " in zib("--most-asked")
    assert zib("--blind-spots", "--agent", "nobody") == "There are none.\n"


def test_the_command_answers_programs(zib):
    answer = json.loads(zib("--json", "--tool", "search", "--limit", "1"))
    (one,) = answer["retrievals"]
    assert (one["query"], one["caller"]["agent"], answer["total"]) == ("oak", "writer", 3)
    assert answer["paths"][one["given"][0]["note"]] == "projects/boat/Hull.md"
    blind = json.loads(zib("--blind-spots", "--json"))
    assert [(one["query"], one["times"]) for one in blind] == [("Zeppelin", 3), ("Airship", 1)]


def test_a_tool_that_is_not_audited_is_refused(asked, vault_dir, capsys):
    assert run(["audit", "--tool", "forget", "--vault", str(vault_dir)]) == 2
    assert "search" in capsys.readouterr().err


def test_damage_and_what_was_struck_are_told(zib, asked, vault_dir):
    search(asked.with_caller(PLANNER), "my password is hunter2zX9")
    (file,) = vault_dir.glob(".zibaldone/audit/*/*.jsonl")
    file.write_bytes(b"no json\n" + file.read_bytes())
    told = zib()
    assert "[struck: a password]" in told
    assert "Lines that could not be read: 1.\n" in told


def test_a_vault_without_an_audit_has_nothing_to_tell(vault_dir, capsys):
    assert run(["audit", "--vault", str(vault_dir)]) == 0
    assert capsys.readouterr().out == "0 retrievals.\n"
    with Vault.open(vault_dir) as vault:
        assert uses(vault) == {}
    assert not (vault_dir / ".zibaldone").exists()
