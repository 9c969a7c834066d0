"""Keeping the journal and the notes of a vault in step, one write at a time.

Before a note changes, its revision is in the journal, durably. What the journal does not know
yet is entered first: the state in which a note of the owner's was found (`baseline`), what an
editor changed since (`external`), and that a revision never reached its note (`undone`), as
after a crash. Whoever writes holds the vault's lock.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypedDict

from .authorship import Authorship
from .errors import RevisionUnavailable, ZibaldoneError
from .history import History, NoteState, ObservationState
from .ids import derived_id
from .journal import Journal, device_name
from .layout import Layout
from .memory import observations
from .note import own_id, parse_note
from .replay import replay
from .revision import Actor, Change, Op, Record, Revision, undoing
from .source import token_of
from .splices import Splice, splices_between, whole

_log = logging.getLogger(__name__)

OWNER = Actor("editor", origin="owner")
SYSTEM = Actor("zibaldone", origin="system")

_ONE_OBSERVATION: frozenset[Op] = frozenset(
    {"create", "append", "update", "forget", "purge", "accept", "reject"}
)
"""Operations whose observation is named; after any other, all of the note are compared."""

_NOT_CUT_OFF: frozenset[Op] = frozenset({"external", "baseline", "undone"})
"""Operations that tell of a note as it was found, which no crash can have kept from it."""

AUTHORSHIPS_KEPT = 128
"""Of how many notes is kept who wrote their words."""

_Heads = tuple[str, ...]
"""The hashes of the records of a note that no other is based on."""

RACY_NS = 2_100_000_000
"""A file so lately changed may change again within the tick of the clock that stamps it; FAT
counts by two seconds. Then its status does not tell that it is the same."""


@dataclass(frozen=True, slots=True)
class Act:
    """Why a note is written: what is done to which note and observation, and by whom."""

    op: Op
    note: str
    actor: Actor
    observation: str | None = None
    of: str | None = None
    reason: str = ""
    key: str = ""


class Ledger:
    """The journal of one vault, and what is known from it.

    `make_cache` makes the folder of the cache; `read` gives the bytes of a note, None without one.
    """

    def __init__(
        self,
        layout: Layout,
        make_cache: Callable[[], object],
        read: Callable[[str], bytes | None],
    ) -> None:
        self._layout, self._make_cache, self._read = layout, make_cache, read
        self._latest = ""
        self._last: dict[str, tuple[_Heads, dict[str, ObservationState | None]]] = {}
        self._authors: dict[str, tuple[_Heads, Authorship]] = {}
        self._authors_lock = threading.Lock()
        self._agreed: dict[str, tuple[str, int, int, int]] = {}

    @functools.cached_property
    def journal(self) -> Journal:
        """The journals of all devices. Made when first needed, so that opening writes nothing."""
        self._make_cache()
        return Journal(self._layout.state_dir, device_name(self._layout.cache_dir.parent))

    @functools.cached_property
    def history(self) -> History:
        """What the journals say, as of the last look."""
        return History(self.journal, self._layout.cache_dir)

    def close(self) -> None:
        """Close the files that are open."""
        if "history" in self.__dict__:
            self.history.close()

    # Writing

    def enter(
        self, path: str, before: bytes | None, after: bytes | None, act: Act | None
    ) -> Record:
        """Write the revision that leads from `before` to `after`, and all that comes first.

        None is no note. Without an act it is this program's own. Raises StorageFailed and
        JournalUnreadable; the note must not be changed then.
        """
        act = act or self._own_act(path, before, after)
        self._mend()
        base = self.settle(path, act.note, before)
        return self._append(
            Revision(
                act.op,
                act.note,
                path,
                _splices(before, after),
                _token(before),
                _token(after),
                act.actor,
                base=base,
                **self._touched(path, before, after, act),
                of=act.of,
                reason=act.reason,
                key=act.key,
            )
        )

    def take_back(self, record: Record) -> None:
        """Undo a revision whose write has failed, unless it has reached its note all the same.

        What cannot be undone now is left to the next `settle`.
        """
        with contextlib.suppress(ZibaldoneError):
            if _token(self._read(record.path)) != record.after:
                self._append(undoing(record, SYSTEM, "the write failed"))

    def _mend(self) -> None:
        """Look whether a crash has kept the last record of this device from its note."""
        last = self.journal.last()
        if last is None or last.hash == self._latest or last.op in _NOT_CUT_OFF:
            return
        with contextlib.suppress(ZibaldoneError):
            current = _token(self._read(last.path))
            if current == last.before != last.after:
                self._append(_cut_off(last))

    def _append(self, revision: Revision) -> Record:
        record = self.journal.append(revision)
        self._latest = record.hash
        return record

    def settle(self, path: str, note: str, current: bytes | None) -> str:
        """Make the journal agree with a note as it is; return the hash of its last record."""
        self.history.catch_up()
        token, states = _token(current), self.history.states(note)
        # The file may be any of the states that devices made without hearing of each other.
        state = next((each for each in states if each.token == token), None)
        if state or (current is None and not states):
            return state.record if state else ""
        record = self._append(self._missing(path, note, next(iter(states), None), current))
        self.history.catch_up()
        return record.hash

    def renew(self, path: str, note: str, current: bytes | None) -> None:
        """Enter a note whole whose records lead to it no more, for words of it were taken out.

        It has not changed, so that no observation gets another version.
        """
        self.history.catch_up()
        token, states = _token(current), self.history.states(note)
        if any(each.token == token for each in states):
            return
        base = states[0].record if states else ""
        self._append(
            Revision("baseline", note, path, _splices(None, current), None, token, SYSTEM, base)
        )
        self.history.catch_up()

    def _missing(
        self, path: str, note: str, state: NoteState | None, current: bytes | None
    ) -> Revision:
        """What must have happened since the last record of a note."""
        last = self.history.record(state.record) if state else None
        if last and self._never_arrived(last, path, current):
            return _cut_off(last)
        op: Op = "external" if state else "baseline"
        known, before = None, state.token if state else None
        if state and before is not None:
            try:
                known = replay(self.history.records(note), state.record)
            except RevisionUnavailable:
                # Its words were redacted or a device's journal is missing: a new beginning.
                op, before = "baseline", None
        return Revision(
            op,
            note,
            path,
            _splices(known, current),
            before,
            _token(current),
            OWNER,
            base=state.record if state else "",
            changes=self._changes(note, self._compared(path, known, current, "append")),
        )

    def _never_arrived(self, last: Record, path: str, current: bytes | None) -> bool:
        """Whether a note is as it was before its last record, and that record is nowhere else.

        Elsewhere may be a copy that the owner made, id and all.
        """
        if last.op in _NOT_CUT_OFF or last.before != _token(current):
            return False
        return last.path == path or _token(self._read(last.path)) != last.after

    # Answers

    def version(self, note: str, observation: str) -> int:
        """The version of an observation: 1 as it was first written, 0 when it is not known."""
        return self.history.version(observation, note)

    def last_versions(
        self, note: str, observations: Iterable[str]
    ) -> dict[str, ObservationState | None]:
        """The last versions of observations of one note, kept until it has new records."""
        heads = self._heads(note)
        if note not in self._last or self._last[note][0] != heads:
            self._last[note] = (heads, {})
        known = self._last[note][1]
        for each in observations:
            if each not in known:
                known[each] = self.history.observation(each, note)
        return known

    def authorship(self, note: str) -> Authorship:
        """Who wrote the words of a note, kept and brought up to its last record."""
        with self._authors_lock:
            heads = self._heads(note)
            kept, authorship = self._authors.get(note, ((), Authorship()))
            if kept == heads:
                return authorship
            places = self.history.of_note(note)
            count = authorship.count
            if count > len(places) or (count and places[count - 1].hash != authorship.last):
                authorship, count = Authorship(), 0
            for record in self.history.told_of(note, count):
                authorship.add(record)
            if len(self._authors) >= AUTHORSHIPS_KEPT:
                self._authors.clear()
            self._authors[note] = (heads, authorship)
            return authorship

    def _heads(self, note: str) -> _Heads:
        return tuple(each.record for each in self.history.states(note))

    def lags(self, path: str, note: str) -> bool:
        """Whether a note that has a history is in another state than the journal knows.

        As of the last look at the journals. Costs a look at the file's status when nothing has
        changed. A second file that goes by the id of a note is no change of that note.
        """
        state = self.history.state(note)
        if state is None:
            return False
        try:
            status = (self._layout.root / path).stat()
            if state.path != path and (self._layout.root / state.path).exists():
                return False
        except OSError:
            return False
        seen = (path, status.st_mtime_ns, status.st_size, status.st_ino)
        if self._agreed.get(note) == seen:
            return False
        data = self._read(path)
        agrees = _token(data) in {each.token for each in self.history.states(note)}
        if agrees and time.time_ns() - status.st_mtime_ns > RACY_NS:
            self._agreed[note] = seen
        # Where a note was deleted, another one may lie by now.
        return not agrees and (not data or own_id(path, data) in ("", note))

    # What a revision means for the observations of its note

    def _own_act(self, path: str, before: bytes | None, after: bytes | None) -> Act:
        op: Op = "create" if before is None else "delete" if after is None else "edit"
        own = own_id(path, before if before is not None else after or b"")
        return Act(op, own or derived_id(path), SYSTEM)

    def _touched(self, path: str, before: bytes | None, after: bytes | None, act: Act) -> _Touched:
        if act.observation and act.op in _ONE_OBSERVATION:
            version = self.version(act.note, act.observation)
            return {
                "observation": act.observation,
                "version": version + 1,
                "parent": version or None,
                "changes": (),
            }
        fresh: Op = "restore" if act.op == "restore" else "append"
        found = self._changes(act.note, self._compared(path, before, after, fresh))
        return {"observation": None, "version": None, "parent": None, "changes": found}

    def _changes(self, note: str, touched: dict[str, Op]) -> tuple[Change, ...]:
        versions = {each: self.version(note, each) for each in touched}
        return tuple(
            Change(each, versions[each] + 1, versions[each] or None, op)
            for each, op in touched.items()
        )

    def _compared(
        self, path: str, before: bytes | None, after: bytes | None, fresh: Op
    ) -> dict[str, Op]:
        """The observations that differ between two states, and what became of each."""
        old, new = self._observed(path, before), self._observed(path, after)
        changed = {each for each in old.keys() & new.keys() if old[each] != new[each]}
        touched: dict[str, Op] = dict.fromkeys(old.keys() - new.keys(), "forget")
        touched |= dict.fromkeys(new.keys() - old.keys(), fresh) | dict.fromkeys(changed, "update")
        return dict(sorted(touched.items()))

    def _observed(self, path: str, data: bytes | None) -> dict[str, str]:
        # Without the sign of a block id there is none to be found by parsing it all.
        if not data or b"^" not in data or self._layout.place(path).note_class != "agent-memory":
            return {}
        note = parse_note(self._layout, path, data)
        found = (each for each in observations(note) if each.id)
        return {each.id: note.body[each.start : each.end] for each in found}


class _Touched(TypedDict):
    observation: str | None
    version: int | None
    parent: int | None
    changes: tuple[Change, ...]


def _cut_off(record: Record) -> Revision:
    _log.warning("A crash kept a write (%s) from %s; it is taken back.", record.op, record.path)
    return undoing(record, SYSTEM, "the note is as it was before: the write did not reach it")


def _token(data: bytes | None) -> str | None:
    return None if data is None else token_of(data)


def _splices(before: bytes | None, after: bytes | None) -> tuple[Splice, ...]:
    if before is None:
        return whole(after or b"")
    return splices_between(before, after or b"")
