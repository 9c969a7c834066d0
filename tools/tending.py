"""What the owner does to a memory note besides its words: muting it, and naming a line of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..vault.errors import NoteChanged, NoteNotFound, naming
from ..vault.frontmatter import remove_property, set_property
from ..vault.ids import new_block_id
from ..vault.memory import find_unnamed, stamp_id
from ..vault.note import Note, read_note
from ..vault.source import Source
from .refs import whole
from .subjects import owner_only
from .vault import Vault

MUTED = "muted"


@dataclass(frozen=True, slots=True)
class Tended:
    """A memory note after a change by its owner; `observation_id` is the line that was named."""

    note_id: str
    path: str
    version_token: str
    observation_id: str | None = None


def mute(vault: Vault, ref: str, *, muted: bool) -> Tended:
    """Keep a memory note out of every recall, or let it in again; for the owner alone.

    Raises `OwnerOnly`, `NoteNotFound` for what is no memory, `NoteUnusable` when the frontmatter
    cannot be changed safely, and the storage failures.
    """
    owner_only(vault, "mute memory")

    def change(note: Note) -> Source:
        if note.muted == muted:
            return note.source
        if muted:
            return set_property(note.source, MUTED, True)
        key = next((key for key in note.properties if key.casefold() == MUTED), MUTED)
        return remove_property(note.source, key)

    return _tended(vault, ref, change)


def name_line(vault: Vault, ref: str, text: str, version_token: str) -> Tended:
    """Give an id to a line that was written by hand, so that it can be cited and changed.

    Raises as `mute` does, `NoteChanged` unless the note is at that version, and `NoteNotFound`
    when no line without an id says `text`.
    """
    owner_only(vault, "name a line")
    named: list[str] = []

    def change(note: Note) -> Source:
        if note.source.token != version_token:
            raise NoteChanged(note.path, note.source.token)
        item = find_unnamed(note, text)
        if item is None:
            raise NoteNotFound(ref)
        named.append(new_block_id(note.structure.blocks))
        return stamp_id(note.source, item, named[0])

    tended = _tended(vault, ref, change)
    return Tended(tended.note_id, tended.path, tended.version_token, named[0])


def _tended(vault: Vault, ref: str, change: Callable[[Note], Source]) -> Tended:
    row = vault.index.ask(lambda: whole(vault, ref))
    if row.note_class != "agent-memory":
        raise NoteNotFound(ref)
    with vault.store.transaction(row.path):
        note = read_note(vault.layout, row.path)
        with naming(row.path):
            source = change(note)
        if source.data != note.source.data:
            act = vault.act("edit", note.known_as(row.id))
            vault.store.write(row.path, source.data, expected=note.source.token, act=act)
    vault.index.touched((row.path,))
    return Tended(note.known_as(row.id), row.path, source.token)
