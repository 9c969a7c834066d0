"""Sections are named exactly, anchors are read as Obsidian reads them, blocks by their ids."""

import pytest
from zibaldone.vault.errors import SectionAmbiguous, SectionNotFound
from zibaldone.vault.markdown import parse
from zibaldone.vault.sections import find_anchor, find_block, find_part, find_section

GUIDE = """\
# Guide

## Mix & match

### Notes

## C#

## C++

## Cellar: north / south

### Notes

## `code` and *stress*
"""


def anchored(body: str, anchor: str) -> str | None:
    found = find_anchor(parse(body), anchor)
    return found and found.raw


@pytest.mark.parametrize(
    ("anchor", "raw"),
    [
        ("Mix & match", "Mix & match"),
        ("Mix match", "Mix & match"),
        ("mix  &  MATCH", "Mix & match"),
        ("C#", "C#"),
        ("C++", "C++"),
        ("c++", "C#"),  # marks do not count in another case, so the first one is meant
        ("Cellar north south", "Cellar: north / south"),
        ("code and stress", "`code` and *stress*"),
        ("Guide#Mix & match", "Mix & match"),
        ("Guide#Mix & match#Notes", "Notes"),
    ],
)
def test_lk_20_an_anchor_finds_its_heading(anchor: str, raw: str) -> None:
    assert anchored(GUIDE, anchor) == raw


@pytest.mark.parametrize("anchor", ["", "#", "No such part", "Mix", "Notes#Guide", "&"])
def test_lk_20_an_anchor_without_a_heading(anchor: str) -> None:
    assert anchored(GUIDE, anchor) is None


@pytest.mark.parametrize(
    ("anchor", "line"),
    [
        ("mix--match", 2),
        ("notes", 4),
        ("notes-1", 12),
        ("cellar-north--south", 10),
        ("code-and-stress", 14),
        ("notes-2", None),
    ],
)
def test_an_anchor_may_be_one_that_github_makes(anchor: str, line: int | None) -> None:
    found = find_anchor(parse(GUIDE), anchor)
    assert (found and found.line) == line


def test_an_anchor_of_two_parts_tells_equal_headings_apart() -> None:
    structure = parse(GUIDE)
    lines = [find_anchor(structure, a).line for a in ("Notes", "Cellar north south#Notes")]
    assert lines == [4, 12]


def test_a_section_is_named_exactly() -> None:
    structure = parse(GUIDE)
    assert find_section(structure, "n.md", "## C++").raw == "C++"
    with pytest.raises(SectionNotFound):
        find_section(structure, "n.md", "Mix match")
    with pytest.raises(SectionAmbiguous):
        find_section(structure, "n.md", "Notes")


BLOCKS = """\
# Head
One line
of two. ^para

- item one ^first
  - nested ^nested
- item two
  goes on ^second

| a | b |
|---|---|
| 1 | 2 |

^table
"""


@pytest.mark.parametrize(
    ("identifier", "text"),
    [
        ("para", "One line\nof two. ^para"),
        ("PARA", "One line\nof two. ^para"),
        ("first", "- item one ^first\n  - nested ^nested"),
        ("nested", "- item one ^first\n  - nested ^nested"),
        ("second", "- item two\n  goes on ^second"),
        ("table", "| a | b |\n|---|---|\n| 1 | 2 |\n\n^table"),
    ],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_block_is_its_item_or_its_paragraph(identifier: str, text: str, line_end: str) -> None:
    body = BLOCKS.replace("\n", line_end)
    start, end = find_block(parse(body), body, identifier)
    assert body[start:end] == text.replace("\n", line_end)


def test_a_block_that_is_not_there() -> None:
    assert find_block(parse(BLOCKS), BLOCKS, "none") is None


def test_an_anchor_names_a_block_or_a_heading_with_its_section() -> None:
    body = "# Oak\n\nTop. ^top\n\n## Leaf\n\nGreen.\n\n# Elm\n"
    found = [find_part(parse(body), body, anchor) for anchor in ("^top", "Leaf", "^x", "Ash")]
    texts = [body[slice(*span)] if span else None for span in found]
    assert texts == ["Top. ^top", "## Leaf\n\nGreen.\n\n", None, None]
