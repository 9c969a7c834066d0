"""History: nothing acknowledged is lost, nothing forged passes, nothing forgotten stays."""

import dataclasses
import errno
import json
import os
import signal
import stat
import subprocess
import sys
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zibaldone.vault.errors import JournalUnreadable, StorageFailed
from zibaldone.vault.ids import is_id
from zibaldone.vault.journal import Journal, device_name
from zibaldone.vault.replay import replay
from zibaldone.vault.revision import Actor, Change, Revision, undoing
from zibaldone.vault.splices import Splice

DEVICE = "d7w3hq5n2kfa"
NOTE = "k2m9qx4tb1c7"
SECRET = b"the code is 4711"


def at(text):
    """A clock that stands still; `text` is a time of day in UTC on 2026-11-30."""
    hours, minutes = map(int, text.split(":"))
    return lambda: 1_796_000_400 - 3600 + hours * 3600 + minutes * 60


# What is written.


def test_a_revision_is_read_as_it_was_written(teller, journal):
    change = Change("m3k9f2", 2, 1, "forget")
    written = teller.tell(
        b"# A\n- b\n", op="external", changes=(change,), of="x", reason="why", version=3, parent=2
    )
    (read,) = journal.records()
    assert read == written == journal.last()
    assert (read.op, read.note, read.path) == ("external", NOTE, f"{NOTE}.md")
    assert (read.version, read.parent, read.of, read.reason) == (3, 2, "x", "why")
    assert read.changes == (change,)
    assert read.actor == teller.actor
    assert (read.seq, read.device, read.prev) == (1, DEVICE, "")


def test_records_are_numbered_and_chained(teller, journal):
    records = [teller.tell(b"%d\n" % number) for number in range(4)]
    assert [record.seq for record in records] == [1, 2, 3, 4]
    assert [record.prev for record in records] == ["", *(each.hash for each in records[:-1])]
    assert teller.kinds() == []
    assert list(journal.records()) == records


def test_one_line_one_record_in_the_file_of_its_month(teller):
    record = teller.tell(b"a\nb\n")
    path = teller.file
    assert path.name == f"{record.time[:7]}.jsonl"
    assert path.read_bytes().count(b"\n") == 1
    assert json.loads(path.read_bytes())["hash"] == record.hash


def test_only_the_owner_of_the_vault_can_read_it(teller, folder):
    teller.tell(b"a\n")
    assert stat.S_IMODE(teller.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_an_append_costs_one_sync(teller, monkeypatch):
    teller.tell(b"a\n")
    synced = []
    monkeypatch.setattr(os, "fsync", synced.append)
    teller.tell(b"b\n")
    assert len(synced) == 1


def test_bytes_that_are_no_text_come_back(teller, journal):
    states = [b"\xff\xfe\0", "\ufeffé\u2028\n".encode(), b"\r\n\r", b"\xed\xa0\x80\n"]
    records = [teller.tell(state) for state in states]
    assert [replay(journal.records(), record.hash) for record in records] == states


def test_what_a_caller_says_of_itself_cannot_fail_a_write(teller):
    actor = Actor("\ud800agent", "\n", "x" * 10_000, "\0")
    record = teller.tell(b"a\n", actor=actor, reason="bad \udcff")
    assert record.actor.agent == "\ufffdagent"
    assert record.reason == "bad \ufffd"
    assert teller.kinds() == []


def test_a_line_of_text_cannot_become_a_line_of_the_journal(teller, journal):
    forged = only_line = b'"}\n{"v":1,"seq":2,"hash":"' + b"0" * 64 + b'"}\n'
    teller.tell(forged)
    assert teller.file.read_bytes().count(b"\n") == 1
    assert replay(journal.records()) == only_line


@pytest.mark.parametrize(
    "wrong",
    [
        {"splices": (Splice(5, b"a"), Splice(2))},
        {"version": 2**60},
        {"op": "invent"},
        {"path": "\ud800.md"},
    ],
)
def test_what_could_not_be_read_again_is_not_written(teller, journal, wrong):
    teller.tell(b"a\n")
    before = teller.file.read_bytes()
    with pytest.raises(ValueError, match=r"version 1|large|none of|surrogates"):
        journal.append(dataclasses.replace(undoing_nothing(), **wrong))
    assert teller.file.read_bytes() == before


# Time.


def test_a_clock_that_jumps_back_is_held(tmp_path):
    def record(time):
        journal = Journal(tmp_path, DEVICE, clock=at(time))
        return journal.append(undoing_nothing())

    assert [record(time).time[11:16] for time in ("12:00", "09:00", "13:00")] == [
        "12:00",
        "12:00",
        "13:00",
    ]
    assert Journal(tmp_path, DEVICE).verify() == []


def undoing_nothing():
    """A revision that changes nothing: the least that can be written."""
    return Revision("redact", NOTE, "a.md", (), "t", "t", Actor("zib", origin="owner"))


def test_a_month_has_a_file_and_the_chain_goes_on(tmp_path):
    seconds = [1_796_000_400 + 20 * 86_400 * each for each in range(4)]
    for second in seconds:
        Journal(tmp_path, DEVICE, clock=lambda second=second: second).append(undoing_nothing())
    journal = Journal(tmp_path, DEVICE)
    names = [file.name for file in journal.files()]
    assert names == ["2026-11.jsonl", "2026-12.jsonl", "2027-01.jsonl"]
    assert [record.seq for record in journal.records()] == [1, 2, 3, 4]
    assert journal.verify() == []


def test_a_clock_that_jumps_back_a_month_stays_in_the_newest_file(tmp_path):
    for second in (1_796_000_400 + 86_400, 1_796_000_400 - 86_400):
        Journal(tmp_path, DEVICE, clock=lambda second=second: second).append(undoing_nothing())
    assert [file.name for file in Journal(tmp_path, DEVICE).files()] == ["2026-12.jsonl"]


# Reading.


def test_last_reads_the_end_only(teller, journal):
    for number in range(3):
        record = teller.tell(b"%d\n" % number)
    path = teller.file
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"x" * len(lines[0][:-1]) + b"\n" + lines[1] + lines[2])
    assert journal.last() == record


def test_last_finds_a_record_that_is_larger_than_a_block(teller, journal):
    record = teller.tell(b"a line\n" * 50_000)
    assert journal.last() == record


@pytest.mark.parametrize("made", [False, True])
def test_without_a_journal_there_is_nothing(journal, folder, made):
    if made:
        folder.mkdir(parents=True)
        (folder / "2026-11.jsonl").touch()
    assert journal.last() is None
    assert list(journal.records()) == []
    assert journal.verify() == []
    assert journal.redact(words=[b"a"]) == 0


def test_an_empty_newest_file_does_not_hide_the_last_record(teller, journal, folder):
    first = teller.tell(b"a\n")
    (folder / "2099-01.jsonl").touch()
    assert journal.last() == first
    assert teller.tell(b"b\n").prev == first.hash


def test_the_records_of_one_note(teller, journal):
    mine = [teller.tell(b"a\n"), teller.tell(b"b\n", note="other"), teller.tell(NOTE.encode())]
    assert list(journal.records(NOTE)) == [mine[0], mine[2]]
    assert list(journal.records("other")) == [mine[1]]
    teller.tell(NOTE.encode(), note="not plain")
    assert [record.note for record in journal.records("not plain")] == ["not plain"]


def test_the_journals_of_devices_are_merged_by_time(teller, other_teller, journal):
    written = []
    for number in range(3):
        written += [teller.tell(b"%d\n" % number), other_teller.tell(b"%d\n" % number)]
    assert list(journal.records()) == sorted(written, key=lambda record: record.order)
    assert {record.device for record in journal.records()} == {DEVICE, "e8x4jr6p3mgb"}
    assert [record.seq for record in written] == [1, 1, 2, 2, 3, 3]
    assert journal.last() == written[-2]
    assert teller.kinds() == []


def test_a_position_leads_to_its_record_and_to_no_other(teller, journal):
    written = [teller.tell(b"a\n"), teller.tell(b"b\n")]
    (file,) = journal.files()
    positions = [position for position, _ in journal.scan(file.device, file.name)]
    assert [journal.read(position) for position in positions] == written
    assert [each.offset for each, _ in journal.scan(*file[:2], positions[1].offset)] == [
        positions[1].offset
    ]
    for wrong in (
        positions[0]._replace(hash="0"),
        positions[0]._replace(offset=5),
        positions[0]._replace(name="2020-01.jsonl"),
    ):
        with pytest.raises(JournalUnreadable):
            journal.read(wrong)


def test_a_journal_that_may_not_be_read_is_an_error(teller, journal, monkeypatch):
    teller.tell(b"a\n")
    real = os.open

    def refuse(name, *arguments, **named):
        if str(name).endswith(".jsonl"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return real(name, *arguments, **named)

    monkeypatch.setattr(os, "open", refuse)
    for read in (journal.last, lambda: list(journal.records()), journal.verify):
        with pytest.raises(JournalUnreadable, match="Permission denied"):
            read()


def test_a_journal_that_leads_out_of_the_vault_is_not_followed(journal, teller, folder, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    folder.parent.mkdir(parents=True)
    folder.symlink_to(outside)
    with pytest.raises(StorageFailed):
        teller.tell(b"a\n")
    with pytest.raises(JournalUnreadable):
        journal.last()
    assert journal.files() == []
    assert list(outside.iterdir()) == []


# Crashes.


@pytest.mark.parametrize("rest", [b'{"v":1,"seq":3', b"{}", b"\0" * 5000, b'{"v":\0\0\0}\n'])
def test_a_torn_last_line_is_passed_over_and_then_cut(teller, journal, caplog, rest):
    first, second = teller.tell(b"a\n"), teller.tell(b"b\n")
    path = teller.file
    whole = path.read_bytes()
    path.write_bytes(whole + rest)
    assert journal.last() == second
    assert list(journal.records()) == [first, second]
    assert teller.kinds() == []
    third = teller.tell(b"c\n")
    assert path.read_bytes() == whole + path.read_bytes().splitlines(keepends=True)[-1]
    assert list(journal.records()) == [first, second, third]
    assert teller.kinds() == []
    assert "cut a torn line" in caplog.text


def test_a_torn_first_line_is_no_record(teller, journal, folder):
    folder.mkdir(parents=True)
    (folder / "2026-11.jsonl").write_bytes(b'{"v":1')
    assert journal.last() is None
    assert teller.tell(b"a\n").seq == 1
    assert teller.kinds() == []


def test_a_damaged_last_line_is_not_taken_for_a_torn_one(teller, journal):
    first = teller.tell(b"a\n")
    path = teller.file
    path.write_bytes(path.read_bytes() + b"{damaged}\n")
    second = teller.tell(b"b\n")
    assert b"{damaged}\n" in path.read_bytes()
    assert second.prev == first.hash
    assert teller.kinds() == [(2, "unreadable")]


KILLED = """
    import os, signal, sys
    from pathlib import Path
    from zibaldone.vault import files
    from zibaldone.vault.journal import Journal
    from zibaldone.vault.revision import Actor, Revision

    state, wanted = Path(sys.argv[1]), sys.argv[2]
    journal = Journal(state, "d7w3hq5n2kfa")
    write = os.write

    def half(descriptor, data):
        if descriptor > 2 and number == 2 and wanted == "half":
            write(descriptor, data[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        return write(descriptor, data)

    def step(name):
        if name == wanted and number == 2:
            os.kill(os.getpid(), signal.SIGKILL)

    os.write, files.step = half, step
    for number in range(4):
        record = journal.append(Revision("redact", "n", "p", (), "t", "t", Actor("a")))
        print(record.hash, flush=True)
"""


@pytest.mark.parametrize("step", ["half", "opened", "appended", "appended durably", "never"])
def test_no_kill_loses_what_was_acknowledged(tmp_path, step):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), tmp_path, step],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == (0 if step == "never" else -signal.SIGKILL), done.stderr
    acknowledged = done.stdout.split()
    journal = Journal(tmp_path, DEVICE)
    hashes = [record.hash for record in journal.records()]
    assert hashes[: len(acknowledged)] == acknowledged
    assert len(acknowledged) == (4 if step == "never" else 2)
    journal.append(undoing_nothing())
    assert [record.seq for record in journal.records()] == list(range(1, len(hashes) + 2))
    assert journal.verify() == []


def test_a_full_disk_leaves_the_journal_as_it_was(teller, journal, monkeypatch):
    teller.tell(b"a\n")
    before = teller.file.read_bytes()

    def fail(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fail)
        with pytest.raises(StorageFailed, match="No space left"):
            teller.tell(b"b\n")
    assert teller.file.read_bytes() == before
    assert teller.tell(b"b\n").seq == 2


APPENDING = """
    import fcntl, sys
    from pathlib import Path
    from zibaldone.vault.journal import Journal
    from zibaldone.vault.revision import Actor, Revision

    state = Path(sys.argv[1])
    journal = Journal(state, "d7w3hq5n2kfa")
    for number in range(25):
        with (state / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            journal.append(Revision("redact", "n", "p", (), "t", "t", Actor(sys.argv[2])))
"""


def test_processes_share_the_journal_of_a_device(tmp_path):
    command = [sys.executable, "-c", textwrap.dedent(APPENDING), tmp_path]
    processes = [subprocess.Popen([*command, name]) for name in "abc"]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    journal = Journal(tmp_path, DEVICE)
    records = list(journal.records())
    assert [record.seq for record in records] == list(range(1, 76))
    assert {record.actor.agent for record in records} == set("abc")
    assert journal.verify() == []


# From records to states.

lines = st.sampled_from([b"- one\n", b"- two\r\n", b"\n", b"- caf\xc3\xa9\n", b"\xff\n", b"end"])
states = st.one_of(st.none(), st.lists(lines, max_size=8).map(b"".join), st.binary(max_size=30))


@given(st.lists(st.tuples(states, st.sampled_from("ab")), max_size=12))
def test_every_state_comes_back(new_teller, unsynced, changes):
    teller = new_teller()
    with unsynced():
        written = [(teller.tell(state, note=note), state) for state, note in changes]
    for record, state in written:
        assert replay(teller.journal.records(record.note), record.hash) == state
    assert teller.journal.verify() == []


def test_what_is_undone_leads_back(teller, journal):
    first = teller.tell(b"a\n", observation="m3k9f2", version=1)
    second = teller.tell(b"a\nb\n", observation="q81xz0", version=1)
    for record, state in ((second, b"a\n"), (first, None)):
        undone = journal.append(undoing(record, teller.actor, "crash"))
        assert undone.touched == (Change(record.observation, 2, 1, "undone"),)
        assert (undone.of, undone.base) == (record.hash, record.hash)
        assert replay(journal.records(), undone.hash) == state
    assert teller.kinds() == []


# The name of the device.


def test_a_device_keeps_its_name_outside_the_vault(tmp_path):
    name = device_name(tmp_path / "cache")
    assert is_id(name)
    assert device_name(tmp_path / "cache") == name
    assert stat.S_IMODE((tmp_path / "cache/device").stat().st_mode) == 0o600
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["device"]
    assert device_name(tmp_path / "other") != name


@pytest.mark.parametrize("found", [b"", b"../../etc", b"\xff", b"d7w3hq5n2kfa/x\n"])
def test_a_name_that_is_none_is_made_anew(tmp_path, found):
    (tmp_path / "device").write_bytes(found)
    name = device_name(tmp_path)
    assert is_id(name)
    assert device_name(tmp_path) == name


def test_a_name_that_cannot_be_kept_is_an_error(tmp_path):
    (tmp_path / "cache").touch()
    with pytest.raises(StorageFailed):
        device_name(tmp_path / "cache")
