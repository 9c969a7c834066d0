"""What is around a note: who links to it and in which words, who names it without a link.

`lens` says whether the Memory lens is open. Without it no memory note is told of, whatever links
to or from it. Everything here belongs inside a question to the index.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..indexer.catalog import Names, Row
from ..indexer.graph import Neighbour, Way
from ..tools.vault import Vault
from ..vault.errors import NoteNotFound
from ..vault.note import Note, read_note
from .shelf import USER_DOCS

BACKLINKS = 50
MENTIONS = 12
NEIGHBOURS = 20
"""How many of each are shown."""

CANDIDATES = 40
SHORTEST_NAME = 4
CONTEXT = 160
"""Notes that are looked into for mentions, letters of a name that is looked for, and characters
of the line around a link or a mention."""

_WIKILINK = re.compile(r"!?\[\[[^\[\]\n]*\]\]")
_SHOWN_NAME = re.compile(r"!?\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]*)\]\]")
_MARKER = re.compile(r"^(?:[-*+>#]+ |\d+[.)] |\[.\] )+")


@dataclass(frozen=True, slots=True)
class Reference:
    """A note that speaks of another, and the line in which it does; `more` counts further ones."""

    row: Row
    line: str
    more: int = 0


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The neighbourhood of a note in the link graph, and how many notes were left out."""

    centre: Row
    rows: tuple[tuple[Row, Neighbour], ...]
    edges: frozenset[tuple[str, str]]
    left_out: int


def is_shown(row: Row | None, *, lens: bool) -> bool:
    """Whether the owner is to see a note now."""
    return row is not None and (lens or row.note_class == "user-doc")


def backlinks(vault: Vault, path: str, *, lens: bool) -> tuple[list[Reference], int]:
    """Return the notes that link to a path, by title, and how many are not listed."""
    rows = [row for row in map(vault.index.row, vault.index.graph().incoming(path)) if row]
    rows = sorted((row for row in rows if is_shown(row, lens=lens)), key=_by_title)
    return [_linking(vault, row, path) for row in rows[:BACKLINKS]], len(rows[BACKLINKS:])


def _by_title(row: Row) -> tuple[str, str]:
    return row.title.casefold(), row.path


def _linking(vault: Vault, row: Row, path: str) -> Reference:
    try:
        note = read_note(vault.layout, row.path)
    except NoteNotFound:
        return Reference(row, "")
    resolver = vault.index.resolver()
    lines = [
        link.line
        for link in note.structure.links
        if link.target and resolver.link(link.target, row.path) == path
    ]
    line = _line(note.body, lines[0]) if lines else ""
    return Reference(row, line, max(len(set(lines)) - 1, 0))


def _line(body: str, number: int) -> str:
    lines = body.splitlines()
    text = lines[number].strip() if number < len(lines) else ""
    words = _SHOWN_NAME.sub(lambda found: found[1].partition("#")[0] or found[1], text)
    words = _MARKER.sub("", words).strip("| ")
    return words if len(words) <= CONTEXT else f"{words[:CONTEXT].rpartition(' ')[0]}…"


def mentions(vault: Vault, note: Note, row: Row) -> list[Reference]:
    """Return user-docs that name a note by its title or an alias and do not link to it."""
    names = [name for name in (row.title, *note.aliases) if len(name) >= SHORTEST_NAME]
    if not names:
        return []
    known = {row.path, *vault.index.graph().incoming(row.path)}
    pattern = re.compile(
        rf"(?<!\w)(?:{'|'.join(re.escape(name) for name in names)})(?!\w)", re.IGNORECASE
    )
    found = (_mention(vault, other, pattern) for other in _candidates(vault, names, known))
    return [each for each in found if each][:MENTIONS]


def _candidates(vault: Vault, names: list[str], known: set[str]) -> Iterator[Row]:
    for name in names[:4]:
        for hit in vault.index.find(name, USER_DOCS, CANDIDATES).hits:
            if hit.row.path not in known and not hit.row.conflict_copy:
                known.add(hit.row.path)
                yield hit.row


def _mention(vault: Vault, row: Row, pattern: re.Pattern[str]) -> Reference | None:
    for hit in vault.index.parts(row):
        text = _WIKILINK.sub("", hit.text)
        found = pattern.search(text)
        if found:
            return Reference(row, _line(text, text.count("\n", 0, found.start())))
    return None


def surroundings(vault: Vault, row: Row, *, lens: bool) -> Surroundings:
    """Return the notes within two links of a note, the nearest first."""
    index = vault.index
    graph = index.graph()
    way = Way(lambda path: is_shown(index.row(path), lens=lens))
    around = graph.neighbours([row.path], 2, NEIGHBOURS, way)
    rows = tuple((found, each) for each in around.found if (found := index.row(each.path)))
    paths = {row.path, *(each.path for each in around.found)}
    edges = {
        (min(one, other), max(one, other))
        for one in paths
        for other in graph.outgoing(one)
        if other in paths
    }
    return Surroundings(row, rows, frozenset(edges), around.left_out)


def tags_of(row: Row) -> tuple[str, ...]:
    """The tags of a note."""
    return Names.parse(row.names).tags
