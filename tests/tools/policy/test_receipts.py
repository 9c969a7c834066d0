"""Receipts: what one is good for, and all that it is not good for."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zibaldone.tools.policy.receipts import (
    EXPIRED,
    FORGED,
    LASTS,
    OTHER_CALLER,
    OTHER_WORDS,
    Receipts,
)
from zibaldone.tools.refusals import ReceiptRefused

RECEIPTS = Receipts(b"k" * 32)
NOW = 1_800_000_000.0
SHOWN = ("one memory", "another memory")


def given_for(words="words", caller="caller", shown=SHOWN, now=NOW):
    return RECEIPTS.give(words, caller, shown, now)


def read(receipt, words="words", caller="caller", now=NOW):
    return RECEIPTS.read(receipt, words, caller, now)


def reason(act):
    with pytest.raises(ReceiptRefused) as refused:
        act()
    return refused.value.reason


def test_a_receipt_tells_what_was_shown():
    assert read(given_for()) == {RECEIPTS.mark(one) for one in SHOWN}
    assert read(given_for(shown=())) == frozenset()
    assert RECEIPTS.mark("a memory that has changed") not in read(given_for())


def test_it_is_short_enough_to_be_copied_and_holds_no_words():
    receipt = given_for(words="the harbour at night", shown=["m"] * 5)
    assert len(receipt) <= 100
    assert b"harbour" not in base64.urlsafe_b64decode(receipt + "===")


@pytest.mark.parametrize(
    ("refused", "why"),
    [
        (lambda r: read(r, words="other words"), OTHER_WORDS),
        (lambda r: read(r, caller="someone else"), OTHER_CALLER),
        (lambda r: read(r, now=NOW + LASTS + 2), EXPIRED),
        (lambda r: Receipts(b"o" * 32).read(r, "words", "caller", NOW), FORGED),
        (lambda r: read(f"{r[:-2]}AA"), FORGED),
        (lambda r: read(r[4:]), FORGED),
        (lambda _: read(""), FORGED),
        (lambda _: read("é!"), FORGED),
    ],
    ids=["words", "caller", "old", "vault", "end", "cut", "blank", "no-base64"],
)
def test_it_is_refused_with_the_reason(refused, why):
    assert reason(lambda: refused(given_for())) == why


def test_it_holds_until_its_last_second():
    assert read(given_for(), now=NOW + LASTS - 1)


@given(st.binary(max_size=120))
def test_nothing_made_up_is_a_receipt(data):
    made_up = base64.urlsafe_b64encode(data).decode()
    assert reason(lambda: read(made_up)) == FORGED


@given(st.integers(0, 10_000), st.integers(0, 7))
def test_no_bit_of_it_can_be_changed(position, bit):
    receipt = given_for()
    data = bytearray(base64.urlsafe_b64decode(receipt + "=" * (-len(receipt) % 4)))
    data[position % len(data)] ^= 1 << bit
    changed = base64.urlsafe_b64encode(bytes(data)).decode()
    assert reason(lambda: read(changed)) == FORGED
