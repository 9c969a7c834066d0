"""The links of a note, out and back, and what they miss."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from ..indexer.sync import is_note
from ..vault.errors import NoteNotFound
from ..vault.note import Note, read_note
from ..vault.sections import find_part
from .answers import Backlink, LinkOut
from .enforcement import Guard
from .hidden import as_told
from .refs import may_read
from .vault import Vault

Missing = Literal["note", "heading", "block"]

# The ending of an image, a PDF and the like; `Release 3.1` has none.
_ATTACHMENT = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}")


def links(vault: Vault, note: Note) -> Iterator[LinkOut]:
    """Yield the links of a note in their order; inside a question only.

    One to a note that is not for the caller reads like one to no note at all.
    """
    resolver, guard = vault.index.resolver(), Guard(vault)
    first = note.source.first_line
    judged: dict[tuple[str | None, str], Missing | None] = {}
    for link in note.structure.links:
        path = resolver.link(link.target, note.path) if link.target else note.path
        if path is not None and not may_read(vault, guard, vault.index.row(path)):
            path = None
        leads_to = (path, link.anchor)
        if leads_to not in judged:
            judged[leads_to] = missing_part(vault, path, link.anchor)
        missing = judged[leads_to]
        yield LinkOut(
            target=link.target,
            kind=link.kind,
            line=link.line + first,
            path=path,
            anchor=link.anchor or None,
            alias=link.alias or None,
            missing=None if path is None and is_attachment(link.target) else missing,
        )


def missing_part(vault: Vault, path: str | None, anchor: str) -> Missing | None:
    """Say what a link misses: the note, or the heading or block in it."""
    if path is None:
        return "note"
    if not anchor or not is_note(vault.layout, path):
        return None
    try:
        note = as_told(vault, read_note(vault.layout, path))
    except NoteNotFound:
        return "note"
    if find_part(note.structure, note.body, anchor):
        return None
    return "block" if anchor.startswith("^") else "heading"


def is_attachment(target: str) -> bool:
    """Whether a link's target is called like a file that is no note; it need not be there."""
    name = target.rpartition("/")[2]
    dot = name.rfind(".")
    return dot > 0 and _ATTACHMENT.fullmatch(name, dot) is not None and name[dot:].lower() != ".md"


def backlinks(vault: Vault, path: str) -> Iterator[Backlink]:
    """Yield the notes that link to a path, but for muted ones; inside a question only."""
    rows = filter(None, map(vault.index.row, vault.index.graph().incoming(path)))
    guard = Guard(vault)
    told = (row for row in rows if not row.muted and guard.admits_row(row))
    return (Backlink(row.id, row.path, row.title) for row in told)
