"""From what an agent calls a note to the one note that is meant, on disk as it is now."""

from __future__ import annotations

from dataclasses import dataclass

from ..indexer.catalog import Row
from ..indexer.sync import entry_of
from ..indexer.view import Scope
from ..vault.errors import InvalidArgument, NoteAmbiguous, NoteNotFound, PathRefused
from ..vault.paths import NOTE_ENDING, contained
from .enforcement import Guard
from .kinds import is_told
from .vault import Vault

SUGGESTED = 5


@dataclass(frozen=True, slots=True)
class Found:
    """The note that a reference names, and the part of it behind a `#`, or ''."""

    row: Row
    part: str


def resolve(vault: Vault, ref: str) -> Found:
    """Return what `ref` names; inside a question only.

    A file that is not in the index yet is found all the same. Raises `NoteNotFound` with close
    names, or `NoteAmbiguous` with all paths that fit.
    """
    _look_at_file(vault, ref)
    found = _find(vault, ref)
    if found is None and vault.index.watched and vault.index.ready.is_set():
        vault.index.look()
        found = _find(vault, ref)
    if found is None:
        raise NoteNotFound(ref, _suggestions(vault, ref))
    return found


def whole(vault: Vault, ref: str) -> Row:
    """Return the note that `ref` names; raises `InvalidArgument` when it names a part of one."""
    found = resolve(vault, ref)
    if found.part:
        raise InvalidArgument("ref", f"it names the part {found.part!r} of {found.row.path}")
    return found.row


def rows_with(vault: Vault, observation: str) -> list[Row]:
    """Return the notes of memory in which the caller may see an observation; in a question only."""
    guard = Guard(vault)
    return [
        row
        for row in vault.index.rows(Scope(note_class="agent-memory"))
        if any(
            hit.passage and hit.passage.observation == observation and guard.admits(hit)
            for hit in vault.index.parts(row)
        )
    ]


def _find(vault: Vault, ref: str) -> Found | None:
    located, part = vault.index.resolver().locate(ref)
    guard = Guard(vault)
    paths = tuple(path for path in located if may_read(vault, guard, vault.index.row(path)))
    if len(paths) > 1:
        raise NoteAmbiguous(ref, paths)
    row = vault.index.row(paths[0]) if paths else None
    return Found(row, part) if row else None


def may_read(vault: Vault, guard: Guard, row: Row | None) -> bool:
    """Whether the caller may know of a note, and read all that is in it."""
    return row is None or (is_told(vault, row) and guard.admits_all(row))


def _look_at_file(vault: Vault, ref: str) -> None:
    """Bring in the file at a path, where the index has not seen it."""
    name = ref.strip().partition("#")[0].removeprefix("./").lstrip("/")
    try:
        path = str(contained(name))
        new = [each for each in (path, path + NOTE_ENDING) if vault.index.row(each) is None]
        seen = [each for each in new if entry_of(vault.layout, each) is not None]
    except (PathRefused, OSError):  # No file can have this name.
        return
    if seen:
        vault.index.touched(seen)


def _suggestions(vault: Vault, ref: str) -> tuple[str, ...]:
    """Paths of notes with a name close to a reference; muted ones are not told of."""
    close = vault.index.resolver().suggest(ref, 2 * SUGGESTED)
    rows = (vault.index.row(path) for path in close)
    guard = Guard(vault)
    told = (row for row in rows if row and not row.muted and may_read(vault, guard, row))
    return tuple(row.path for row in told)[:SUGGESTED]
