"""What the owner alone may ask of the journal: who wrote what, and to have it back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from ..vault.eraser import Eraser
from ..vault.errors import InvalidArgument, RevisionUnavailable, naming
from ..vault.history import NoteState
from ..vault.memory import (
    Observation,
    append_observation,
    find_observation,
    replace_observation,
)
from ..vault.note import Note, parse_note, read_note
from ..vault.replay import replay
from ..vault.revision import Op, Record, as_time
from ..vault.source import Source, readable, token_of
from .derivation import mark_stale
from .diff import unified, word_diff
from .subjects import Subject, chosen, lies_at, owner_only, subject_of
from .vault import Vault

SHOWN = 12
"""Characters of a revision's hash by which it is called."""


@dataclass(frozen=True, slots=True)
class RevisionLine:
    """One change: who made it, when and from where; `version` is that of the observation."""

    revision: str
    time: str
    op: Op
    agent: str
    origin: str
    instance: str | None = None
    client_version: str | None = None
    observation_id: str | None = None
    version: int | None = None
    parent: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class HistoryAnswer:
    """The changes of a note, or of one of its observations, the first first."""

    note_id: str
    path: str
    revisions: tuple[RevisionLine, ...]
    observation_id: str | None = None


@dataclass(frozen=True, slots=True)
class Restored:
    """What was brought back, and which version of it that makes."""

    note_id: str
    path: str
    version_token: str
    observation_id: str | None = None
    version: int | None = None


@dataclass(frozen=True, slots=True)
class Trashed:
    """A note in the trash: by whom it was deleted, and when."""

    note_id: str
    path: str
    time: str
    agent: str


def history(vault: Vault, ref: str) -> HistoryAnswer:
    """Return what happened to a note or an observation, with an owner's edits in an editor.

    `ref` is the id of an observation or a note, a path, a title, or `note#^id`; what was
    forgotten or deleted is found too. Raises `OwnerOnly`, `NoteNotFound`, `JournalUnreadable`.
    """
    subject = subject_of(vault, ref, "read its history")
    lines = (line for record in subject.touching() for line in _lines(record, subject.observation))
    return HistoryAnswer(subject.note, subject.path, tuple(lines), subject.observation)


def _changed(vault: Vault, ref: str, what: str) -> Subject:
    """What `ref` names; raises `InvalidArgument` too when the history has no change of it."""
    subject = subject_of(vault, ref, what)
    if not subject.touching():
        raise InvalidArgument("ref", f"the history has no change of {ref!r} yet")
    return subject


def diff(vault: Vault, ref: str, start: str | None = None, end: str | None = None) -> str:
    """Return what changed between two revisions, by default between the last two.

    They are called by their hashes as `history` shows them, those of an observation by their
    versions too. An observation is compared by words, a note by lines.
    """
    subject = _changed(vault, ref, "read its history")
    touching = subject.touching()
    last = chosen(subject, end) if end else touching[-1]
    at = touching.index(last)
    first = chosen(subject, start) if start else touching[at - 1] if at else None
    if subject.observation is None:
        return unified(_text(subject, first), _text(subject, last))
    old, new = (observation_at(vault, subject, each) for each in (first, last))
    return word_diff(old.text if old else "", new.text if new else "")


def restore(vault: Vault, ref: str, to: str | None = None) -> Restored:
    """Bring back a note from the trash, a forgotten observation, or an earlier state of either.

    Raises `RevisionUnavailable` when its words were redacted, `NoteExists` when the note's place
    is taken, and the storage failures.
    """
    subject = _changed(vault, ref, "restore")
    if subject.observation is not None:
        restored = _restore_observation(vault, subject, _lost(vault, subject, to))
        mark_stale(vault)
        return restored
    past = [each for each in subject.records if each.after is not None]
    record = chosen(subject, to) if to else past[-1] if past else None
    if record is None:
        raise RevisionUnavailable(to or ref, "there was no note then")
    with vault.store.transaction(subject.path):
        there = lies_at(vault, subject.note, subject.path)
        if there and not to:
            raise InvalidArgument("ref", f"{subject.path} is there; say to which revision")
        kept = None if there or to else _kept_in_trash(vault, subject)
        data = kept.read_bytes() if kept else replay(subject.records, record.hash)
        if data is None:
            raise RevisionUnavailable(to or ref, "there was no note then")
        expected = read_note(vault.layout, subject.path).source.token if there else None
        act = vault.act("restore", subject.note, of=record.hash)
        token = vault.store.write(subject.path, data, expected=expected, act=act)
        if kept:
            Eraser(vault.layout).remove(kept)
    vault.index.touched((subject.path,))
    mark_stale(vault)
    return Restored(subject.note, subject.path, token)


def _kept_in_trash(vault: Vault, subject: Subject) -> Path | None:
    """The file of a deleted note: that of its last deletion, else the newest."""
    files = Eraser(vault.layout).trashed(subject.note)
    deleted = next((each.before for each in subject.records[::-1] if each.op == "delete"), None)
    same = (path for path in files if token_of(path.read_bytes()) == deleted)
    return next(same, next(iter(files), None))


def trash(vault: Vault) -> tuple[Trashed, ...]:
    """Return the notes that were deleted and not brought back, the last first."""
    owner_only(vault, "look into the trash")
    found = (each for each in vault.history().notes() if each.token is None)
    lines = filter(None, (_trashed(vault, each) for each in found))
    return tuple(sorted(lines, key=lambda each: each.time, reverse=True))


def _trashed(vault: Vault, state: NoteState) -> Trashed | None:
    """Who deleted a note that is not there; None when it was not a tool that did, or purged."""
    if state.op == "delete":
        return Trashed(state.note, state.path, state.time, state.actor.agent)
    if state.op not in ("purge", "redact") or not Eraser(vault.layout).trashed(state.note):
        return None
    # Words of it were taken out of the history after that.
    records = vault.store.ledger.history.records(state.note)
    last = next((each for each in reversed(records) if each.op == "delete"), None)
    return Trashed(state.note, state.path, last.time, last.actor.agent) if last else None


def time_of(argument: str, text: str) -> str:
    """Return a time that an owner gives, ISO 8601, as records tell it. Raises `InvalidArgument`."""
    try:
        return as_time(datetime.fromisoformat(text))
    except (ValueError, OverflowError) as problem:
        raise InvalidArgument(argument, f"{text!r} is no time like 2027-01-31T09:00") from problem


# Past states


def _text(subject: Subject, record: Record | None) -> str:
    data = replay(subject.records, record.hash) if record else None
    return "" if data is None else Source.parse(data).text


def observation_at(vault: Vault, subject: Subject, record: Record | None) -> Observation | None:
    """Return the observation of a subject as it was after a record; None when it was not there."""
    # Words of other lines may have been taken out of the state in which it stood.
    data = replay(subject.records, record.hash, blank=True) if record else None
    if data is None:
        return None
    return find_observation(parse_note(vault.layout, subject.path, data), subject.observation)


def _lost(vault: Vault, subject: Subject, to: str | None) -> Observation:
    """The observation as it was at a revision, or when it was last there."""
    records = [chosen(subject, to)] if to else subject.touching()[::-1]
    for record in records:
        found = observation_at(vault, subject, record)
        if found is not None:
            return found
    raise RevisionUnavailable(to or str(subject.observation), "the observation was not there then")


def _restore_observation(vault: Vault, subject: Subject, past: Observation) -> Restored:
    with vault.store.transaction(subject.path):
        note = read_note(vault.layout, subject.path)
        data = with_past(note, past).data
        if data != note.source.data:
            act = vault.act("restore", subject.note)
            vault.store.write(subject.path, data, expected=note.source.token, act=act)
    vault.index.touched((subject.path,))
    vault.store.ledger.history.catch_up()
    version = vault.store.ledger.version(subject.note, past.id)
    token = parse_note(vault.layout, subject.path, data).source.token
    return Restored(subject.note, subject.path, token, past.id, version)


def with_past(note: Note, past: Observation) -> Source:
    """Return the note with an observation as it was: in its place, at the end when it is gone.

    Raises NoteUnusable.
    """
    present = find_observation(note, past.id)
    with naming(note.path):
        if present is None:
            return append_observation(note.source, past.text, id=past.id, fields=past.fields)
        return replace_observation(note.source, replace(present, fields=past.fields), past.text)


def _lines(record: Record, observation: str | None) -> Iterator[RevisionLine]:
    line = RevisionLine(
        revision=record.hash[:SHOWN],
        time=record.time,
        op=record.op,
        agent=record.actor.agent,
        origin=record.actor.origin,
        instance=record.actor.instance or None,
        client_version=record.actor.client_version or None,
        reason=readable(record.reason) or None,
    )
    wanted = [each for each in record.touched if observation in (None, each.observation)]
    for each in wanted:
        yield replace(
            line,
            op=each.op or record.op,
            observation_id=each.observation,
            version=each.version,
            parent=each.parent,
        )
    if not wanted and observation is None:
        yield line
