"""What has expired: out of recall by itself, and out of its note when the owner says so.

Nothing vanishes by itself. What is swept lies in the journal or in the trash, from where it can
be restored; the trash keeps what it has until its owner purges it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..indexer.passages import today
from ..indexer.view import Scope
from ..vault.errors import NoteNotFound
from ..vault.ids import new_block_id
from ..vault.memory import find_unnamed, observations, stamp_id
from ..vault.note import Note, read_note
from ..vault.thread import is_over, last_day
from .audit import outdated, sweep_audit
from .lifecycle import forget
from .subjects import owner_only
from .threads import sweep_threads
from .vault import Vault

REASON = "expired"


@dataclass(frozen=True, slots=True)
class Expired:
    """An observation past its last day, or the whole note of a thread that is over.

    `line` is that in the body, counted from 0; an owner's line by hand may have no id.
    """

    note_id: str
    path: str
    expires: str
    observation_id: str | None = None
    text: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Swept:
    """What has expired, and whether it was moved out of the notes.

    `audited` counts retrievals in the audit that are too old, and are gone when it was moved.
    """

    expired: tuple[Expired, ...]
    moved: bool
    audited: int = 0


def expired(vault: Vault) -> tuple[Expired, ...]:
    """Return what has expired and is still in its note, by path and line. For the owner alone."""
    owner_only(vault, "list what has expired")
    return tuple(_expired(vault, today()))


def listed(vault: Vault) -> Swept:
    """Return what `sweep` would move, and move nothing. For the owner alone."""
    return Swept(expired(vault), moved=False, audited=outdated(vault))


def sweep(vault: Vault) -> Swept:
    """Forget what has expired, and move threads that are over to the trash.

    Each is restorable: an observation with `restore` by its id, a thread by its note. What is
    too old in the audit goes for good. Raises `OwnerOnly`, `NoteUnusable` and the storage
    failures; what was swept before stays so.
    """
    found = expired(vault)
    gone = []
    for each in found:
        if each.line is None:
            gone.append(each)
        elif (observation := each.observation_id or _stamped(vault, each)) is not None:
            forget(vault, f"{each.path}#^{observation}", REASON)
            gone.append(each)
    sweep_threads(vault)
    return Swept(tuple(gone), moved=True, audited=sweep_audit(vault))


def _expired(vault: Vault, day: str) -> Iterator[Expired]:
    rows = vault.index.ask(lambda: vault.index.rows(Scope(note_class="agent-memory")))
    for row in rows:
        try:
            if b"expires" in vault.store.read(row.path).lower():
                yield from _in_note(read_note(vault.layout, row.path), day)
        except NoteNotFound:
            continue


def _in_note(note: Note, day: str) -> Iterator[Expired]:
    if note.kind == "thread":
        if is_over(note, day):
            yield Expired(note.id, note.path, last_day(note))
        return
    for one in observations(note):
        if one.expires and one.expires < day:
            yield Expired(note.id, note.path, one.expires, one.id or None, one.text, one.line)


def _stamped(vault: Vault, each: Expired) -> str | None:
    """Give a line that the owner wrote by hand an id, so that it can be restored by it."""
    with vault.store.transaction(each.path):
        note = read_note(vault.layout, each.path)
        item = find_unnamed(note, each.text)
        if item is None:
            return None
        identifier = new_block_id(note.structure.blocks)
        data = stamp_id(note.source, item, identifier).data
        act = vault.act("edit", note.id)
        vault.store.write(each.path, data, expected=note.source.token, act=act)
    vault.index.touched((each.path,))
    return identifier
