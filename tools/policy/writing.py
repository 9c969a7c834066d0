"""The end of a write: one more line in the note of its category, or the name of one that is there.

Everything here happens under the vault's lock, on the notes as they are on disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from ...indexer.passages import is_live, today
from ...indexer.sync import is_note
from ...vault.categories import category_key, file_name
from ...vault.errors import NoteNotFound, NoteUnusable, naming
from ...vault.frontmatter import set_property
from ...vault.ids import is_id, new_block_id, new_id
from ...vault.layout import conflict_copy
from ...vault.memory import (
    Observation,
    append_observation,
    new_memory_source,
    observations,
    stamp_id,
)
from ...vault.note import Note, check_size, read_note
from ...vault.paths import NOTE_ENDING
from ...vault.source import Source
from ..answers import Remembered
from ..places import new_note
from ..trust import UNREVIEWED
from ..vault import Vault
from ..versions import FIRST_VERSION, versions
from .form import Candidate
from .near import Memory


@dataclass(frozen=True, slots=True)
class Target:
    """Where a candidate goes: the category's note as it is now, or the path of a new one."""

    path: str
    note: Note | None

    @property
    def token(self) -> str:
        """The version token of the note, "" when there is none."""
        return self.note.source.token if self.note else ""


def target(vault: Vault, memory: Memory) -> Target:
    """The category's note, else the path of a new one.

    Another process may have made it meanwhile, under another spelling of its label; and the
    file that a new one would take may be that of another category.
    """
    path = new_note(vault.layout, memory.path, "agent-memory")
    note = _present(vault, path)
    if note is not None and category_key(note.category) == memory.key:
        return Target(path, note)
    for path in notes_in(vault, memory.folder):
        other = read_note(vault.layout, path)
        if category_key(other.category) == memory.key and _present(vault, path):
            return Target(path, other)
    stem = file_name(memory.label).removesuffix(NOTE_ENDING)
    path, number = new_note(vault.layout, f"{memory.folder}/{stem}{NOTE_ENDING}", "agent-memory"), 2
    while (vault.layout.root / path).exists():
        name = f"{memory.folder}/{stem}-{number}.md"
        path, number = new_note(vault.layout, name, "agent-memory"), number + 1
    return Target(path, None)


def notes_in(vault: Vault, folder: str) -> Iterator[str]:
    """The paths of the notes in the folder of a memory, as they are on disk."""
    there = vault.layout.root / folder
    names = sorted(entry.name for entry in there.iterdir()) if there.is_dir() else []
    for name in names:
        path = f"{folder}/{name}"
        if is_note(vault.layout, path) and not conflict_copy(path) and (there / name).is_file():
            yield path


def _present(vault: Vault, path: str) -> Note | None:
    try:
        note = read_note(vault.layout, path)
    except NoteNotFound:
        return None
    if note.problem is not None and note.problem.kind != "encoding":
        raise NoteUnusable(path, note.problem.detail)
    return note


# What is there


def told(vault: Vault, memory: Memory, place: Target, candidate: Candidate) -> Remembered | None:
    """Name the line of this or another category that says the same, if there is one."""
    if candidate.pending and (waiting := _waiting(vault, memory, place, candidate)):
        return waiting
    for path in memory.doubles:
        try:
            note = read_note(vault.layout, path)
        except NoteNotFound:
            continue
        if double := _double(observations(note), candidate):
            return skip(vault, replace(memory, label=note.category), note, double)
    double = _double(observations(place.note), candidate) if place.note else None
    return skip(vault, memory, place.note, double) if place.note and double else None


def _double(kept: Iterable[Observation], candidate: Candidate) -> Observation | None:
    """The line that says the same. One that is hidden neither blocks nor is named."""
    day = today()
    live = (item for item in kept if is_live(item, day))
    return next((item for item in live if candidate.is_told_by(item.text)), None)


def _waiting(
    vault: Vault, memory: Memory, place: Target, candidate: Candidate
) -> Remembered | None:
    """Name the same proposal of the same client, where it waits already; never another's."""
    if place.note is None:
        return None
    note_id, history = id_of(memory, place.note), vault.history()
    for item in observations(place.note):
        if item.status == UNREVIEWED and item.id and candidate.is_told_by(item.text):
            state = history.observation(item.id, note_id)
            if state and state.actor.agent == vault.caller.agent:
                return answer(vault, memory, place.note, "pending", item.id)
    return None


def skip(
    vault: Vault, memory: Memory, note: Note, double: Observation, block: str = ""
) -> Remembered:
    """Name the line that is there; one that the owner added by hand gets its id now."""
    named, note = stamped(vault, memory, note, double, block)
    return answer(vault, memory, note, "skipped", named)


def stamped(
    vault: Vault, memory: Memory, note: Note, line: Observation, block: str = ""
) -> tuple[str, Note]:
    """Return the id of a line, and its note; a line without one gets `block`, or a fresh one."""
    if line.id:
        return line.id, note
    taken = {item.id for item in observations(note)}
    block = block if block and block not in taken else new_block_id(taken)
    with naming(note.path):
        source = stamp_id(note.source, line, block)
    act = vault.act("edit", id_of(memory, note), quiet=True)
    vault.store.write(note.path, source.data, expected=note.source.token, act=act)
    return block, read_note(vault.layout, note.path)


def answer(
    vault: Vault,
    memory: Memory,
    note: Note,
    outcome: Literal["skipped", "pending"],
    block: str,
) -> Remembered:
    """The answer that names a line which is there."""
    note_id = id_of(memory, note)
    return Remembered(
        outcome=outcome,
        note_id=note_id,
        observation_id=block,
        version=versions(vault, note.path, note_id, [block]).get(block, FIRST_VERSION),
        version_token=note.source.token,
        path=note.path,
        category=memory.label,
        summary_updated=False,
        similar=memory.similar,
    )


# What is new


def write(vault: Vault, memory: Memory, place: Target, candidate: Candidate) -> Remembered:
    """Append a candidate to its note, which is made when there is none."""
    kept = observations(place.note) if place.note else ()
    block = new_block_id({item.id for item in kept})
    note_id = id_of(memory, place.note) if place.note else new_id()
    with naming(place.path):
        source = append_observation(
            _opened(memory, place, candidate, note_id),
            candidate.text,
            id=block,
            tags=candidate.tags,
            fields=candidate.fields,
            structure=place.note.structure if place.note else None,
        )
        summary = _new_summary(place, candidate)
        if place.note and summary:
            source = set_property(source, "summary", summary)
    check_size(place.path, source)
    op: Literal["append", "create"] = "append" if place.note else "create"
    act = vault.act(op, note_id, block, quiet=candidate.pending)
    expected = place.note.source.token if place.note else None
    token = vault.store.write(place.path, source.data, expected=expected, act=act)
    written: Literal["appended", "created"] = "appended" if place.note else "created"
    return Remembered(
        outcome="pending" if candidate.pending else written,
        note_id=note_id,
        observation_id=block,
        version=FIRST_VERSION,
        version_token=token,
        path=place.path,
        category=memory.label,
        summary_updated=bool(summary),
        similar=memory.similar,
    )


def _opened(memory: Memory, place: Target, candidate: Candidate, note_id: str) -> Source:
    """The note to append to; one that the owner began by hand gets an id, unless it has another."""
    if place.note is None:
        summary = _new_summary(place, candidate) or ""
        return new_memory_source(memory.label, summary, note_id)
    if place.note.has_own_id or place.note.properties.get("id"):
        return place.note.source
    return set_property(place.note.source, "id", note_id)


def _new_summary(place: Target, candidate: Candidate) -> str | None:
    """The summary that is to be written. What waits for review changes none."""
    if candidate.pending or (place.note and candidate.summary == place.note.summary):
        return None
    return candidate.summary


def id_of(memory: Memory, note: Note) -> str:
    """The id by which a note is known; it survives a rename that the indexer has seen."""
    known = memory.ids.get(note.path, "")
    return note.known_as(known) if is_id(known) else note.id
