"""A whole note in a text field and back: no byte changes that its owner did not change."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zibaldone.vault.errors import InvalidArgument
from zibaldone.vault.source import Source
from zibaldone.vault.text_field import COMPARED, field_text, with_field_text

LINES = st.lists(
    st.tuples(st.sampled_from(["", "a", "b", "---", "id: x", "\udcff", "é\0", "\ufeff"]),
              st.sampled_from(["\n", "\r\n", "\r"])),
    max_size=8,
)  # fmt: skip


def after(data, change):
    source = Source.parse(data)
    return with_field_text(source, change(field_text(source))).data


@given(LINES, st.sampled_from(["", "end"]), st.booleans())
def test_a_text_that_was_not_changed_keeps_every_byte(lines, last, mark):
    text = ("\ufeff" if mark else "") + "".join(line + end for line, end in lines) + last
    data = text.encode("utf-8", "surrogateescape")
    assert after(data, str) == data
    assert "\r" not in field_text(Source.parse(data))


@given(LINES, st.lists(st.sampled_from(["", "a", "b", "new"]), max_size=8))
def test_a_changed_text_is_what_the_field_said(lines, typed):
    text = "\n".join(typed)
    source = Source.from_text("".join(line + end for line, end in lines))
    made = with_field_text(source, text)
    assert field_text(made) == text
    if lines and {end for _, end in lines} == {"\r\n"}:
        assert re.sub("\r\n", "", made.text).count("\n") == 0


@pytest.mark.parametrize(
    ("before", "old", "new", "expected"),
    [
        (b"\xef\xbb\xbf---\r\na: 1\r\n---\r\nOne\r\n", "One", "Two",
         b"\xef\xbb\xbf---\r\na: 1\r\n---\r\nTwo\r\n"),
        (b"One\r\nTwo\nThree", "Two", "Two\nmore", b"One\r\nTwo\nmore\nThree"),
        (b"One\r\nTwo\r\n", "Two\n", "Two", b"One\r\nTwo"),
        (b"One\r\nTwo", "Two", "Two\n", b"One\r\nTwo\r\n"),
        (b"\xff\r\nOne\n", "One", "Two", b"\xff\r\nTwo\n"),
        (b"\xff\r\nOne\n", "\ufffd\n", "", b"One\n"),
        (b"One\rTwo\n", "Two", "", b"One\n\n"),
        (b"One", "One", "", b""),
    ],
)  # fmt: skip
def test_only_what_was_changed_is_another(before, old, new, expected):
    assert after(before, lambda text: text.replace(old, new)) == expected


@pytest.mark.parametrize("data", [b"caf\xe9 one\n", b"nul\0 one\n"])
def test_a_line_whose_bytes_cannot_be_shown_is_not_changed(data):
    with pytest.raises(InvalidArgument, match="bytes that are no text"):
        after(data, lambda text: text.replace("one", "two"))


def test_a_long_note_that_is_all_new_is_written_at_once():
    data = b"".join(b"old %d\r\n" % number for number in range(COMPARED + 2))
    assert after(data, lambda text: text.replace("old", "new")) == data.replace(b"old", b"new")
