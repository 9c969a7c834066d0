"""The form of what is to be remembered: what is kept of it, and what cannot be kept."""

import pytest
from zibaldone.tools.policy.form import SUMMARY_LENGTH, check_form, checked_tag
from zibaldone.vault.errors import InvalidArgument, ObservationRefused


def checked(
    text="Likes tea", summary=None, kind="semantic", tags=(), derived_from=(), expires=None
):
    return check_form(text, summary, kind, tags, derived_from, expires)


def test_words_are_kept_without_the_blanks_around_them():
    candidate = checked("  Likes tea \r\nand mate  ", "What she \n drinks")
    assert candidate.text == "Likes tea\nand mate"
    assert candidate.summary == "What she drinks"
    assert (candidate.fields, candidate.type, candidate.pending) == ({}, "semantic", False)


def test_only_what_is_no_default_becomes_a_field():
    candidate = checked(kind="episodic", derived_from=["m3k9f2", "q81xz0@v2"], expires="2027-01-31")
    assert candidate.fields == {
        "type": "episodic",
        "expires": "2027-01-31",
        "derived_from": "m3k9f2, q81xz0@v2",
    }
    assert candidate.type == "episodic"


def test_tags_stand_behind_the_words_once():
    assert checked("Likes #tea", tags=["#Tea", "hot", "hot"]).words == "Likes #tea #hot"


def test_equal_words_with_all_tags_are_the_same_fact():
    candidate = checked("Likes #tea")
    assert candidate.is_told_by("likes  #tea.")
    assert candidate.is_told_by("Likes #hot #tea")
    assert not candidate.is_told_by("Likes #coffee")
    assert not candidate.is_told_by("Likes tea")


@pytest.mark.parametrize("text", ["", " \n", "a\0b", "\ud800", "x" * 4097])
def test_what_is_no_text_is_refused(text):
    with pytest.raises(ObservationRefused):
        checked(text)


@pytest.mark.parametrize(
    ("argument", "given"),
    [
        ("type", {"kind": "rumour"}),
        ("tags", {"tags": ["two words"]}),
        ("derived_from", {"derived_from": ["a]b"]}),
        ("expires", {"expires": "31.1.2027"}),
        ("summary", {"summary": "x" * (SUMMARY_LENGTH + 1)}),
    ],
)
def test_an_argument_that_cannot_be_written_is_named(argument, given):
    with pytest.raises(InvalidArgument) as refused:
        checked(**given)
    assert refused.value.argument == argument


@pytest.mark.parametrize("text", ["", "#", "123", "a b", "a]b", "x" * 101])
def test_what_is_no_tag(text):
    with pytest.raises(InvalidArgument):
        checked_tag(text)
