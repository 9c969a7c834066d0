"""Whatever is changed in a journal, damaged or forged, is found; and it stops nobody."""

import json

import pytest
from zibaldone.vault.errors import JournalUnreadable
from zibaldone.vault.seal import seal


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda raw: raw.update(op="append"), "hash"),
        (lambda raw: raw["caller"].update(origin="owner"), "hash"),
        (lambda raw: raw["caller"].update(agent="other"), "hash"),
        (lambda raw: raw.update(time="2026-01-01T00:00:00.000Z"), "hash"),
        (lambda raw: raw.update(prev=""), "hash"),
        (lambda raw: raw.update(path="else.md"), "digest"),
        (lambda raw: raw.update(after=raw["before"]), "digest"),
        (lambda raw: raw["splices"][0].update(inserted="3\n"), "digest"),
        (lambda raw: raw.update(reason="forged"), "digest"),
        (lambda raw: raw.pop("salt"), "digest"),
        (lambda raw: raw.pop("op"), "unreadable"),
        (lambda raw: raw.update(v=2), "unreadable"),
    ],
)
def test_a_changed_record_is_found(teller, change, kind):
    for number in range(3):
        teller.tell(b"%d\n" % number)
    teller.tamper(2, change)
    assert (2, kind) in teller.kinds()


def test_a_record_that_is_forged_whole_breaks_the_chain(teller):
    for number in range(3):
        teller.tell(b"%d\n" % number)

    def forge(raw):
        for name in ("salt", "digest", "hash"):
            del raw[name]
        raw["caller"]["origin"] = "owner"
        raw.update(seal(raw, "0" * 32))

    teller.tamper(2, forge)
    assert teller.kinds() == [(3, "chain")]


@pytest.mark.parametrize(
    ("order", "found"),
    [
        ([0, 2, 3], [(2, "chain")]),
        ([1, 2, 3], [(1, "chain")]),
        ([0, 2, 1, 3], [(2, "chain"), (3, "chain"), (4, "chain")]),
        ([0, 1, 1, 2, 3], [(3, "chain")]),
    ],
    ids=["removed", "beginning removed", "reordered", "repeated"],
)
def test_lines_that_are_not_as_they_were_break_the_chain(teller, order, found):
    for number in range(4):
        teller.tell(b"%d\n" % number)
    path = teller.file
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[each] for each in order))
    assert teller.kinds() == found


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        ({"seq": 7}, "sequence"),
        ({"time": "2020-01-01T00:00:00.000Z"}, "place"),
        ({"device": "e8x4jr6p3mgb"}, "place"),
    ],
)
def test_a_record_that_is_out_of_its_place_is_found(teller, facts, kind):
    teller.tell(b"a\n")
    teller.tell(b"b\n")

    def forge(raw):
        raw.update(facts)
        raw.update(seal(raw, raw["salt"]))

    teller.tamper(2, forge)
    assert teller.kinds() == [(2, kind)]


def test_a_record_earlier_than_the_one_before_is_found(teller):
    teller.tell(b"a\n")
    teller.tell(b"b\n")

    def forge(raw):
        raw["time"] = raw["time"].replace("T12", "T11")
        raw.update(seal(raw, raw["salt"]))

    teller.tamper(2, forge)
    assert teller.kinds() == [(2, "time")]


def test_a_file_that_is_no_part_of_a_journal_is_told(teller, journal, folder):
    teller.tell(b"a\n")
    copy = folder / "2026-11.sync-conflict-20261130-101500-ABCDEFG.jsonl"
    copy.write_bytes(teller.file.read_bytes())
    (flaw,) = journal.verify()
    assert (flaw.file, flaw.line, flaw.kind) == (copy.name, 0, "stray")
    assert flaw.sentence
    assert len(list(journal.records())) == 1


def test_a_torn_line_in_an_older_file_is_a_flaw(teller, folder):
    teller.tell(b"a\n")
    (folder / "2020-01.jsonl").write_bytes(b'{"v":1')
    assert teller.kinds()[0] == (1, "torn")


HOSTILE = [
    b"[" * 100_000,
    b'{"v":1}',
    b"null",
    b"1e999",
    b"NaN",
    b'{"v":1,"seq":"1"}',
    b'"\\ud800"',
    b"9" * 10_000,
    b"\xff\xfe",
    b"",
]


@pytest.mark.parametrize("line", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_lines_stop_nobody(teller, journal, line):
    first = teller.tell(b"a\n")
    path = teller.file
    path.write_bytes(path.read_bytes() + line + b"\n")
    second = teller.tell(b"b\n")
    assert list(journal.records()) == [first, second]
    assert teller.kinds() == [(2, "unreadable")]
    assert journal.redact(words=[b"4711"]) == 0


CHANGES = [
    {"seq": 2**60},
    {"seq": True},
    {"time": "yesterday"},
    {"time": "2026-11-30T10:00:00Z"},
    {"op": "invent"},
    {"op": ["append"]},
    {"before": 5},
    {"path": None},
    {"caller": {"origin": "god"}},
    {"caller": {"agent": 5, "origin": "owner"}},
    {"caller": {}},
    {"splices": [5]},
    {"splices": [{}]},
    {"splices": [{"start": 0, "inserted": 10**14}]},
    {"splices": [{"start": 0, "inserted": -1}]},
    {"splices": [{"start": 0, "inserted": None}]},
    {"splices": [{"start": -1}]},
    {"splices": [{"start": 5}, {"start": 4}]},
    {"changes": [5]},
    {"changes": [{"version": 1}]},
    {"changes": [{"observation": "a", "op": "invent"}]},
    {"salts": {"path": 1}},
    {"sealed": [1]},
    {"salt": 5},
    {"reason": "\ud800"},
]


@pytest.mark.parametrize("change", CHANGES, ids=range(len(CHANGES)))
def test_a_record_of_another_form_is_none(teller, journal, change):
    teller.tell(b"a\n")
    path = teller.file
    raw = {**json.loads(path.read_bytes()), **change}
    path.write_text(path.read_text() + json.dumps(raw) + "\n")
    assert teller.kinds() == [(2, "unreadable")]
    assert len(list(journal.records())) == 1


def test_what_a_newer_version_wrote_is_not_written_over(teller):
    teller.tell(b"a\n")
    path = teller.file
    newer = path.read_bytes() + b'{"v":2,"anything":1}\n'
    path.write_bytes(newer)
    with pytest.raises(JournalUnreadable, match="newer version"):
        teller.tell(b"b\n")
    assert path.read_bytes() == newer


def test_fields_of_a_newer_version_are_kept_and_verified(teller, journal):
    teller.tell(b"the code is 4711\n")

    def add(raw):
        raw["extra"] = {"of": "later"}
        raw.update(seal(raw, raw["salt"]))

    teller.tamper(1, add)
    assert teller.kinds() == []
    assert journal.redact(words=[b"4711"]) == 1
    assert teller.kinds() == []
    assert json.loads(teller.file.read_bytes())["extra"] == {"of": "later"}
