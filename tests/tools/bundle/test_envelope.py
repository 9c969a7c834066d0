"""The envelope: nothing that stands in it can end it, or look like a citation of it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zibaldone.tools.bundle import envelope
from zibaldone.tools.bundle.envelope import (
    PLAIN_NONCE,
    Block,
    body,
    cited,
    fresh_nonce,
    quoted,
    sealed,
)
from zibaldone.tools.tokens import count_tokens

SIGNS = st.sampled_from("[1] 23]\n\r\v\x85\u2028·</>recalled ")


def test_notes_are_numbered_and_their_texts_stand_below_them():
    blocks = [Block("a.md · A", ("one", "two\nlines")), Block("b.md · B", ("three",), True)]
    text = sealed(body(blocks), "12345678")
    assert text == (
        "<recalled 12345678>\n[1] a.md · A\none\ntwo\nlines\n[2] b.md · B\nthree\n[…]\n"
        "</recalled 12345678>"
    )
    assert sealed("", "12345678") == ""


@given(st.text(st.one_of(SIGNS, st.characters())))
def test_a_text_has_no_line_like_a_citation(text):
    shown = quoted(text)
    assert not any(re.match(r"\[\d+\] ", line) for line in shown.splitlines())
    assert "\r" not in shown
    assert shown.replace("\\[", "[").split() == text.replace("\\[", "[").split()


@given(st.text())
def test_a_citation_is_one_line_whatever_a_file_is_called(name):
    assert len(cited(7, name).splitlines()) == 1
    assert cited(7, name).startswith("[7] ")


def test_a_nonce_is_fresh_and_occurs_nowhere(monkeypatch):
    assert len({fresh_nonce("") for _ in range(50)}) > 45
    made = iter([11111111, 22222222, 3])
    monkeypatch.setattr(envelope.secrets, "randbelow", lambda _: next(made))
    assert fresh_nonce("x 11111111 y22222222z") == "00000003"


@pytest.mark.parametrize("nonce", ["00000000", "12345678", "98765432", "11111111"])
def test_every_nonce_costs_the_same(nonce):
    assert count_tokens(sealed("text\n", nonce)) == count_tokens(sealed("text\n", PLAIN_NONCE))
