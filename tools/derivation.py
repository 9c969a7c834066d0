"""What rests on other observations: when one of them changes, it is stale until it is confirmed.

Nothing is remembered for this. An observation is due when one of its sources has other words, is
gone or has become stale itself since the observation was last written or confirmed, as the
journal tells. So a crash in between, an edit in an editor and a change on another device are all
noticed by the next question.
"""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeVar

from ..indexer.catalog import Names, Row
from ..vault.errors import (
    InvalidArgument,
    NoteNotFound,
    NoteUnusable,
    RevisionUnavailable,
    StorageFailure,
)
from ..vault.history import ObservationState
from ..vault.journal import JournalFile
from ..vault.ledger import SYSTEM, Act, Ledger
from ..vault.memory import ACTIVE, Observation, find_observation, observations, replace_observation
from ..vault.note import Note, parse_note, read_note
from ..vault.replay import replay
from ..vault.revision import as_time
from ..vault.thread import OVER
from .subjects import GONE, lies_at, named, owner_only
from .vault import Vault

STALE = "stale"

_JUDGED = ("accept",)
"""Operations that change no words."""

_Answer = TypeVar("_Answer")
_log = logging.getLogger(__name__)
_looked: weakref.WeakKeyDictionary[Ledger, _Look] = weakref.WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Marked:
    """An observation that became stale, and the source that changed."""

    note_id: str
    path: str
    observation_id: str
    source_id: str


@dataclass(frozen=True, slots=True)
class Confirmed:
    """An observation that counts again, and which version of it that makes."""

    note_id: str
    path: str
    observation_id: str
    version: int
    version_token: str


def settled(vault: Vault, question: Callable[[], _Answer]) -> _Answer:
    """Ask a question of the index, and once more when that made something stale."""
    answer, rows = vault.index.ask(lambda: (question(), vault.index.derived()))
    return vault.index.ask(question) if mark_stale(vault, rows) else answer


def mark_stale(vault: Vault, rows: Sequence[Row] | None = None) -> tuple[Marked, ...]:
    """Mark what is due in the notes of `rows`, by default in all that rest on others.

    What cannot be written is logged and left to the next time.
    """
    rows = vault.index.ask(vault.index.derived) if rows is None else rows
    if not rows:
        return ()
    try:
        return tuple(_marked(vault, rows))
    except StorageFailure as failure:
        _log.warning("What rests on changed observations is not marked: %s", failure)
        return ()


def confirm(vault: Vault, ref: str) -> Confirmed:
    """Let a stale observation count again, as it is. For the owner alone.

    Raises `OwnerOnly`, `NoteNotFound`, and `InvalidArgument` when it is not stale.
    """
    owner_only(vault, "confirm what is stale")
    note_id, path, observation = named(vault, ref)
    with vault.store.locked():
        if not lies_at(vault, note_id, path):
            raise NoteNotFound(ref)
        note = read_note(vault.layout, path)
        item = find_observation(note, observation)
        if item is None:
            raise NoteNotFound(ref)
        if item.status != STALE:
            raise InvalidArgument("ref", f"{ref} is not stale")
        act = vault.act("accept", note_id, item.id, reason="confirmed")
        token = _write_status(vault, note, item, "", act)
    vault.index.touched((path,))
    vault.store.ledger.history.catch_up()
    version = vault.store.ledger.version(note_id, item.id)
    return Confirmed(note_id, path, item.id, version, token)


@dataclass(frozen=True, slots=True)
class _Look:
    """What was looked at last: the journals, the notes, and where the sources are."""

    seen: tuple[JournalFile, ...]
    tokens: tuple[str, ...]
    places: tuple[tuple[str, str], ...]


def _marked(vault: Vault, rows: Sequence[Row]) -> Iterator[Marked]:
    known = vault.history()
    tokens, last = tuple(row.token for row in rows), _looked.get(vault.store.ledger)
    pairs = {row.path: Names.parse(row.names).rests for row in rows}
    if last is None or (last.seen, last.tokens) != (known.seen, tokens):
        last = _Look(known.seen, (), _places(vault, pairs.values()))
    vault.store.settle(last.places)
    if (last.seen, last.tokens) == (known.seen, tokens):
        return
    found = True
    while found:  # What rests on what was marked in one round is due in the next.
        found = False
        for path in (row.path for row in rows if _may_be_due(vault, row.id, pairs[row.path])):
            for marked in _in_note(vault, path):
                found = True
                yield marked
    _looked[vault.store.ledger] = _Look(known.seen, tokens, last.places)


def _places(
    vault: Vault, pairs: Iterable[Sequence[tuple[str, str]]]
) -> tuple[tuple[str, str], ...]:
    """The notes of the sources, as path and id: what an editor has changed in them counts."""
    known = vault.store.ledger.history
    sources = sorted({source for each in pairs for _, source in each})
    notes = {state.note for each in sources if (state := known.observation(each))}
    states = (known.state(note) for note in sorted(notes))
    return tuple((each.path, each.note) for each in states if each and each.path)


def _may_be_due(vault: Vault, note: str, pairs: Sequence[tuple[str, str]]) -> bool:
    """Whether a source has a record after the last one of what rests on it."""
    known = vault.store.ledger.history
    for observation, source in pairs:
        changed, last = known.observation(source), known.observation(observation, note)
        if changed and (last is None or _order(changed) > _order(last)):
            return True
    return False


def _in_note(vault: Vault, path: str) -> Iterator[Marked]:
    try:
        note = read_note(vault.layout, path)
    except NoteNotFound:
        return
    for item in observations(note):
        due = _due(vault, note, item)
        if due is not None and _mark(vault, note, item.id, due):
            yield Marked(note.id, path, item.id, due.observation)
            vault.index.touched((path,))


def _due(vault: Vault, note: Note, item: Observation) -> ObservationState | None:
    """The source that has changed since an observation was last written or confirmed."""
    if not item.id or not item.derived_from or item.status not in ACTIVE:
        return None
    known = vault.store.ledger.history
    last = known.observation(item.id, note.id)
    since = _order(last) if last else _written(vault, note)
    for reference in item.derived_from:
        source = known.observation(reference.partition("@")[0])
        if source and _order(source) > since and _changed(vault, since, last, source):
            return source
    return None


_Moment = tuple[str, str, str, int]


def _order(state: ObservationState) -> _Moment:
    position = state.position
    return state.time, position.device, position.name, position.offset


def _written(vault: Vault, note: Note) -> _Moment:
    """When a note was written that has no history."""
    changed = (vault.layout.root / note.path).stat().st_mtime
    return as_time(datetime.fromtimestamp(changed, UTC)), "", "", 0


def _changed(
    vault: Vault, since: _Moment, last: ObservationState | None, source: ObservationState
) -> bool:
    """Whether a source reads otherwise than it did at a moment, or is in doubt or gone."""
    known = vault.store.ledger.history
    record = known.record(source.position.hash)
    if source.op in GONE:
        return record is None or (record.op, record.reason) != ("delete", OVER)
    if record is not None and last is not None and record.of == last.position.hash:
        return False  # It is stale for this very observation: they rest on each other.
    versions = known.versions(source.observation)
    earlier = [each for each in versions if _order(each) <= since]
    try:
        then = _as_of(vault, earlier[-1]) if earlier else None
        now = _as_of(vault, source)
    except RevisionUnavailable:
        later = versions[len(earlier) :]
        return any(each.op not in _JUDGED and each.actor != SYSTEM for each in later)
    if then is None or now is None:
        return now is None
    became_stale = now.status == STALE and then.status != STALE
    return now.text != then.text or became_stale


def _as_of(vault: Vault, state: ObservationState) -> Observation | None:
    records = vault.store.ledger.history.records(state.note)
    data = replay(records, state.position.hash, blank=True)
    note = parse_note(vault.layout, state.path, data) if data else None
    return find_observation(note, state.observation)


def _mark(vault: Vault, note: Note, observation: str, source: ObservationState) -> bool:
    """Mark an observation as stale; say whether it was done."""
    known = vault.store.ledger.history
    record = known.record(source.position.hash)
    # What made the source stale made this one so.
    cause = record.of if record and record.actor == SYSTEM and record.of else source.position.hash
    reason = f"its source ^{source.observation} was changed ({source.op})"
    with vault.store.transaction(note.path):
        now = read_note(vault.layout, note.path)
        item = find_observation(now, observation)
        if item is None or item.status not in ACTIVE:
            return False
        act = Act("update", now.id, SYSTEM, observation, cause, reason)
        try:
            _write_status(vault, now, item, STALE, act)
        except NoteUnusable as failure:
            _log.warning("^%s in %s is not marked as stale: %s", item.id, note.path, failure)
            return False
    known.catch_up()
    return True


def _write_status(vault: Vault, note: Note, item: Observation, status: str, act: Act) -> str:
    fields = {key: value for key, value in item.fields.items() if key != "status"}
    fields |= {"status": status} if status else {}
    source = replace_observation(note.source, replace(item, fields=fields), item.text)
    return vault.store.write(note.path, source.data, expected=note.source.token, act=act)
