"""What agents ask is kept as lines, and read back past what is none."""

import json
import multiprocessing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from zibaldone.vault.audit import (
    FOLDER,
    Audit,
    AuditLog,
    Given,
    LeftOut,
    Retrieval,
    count_before,
    drop_before,
    last_start,
    now,
    parse,
    read_audit,
    record,
    to_raw,
)
from zibaldone.vault.errors import StorageFailed
from zibaldone.vault.revision import Actor

ASKED = Retrieval(
    "2027-01-31T09:00:00.000Z",
    "recall",
    Actor("planner", "i", "s", "1.0", "untrusted"),
    "¿Dónde está el puerto?",
    2,
    90,
    {"project": "boat", "depth": 1},
    (Given("k2m9qx4tb1c7", "1e5cec3cf8978ace", 30, "q81xz0", 2), Given("n", "r", 60)),
    1,
    (LeftOut("d", "budget", 70),),
    3,
)


UNTIL = "2027-02-20T00:00:00.000Z"


def at(time):
    return Retrieval(time, "search", Actor("a"), "quince")


def started(time, agent="planner", session="s1", tool="start_session", error=""):
    return Retrieval(f"{time}T09:00:00.000Z", tool, Actor(agent, "", session), "", error=error)


@pytest.mark.parametrize(
    ("kept", "when"),
    [
        ([], ""),
        ([("a", started("2027-01-31"))], "2027-01-31"),
        ([("a", started("2027-01-31", session="now"))], ""),
        ([("a", started("2027-01-31", agent="planner2"))], ""),
        ([("a", started("2027-01-31", tool="search"))], ""),
        ([("a", started("2027-01-31", error="path_refused"))], ""),
        ([("a", started("2027-02-01")), ("b", started("2027-02-02"))], "2027-02-01"),
        ([("a", started("2027-02-01")), ("b", started("2027-02-02", session="s2"))], "2027-02-02"),
        ([("a", started("2027-01-31")), ("b", started("2027-02-02", session="now"))], "2027-01-31"),
        ([("a", started("2027-01-31")), ("b", started("2027-02-28", session="s2")),
          ("b", started("2031-01-01", session="s3"))], "2027-01-31"),
        ([("a", started("2027-02-01", session="")), ("a", started("2027-02-02", session=""))],
         "2027-02-02"),
    ],
)  # fmt: skip
def test_the_last_session_of_an_agent_began_with_its_first_start(tmp_path, kept, when):
    for device, retrieval in kept:
        record(tmp_path, device, retrieval)
    assert last_start(tmp_path, "planner", "now", UNTIL)[:10] == when


def test_a_start_is_found_whatever_the_agent_calls_itself_and_past_damage(tmp_path):
    for name in ('say "ø\\', "start_session"):
        record(tmp_path, "a", started("2027-01-31", agent=name))
        assert last_start(tmp_path, name, "now", UNTIL)
    file = tmp_path / FOLDER / "a" / "2027-02.jsonl"
    file.write_text('{"tool":"start_session","agent":"start_session"}\n')
    assert last_start(tmp_path, "start_session", "now", UNTIL)[:10] == "2027-01-31"


def lines(folder, device, month):
    return (folder / FOLDER / device / f"{month}.jsonl").read_bytes().splitlines(keepends=True)


def test_what_is_kept_is_read_back_by_time_and_is_for_the_owner_of_the_files_alone(tmp_path):
    state = tmp_path / "state"
    late = at("2027-02-01T00:00:00.000Z")
    record(state, "b", late)
    record(state, "a", ASKED)
    assert read_audit(state) == Audit((ASKED, late), 0)
    file = state / FOLDER / "a" / "2027-01.jsonl"
    assert [path.stat().st_mode & 0o777 for path in (file, file.parent)] == [0o600, 0o700]
    assert "dónde está" in file.read_text(encoding="utf-8").lower()


def test_nothing_kept_is_nothing_read(tmp_path):
    assert read_audit(tmp_path / "state") == Audit((), 0)
    assert drop_before(tmp_path / "state", "a", "2030-01-01") == 0
    assert not (tmp_path / "state").exists()


TEXT = st.text(max_size=20)
NUMBER = st.integers(0, 2**40)


@given(
    st.builds(
        Retrieval,
        time=st.just("2027-01-31T09:00:00.000Z"),
        tool=st.sampled_from(["search", "get_note", "start_session"]),
        caller=st.builds(Actor, TEXT, TEXT, TEXT, TEXT),
        query=TEXT,
        found=NUMBER,
        tokens=NUMBER,
        filters=st.dictionaries(TEXT, TEXT | NUMBER, max_size=3),
        given=st.lists(st.builds(Given, TEXT, TEXT, NUMBER, TEXT), max_size=3).map(tuple),
        left_out=st.lists(st.builds(LeftOut, TEXT, TEXT, NUMBER), max_size=3).map(tuple),
        error=TEXT,
        redacted=st.booleans(),
    )
)
def test_a_line_says_all_that_was_kept(retrieval):
    line = json.dumps(to_raw(retrieval)).encode() + b"\n"
    assert parse(line) == retrieval


def test_half_of_an_emoji_fails_nothing(tmp_path):
    record(
        tmp_path,
        "a",
        Retrieval(now(), "search", Actor("\ud83d"), "\ud83d", filters={"p": "\ud83d"}),
    )
    (one,) = read_audit(tmp_path).retrievals
    assert (one.caller.agent, one.query, one.filters) == ("\ufffd", "\ufffd", {"p": "\ufffd"})


@pytest.mark.parametrize(
    "line",
    [
        b"no json\n",
        b"[1]\n",
        b"{}\n",
        b'{"v": 1',
        b"\0\0\0\n",
        b"[" * 100_000 + b"\n",
        json.dumps(to_raw(ASKED) | {"v": 2}).encode() + b"\n",
        json.dumps(to_raw(ASKED) | {"tool": "forget"}).encode() + b"\n",
        json.dumps(to_raw(ASKED) | {"found": True}).encode() + b"\n",
        json.dumps(to_raw(ASKED) | {"query": None}).encode() + b"\n",
        json.dumps(to_raw(ASKED) | {"given": [1]}).encode() + b"\n",
        json.dumps(to_raw(ASKED) | {"filters": 3}).encode() + b"\n",
        json.dumps(to_raw(ASKED) | {"caller": {}}).encode() + b"\n",
    ],
)
def test_a_line_that_is_no_retrieval_is_passed_over_and_counted(tmp_path, line):
    record(tmp_path, "a", ASKED)
    file = tmp_path / FOLDER / "a" / "2027-01.jsonl"
    file.write_bytes(line + (b"" if line.endswith(b"\n") else b"\n") + file.read_bytes())
    assert read_audit(tmp_path) == Audit((ASKED,), 1)


def test_what_follows_a_torn_line_is_whole(tmp_path):
    record(tmp_path, "a", ASKED)
    file = tmp_path / FOLDER / "a" / "2027-01.jsonl"
    file.write_bytes(file.read_bytes()[:-20])
    record(tmp_path, "a", ASKED)
    record(tmp_path, "a", ASKED)
    assert read_audit(tmp_path) == Audit((ASKED, ASKED), 1)


def test_a_place_that_cannot_be_written_or_read_is_a_typed_failure(tmp_path):
    (tmp_path / FOLDER).write_text("a file")
    with pytest.raises(StorageFailed):
        record(tmp_path, "a", ASKED)
    (tmp_path / FOLDER).unlink()
    (tmp_path / FOLDER / "a" / "2027-01.jsonl").mkdir(parents=True)
    with pytest.raises(StorageFailed):
        read_audit(tmp_path)


def test_no_symlink_is_followed(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    state = tmp_path / "state"
    state.mkdir()
    (state / FOLDER).symlink_to(outside, target_is_directory=True)
    with pytest.raises(StorageFailed):
        record(state, "a", ASKED)
    assert list(outside.iterdir()) == []


def test_an_empty_line_is_no_damage(tmp_path):
    record(tmp_path, "mine", ASKED)
    [file] = (tmp_path / FOLDER / "mine").iterdir()
    file.write_bytes(b"\n" + file.read_bytes() + b"\n\n")
    record(tmp_path, "mine", ASKED)
    kept = read_audit(tmp_path)
    assert (len(kept.retrievals), kept.damaged) == (2, 0)


def test_what_is_older_is_dropped_and_of_other_devices_only_whole_months(tmp_path):
    for device in ("mine", "other"):
        for time in ("2026-12-31", "2027-01-01", "2027-01-15", "2027-01-16", "2027-02-01"):
            record(tmp_path, device, at(f"{time}T09:00:00.000Z"))
    assert count_before(tmp_path, "2027-01-16") == 6
    damaged = tmp_path / FOLDER / "mine" / "2027-01.jsonl"
    damaged.write_bytes(damaged.read_bytes() + b"no json\n")
    assert drop_before(tmp_path, "mine", "2027-01-16") == 4
    assert not (tmp_path / FOLDER / "mine" / "2026-12.jsonl").exists()
    assert not (tmp_path / FOLDER / "other" / "2026-12.jsonl").exists()
    assert [b"2027-01-16" in line for line in lines(tmp_path, "mine", "2027-01")] == [True, False]
    assert len(lines(tmp_path, "other", "2027-01")) == 3
    assert drop_before(tmp_path, "mine", "2027-01-16") == 0


def _write_many(state, name):
    for number in range(200):
        record(state, "a", Retrieval(ASKED.time, "search", Actor(name), f"{name} {number}" * 50))


def test_processes_write_at_once_and_no_line_is_lost(tmp_path):
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_write_many, args=(tmp_path, name)) for name in "xyz"]
    for each in writers:
        each.start()
    for each in writers:
        each.join(60)
    kept = read_audit(tmp_path)
    assert (len(kept.retrievals), kept.damaged) == (600, 0)


# Reading on


def test_a_log_reads_on_where_it_was_and_again_what_was_rewritten(tmp_path):
    log = AuditLog(tmp_path)
    assert log.read() == Audit((), 0)
    record(tmp_path, "a", ASKED)
    first = log.read()
    assert first == Audit((ASKED,), 0) and log.read() is first
    late = at("2027-02-01T00:00:00.000Z")
    record(tmp_path, "b", late)
    record(tmp_path, "a", at("2027-01-31T10:00:00.000Z"))
    assert log.read() == read_audit(tmp_path)
    assert log.read().retrievals[0] is first.retrievals[0]
    file = tmp_path / FOLDER / "a" / "2027-01.jsonl"
    rewritten = file.read_bytes().replace(b"puerto", b"puente")
    file.write_bytes(rewritten + b'{"torn')
    assert "puente" in log.read().retrievals[0].query
    assert log.read() == read_audit(tmp_path) and log.read().damaged == 1
    assert drop_before(tmp_path, "b", "2027-03-01") == 3
    assert log.read() == Audit((), 1)


STEPS = st.tuples(st.sampled_from("ab"), st.sampled_from(["new", "bad", "cut", "gone"]))


@settings(max_examples=25)
@given(st.lists(STEPS, max_size=12))
def test_a_log_always_says_what_the_files_say(tmp_path_factory, steps):
    folder = tmp_path_factory.mktemp("log")
    log = AuditLog(folder)
    for number, (device, step) in enumerate(steps):
        file = folder / FOLDER / device / "2027-01.jsonl"
        if step == "new":
            record(folder, device, at(f"2027-01-31T00:00:{number % 60:02}.000Z"))
        elif file.exists() and step == "gone":
            file.unlink()
        elif file.exists():
            with file.open("ab") as opened:
                opened.write(b"no line\n" if step == "bad" else b'{"half')
        assert log.read() == read_audit(folder)


@pytest.mark.parametrize("time", ["x", "", "2027-01-31", "0001-01-01T00:00:00.000Z",
                                  "2027-13-31T09:00:00.000Z"])  # fmt: skip
def test_a_line_without_a_time_is_none(time):
    with pytest.raises(ValueError):
        parse(json.dumps(to_raw(at(time))).encode() + b"\n")


def test_half_a_character_is_shown_as_none():
    line = json.dumps(to_raw(at(ASKED.time)) | {"query": "x\ud800 \U0001f600"}).encode()
    assert parse(line + b"\n").query == "x\ufffd \U0001f600"
