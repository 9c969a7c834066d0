"""Bytes in, the same bytes out; and where a frontmatter block begins and ends."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zibaldone.vault.source import Source, readable, token_of

pieces = st.sampled_from(
    [b"---", b"...", b"\n", b"\r\n", b"\r", b" ", b"\t", b"a: 1", b"\xef\xbb\xbf", b"\xe9", b"\0"]
)
hostile = st.one_of(st.binary(), st.lists(pieces, max_size=30).map(b"".join))


def split(data):
    source = Source.parse(data)
    yaml = None if source.yaml is None else source.text[slice(*source.yaml)]
    return yaml, source.body_text


@given(hostile)
def test_any_bytes_come_back(data):
    source = Source.parse(data)
    assert source.data == data
    assert source.token == token_of(data) == hashlib.sha256(data).hexdigest()


@given(hostile)
def test_block_and_body_lie_in_order(data):
    source = Source.parse(data)
    start, end = source.yaml or (0, 0)
    assert 0 <= start <= end <= source.body <= len(source.text)


@given(hostile, st.text(), st.data())
def test_splice_replaces_one_span_only(data, replacement, draw):
    source = Source.parse(data)
    start = draw.draw(st.integers(0, len(source.text)))
    end = draw.draw(st.integers(start, len(source.text)))
    spliced = source.splice(start, end, replacement)
    assert spliced.text == source.text[:start] + replacement + source.text[end:]
    assert spliced == Source.from_text(spliced.text)


@pytest.mark.parametrize(
    ("data", "yaml", "body"),
    [
        (b"---\na: 1\n---\nBody\n", "a: 1\n", "Body\n"),
        (b"---\na: 1\n...\nBody", "a: 1\n", "Body"),
        (b"---  \na: 1\n---\t \nBody", "a: 1\n", "Body"),
        (b"---\r\na: 1\r\n---\r\nBody", "a: 1\r\n", "Body"),
        (b"\xef\xbb\xbf---\na: 1\n---\nBody", "a: 1\n", "Body"),
        (b"---\n---\nBody", "", "Body"),
        (b"---\na: 1\n---", "a: 1\n", ""),
        (b"---\na: --- b\n----\n--- c\n---\nBody", "a: --- b\n----\n--- c\n", "Body"),
    ],
)
def test_a_block_is_found(data, yaml, body):
    assert split(data) == (yaml, body)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n---\na: 1\n---\n",
        b" ---\na: 1\n---\n",
        b"---\na: 1\n",
        b"---",
        b"----\na: 1\n----\n",
        b"--- a: 1\n---\n",
        b"...\na: 1\n---\n",
        b"---\\nstate: boiling\\n---\\nTea time.",
    ],
)
def test_what_is_not_a_block_is_body(data):
    assert split(data) == (None, data.decode())


def test_a_byte_order_mark_is_not_body():
    source = Source.parse(b"\xef\xbb\xbfText")
    assert (source.body_text, source.data) == ("Text", b"\xef\xbb\xbfText")


@pytest.mark.parametrize(
    ("text", "newline"),
    [("", "\n"), ("a", "\n"), ("\n\r\n", "\n"), ("a\r\nb\n", "\r\n"), ("a\rb\nc", "\n")],
)
def test_newline_is_that_of_the_first_line(text, newline):
    assert Source.from_text(text).newline == newline


def test_ix_18_bytes_that_are_not_utf_8_are_shown_as_replacement_characters():
    source = Source.parse(b"caf\xe9 pepper\n")
    assert readable(source.text) == "caf\ufffd pepper\n"
    assert len(readable(source.text)) == len(source.text)
    assert readable("plain") == "plain"
    assert source.undecoded == 3


def test_text_that_is_utf_8_has_nothing_undecoded():
    assert Source.parse("café \U0001f331\0".encode()).undecoded is None


def test_a_long_text_of_open_fences_is_split_at_once():
    text = "---\n" + "--- \t" * 400_000
    assert Source.from_text(text).yaml is None


@pytest.mark.parametrize(("data", "line"), [(b"Oak\n", 1), (b"---\r\na: 1\r\n---\r\nOak", 4)])
def test_the_body_starts_on_a_line_of_the_file(data, line):
    assert Source.parse(data).first_line == line
