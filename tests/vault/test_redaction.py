"""Forgotten means gone: no byte of the words is left, and the chain still holds."""

import errno
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zibaldone.vault import files
from zibaldone.vault.errors import RevisionUnavailable, StorageFailed
from zibaldone.vault.replay import replay
from zibaldone.vault.seal import seal
from zibaldone.vault.splices import Splice

DEVICE = "d7w3hq5n2kfa"
NOTE = "k2m9qx4tb1c7"
SECRET = b"the code is 4711"


words = st.sampled_from([b"- one\n", b"- two\n", b"- " + SECRET + b"\n", b"- " + SECRET + b"!\n"])


@given(st.lists(st.lists(words, max_size=6).map(b"".join), min_size=1, max_size=8))
def test_law_11_no_byte_of_what_is_redacted_is_left(new_teller, unsynced, changes):
    teller = new_teller()
    journal = teller.journal
    with unsynced():
        written = [(teller.tell(state), state) for state in changes]
        held = sum(any(SECRET in text for text in each.words.values()) for each, _ in written)
        assert journal.redact(words=[SECRET]) == held
    assert all(SECRET not in path.read_bytes() for path in teller.files())
    assert journal.verify() == []
    records = {record.hash: record for record in journal.records()}
    assert list(records) == [record.hash for record, _ in written]
    for record, state in written:
        now = records[record.hash]
        if SECRET in state:
            assert now.after == ""
        if now.after == "":
            with pytest.raises(RevisionUnavailable):
                replay(records.values(), record.hash)
        else:
            assert replay(records.values(), record.hash) == state


def test_only_what_held_the_words_is_lost(teller, journal):
    states = [
        b"# A\n- tea\n",
        b"# A\n- tea\n- " + SECRET + b"\n",
        b"# A\n- tea, green\n- " + SECRET + b"\n",
        b"# A\n- tea, green\n",
        b"# A\n- tea, green\n- cake\n",
    ]
    for state in states:
        teller.tell(state, reason="as she said")
    assert journal.redact(words=[SECRET]) == 2
    records = list(journal.records())
    assert [record.after == "" for record in records] == [False, True, True, False, False]
    assert [record.before == "" for record in records] == [False, False, True, True, False]
    assert [record.redacted for record in records] == [False, True, False, True, False]
    assert {record.reason for record in records} == {"as she said"}
    assert records[2].splices == (Splice(4, b"- tea\n", b"- tea, green\n"),)
    assert replay(records) == states[-1]
    assert replay(records, records[3].hash) == states[3]


def test_words_go_from_reason_and_path_too(teller, journal):
    teller.tell(b"a\n", note=f"about {SECRET.decode()}"[:5], reason=SECRET.decode())

    def rename(raw):
        raw["path"] = f"{SECRET.decode()}.md"
        raw.update(seal(raw, raw["salt"]))

    teller.tamper(1, rename)
    assert journal.redact(words=[SECRET]) == 1
    (record,) = journal.records()
    assert (record.path, record.reason) == ("", "")
    assert record.hidden == {"path", "reason"}
    assert replay([record]) == b"a\n"
    assert teller.kinds() == []


def test_one_revision_can_be_redacted_alone(teller, journal):
    written = [teller.tell(b"- v%d\n" % number) for number in range(1, 5)]
    of_v2 = {written[1].hash: {"0.inserted"}, written[2].hash: {"0.removed"}}
    assert journal.redact(lambda record: of_v2.get(record.hash, ())) == 2
    first, second, third, fourth = journal.records()
    assert (second.splices[0].removed, third.splices[0].inserted) == (b"- v1\n", b"- v3\n")
    assert b"v2" not in b"".join(path.read_bytes() for path in teller.files())
    assert [replay(journal.records(), each.hash) for each in (first, third, fourth)] == [
        b"- v1\n",
        b"- v3\n",
        b"- v4\n",
    ]
    assert teller.kinds() == []


def test_tokens_and_names_that_hide_nothing_are_not_asked_for(teller, journal):
    teller.tell(b"a\n")
    assert journal.redact(lambda _: ["before", "after", "9.inserted", "note"]) == 0
    assert next(journal.records()).hidden == frozenset()


def test_empty_words_hide_nothing(teller, journal):
    teller.tell(b"a\n")
    before = teller.file.read_bytes()
    assert journal.redact(words=[b""]) == 0
    assert teller.file.read_bytes() == before


def test_words_are_found_in_every_form(teller, journal):
    quoted = 'say "4711"\tnow é'.encode()
    teller.tell(quoted + b"\n")
    teller.tell(quoted + b"\xff\n")
    path = teller.file
    ascii_only = [json.dumps(json.loads(line)) for line in path.read_bytes().splitlines()]
    path.write_text("\n".join(ascii_only) + "\n")
    assert journal.redact(words=[quoted]) == 2
    assert b"4711" not in path.read_bytes()
    assert teller.kinds() == []


def test_words_leave_torn_and_damaged_lines_and_stray_copies(teller, journal, folder):
    teller.tell(b"- " + SECRET + b"\n")
    path = teller.file
    line = path.read_bytes()
    (folder / "2026-11 (conflicted copy).jsonl").write_bytes(line)
    path.write_bytes(line + line.replace(b'"op"', b"op") + b"{other damage}\n" + line[:-9])
    journal.redact(words=[SECRET])
    assert all(SECRET not in each.read_bytes() for each in teller.files())
    assert teller.kinds()[-1] == (2, "unreadable")
    assert b"{other damage}\n" in path.read_bytes()


def test_words_leave_the_journals_of_other_devices(teller, other_teller, journal):
    first = teller.tell(b"- " + SECRET + b"\n")
    other_teller.states = dict(teller.states)
    other_teller.tell(b"- " + SECRET + b"\n- tea\n")
    other_teller.tell(b"- tea\n")
    assert journal.redact(words=[SECRET]) == 2
    assert all(SECRET not in path.read_bytes() for path in teller.files())
    records = list(journal.records())
    assert [record.after == "" for record in records] == [True, True, False]
    assert records[1].base == first.hash
    assert replay(records) == b"- tea\n"
    assert teller.kinds() == []


LINE = b"- " + SECRET + b"\n"


@pytest.mark.parametrize("cut", [0, 1])
@pytest.mark.parametrize(
    ("states", "hidden"),
    [
        ([LINE, LINE + b"- tea\n", b"- tea\n"], [True, True, False]),
        ([LINE, LINE + b"- tea\n"], [True, True]),
    ],
    ids=["removed again", "still there"],
)
def test_a_redaction_that_was_cut_in_two_is_finished_by_another(
    teller, journal, monkeypatch, cut, states, hidden
):
    for month, state in enumerate(states):
        journal._clock = lambda month=month: 1_794_744_000 + 31 * 86_400 * month
        teller.tell(state)
    cuts = iter(range(9))

    def step(name):
        if name == "replaced" and next(cuts) == cut:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(files, "step", step)
        with pytest.raises(KeyboardInterrupt):
            journal.redact(words=[SECRET])
    journal.redact(words=[SECRET])
    assert len(journal.files()) == len(states)
    assert [record.after == "" for record in journal.records()] == hidden
    assert teller.kinds() == []


def test_a_redaction_that_fails_leaves_the_file_as_it_was(teller, journal, monkeypatch):
    teller.tell(SECRET)
    before = teller.file.read_bytes()

    def fail(*_, **__):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "rename", fail)
    with pytest.raises(StorageFailed):
        journal.redact(words=[SECRET])
    assert [path.read_bytes() for path in teller.files()] == [before]
