"""What the journals say, asked quickly: and always what they say now."""

import logging
import os
import sqlite3
import subprocess
import sys
import textwrap
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from zibaldone.vault.errors import JournalUnreadable, StorageFailed
from zibaldone.vault.history import HISTORY_FILE, History
from zibaldone.vault.revision import Actor, Change, undoing
from zibaldone.vault.source import token_of

NOTE = "k2m9qx4tb1c7"
SECRET = b"the code is 4711"


@pytest.fixture
def cache(tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir()
    return folder


@pytest.fixture
def history(teller, cache):
    with History(teller.journal, cache) as opened:
        yield opened


def the_file(tmp_path):
    (path,) = tmp_path.glob("state/journal/*/*.jsonl")
    return path


def scanned(history, monkeypatch):
    """Note how many records are read from files."""
    found, scan = [], history._journal.scan

    def noting(*arguments):
        for position, record in scan(*arguments):
            found.append(record)
            yield position, record

    monkeypatch.setattr(history._journal, "scan", noting)
    return found


# Notes.


def test_without_a_journal_there_is_nothing(history):
    assert history.catch_up() == 0
    assert history.state(NOTE) is None
    assert history.states(NOTE) == ()
    assert history.notes() == ()
    assert history.version("m3k9f2") == 0
    assert history.observation("m3k9f2") is None
    assert history.of_note(NOTE) == []
    assert history.record("0" * 64) is None


def test_the_state_of_a_note_is_that_of_its_last_record(teller, history):
    for text in (b"a\n", b"a\nb\n"):
        record = teller.tell(text, op="append")
        history.catch_up()
        state = history.state(NOTE)
        assert state.token == token_of(text) == record.after
        assert state.record == record.hash
        assert (state.note, state.path, state.op) == (NOTE, f"{NOTE}.md", "append")
        assert (state.time, state.actor) == (record.time, teller.actor)
    teller.tell(None, op="delete")
    history.catch_up()
    assert history.state(NOTE).token is None


def test_answers_are_those_of_the_last_look(teller, history):
    teller.tell(b"a\n")
    assert history.state(NOTE).token == token_of(b"a\n")
    teller.tell(b"b\n")
    assert history.state(NOTE).token == token_of(b"a\n")
    assert history.catch_up() == 1
    assert history.state(NOTE).token == token_of(b"b\n")


def test_every_note_has_its_last_state(teller, history):
    for number in range(3):
        for note in ("one", "two"):
            teller.tell(b"%d\n" % number, note=note)
    history.catch_up()
    assert [(state.note, state.token) for state in history.notes()] == [
        ("one", token_of(b"2\n")),
        ("two", token_of(b"2\n")),
    ]


def test_records_of_a_note_are_read_where_they_stand(teller, history):
    written = [teller.tell(b"a\n"), teller.tell(b"x\n", note="other"), teller.tell(b"b\n")]
    history.catch_up()
    assert history.records(NOTE) == [written[0], written[2]]
    assert history.record(written[1].hash) == written[1]
    assert [position.hash for position in history.of_note("other")] == [written[1].hash]


def test_records_of_an_agent_since_a_time(teller, history):
    other = Actor("other-agent")
    written = [teller.tell(b"%d\n" % n, actor=other if n % 2 else teller.actor) for n in range(6)]
    history.catch_up()
    found = [position.hash for position in history.of_agent("other-agent")]
    assert found == [record.hash for record in written[1::2]]
    later = history.of_agent("other-agent", "2999")
    assert later == []
    assert len(history.of_agent("other-agent", written[0].time)) == 3


def test_the_last_records_of_a_note_since_a_time(teller, history):
    written = [teller.tell(f"state {n}".encode()) for n in range(4)]
    teller.tell(b"another", note="m2m9qx4tb1c7")
    assert history.since(written[0].note, written[1].time, 9) == written[:0:-1]
    assert history.since(written[0].note, written[1].time, 2) == written[:1:-1]
    assert history.since(written[0].note, "2999-01-01T00:00:00.000Z", 9) == []


def test_the_latest_records_of_all_notes(teller, history):
    other = Actor("other-agent", instance="phone", session="s2")
    written = [
        teller.tell(b"%d\n" % n, note=f"note{n % 3}", actor=other if n % 2 else teller.actor)
        for n in range(6)
    ]
    history.catch_up()
    assert history.latest(9) == written[::-1]
    assert history.latest(2, 1) == [written[4], written[3]]
    assert history.latest(9, agent="other-agent") == written[5::-2]
    assert history.latest(9, instance="phone", session="s2") == written[5::-2]
    assert history.latest(9, session="s2", agent="nobody") == []
    assert history.latest(9, since=written[4].time) == [written[5], written[4]]
    assert history.latest(9, until=written[1].time) == [written[1], written[0]]
    assert history.agents() == sorted({"other-agent", teller.actor.agent})


def test_the_record_that_made_a_state(teller, history):
    first, second = teller.tell(b"a\n"), teller.tell(b"b\n")
    history.catch_up()
    assert history.made(NOTE, token_of(b"a\n")[:16]) == first.hash
    assert history.made(NOTE, second.after) == second.hash
    for note, token in ((NOTE, token_of(b"c\n")), (NOTE, ""), ("other", second.after)):
        assert history.made(note, token) == ""


def test_who_wrote_an_observation_first(teller, history):
    first, other = Actor("first"), Actor("other")
    teller.tell(b"a\n", op="append", actor=first, observation="aaaaaa", version=1)
    teller.tell(b"b\n", op="update", actor=other, observation="aaaaaa", version=2, parent=1)
    added = (Change("bbbbbb", 1), Change("cccccc", 1))
    teller.tell(b"c\n", op="edit", actor=other, changes=added, note="n2")
    history.catch_up()
    assert history.written_by("first") == {(NOTE, "aaaaaa")}
    assert history.written_by("other") == {("n2", "bbbbbb"), ("n2", "cccccc")}
    assert history.written_by("nobody") == frozenset()


def test_when_each_observation_was_changed_last_is_told(teller, history):
    assert history.times() == {}
    for number in range(3):
        teller.tell(b"%d\n" % number, observation="aaaaaa", version=number)
    teller.tell(b"x\n", note="n2", observation="aaaaaa", version=1)
    history.catch_up()
    told = {(each.note, each.observation): each.time for each in history.versions("aaaaaa")}
    assert history.times() == told
    assert set(told) == {(NOTE, "aaaaaa"), ("n2", "aaaaaa")}


# Devices.


def test_two_devices_that_did_not_hear_of_each_other_leave_two_states(
    teller, other_teller, history
):
    teller.tell(b"a\n")
    other_teller.states = dict(teller.states)
    mine, theirs = teller.tell(b"a\nb\n"), other_teller.tell(b"a\nz\n")
    history.catch_up()
    assert mine.time > theirs.time
    assert [state.record for state in history.states(NOTE)] == [mine.hash, theirs.hash]
    joined = teller.tell(b"a\nb\nz\n")
    history.catch_up()
    assert {state.record for state in history.states(NOTE)} == {theirs.hash, joined.hash}


def test_a_record_whose_base_comes_later_is_the_last_all_the_same(
    teller, other_teller, history, tmp_path
):
    first = teller.tell(b"a\n")
    other_teller.states = dict(teller.states)
    second = other_teller.tell(b"b\n")
    third = other_teller.tell(b"c\n")
    path = tmp_path / "state/journal" / first.device
    hidden = tmp_path / "not here yet"
    path.rename(hidden)
    assert history.catch_up() == 2
    assert [state.record for state in history.states(NOTE)] == [third.hash]
    hidden.rename(path)
    assert history.catch_up() == 1
    assert [state.record for state in history.states(NOTE)] == [third.hash]
    assert [record.hash for record in history.records(NOTE)] == [
        first.hash,
        second.hash,
        third.hash,
    ]


def test_a_clock_that_is_behind_does_not_make_an_old_state_the_last(teller, other_teller, history):
    teller.journal._clock = lambda: 2_000_000_000
    teller.tell(b"a\n")
    other_teller.states = dict(teller.states)
    last = other_teller.tell(b"b\n")
    assert last.time < teller.journal.last().time
    history.catch_up()
    assert [state.record for state in history.states(NOTE)] == [last.hash]


# Observations.


def test_versions_of_an_observation(teller, history):
    written = [
        teller.tell(b"v1\n", op="append", observation="m3k9f2", version=1),
        teller.tell(b"v2\n", op="update", observation="m3k9f2", version=2, parent=1),
        teller.tell(b"", op="forget", observation="m3k9f2", version=3, parent=2),
    ]
    history.catch_up()
    assert history.version("m3k9f2") == 3
    versions = history.versions("m3k9f2")
    assert [(each.version, each.parent, each.op) for each in versions] == [
        (1, None, "append"),
        (2, 1, "update"),
        (3, 2, "forget"),
    ]
    assert [each.position.hash for each in versions] == [record.hash for record in written]
    last = history.observation("m3k9f2")
    assert last == versions[-1]
    assert (last.note, last.path, last.time) == (NOTE, f"{NOTE}.md", written[-1].time)
    assert last.actor == teller.actor


def test_one_revision_of_several_observations(teller, history):
    changes = (Change("m3k9f2", 1, None, "append"), Change("q81xz0", 4, 3, "forget"))
    teller.tell(b"a\n", op="external", changes=changes, actor=Actor("editor", origin="owner"))
    history.catch_up()
    assert history.observation("m3k9f2").op == "append"
    assert history.observation("q81xz0").op == "forget"
    assert history.version("q81xz0") == 4
    assert history.observation("q81xz0").actor.origin == "owner"


def test_an_id_that_is_in_two_notes(teller, history):
    teller.tell(b"a\n", note="one", observation="m3k9f2", version=1)
    teller.tell(b"a\n", note="two", observation="m3k9f2", version=5)
    history.catch_up()
    assert history.version("m3k9f2") == 5
    assert history.version("m3k9f2", "one") == 1
    assert history.version("m3k9f2", "three") == 0
    assert history.observation("m3k9f2", "one").note == "one"


def test_what_was_undone_is_a_version_of_its_own(teller, history):
    record = teller.tell(b"a\n", op="append", observation="m3k9f2", version=1)
    undone = teller.journal.append(undoing(record, teller.actor))
    history.catch_up()
    state = history.observation("m3k9f2")
    assert (state.version, state.parent, state.op) == (2, 1, "undone")
    assert history.state(NOTE).record == undone.hash
    assert history.state(NOTE).token is None


def test_a_write_is_found_by_its_key_unless_it_was_undone(teller, history):
    assert history.keyed("k") is None
    teller.tell(b"a\n")
    record = teller.tell(b"a\nb\n", op="append", key="k")
    history.catch_up()
    assert history.keyed("k") == record
    assert record.key == "k"
    assert history.keyed("") is None
    teller.journal.append(undoing(record, teller.actor))
    history.catch_up()
    assert history.keyed("k") is None


# Catching up.


def test_only_what_is_new_is_read(teller, history, monkeypatch):
    for number in range(5):
        teller.tell(b"%d\n" % number)
    found = scanned(history, monkeypatch)
    assert history.catch_up() == 5
    found.clear()
    assert history.catch_up() == 0
    assert found == []
    new = teller.tell(b"new\n")
    assert history.catch_up() == 1
    assert found == [new]


def test_another_process_that_has_caught_up_saves_the_work(teller, history, monkeypatch, cache):
    teller.tell(b"a\n")
    with History(teller.journal, cache) as other:
        assert other.catch_up() == 1
    found = scanned(history, monkeypatch)
    assert history.catch_up() == 0
    assert found == []
    assert history.state(NOTE).token == token_of(b"a\n")


def test_a_line_that_is_being_written_is_read_when_it_is_whole(teller, history, tmp_path):
    teller.tell(b"a\n")
    second = teller.tell(b"b\n")
    path = the_file(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])
    assert history.catch_up() == 1
    path.write_bytes(whole)
    assert history.catch_up() == 1
    assert history.state(NOTE).record == second.hash


def test_a_redaction_is_followed_and_leaves_no_word(teller, history, cache, tmp_path):
    teller.tell(b"- tea\n", note="other")
    teller.tell(b"- " + SECRET + b"\n", reason=SECRET.decode())
    teller.tell(b"- cake\n")
    history.catch_up()
    teller.journal.redact(words=[SECRET])
    assert history.catch_up() == 0
    assert [record.redacted for record in history.records(NOTE)] == [True, True]
    assert history.records(NOTE) == list(teller.journal.records(NOTE))
    assert history.state(NOTE).token == token_of(b"- cake\n")
    for path in [*cache.iterdir(), the_file(tmp_path)]:
        assert SECRET not in path.read_bytes()


def test_a_path_and_a_token_that_were_redacted_leave_the_cache(teller, history, cache):
    teller.tell(b"- " + SECRET + b"\n", note="pathwithwords")
    history.catch_up()
    token = token_of(b"- " + SECRET + b"\n").encode()
    assert any(token in path.read_bytes() for path in cache.iterdir())
    teller.journal.redact(words=[SECRET, b"pathwithwords.md"])
    history.catch_up()
    for path in cache.iterdir():
        assert token not in path.read_bytes()
        assert b"pathwithwords.md" not in path.read_bytes()


def test_a_record_that_has_moved_is_found_again(teller, history):
    teller.tell(b"- " + SECRET + b"\n")
    last = teller.tell(b"- cake\n")
    history.catch_up()
    teller.journal.redact(words=[SECRET])
    assert history.record(last.hash).hash == last.hash
    assert len(history.records(NOTE)) == 2


def test_a_file_that_is_gone_is_forgotten(teller, other_teller, history, tmp_path):
    teller.tell(b"a\n")
    other_teller.tell(b"b\n", note="other")
    history.catch_up()
    (tmp_path / "state/journal/e8x4jr6p3mgb/").rename(tmp_path / "gone")
    assert history.catch_up() == 1
    assert history.state("other") is None
    assert history.state(NOTE).token == token_of(b"a\n")


def test_an_end_that_was_cut_off_is_forgotten(teller, history, tmp_path):
    first = teller.tell(b"a\n", observation="m3k9f2", version=1)
    teller.tell(b"b\n", observation="m3k9f2", version=2)
    history.catch_up()
    path = the_file(tmp_path)
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    assert history.catch_up() == 1
    assert [state.record for state in history.states(NOTE)] == [first.hash]
    assert history.version("m3k9f2") == 1


def test_damaged_lines_are_passed_over_and_told(teller, history, tmp_path, caplog):
    teller.tell(b"a\n")
    path = the_file(tmp_path)
    path.write_bytes(path.read_bytes() + b"{damaged}\n")
    last = teller.tell(b"b\n")
    with caplog.at_level(logging.WARNING):
        assert history.catch_up() == 2
    assert history.state(NOTE).record == last.hash
    assert "no record at" in caplog.text


# The file.


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(b"no database" * 1000),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:100] + b"\xff" * 8192),
    ],
    ids=["deleted", "another file", "empty", "broken"],
)
@pytest.mark.parametrize("opened", [False, True])
def test_a_file_that_is_damaged_is_made_anew(teller, history, cache, damage, opened):
    teller.tell(b"a\n")
    history.catch_up()
    history.close()
    if opened:
        history.catch_up()
    for ending in ("-wal", "-shm"):
        (cache / (HISTORY_FILE + ending)).unlink(missing_ok=True)
    damage(cache / HISTORY_FILE)
    if opened:
        teller.tell(b"b\n")
        history.close()
    history.catch_up()
    expected = b"b\n" if opened else b"a\n"
    assert history.state(NOTE).token == token_of(expected)
    assert len(history.records(NOTE)) == 1 + opened


def test_a_file_of_another_version_is_made_anew(teller, history, cache):
    teller.tell(b"a\n")
    history.catch_up()
    history.close()
    with sqlite3.connect(cache / HISTORY_FILE) as db:
        db.execute("DROP TABLE missing")
        db.execute("CREATE TABLE other (a)")
        db.execute("PRAGMA user_version = 99")
    assert history.catch_up() == 1
    assert history.state(NOTE).token == token_of(b"a\n")


def test_a_deleted_file_is_made_anew_in_the_middle(teller, history, cache):
    teller.tell(b"a\n")
    history.catch_up()
    for path in list(cache.iterdir()):
        path.unlink()
    assert history.state(NOTE).token == token_of(b"a\n")


HOLD = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("CREATE TABLE other (a)")
print(db.execute("SELECT count(*) FROM record").fetchone()[0], flush=True)
sys.stdin.readline()
"""


def test_a_file_that_is_deleted_without_its_log_is_made_anew(teller, history, cache):
    """Another process has it open, so that the log stays and does not fit the new file."""
    teller.tell(b"a\n")
    history.catch_up()
    command = [sys.executable, "-c", HOLD, str(cache / HISTORY_FILE)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"1\n"
        history.close()
        (cache / HISTORY_FILE).unlink()
        assert (cache / f"{HISTORY_FILE}-wal").stat().st_size
        teller.tell(b"b\n")
        assert history.catch_up() == 2
        assert history.state(NOTE).token == token_of(b"b\n")
        other.communicate(b"\n")


def test_without_a_cache_folder_it_is_an_error(teller, tmp_path):
    with pytest.raises(StorageFailed):
        History(teller.journal, tmp_path / "not there").catch_up()


def test_a_journal_that_cannot_be_read_is_an_error(teller, history, monkeypatch):
    teller.tell(b"a\n")
    history.catch_up()
    monkeypatch.setattr(history, "catch_up", lambda: 0)
    monkeypatch.setattr(os, "pread", lambda *_: b"")
    with pytest.raises(JournalUnreadable):
        history.records(NOTE)


changes = st.lists(
    st.tuples(
        st.sampled_from(["one", "two"]),
        st.one_of(st.none(), st.sampled_from([b"a\n", b"b\n", b"a\nb\n"])),
        st.sampled_from(["tell", "look", "both", "redact"]),
    ),
    max_size=14,
)


@settings(max_examples=40)
@given(changes)
def test_it_is_a_function_of_the_journals(new_teller, unsynced, tmp_path_factory, changes):
    teller = new_teller()
    history = History(teller.journal, tmp_path_factory.mktemp("cache"))
    with unsynced():
        act(teller, history, changes)
    history.catch_up()
    with History(teller.journal, tmp_path_factory.mktemp("cache")) as anew:
        assert history.notes() == anew.notes()
        for note in ("one", "two"):
            assert history.states(note) == anew.states(note)
            assert history.records(note) == list(teller.journal.records(note))
        for number in range(3):
            assert history.versions(f"o{number}") == anew.versions(f"o{number}")
    history.close()


def act(teller, history, changes):
    for number, (note, state, what) in enumerate(changes):
        if what == "redact":
            teller.journal.redact(words=[b"b\n"])
        elif what != "look":
            teller.tell(state, note=note, observation=f"o{number % 3}", version=number)
        if what != "tell":
            history.catch_up()


def test_threads_share_it(teller, history):
    for number in range(20):
        teller.tell(b"%d\n" % number, observation="m3k9f2", version=number)
    wrong = []

    def ask():
        for _ in range(20):
            history.catch_up()
            if history.version("m3k9f2") != 19:
                wrong.append(1)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


OPENING = """
    import sys
    from pathlib import Path
    from zibaldone.vault.history import History
    from zibaldone.vault.journal import Journal

    with History(Journal(Path(sys.argv[1]), "d7w3hq5n2kfa"), Path(sys.argv[2])) as history:
        history.catch_up()
        assert history.version("m3k9f2") == 49, history.version("m3k9f2")
"""


def test_processes_that_make_it_at_once_all_have_the_answer(teller, tmp_path, cache):
    for number in range(50):
        teller.tell(b"%d\n" % number, observation="m3k9f2", version=number)
    command = [sys.executable, "-c", textwrap.dedent(OPENING), tmp_path / "state", cache]
    processes = [subprocess.Popen(command) for _ in range(4)]
    assert [process.wait(60) for process in processes] == [0] * 4
