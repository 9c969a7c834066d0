"""The parts of a note that have a name: sections by their headings, blocks by their ids.

An edit names a section exactly, for it must never land in another one. The anchor of a link is
read as Obsidian reads it: marks in it do not count, and the first heading that fits is meant.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from .errors import SectionAmbiguous, SectionNotFound
from .markdown import Heading, Structure, section

__all__ = ["find_anchor", "find_block", "find_part", "find_section", "heading_key"]

Span = tuple[int, int]

_HASHES = re.compile(r"(#{1,6})[ \t]+")
# What Obsidian takes for blanks when it compares an anchor with a heading.
_MARKS = re.compile(r"[!\"#$%&()*+,.:;<=>?@^`{|}~/\[\]\\]")
_NO_SLUG = re.compile(r"[^\w\- ]")
_LINE_END = re.compile(r"\r\n?|\n")


class _Named(NamedTuple):
    """A heading, its path as listed, and its paths as written and as read."""

    listed: str
    written: str
    read: str
    heading: Heading


def find_section(structure: Structure, path: str, section: str) -> Heading:
    """Return the one heading that a name means.

    The name is "Heading", "## Heading" or "Parent / Heading": as written, or without hashes, or
    in another case, in this order. Raises SectionNotFound or SectionAmbiguous, which list the
    full paths; `path` is the note's, for their sentences.
    """
    named = _named(structure)
    wanted = heading_key(section)
    hashes = _HASHES.match(wanted.rpartition(" / ")[2])
    bare = " / ".join(_HASHES.sub("", part, count=1) for part in wanted.split(" / "))
    for fold in (str, str.casefold):
        for name, level in ((wanted, 0), (bare, len(hashes[1]) if hashes else 0)):
            found = [one for one in named if _fits(one, fold(name), level, fold)]
            whole = [one for one in found if fold(name) in (fold(one.written), fold(one.read))]
            if len(found) > 1 and len(whole) == 1 and " / " in name:
                found = whole
            if len(found) > 1:
                raise SectionAmbiguous(path, section, tuple(one.listed for one in found))
            if found:
                return found[0].heading
    raise SectionNotFound(path, section, tuple(one.listed for one in named))


def find_anchor(structure: Structure, anchor: str) -> Heading | None:
    """Return the heading that the anchor of a link leads to; None when there is none.

    `Part` is the first heading of that text, `Chapter#Part` the first one below a heading
    Chapter. Spelling counts first; then, as in Obsidian, case and marks such as `&:/` do not;
    last, the anchor may be the one that GitHub and VS Code make: `part-one`, `part-one-1`.
    """
    chains = _chains(structure)
    for fold in (heading_key, _anchor_key):
        wanted = [key for part in anchor.split("#") if (key := fold(part))]
        for chain in chains if wanted else ():
            names = [(fold(one.raw), fold(one.text)) for one in chain]
            if wanted[-1] in names[-1] and _lies_below(wanted[:-1], names[:-1]):
                return chain[-1]
    slug = anchor.casefold()
    return next((one for name, one in _slugs(structure) if name == slug), None)


def find_block(structure: Structure, body: str, identifier: str) -> Span | None:
    """Return the span in the body of the block with an id; None when there is none.

    It is the list item that the id stands in, else its paragraph. An id that stands alone on
    a line is that of the block above.
    """
    known = {name.casefold(): line for name, line in structure.blocks.items()}
    line = structure.blocks.get(identifier, known.get(identifier.casefold()))
    if line is None:
        return None
    lines = _lines(body)
    start, end = lines[line]
    for item in structure.items:
        if item.start <= end and start <= item.end:
            return item.start, item.end
    return lines[_first_of(body, lines, line)][0], end


def find_part(structure: Structure, body: str, anchor: str) -> Span | None:
    """Return the span in the body that an anchor names; None when it names nothing there.

    It is a block for `^id`, else a heading with the section below it.
    """
    if anchor.startswith("^"):
        return find_block(structure, body, anchor[1:])
    heading = find_anchor(structure, anchor)
    return (heading.start, section(structure, body, heading)[1]) if heading else None


def heading_key(name: str) -> str:
    """Return a heading's name in NFC and with single blanks, as names are compared."""
    return " ".join(unicodedata.normalize("NFC", name).split())


def _anchor_key(name: str) -> str:
    return heading_key(_MARKS.sub(" ", name).casefold())


def _slugs(structure: Structure) -> Iterator[tuple[str, Heading]]:
    """The headings with their anchors as GitHub makes them; an equal one gets a number."""
    seen: Counter[str] = Counter()
    for heading in structure.headings:
        name = _NO_SLUG.sub("", heading.text.casefold()).replace(" ", "-")
        yield (f"{name}-{seen[name]}" if seen[name] else name), heading
        seen[name] += 1


def _fits(one: _Named, name: str, level: int, fold: Callable[[str], str]) -> bool:
    if not name or level not in (0, one.heading.level):
        return False
    paths = (fold(one.written), fold(one.read))
    return any(path == name or path.endswith(f" / {name}") for path in paths)


def _lies_below(wanted: Sequence[str], names: Sequence[tuple[str, str]]) -> bool:
    """Whether the wanted headings are, in their order, among those above."""
    above = iter(names)
    return all(any(one in name for name in above) for one in wanted)


def _chains(structure: Structure) -> list[list[Heading]]:
    """Each heading with those above it, the highest first."""
    chains: list[list[Heading]] = []
    above: list[Heading] = []
    for heading in structure.headings:
        above = [*(one for one in above if one.level < heading.level), heading]
        chains.append(above)
    return chains


def _named(structure: Structure) -> list[_Named]:
    named = []
    for chain in _chains(structure):
        heading = chain[-1]
        written = " / ".join(heading_key(one.raw) for one in chain)
        read = " / ".join(heading_key(one.text) for one in chain)
        listed = written if len(chain) > 1 else f"{'#' * heading.level} {written}"
        named.append(_Named(listed, written, read, heading))
    return named


def _lines(body: str) -> list[Span]:
    """The span of each line without its line end."""
    spans, start = [], 0
    for end in _LINE_END.finditer(body):
        spans.append((start, end.start()))
        start = end.end()
    return [*spans, (start, len(body))]


def _first_of(body: str, lines: Sequence[Span], line: int) -> int:
    """The first line of the block that ends on a line."""
    start, end = lines[line]
    if body[start:end].lstrip(" \t>").startswith("^"):
        while line > 0 and _is_blank(body, lines[line - 1]):
            line -= 1
        line = max(line - 1, 0)
    while (
        line > 0 and not _is_blank(body, lines[line - 1]) and not _is_heading(body, lines[line - 1])
    ):
        line -= 1
    return line


def _is_blank(body: str, line: Span) -> bool:
    return not body[line[0] : line[1]].strip()


def _is_heading(body: str, line: Span) -> bool:
    return bool(_HASHES.match(body[line[0] : line[1]].lstrip(" ")))
