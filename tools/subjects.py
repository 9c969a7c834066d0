"""Which note or observation an owner means, be it there, forgotten, deleted or in the trash."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from ..vault.errors import NoteAmbiguous, NoteNotFound, RevisionUnavailable
from ..vault.history import History, ObservationState
from ..vault.memory import find_observation
from ..vault.note import read_note
from ..vault.paths import NOTE_ENDING
from ..vault.revision import Record
from .refs import resolve, rows_with
from .refusals import OwnerOnly
from .vault import Vault

_VERSION = re.compile(r"v?(\d{1,9})", re.ASCII)
_REVISION = re.compile(r"[0-9a-f]{6,64}", re.ASCII)


GONE = ("forget", "delete", "purge", "reject")
"""Operations after which an observation is in its note no more."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A note, or an observation of it, with the records of the note."""

    note: str
    path: str
    observation: str | None
    records: tuple[Record, ...]

    def touching(self) -> list[Record]:
        """The records that are about it."""
        return [each for each in self.records if not self.observation or self.version_in(each)]

    def version_in(self, record: Record) -> int | None:
        """The version of the observation that a record makes."""
        found = (each.version for each in record.touched if each.observation == self.observation)
        return next(found, None)


def owner_only(vault: Vault, what: str) -> None:
    """Raise `OwnerOnly` unless it is the owner who asks."""
    if vault.caller.origin != "owner":
        raise OwnerOnly(what)


def subject_of(vault: Vault, ref: str, what: str, note: str | None = None) -> Subject:
    """Return what `ref` names, with its history; `what` is what the owner wants to do with it.

    What is there and was not changed since the history began has no records. `note` is the id of
    a note, where an observation may be in several. Raises `OwnerOnly`, `NoteNotFound` and
    `JournalUnreadable`.
    """
    owner_only(vault, what)
    known = vault.history()
    note_id, path, observation = named(vault, ref, note)
    if path:  # Of a note that was purged not even that is known.
        vault.store.settle([(path, note_id)])
    records = tuple(known.records(note_id))
    subject = Subject(note_id, path, observation, records)
    if not subject.touching() and not stands(vault, note_id, path, observation):
        raise NoteNotFound(ref)
    return subject


def stands(vault: Vault, note: str, path: str, observation: str | None) -> bool:
    """Whether a note, or an observation in it, is there now."""
    if not lies_at(vault, note, path):
        return False
    return observation is None or bool(find_observation(read_note(vault.layout, path), observation))


def named(vault: Vault, ref: str, note: str | None = None) -> tuple[str, str, str | None]:
    """The id and path of the note, and the observation if it is one."""
    known = vault.store.ledger.history
    name = ref.strip().removeprefix("[[").removesuffix("]]").partition("@v")[0]
    state = _state(known, name.removeprefix("^"), note, ref)
    if state is not None:
        # A note that was moved since is where its last record says.
        last = known.state(state.note)
        return (
            state.note,
            _place(vault, state.note, last.path if last else state.path),
            name.removeprefix("^"),
        )
    whole, _, part = name.partition("#")
    for each in known.notes():
        if whole in (each.note, each.path):
            return each.note, _place(vault, each.note, each.path), part.removeprefix("^") or None
    # What was forgotten is in the note no more.
    asked = whole if part.startswith("^") else name
    try:
        return vault.index.ask(lambda: _unrecorded(vault, ref, asked, part))
    except NoteNotFound:
        gone = [each for each in known.notes() if _titled(each.path, whole)]
        if len(gone) > 1:
            raise NoteAmbiguous(ref, tuple(sorted(each.path for each in gone))) from None
        if not gone:
            raise
        return gone[0].note, gone[0].path, part.removeprefix("^") or None


def _titled(path: str, title: str) -> bool:
    return PurePosixPath(path).name.casefold() == f"{title}{NOTE_ENDING}".casefold()


def _unrecorded(vault: Vault, ref: str, asked: str, part: str) -> tuple[str, str, str | None]:
    """What a note holds that no record tells of; inside a question only."""
    try:
        found = resolve(vault, asked)
    except NoteNotFound:
        observation = asked.removeprefix("^")
        rows = [] if part else rows_with(vault, observation)
        if len(rows) > 1:
            paths = tuple(sorted(f"{row.path}#^{observation}" for row in rows))
            raise NoteAmbiguous(ref, paths) from None
        if not rows:
            raise
        return rows[0].id, rows[0].path, observation
    return found.row.id, found.row.path, (found.part or part).removeprefix("^") or None


def _state(known: History, observation: str, note: str | None, ref: str) -> ObservationState | None:
    """The last state of an observation, in the note in which it stands now.

    Raises `NoteAmbiguous` when it stands in several; their lines may have nothing in common.
    """
    last = {each.note: each for each in known.versions(observation, note)}
    there = [each for each in last.values() if each.op not in GONE]
    if len(there) > 1:
        raise NoteAmbiguous(ref, tuple(sorted(f"{each.path}#^{observation}" for each in there)))
    return max(there or last.values(), key=lambda each: each.time, default=None)


def lies_at(vault: Vault, note: str, path: str) -> bool:
    """Whether the file at a path is this note, and not one that took its place."""
    if not path or not (vault.layout.root / path).is_file():
        return False
    found = read_note(vault.layout, path)
    if found.has_own_id:
        return found.id == note
    row = vault.index.ask(lambda: vault.index.row(path))
    return note in (found.id, row.id if row else "")


def _place(vault: Vault, note: str, path: str) -> str:
    """Where a note lies now: where the index has it, else where it was."""
    if lies_at(vault, note, path):
        return path
    paths = vault.index.ask(lambda: vault.index.resolver().find(note))
    return paths[0] if len(paths) == 1 else path


def chosen(subject: Subject, key: str) -> Record:
    """Return the record that a version or the beginning of a hash names.

    Raises `RevisionUnavailable` when it is none, or more than one.
    """
    version = _VERSION.fullmatch(key)
    if subject.observation and version and len(key) < 6:
        number = int(version[1])
        found = [each for each in subject.records if subject.version_in(each) == number]
    else:
        found = [
            each
            for each in subject.records
            if _REVISION.fullmatch(key) and each.hash.startswith(key)
        ]
    if len(found) != 1:
        raise RevisionUnavailable(key, "no revision, or more than one, is called so")
    return found[0]
