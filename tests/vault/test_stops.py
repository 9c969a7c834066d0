"""What rules have stopped is kept as lines, and read back past what is none."""

import pytest
from zibaldone.vault.errors import StorageFailed
from zibaldone.vault.stops import FOLDER, Stop, now, record_stop, stops

STOP = Stop("2027-01-31T09:00:00Z", "no-health", "agent-memory/rules.md", "recall", "a", "s", 3)


def test_what_was_stopped_is_read_back_device_by_device(tmp_path):
    record_stop(tmp_path / "state", "b", STOP)
    record_stop(tmp_path / "state", "a", STOP)
    record_stop(tmp_path / "state", "b", STOP)
    assert list(stops(tmp_path / "state")) == [STOP] * 3
    assert (tmp_path / "state" / FOLDER / "b" / "2027-01.jsonl").is_file()


def test_a_line_that_is_no_stop_is_passed_over(tmp_path):
    assert list(stops(tmp_path)) == []
    record_stop(tmp_path, "a", STOP)
    file = tmp_path / FOLDER / "a" / "2027-01.jsonl"
    line = file.read_bytes()
    wrong = [line.replace(b'"recall"', b"7"), line.replace(b"2027-01-31", b"2027-31-31")]
    wrong += [line.replace(b": 3", b": 0.5"), line.replace(b": 3", b": true")]
    file.write_bytes(b"{}\nno json\n[1]\n" + b"".join(wrong) + line + b'{"time": "torn')
    assert list(stops(tmp_path)) == [STOP]


def test_a_place_that_cannot_be_written_is_a_typed_failure(tmp_path):
    (tmp_path / FOLDER).write_text("a file")
    with pytest.raises(StorageFailed):
        record_stop(tmp_path, "a", STOP)


def test_the_time_is_iso_8601_in_utc():
    assert len(now()) == len(STOP.time)
    assert now().endswith("Z")
