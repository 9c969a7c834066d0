"""What its owner does to a note besides its words: pin or mute it, name it or a line of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from ..indexer.view import Scope
from ..vault.categories import category_key, check_label
from ..vault.errors import (
    CategoryRefused,
    InvalidArgument,
    NoteChanged,
    NoteNotFound,
    NoteUnusable,
    naming,
)
from ..vault.frontmatter import (
    add_to_list,
    entries,
    remove_from_list,
    remove_property,
    set_property,
)
from ..vault.ids import new_block_id
from ..vault.memory import find_unnamed, stamp_id
from ..vault.note import Note, parse_note, read_note
from ..vault.source import Source
from .marks import FURTHEST, PIN, is_pin, place_of
from .places import known_project
from .policy.writing import notes_in
from .refs import whole
from .refusals import NameUnknown
from .secrets import refuse_secrets
from .subjects import owner_only
from .vault import Vault

MUTED = "muted"
TAGS = "tags"
CATEGORY = "category"


@dataclass(frozen=True, slots=True)
class Tended:
    """A note after a change by its owner; `observation_id` is the line that was named."""

    note_id: str
    path: str
    version_token: str
    outcome: Literal["changed", "unchanged"]
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
        return remove_property(note.source, _spelled(note, MUTED))

    return _tended(vault, ref, change)


def pin(vault: Vault, ref: str, place: int | None = None) -> Tended:
    """Load a note at the start of sessions, at a place among the pins; for the owner alone.

    The tag goes into the frontmatter, in the place of one that is there. Raises as `mute` does,
    for any note, and `InvalidArgument` for a note of a kind, which cannot be pinned.
    """
    owner_only(vault, "pin a note")
    if place is not None and not 0 <= place <= FURTHEST:
        raise InvalidArgument("place", f"it is a number from 0 to {FURTHEST}")
    tag, wanted = (PIN, math.inf) if place is None else (f"{PIN}/{place}", place)

    def change(note: Note) -> Source:
        if note.kind:
            raise InvalidArgument("ref", f"{note.path} is a note of {note.kind}; it has no pin")
        if place_of(note.tags) == wanted:
            return note.source
        source = _without_pins(note, add_to_list(note.source, TAGS, tag), kept=tag)
        return _pinned(vault, note, source, wanted)

    return _tended(vault, ref, change, memory=False)


def unpin(vault: Vault, ref: str) -> Tended:
    """Load a note at the start of sessions no more; for the owner alone. Raises as `pin` does."""
    owner_only(vault, "unpin a note")

    def change(note: Note) -> Source:
        return _pinned(vault, note, _without_pins(note, note.source), None)

    return _tended(vault, ref, change, memory=False)


def _without_pins(note: Note, source: Source, kept: str | None = None) -> Source:
    """A source of the note without the tags in its frontmatter that pin it, but for one."""
    for key, value in note.properties.items():
        if key.casefold() in (TAGS, "tag"):
            for tag in entries(key, value):
                if is_pin(tag) and tag != kept:
                    source = remove_from_list(source, key, tag)
    return source


def _pinned(vault: Vault, note: Note, source: Source, place: float | None) -> Source:
    """The changed note; raises `NoteUnusable` when a tag in its text gives it another place."""
    if place_of(parse_note(vault.layout, note.path, source.data).tags) != place:
        raise NoteUnusable(note.path, f"the tag #{PIN} stands in its text; change it there")
    return source


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
    return replace(tended, observation_id=named[0])


def _spelled(note: Note, key: str) -> str:
    """A key as the note has it, whatever its case."""
    known = (each for each in note.properties if each.casefold() == key)
    return key if key in note.properties else next(known, key)


def rename_category(vault: Vault, ref: str, label: str) -> Tended:
    """Give a category another label, in the frontmatter of its note and in its first heading.

    The note keeps its file and id, so that every link to it holds. Who remembers under the old
    label afterwards begins a category of that name. Raises as `mute` does, `CategoryRefused` for a
    label that cannot be one, or is that of another category of the same memory, and
    `InvalidArgument` for rules, plans and the like, which are no categories.
    """
    owner_only(vault, "rename a category")
    refuse_secrets(label)
    wanted = check_label(label, ())

    def change(note: Note) -> Source:
        if note.kind:
            raise InvalidArgument("ref", f"{note.path} is a note of {note.kind} and no category")
        _refuse_taken(vault, note, wanted)
        if note.category == wanted:
            return note.source
        key = _spelled(note, CATEGORY)
        return set_property(_with_heading(note, wanted), key, wanted)

    return _tended(vault, ref, change)


def category_note(vault: Vault, label: str, project: str | None = None) -> str:
    """Return the path of the note of a category. Raises `NameUnknown`."""
    project = known_project(vault.layout, project)
    scope = Scope(project=project, note_class="agent-memory")
    rows = vault.index.ask(lambda: vault.index.rows(scope))
    known = [
        row
        for row in rows
        if (row.project or None) == project and not row.kind and not row.conflict_copy
    ]
    key = category_key(label)
    found = next((row.path for row in known if category_key(row.category) == key), None)
    if found is None:
        raise NameUnknown("category", label, tuple(sorted(row.category for row in known)))
    return found


def _refuse_taken(vault: Vault, note: Note, label: str) -> None:
    """Raise `CategoryRefused` for a label that another note of the same memory has."""
    for path in notes_in(vault, note.path.rpartition("/")[0]):
        other = read_note(vault.layout, path)
        taken = not other.kind and category_key(other.category) == category_key(label)
        if taken and path != note.path:
            raise CategoryRefused(label, f"{path} is the note of that category")


def _with_heading(note: Note, label: str) -> Source:
    """The note with a label in its first heading, if that says the one that it has."""
    heading = next(iter(note.structure.headings), None)
    same = heading and category_key(heading.text) == category_key(note.category)
    line = note.body[heading.start : heading.end] if heading else ""
    if heading is None or not same or not line.lstrip().startswith("#"):
        return note.source
    start = note.source.body + heading.start + line.index(heading.raw)
    return note.source.splice(start, start + len(heading.raw), label)


def _tended(
    vault: Vault, ref: str, change: Callable[[Note], Source], *, memory: bool = True
) -> Tended:
    """Change a note as it is now; only one of memory, unless said otherwise."""
    row = vault.index.ask(lambda: whole(vault, ref))
    if memory and row.note_class != "agent-memory":
        raise NoteNotFound(ref)
    with vault.store.transaction(row.path):
        note = read_note(vault.layout, row.path)
        with naming(row.path):
            source = change(note)
        changed = source.data != note.source.data
        if changed:
            act = vault.act("edit", note.known_as(row.id))
            vault.store.write(row.path, source.data, expected=note.source.token, act=act)
    vault.index.touched((row.path,))
    outcome: Literal["changed", "unchanged"] = "changed" if changed else "unchanged"
    return Tended(note.known_as(row.id), row.path, source.token, outcome)
