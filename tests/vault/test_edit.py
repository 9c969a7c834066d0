"""Edits change what they are asked to change and not one byte more."""

import re
import time
import unicodedata
from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from zibaldone.vault import edit
from zibaldone.vault.errors import (
    InvalidArgument,
    SectionAmbiguous,
    SectionNotFound,
    TextNotFound,
    TextNotUnique,
)
from zibaldone.vault.markdown import parse
from zibaldone.vault.source import Source

PIECES = "word two x é e\u0301 日本 🌱 - * 1. # ## ### > --- === ``` | ... id:"
BLANKS = (" ", "  ", "\n", "\n\n", "\r\n", "\r\n\r\n", "\r", "\t", "\n- ", "\n  ", "\n## ")
BODY = st.lists(st.sampled_from([*PIECES.split(), *BLANKS]), max_size=40).map("".join)
HEAD = st.sampled_from(
    ["", "", "\ufeff", "---\nid: a\n---\n", "\ufeff---\r\nid: a\r\n---\r\n", "---\nid: a\n---"]
)
FILE = st.tuples(HEAD, BODY).map("".join)


def change(text: str, find: str, content: str = "", expected: int = 1) -> str:
    source = Source.from_text(text)
    return edit.find_replace(source, "n.md", find, content, expected=expected).text


def changed(before: str, after: str) -> tuple[str, str]:
    """What differs between two texts, without what they share at both ends."""
    limit = min(len(before), len(after))
    head = next((n for n in range(limit) if before[n] != after[n]), limit)
    limit -= head
    tail = next((n for n in range(limit) if before[-n - 1] != after[-n - 1]), limit)
    return before[head : len(before) - tail], after[head : len(after) - tail]


# Finding and replacing


def test_ed_01_a_text_that_occurs_twice_is_refused_with_its_lines() -> None:
    rows = "- water: 2\n- wood: 2\n- water: 2\n"
    with pytest.raises(TextNotUnique) as refused:
        change(rows, "water: 2", "water: 3")
    assert (refused.value.count, refused.value.lines) == (2, (1, 3))
    assert change(rows, "water: 2", "water: 3", 2) == "- water: 3\n- wood: 2\n- water: 3\n"
    with pytest.raises(InvalidArgument, match="occurs 2 times, on lines 1, 3"):
        change(rows, "water: 2", "water: 3", 3)


def test_lines_are_those_of_the_file() -> None:
    with pytest.raises(TextNotUnique) as refused:
        change("---\r\nid: a\r\n---\r\nx\r\nx\r\n", "x", "y")
    assert refused.value.lines == (4, 5)


def test_occurrences_that_overlap_are_two() -> None:
    with pytest.raises(TextNotUnique):
        change("aaa", "aa", "b")
    with pytest.raises(TextNotUnique):
        change("aaa", "aa", "b", 2)
    assert change("aaaa", "aa", "b", 2) == "bb"


def test_ed_03_the_replacement_is_no_pattern() -> None:
    money = "Price: TBD\nPath: TBD2\n"
    once = change(money, "TBD2", r"\1 and \g<0> and \new")
    assert change(once, "TBD", "$& costs $$5") == (
        "Price: $& costs $$5\nPath: \\1 and \\g<0> and \\new\n"
    )


def test_ed_05_no_replacement_deletes() -> None:
    source = Source.from_text("keep this\ndrop this\n")
    assert edit.find_replace(source, "n.md", "drop this").text == "keep this\n"
    assert edit.find_replace(source, "n.md", "drop this", "").text == "keep this\n"


@pytest.mark.parametrize("find", ["", " ", "\n", " \t\n", "\u00a0"])
def test_ed_06_a_blank_text_to_find_is_refused(find: str) -> None:
    with pytest.raises(InvalidArgument, match="'find': it is empty or blank"):
        change("oak\tash\nelm\tfir\n", find, "Q")


def test_ed_08_lines_that_are_not_edited_keep_their_line_ends() -> None:
    mixed = "one\ntwo\r\nthree\nfour\n"
    assert change(mixed, "three\nfour", "THREE\nFOUR") == "one\ntwo\r\nTHREE\nFOUR\n"
    assert change(mixed, "two\nthree", "2\n3") == "one\n2\r\n3\nfour\n"
    assert change(mixed, "two\r\nthree\r\n", "2\n3\n") == "one\n2\r\n3\nfour\n"
    assert change(mixed, "two", "2\n2b") == "one\n2\r\n2b\r\nthree\nfour\n"
    assert change("one\r\ntwo", "two", "2\n3") == "one\r\n2\r\n3"


def test_ed_10_a_small_edit_rewrites_nothing_else() -> None:
    links = (
        "---\nupdated: 2030-01-01\n---\nSee [[Alpha]], [[Beta|b]] and ![[Gamma#Part]].\n\n"
        "* star list\n- dash list\n\nWord to fix: teh\n"
    )
    assert change(links, "teh", "the") == links.replace("teh", "the")


def test_mm_06_a_part_of_a_fact_is_replaced() -> None:
    fact = "- Lives in a flat; heating code 4711; cat is called Pim\n"
    assert change(fact, "heating code 4711", "heating code 9922") == fact.replace("4711", "9922")


def test_mm_08_the_old_text_is_gone() -> None:
    assert change("- Dislikes opera\n", "- Dislikes opera", "- Enjoys opera") == "- Enjoys opera\n"


def test_the_frontmatter_is_out_of_reach() -> None:
    note = "---\ntitle: oak\n---\nelm\n"
    with pytest.raises(TextNotFound):
        change(note, "oak", "ash")
    with pytest.raises(TextNotFound):
        change(note, "---\nelm", "ash")


@pytest.mark.parametrize(
    ("text", "find"),
    [
        ("caf\u00e9 au lait", "cafe\u0301"),
        ("cafe\u0301 au lait", "caf\u00e9"),
        ("x\u1ea1\u0302 y", "a\u0302\u0323"),
        ("서울에서", unicodedata.normalize("NFD", "서울")),
        (unicodedata.normalize("NFD", "서울에서"), "서울"),
        ("\u212b unit", "\u00c5"),
        ("one\r\ntwo", "one\ntwo"),
        ("one\rtwo", "one\r\ntwo"),
    ],
)
def test_normal_form_and_line_ends_do_not_matter(text: str, find: str) -> None:
    folded = unicodedata.normalize("NFC", re.sub("\r\n?", "\n", text))
    wanted = unicodedata.normalize("NFC", re.sub("\r\n?", "\n", find))
    edited = change(text, find, "Q")
    assert unicodedata.normalize("NFC", edited) == folded.replace(wanted, "Q")


@pytest.mark.parametrize(
    ("text", "find"),
    [("cafe\u0301", "cafe"), ("caf\u00e9", "cafe"), ("각", "가"), ("Oak", "oak"), ("a b", "a  b")],
)
def test_otherwise_matching_is_exact(text: str, find: str) -> None:
    with pytest.raises(TextNotFound):
        change(text, find, "Q")


def test_text_that_is_not_unicode_is_refused() -> None:
    for find, content in (("\udc80", "x"), ("a", "\ud800")):
        with pytest.raises(InvalidArgument, match="not valid Unicode"):
            change("a\udc80", find, content)
    assert Source.from_text(change("a\udc80b", "b", "c")).data == b"a\x80c"


# Deleting


@pytest.mark.parametrize(
    ("text", "find", "left"),
    [
        ("- a\n- b\n- c\n", "b", "- a\n- c\n"),
        ("- a\n- b\n- c\n", "- b", "- a\n- c\n"),
        ("- a\n- b\n- c\n", "- b\n", "- a\n- c\n"),
        ("- a\n- b\n- c\n", "\n- b", "- a\n- c\n"),
        ("- a\n- b [type:: x] ^id1\n- c\n", "b", "- a\n- c\n"),
        ("- a\n- [ ] b\n- c\n", "b", "- a\n- c\n"),
        ("1. a\r\n2. b\r\n3. c\r\n", "b", "1. a\r\n3. c\r\n"),
        ("- a\n- b\n  more\n- c\n", "b", "- a\n- more\n- c\n"),
        ("- a\n- b\n  - nested\n- c\n", "b", "- a\n  - nested\n- c\n"),
        ("- a\n- b\n  more\n- c\n", "b\n  more", "- a\n- c\n"),
        ("- a and b\n", " and b", "- a\n"),
        ("- a, b\n- c\n", "b", "- a,\n- c\n"),
        ("- a b c\n", " b", "- a c\n"),
        ("a\n\nb\n\nc\n", "b", "a\n\nc\n"),
        ("a\n\nb\n\nc\n", "b\n", "a\n\nc\n"),
        ("a\n\n\nb\n\n\nc\n\n\nd\n", "b", "a\n\nc\n\n\nd\n"),
        ("a\r\n\r\nb\r\n\r\nc\r\n", "b", "a\r\n\r\nc\r\n"),
        ("a\nb\n\n\r\n\nc\n", "b", "a\n\nc\n"),
        ("a\n\nb\n", "b", "a\n"),
        ("a\n\nb", "b", "a\n"),
        ("b\n\nc\n", "b", "c\n"),
        ("---\nid: a\n---\n\nb\n\nc\n", "b", "---\nid: a\n---\n\nc\n"),
        ("---\nid: a\n---\n\nb\n", "b", "---\nid: a\n---\n"),
        ("a\n## b\nc\n", "b", "a\nc\n"),
        ("> a\n> b\n> c\n", "b", "> a\n> c\n"),
        ("a\n---\nb\n", "b", "a\n---\n"),
        ("a\nb\n---\nc\n", "b", "a\n\n---\nc\n"),
        ("**a**\n", "a", "****\n"),
    ],
)
def test_a_deletion_heals_the_seam(text: str, find: str, left: str) -> None:
    assert change(text, find) == left


def test_several_deletions_heal_together() -> None:
    assert change("- x\n- x x\n- y\n", "x", expected=3) == "- y\n"
    assert change("a\n\nx\n\nx\n\nb\n", "x", expected=2) == "a\n\nb\n"
    assert change("- -\nb\n", "-", expected=2) == "b\n"


# Adding


@pytest.mark.parametrize(
    ("text", "content", "after"),
    [
        ("Heat log.\n", "1200 degrees", "Heat log.\n1200 degrees\n"),
        ("Heat log.", "1200 degrees\n", "Heat log.\n1200 degrees\n"),
        ("a\r\nb", "c\nd", "a\r\nb\r\nc\r\nd\r\n"),
        ("- a\n", "- b", "- a\n- b\n"),
        ("- a\n", "text", "- a\n\ntext\n"),
        ("| a |\n|---|\n| b |\n", "text", "| a |\n|---|\n| b |\n\ntext\n"),
        ("> a\n", "text", "> a\n\ntext\n"),
        ("a\n", "---", "a\n\n---\n"),
        ("a\n\n\n", "b", "a\n\n\nb\n"),
        ("", "b", "b\n"),
        ("\ufeff", "b", "\ufeffb\n"),
        ("---\nid: a\n---", "b", "---\nid: a\n---\nb\n"),
        ("---\nid: a\n---\n", "b", "---\nid: a\n---\nb\n"),
        ("", "---\nid: a\n---\n", "\n---\nid: a\n---\n"),
        ("---\nid: a\n", "---", "\n---\nid: a\n\n---\n"),
        ("a\n", "", "a\n"),
    ],
)
def test_append(text: str, content: str, after: str) -> None:
    assert edit.append(Source.from_text(text), content).text == after


@pytest.mark.parametrize(
    ("text", "content", "after"),
    [
        ("a\n", "b", "b\na\n"),
        ("---\nid: a\n---\n\n# T\n", "b\n", "---\nid: a\n---\n\nb\n# T\n"),
        ("\ufeffa\r\n", "b\nc", "\ufeffb\r\nc\r\na\r\n"),
        ("a\n", "- b", "- b\n\na\n"),
        ("a\n", "---\nid: x\n---\n", "\n---\nid: x\n---\na\n"),
        ("---\na\n", "b", "b\n\n---\na\n"),
        ("---\nid: a\n---", "b", "---\nid: a\n---\nb\n"),
        ("a\n", "", "a\n"),
    ],
)
def test_prepend(text: str, content: str, after: str) -> None:
    assert edit.prepend(Source.from_text(text), content).text == after


# Sections


def sectioned(
    function: Callable[[Source, str, str, str], Source], text: str, section: str, content: str
) -> str:
    return function(Source.from_text(text), "n.md", section, content).text


def replaced(text: str, section: str, content: str) -> str:
    return sectioned(edit.replace_section, text, section, content)


def appended(text: str, section: str, content: str) -> str:
    return sectioned(edit.append_to_section, text, section, content)


def test_ed_11_a_section_goes_with_its_sub_sections() -> None:
    text = "# Top\n\n## Tools\nold\n\n### Saws\nold saw\n\n## Paint\nkeep\n"
    after = "# Top\n\n## Tools\nnew\n\n## Paint\nkeep\n"
    assert replaced(text, "## Tools", "new") == after
    assert replaced(text, "Tools", "## Tools\nnew\n") == after
    assert replaced(text, "Tools", "") == "# Top\n\n## Tools\n\n## Paint\nkeep\n"


def test_ed_13_a_hash_line_in_a_fence_is_no_section() -> None:
    text = (
        "## Setup\n\n```sh\n# first step\n## Teardown\nrun it\n```\n\nafter fence\n\n"
        "## Teardown\nreal\n\n## Notes\n\n~~~\n## Setup\n~~~\n"
    )
    assert replaced(text, "Teardown", "gone") == text.replace("real", "gone")


HOUSE = "# House\n\n## Roof\n\n### Leaks\nnorth side\n\n## Cellar\n\n### Leaks\nwest wall\n"


def test_ed_15_a_section_is_never_made_up() -> None:
    with pytest.raises(SectionAmbiguous) as ambiguous:
        appended(HOUSE, "Leaks", "call mason")
    assert ambiguous.value.candidates == ("House / Roof / Leaks", "House / Cellar / Leaks")
    for name in ("Cellar / Leaks", "House / Cellar / Leaks", "## Cellar / ### Leaks"):
        assert appended(HOUSE, name, "call mason") == HOUSE + "call mason\n"
    with pytest.raises(SectionNotFound) as unknown:
        appended(HOUSE, "Attic", "call mason")
    assert unknown.value.headings[:2] == ("# House", "House / Roof")


def test_ed_16_headings_with_hashes_emoji_and_html() -> None:
    text = "# Day\n\n## 📝 | <b>Notes</b>\n\n## People\n- Ann\n"
    for name in ("## People", "People", "people", "Day / People"):
        assert appended(text, name, "- Bo") == text + "- Bo\n"
    after = text.replace("</b>\n", "</b>\nx\n")
    for name in ("## 📝 | <b>Notes</b>", "📝 | <b>Notes</b>", "📝 | Notes"):
        assert appended(text, name, "x") == after


def test_a_section_without_text() -> None:
    assert replaced("## A\n\n## B\n", "A", "new") == "## A\nnew\n\n## B\n"
    assert appended("## A\n## B", "B", "new") == "## A\n## B\nnew\n"
    assert replaced("## A\n", "A", "") == "## A\n"


def test_text_is_added_before_the_first_sub_section() -> None:
    assert appended(HOUSE, "# House", "text") == HOUSE.replace("House\n", "House\ntext\n")
    assert appended("# A\n\none\n\n## B\n", "A", "two") == "# A\n\none\ntwo\n\n## B\n"
    assert appended("# A\n- one\n\n## B\n", "A", "two") == "# A\n- one\n\ntwo\n\n## B\n"


def test_names_that_fit_several_headings() -> None:
    text = "# Notes\n\n## Notes\n\n# In / Out\n\n## notes\n"
    with pytest.raises(SectionAmbiguous) as refused:
        appended(text, "Notes", "x")
    assert refused.value.candidates == ("# Notes", "Notes / Notes")
    assert appended(text, "# Notes", "x").startswith("# Notes\nx\n")
    assert appended(text, "Notes / Notes", "x").startswith("# Notes\n\n## Notes\nx\n")
    assert appended(text, "In / Out", "x") == text.replace("Out\n", "Out\nx\n")
    assert appended(text, "In / Out / notes", "x") == text + "x\n"


def test_a_setext_heading_bounds_a_section() -> None:
    text = "One\n===\n```\na\n```\nTwo\n===\nb\n"
    assert replaced(text, "One", "new") == "One\n===\nnew\n\nTwo\n===\nb\n"


# Replacing all


@pytest.mark.parametrize(
    ("text", "content", "after"),
    [
        ("a\nb\n", "c", "c"),
        ("---\nid: a\n---\nb\n", "c\n", "---\nid: a\n---\nc\n"),
        ("---\nid: a\n---\nb\n", "---\nid: a\n---\nc\n", "---\nid: a\n---\nc\n"),
        (
            "\ufeff---\r\nid: a\r\n---\r\nb\r\n",
            "---\nid: a\n---\nc\n",
            "\ufeff---\r\nid: a\r\n---\r\nc\r\n",
        ),
        ("---\nid: a\n---\nb\n", "---\nid: x\n---\nc\n", "---\nid: a\n---\n---\nid: x\n---\nc\n"),
        ("b\n", "---\nid: x\n---\nc\n", "\n---\nid: x\n---\nc\n"),
        ("one\r\ntwo\nthree\r\n", "one\nTWO\nthree\n", "one\r\nTWO\nthree\r\n"),
        ("one\r\ntwo\n", "one\ntwo\n", "one\r\ntwo\n"),
        ("---\nid: a\n---", "b\n", "---\nid: a\n---\nb\n"),
        ("a\n", "", ""),
    ],
)
def test_replace_body(text: str, content: str, after: str) -> None:
    assert edit.replace_body(Source.from_text(text), content).text == after


# Any file, any edit


HEALED = re.compile(r"[\s>*#1.-]*")


def unix(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


@given(FILE, BODY, st.data())
def test_only_the_found_text_changes(text: str, content: str, data: st.DataObject) -> None:
    source = Source.from_text(text)
    assume(source.body < len(text))
    start = data.draw(st.integers(source.body, len(text) - 1))
    end = data.draw(st.integers(start + 1, min(len(text), start + 12)))
    assume(not any(map(unicodedata.combining, text[start] + text[end : end + 1])))
    assume("\r\n" not in (text[start - 1 : start + 1], text[end - 1 : end + 1]))
    try:
        edited = edit.find_replace(source, "n.md", text[start:end], content)
    except (TextNotUnique, InvalidArgument):
        return
    assert edited.yaml == source.yaml
    head, tail = text[:start], text[end:]
    if content:
        kept = {head, text[: source.body] + source.newline + text[source.body : start]}
        assert any(edited.text.startswith(one) and edited.text.endswith(tail) for one in kept)
        assert {unix(one) + unix(content) + unix(tail) for one in kept} >= {unix(edited.text)}
    else:
        gaps = ["", source.newline]
        cuts = product(gaps, range(start + 1), range(end, len(text) + 1))
        assert any(
            text[:first] + gap + text[last:] == edited.text
            and HEALED.fullmatch(text[first:start])
            and HEALED.fullmatch(text[end:last])
            for gap, first, last in cuts
        ) or edited.text.startswith(text[: source.body] + source.newline)


@given(FILE, BODY.filter(bool))
def test_adding_keeps_every_byte(text: str, content: str) -> None:
    source = Source.from_text(text)
    shifted = text[: source.body] + source.newline + text[source.body :]
    for function in (edit.append, edit.prepend):
        edited = function(source, content)
        assert "" in (changed(text, edited.text)[0], changed(shifted, edited.text)[0])
        assert edited.yaml == source.yaml
        assert unix(content).strip("\n") in unix(edited.text)


@given(HEAD, st.lists(BODY, min_size=1, max_size=4), BODY, st.integers(0, 99))
def test_an_edit_stays_in_its_section(
    head: str, parts: list[str], content: str, which: int
) -> None:
    text = head + "\n" + "\n## h\n".join(["", *parts])
    source = Source.from_text(text)
    headings = parse(source.body_text).headings
    assume(headings)
    heading = headings[which % len(headings)]
    for function in (edit.replace_section, edit.append_to_section):
        try:
            edited = function(source, "n.md", heading.raw, content)
        except (SectionAmbiguous, SectionNotFound):
            continue
        later = [h.start for h in headings if h.start > heading.start and h.level <= heading.level]
        assert edited.text.startswith(text[: source.body + heading.end])
        assert edited.text.endswith(text[source.body + later[0] :] if later else "")
        assert edited.yaml == source.yaml


@given(FILE, BODY)
def test_replacing_all_with_the_same_changes_nothing(text: str, content: str) -> None:
    source = Source.from_text(text)
    assert source.yaml is None or edit.replace_body(source, unix(text)).text == text
    edited = edit.replace_body(source, content)
    assert edited.yaml == source.yaml
    assert edited.text.startswith(text[: source.body])


@pytest.mark.parametrize("unit", ["é", "a ", "e\u0301", "[", "- a\n", "\r\n"])
def test_large_bodies_take_linear_time(unit: str) -> None:
    source = Source.from_text("x" + unit * (500_000 // len(unit)) + "needle\n")
    started = time.process_time()
    edited = edit.find_replace(source, "n.md", "needle", "pin")
    assert edit.find_replace(edited, "n.md", "pin").text.startswith("x")
    assert time.process_time() - started < 2
