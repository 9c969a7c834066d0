"""Recalled text that comes back: taken apart, whatever it is wrapped in, and nothing made up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zibaldone.tools.policy.echo import heard, told_again, told_within

KNOWN = {"a": "Prefers dark themes in every editor.", "b": "Likes tea", "c": "Sails. On Sundays."}

BUNDLE = """\
<recalled 70249651>
[1] agent-memory/preferences.md · Preferences · 2026-11-02
- Prefers dark themes in every editor. ^m3k9f2 · agent
- Likes tea ^abcde1 · owner
[2] projects/boat/Log.md · Log · 2026-11-02 · owner
</recalled 70249651>"""


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (BUNDLE, ("a", "b")),
        ("- Prefers dark themes in every editor. ^m3k9f2 · agent", ("a",)),
        ("likes TEA ^abcde1", ("a", "b")[1:]),
        ("Prefers dark themes in every editor; likes tea.", ("a", "b")),
        ("Likes tea. Prefers dark themes in every editor.", ("b", "a")),
        ("1. Likes tea\n2. Sails. On Sundays.", ("b", "c")),
        ("Likes tea. Likes tea.", ("b",)),
    ],
)
def test_text_that_consists_of_known_facts_is_told_again(text, names):
    assert told_again(heard(text), KNOWN) == names


@pytest.mark.parametrize(
    "text",
    [
        "Likes tea and prefers dark themes in every editor",
        "Likes tea. Hates coffee.",
        "No. Likes tea.",
        "Likes tea #work. Sails. On Sundays.",
        "Sails.",
        "<recalled 1>\n</recalled 1>",
        "",
    ],
)
def test_text_with_anything_of_its_own_is_not(text):
    assert told_again(heard(text), KNOWN) == ()


def test_a_known_fact_beside_others_is_found():
    assert told_within(heard("Likes tea. Hates coffee."), KNOWN) == {"b"}
    assert told_within(heard("Hates coffee."), KNOWN) == set()


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("She likes dark editors (m3k9f2@v1).", ("m3k9f2",)),
        ("She likes dark editors [^m3k9f2]", ("m3k9f2",)),
        ("She likes dark editors ^m3k9f2 · agent", ("m3k9f2",)),
        ("See [[preferences#^m3k9f2]] for more.", ()),
        ("The area is x^2 and e^10.", ()),
        ("Mail to anna@v2.example.org.", ()),
    ],
)
def test_citations_are_those_of_a_recall(text, cited):
    assert heard(text).cited == cited


def test_one_plain_fact_needs_no_closer_look():
    assert not heard("Prefers dark themes in every editor.").may_echo
    assert heard(BUNDLE).may_echo


@given(st.text(max_size=200))
def test_any_text_can_be_taken_apart(text):
    told_again(heard(text), KNOWN)
    told_within(heard(text), KNOWN)


def test_hostile_text_is_taken_apart_quickly():
    for text in (
        "^" * 4000,
        "[1] " + "· " * 2000,
        "a1b2c3@v" * 500,
        ". " * 2000,
        "<recalled " * 400,
    ):
        heard(text)
