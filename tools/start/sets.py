"""Context sets: notes that list, link by link, what is loaded at the start of a session.

A link in a line that is hidden is none; each other one is judged by what it leads to, which is told
as far as any recall would tell it. A link to what is not for the caller reads like one to nothing,
and is named by its line alone, for what it is called may be the name of something that is hidden.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ...indexer.catalog import Row
from ...indexer.index import Hit
from ...indexer.passages import today, visible
from ...vault.errors import NoteNotFound
from ...vault.markdown import Link, parse
from ...vault.note import Note, read_note
from ...vault.sections import find_part
from ...vault.source import readable
from ..borders import Borders, by_place
from ..linked import is_attachment
from ..vault import Vault


@dataclass(frozen=True, slots=True)
class Linked:
    """A link of a set, in the order of the set; without a row, it leads to no note."""

    line: int
    row: Row | None = None
    anchor: str = ""


def links_of(vault: Vault, borders: Borders, row: Row) -> Iterator[Linked]:
    """Yield what a set lists, in its order; inside a question only."""
    try:
        note = read_note(vault.layout, row.path)
    except NoteNotFound:
        return
    first = note.source.first_line
    if borders.ties_note(row):
        return
    told = filter(borders.guard.admits, vault.index.parts(row))
    for hit in sorted(told, key=by_place):
        start = first + (hit.passage.line if hit.passage else 0)
        for link in parse(hit.text).links:
            yield from _linked(vault, row, link, start + link.line)


def _linked(vault: Vault, row: Row, link: Link, line: int) -> Iterator[Linked]:
    path = vault.index.resolver().link(link.target, row.path) if link.target else None
    found = vault.index.row(path) if path else None
    if found is None and not is_attachment(link.target):
        yield Linked(line)
    elif found is not None and found.path != row.path:
        yield Linked(line, found, link.anchor)


def passages_at(vault: Vault, borders: Borders, row: Row, anchor: str) -> Sequence[Hit]:
    """What may be told of a note, or of the part of it that an anchor names."""
    told = borders.told(row)
    if not anchor or not told:
        return told
    try:
        note = read_note(vault.layout, row.path)
    except NoteNotFound:
        return []
    shown = visible(vault.layout, note, today())
    span = find_part(shown.structure, shown.body, anchor)
    if span is None:
        return []
    start, end = (shown.source.body + at for at in span)
    parts = (_within(hit, note, start, end) for hit in told)
    return [part for part in parts if part is not None]


def _within(hit: Hit, note: Note, start: int, end: int) -> Hit | None:
    """What of a passage lies in a span; of an observation all or nothing."""
    passage = hit.passage
    if passage is None or passage.end <= start or passage.start >= end:
        return None
    if passage.is_observation or hit.row.token != note.source.token:
        return hit
    first, last = max(start, passage.start), min(end, passage.end)
    return replace(hit, text=readable(note.source.text[first:last]).strip("\r\n"))
