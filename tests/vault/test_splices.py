"""From one state of a file to another by splices, exactly, and back."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zibaldone.vault.splices import (
    CONTEXT,
    MAX_PIECES,
    Splice,
    apply,
    in_order,
    invert,
    splice_into,
    splices_between,
    whole,
)

lines = st.sampled_from(
    [b"- one\n", b"- two\n", b"- three\r\n", b"\n", b"# Head\n", "- Café 記憶\n".encode(), b"tail"]
)
states = st.one_of(st.binary(max_size=200), st.lists(lines, max_size=25).map(b"".join))


@given(states, states)
def test_splices_lead_there_and_back(before, after):
    splices = splices_between(before, after)
    assert in_order(splices)
    assert apply(splices, before) == after
    assert apply(invert(splices), after) == before
    assert invert(invert(splices)) == splices
    assert bool(splices) == (before != after)


@given(states, states)
def test_splices_hold_whole_lines_and_no_two_touch(before, after):
    splices = splices_between(before, after)
    for splice in splices:
        end = splice.start + len(splice.removed)
        assert splice.start == 0 or before[splice.start - 1 : splice.start] == b"\n"
        assert end == len(before) or splice.removed.endswith(b"\n") or not splice.removed
    ends = [splice.start + len(splice.removed) for splice in splices]
    assert all(end < splice.start for end, splice in zip(ends, splices[1:], strict=False))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (b"", b"a\n", [Splice(0, b"", b"a\n")]),
        (b"a\n", b"", [Splice(0, b"a\n", b"")]),
        (b"a\n", b"a\nb\n", [Splice(2, b"", b"b\n")]),
        (b"a\nb\nc\n", b"a\nc\n", [Splice(2, b"b\n", b"")]),
        (b"- tea 1\n", b"- tea 2\n", [Splice(0, b"- tea 1\n", b"- tea 2\n")]),
        (b"a\nno end", b"a\nno end\nb\n", [Splice(2, b"no end", b"no end\nb\n")]),
        (b"a\r\nb\r\n", b"a\nb\r\n", [Splice(0, b"a\r\n", b"a\n")]),
        (b"a\na\n", b"a\na\na\n", [Splice(4, b"", b"a\n")]),
        (
            b"1\n2\n3\n4\n5\n",
            b"1\ntwo\n3\n5\nsix\n",
            [Splice(2, b"2\n", b"two\n"), Splice(6, b"4\n", b""), Splice(10, b"", b"six\n")],
        ),
    ],
)
def test_what_changed_is_what_is_spliced(before, after, expected):
    assert list(splices_between(before, after)) == expected


def test_lines_that_moved_are_the_fewest():
    before = b"".join(b"%d\n" % number for number in range(20))
    after = before.replace(b"3\n", b"", 1) + b"3\n"
    moved = splices_between(before, after)
    assert [splice.removed + splice.inserted for splice in moved] == [b"3\n", b"3\n"]


@given(st.integers(0, 3 * CONTEXT), st.integers(0, 3 * CONTEXT), st.sampled_from("aé記"))
def test_a_very_long_line_is_not_kept_twice(ahead, behind, letter):
    before = (letter * ahead + "old" + letter * behind).encode()
    after = before.replace(b"old", b"changed", 1)
    (splice,) = splices_between(before, after)
    assert apply([splice], before) == after
    assert max(len(splice.removed), len(splice.inserted)) <= 2 * (CONTEXT + 3) + len(b"changed")
    assert "old" in splice.removed.decode()
    assert "changed" in splice.inserted.decode()


def test_a_line_that_is_not_very_long_stays_whole():
    before = b"x" * (CONTEXT // 2) + b" old " + b"y" * (CONTEXT // 2)
    (splice,) = splices_between(before, before.replace(b"old", b"new"))
    assert splice.removed == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"- same\n" * 20_000, b"- same\n" * 20_001 + b"- other\n"),
        (b"- a\n- b\n" * 10_000, b"- b\n- a\n" * 10_000),
        (b"%d\n" * 20_000, b"%d\n" * 10_000 + b"x" * 1_000_000),
        (
            b"".join(b"%d\n" % number for number in range(30_000)),
            b"".join(b"%d\n" % number for number in reversed(range(30_000))),
        ),
        (b"[" * 2_000_000, b"[" * 2_000_001),
        (b"\x80" * 1_000_000, b"\x80" * 500_000 + b"a" + b"\x80" * 500_000),
    ],
    ids=["same", "swapped", "long tail", "reversed", "one line", "no characters"],
)
def test_hostile_files_take_no_time(before, after):
    started = time.process_time()
    splices = splices_between(before, after)
    assert time.process_time() - started < 2
    assert apply(splices, before) == after


@given(states)
def test_the_whole_text_comes_from_nothing(data):
    splices = whole(data)
    assert apply(splices, b"") == data
    assert in_order(splices)
    assert len(splices) <= MAX_PIECES
    assert apply(invert(splices), data) == b""


def test_the_whole_of_a_small_text_has_a_splice_for_each_line():
    assert [each.inserted for each in whole(b"# A\n\n- b\nend")] == [
        b"# A\n",
        b"\n",
        b"- b\n",
        b"end",
    ]


def test_the_whole_of_a_large_text_has_not():
    data = b"- line\n" * 100_000
    assert len(whole(data)) == MAX_PIECES
    assert apply(whole(data), b"") == data


def test_splices_at_one_place_come_in_the_order_listed():
    assert apply([Splice(1, b"", b"2"), Splice(1, b"x", b"3")], b"1x4") == b"1234"


def test_other_bytes_than_those_removed_are_refused():
    with pytest.raises(ValueError, match="other bytes"):
        apply([Splice(1, b"b", b"")], b"axc")


def test_a_splice_beyond_the_end_is_refused():
    with pytest.raises(ValueError, match="ends before 5"):
        splice_into(bytearray(b"abc"), [Splice(2, b"xxx", b"")])


@pytest.mark.parametrize(
    "splices", [[Splice(-1)], [Splice(4), Splice(3)], [Splice(0, b"abc"), Splice(2, b"c")]]
)
def test_disorder_is_seen(splices):
    assert not in_order(splices)
