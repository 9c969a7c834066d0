"""What the journals say, ready to be asked: the last state of each note and observation.

One SQLite file in the cache folder, a function of the journals and nothing more: it may be
deleted at any time. It holds no words but the paths of notes; texts and reasons are read from
the journals themselves, at the positions that are kept here.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from .errors import JournalUnreadable, StorageFailed
from .history_db import connect, damaged, read_journals, remove
from .journal import Journal, JournalFile, Position
from .replay import Lineage, bases_first
from .revision import Actor, Op, Record

HISTORY_FILE = "history.db"

_ORDER = "time, device, seq"
_LATEST = "time DESC, device DESC, seq DESC"
_POSITION = "device, name, offset, length, hash"
_MADE = f"time, agent, instance, session, client, origin, {_POSITION}"
_NOTE = f"SELECT note, path, after, op, {_MADE} FROM told"
_OBSERVATION = (
    f"SELECT observation, note, path, version, parent, revision.op, {_MADE} "
    "FROM revision JOIN told ON told.number = revision.record"
)
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class NoteState:
    """The last revision of a note. `token` is that of its bytes: None when it is gone."""

    note: str
    path: str
    token: str | None
    op: Op
    time: str
    actor: Actor
    position: Position

    @property
    def record(self) -> str:
        """The hash of the record: the `base` of the next revision."""
        return self.position.hash


@dataclass(frozen=True, slots=True)
class ObservationState:
    """One version of an observation: what made it, when and who."""

    observation: str
    note: str
    path: str
    version: int
    parent: int | None
    op: Op
    time: str
    actor: Actor
    position: Position


class History:
    """Answers from the journals. Every answer is as of the last `catch_up`; threads may share it.

    The file is made in `cache_dir`, which has to be there, when it is first needed; one that is
    damaged, or of another version, is made anew. Raises StorageFailed when that is not possible.
    """

    def __init__(self, journal: Journal, cache_dir: Path) -> None:
        self._journal = journal
        self._path = cache_dir / HISTORY_FILE
        self._lock = threading.RLock()
        self._db: sqlite3.Connection | None = None
        self._inode = 0
        self._seen: list[JournalFile] | None = None

    def __enter__(self) -> History:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. It is opened again when it is needed."""
        with self._lock:
            if self._db is not None:
                self._db.close()
            self._db, self._seen = None, None

    def forget(self) -> None:
        """Remove the file, with all that SQLite may keep of earlier states. It is made anew."""
        with self._lock:
            try:
                self._drop()
            except OSError as error:
                raise StorageFailed(str(self._path), str(error)) from error

    def catch_up(self) -> int:
        """Read what the journals of all devices have gained; return how many records that is.

        Costs a look at the sizes of the files when there is nothing new. What was rewritten, as
        by a redaction, is read again. Raises JournalUnreadable.
        """
        with self._lock:
            return self._mended(self._catch_up)

    @property
    def seen(self) -> tuple[JournalFile, ...]:
        """The files of the journals as of the last look: another value when they have changed."""
        return tuple(self._seen or ())

    def state(self, note: str) -> NoteState | None:
        """Return the last state of a note; None when there is no record of it."""
        return next(iter(self.states(note)), None)

    def states(self, note: str) -> tuple[NoteState, ...]:
        """Return the states of a note that no other is based on, the latest first.

        They are several when devices that had not heard of each other changed it: its file is
        then one of them, by the choice of the program that syncs.
        """
        rows = self._rows(f"{_NOTE} WHERE note = ? AND head = 1 ORDER BY {_ORDER}", note)
        return tuple(map(_note_state, reversed(rows)))

    def notes(self) -> tuple[NoteState, ...]:
        """Return the last state of every note, by note id."""
        rows = self._rows(f"{_NOTE} WHERE head = 1 ORDER BY note, {_ORDER}")
        return tuple({row[0]: _note_state(row) for row in rows}.values())

    def version(self, observation: str, note: str | None = None) -> int:
        """Return the highest version of an observation; 0 when there is no record of it.

        Give `note` where ids may not be unique, as when an owner copies a line with its id.
        """
        state = self.observation(observation, note)
        return state.version if state else 0

    def observation(self, observation: str, note: str | None = None) -> ObservationState | None:
        """Return the last version of an observation, in one note or in any."""
        versions = self.versions(observation, note)
        return versions[-1] if versions else None

    def versions(self, observation: str, note: str | None = None) -> tuple[ObservationState, ...]:
        """Return every version of an observation that there is a record of, the first first."""
        rows = self._rows(
            f"{_OBSERVATION} WHERE observation = ? AND ? IN ('', note) ORDER BY version, {_ORDER}",
            observation,
            note or "",
        )
        return tuple(map(_observation_state, rows))

    def written_by(self, agent: str) -> frozenset[tuple[str, str]]:
        """Return the observations whose first version an agent of this name wrote.

        Each is a pair of its note and itself.
        """
        rows = self._rows(
            "SELECT note, observation FROM revision JOIN told ON told.number = revision.record "
            "WHERE version = 1 AND agent = ?",
            agent,
        )
        return frozenset((note, observation) for note, observation in rows)

    def purged(self) -> frozenset[tuple[str, str]]:
        """Return what was purged: notes with their observations, "" for a whole note."""
        rows = self._rows(
            "SELECT note, observation FROM revision JOIN told ON told.number = revision.record "
            "WHERE revision.op = 'purge' "
            "UNION SELECT note, '' FROM record WHERE op = 'purge' AND coalesce(after, '') = ''"
        )
        return frozenset((note, observation) for note, observation in rows)

    def times(self) -> dict[tuple[str, str], str]:
        """Return when each observation was changed last, by its note and itself."""
        rows = self._rows(
            "SELECT note, observation, max(time) FROM revision "
            "JOIN told ON told.number = revision.record GROUP BY note, observation"
        )
        return {(note, observation): time for note, observation, time in rows}

    def by_others(self, notes: Collection[str], paths: Collection[str]) -> frozenset[str]:
        """Return the notes in which somebody else than their owner has written.

        Looks at some notes, and at those that were ever at some paths.
        """
        rows = self._rows(
            "SELECT DISTINCT note FROM record JOIN actor ON actor.number = record.actor "
            "WHERE note IN (SELECT value FROM json_each(?) "
            "UNION SELECT note FROM record WHERE path IN (SELECT value FROM json_each(?))) "
            "AND origin IN ('agent', 'untrusted')",
            json.dumps(list(notes)),
            json.dumps(list(paths)),
        )
        return frozenset(note for (note,) in rows)

    def once_at(self, paths: Collection[str]) -> frozenset[tuple[str, str]]:
        """Return the notes that were ever at some paths, each as a pair of a path and its id."""
        rows = self._rows(
            "SELECT DISTINCT path, note FROM record WHERE path IN (SELECT value FROM json_each(?))",
            json.dumps(list(paths)),
        )
        return frozenset((path, note) for path, note in rows)

    def told_of(self, note: str, skip: int = 0) -> list[Record]:
        """Return the records of a note in the order of time, without the first `skip`.

        Raises JournalUnreadable.
        """
        return self._reading(lambda: self.of_note(note)[skip:])

    def of_note(self, note: str) -> list[Position]:
        """Return where the records of a note stand, in the order of time."""
        return self._positions("note = ?", note)

    def since(self, note: str, time: str, limit: int) -> list[Record]:
        """Return the last records of a note from a time on, the latest first.

        Raises JournalUnreadable.
        """
        condition = f"note = ? AND time >= ? ORDER BY {_LATEST} LIMIT ?"
        query = f"SELECT {_POSITION} FROM told WHERE {condition}"
        return self._reading(
            lambda: [Position(*row) for row in self._rows(query, note, time, str(limit))]
        )

    def of_agent(self, agent: str, since: str = "") -> list[Position]:
        """Return where an agent's records since a time (as in records) stand, in its order."""
        return self._positions("agent = ? AND time >= ?", agent, since)

    def latest(
        self,
        limit: int,
        skip: int = 0,
        *,
        since: str = "",
        until: str = "",
        **who: str,
    ) -> list[Record]:
        """Return records of all notes, the latest first, between two times (as in records).

        `who` may be an `agent`, an `instance` and a `session`. Raises JournalUnreadable.
        """
        wanted = {name: who[name] for name in ("agent", "instance", "session") if who.get(name)}
        given = [f"{name} = ?" for name in wanted]
        condition = " AND ".join(["time >= ?", "time <= ?", *given])
        values = (since, until or "~", *wanted.values())
        query = (
            f"SELECT {_POSITION} FROM told WHERE {condition} ORDER BY {_LATEST} LIMIT ? OFFSET ?"
        )

        def positions() -> list[Position]:
            rows = self._rows(query, *values, str(limit), str(skip))
            return [Position(*row) for row in rows]

        return self._reading(positions)

    def agents(self) -> list[str]:
        """Return the names of all who have changed something, in alphabetical order."""
        rows = self._rows("SELECT DISTINCT agent FROM told ORDER BY agent")
        return [row[0] for row in rows]

    def _positions(self, condition: str, *values: str) -> list[Position]:
        query = f"SELECT {_POSITION} FROM told WHERE {condition} ORDER BY {_ORDER}"
        rows = self._rows(query, *values)
        return [Position(*row) for row in rows]

    def records(self, note: str) -> list[Record]:
        """Return the records of a note, each after the one that it is based on.

        Otherwise they are in the order of time. Raises JournalUnreadable.
        """
        return list(bases_first(Lineage(self._reading(lambda: self.of_note(note)))))

    def keyed(self, key: str) -> Record | None:
        """Return the record of the write that a caller made under a key, unless it was undone."""
        found = self._reading(lambda: self._positions("key != '' AND key = ?", key))
        return next((each for each in found if not self._is_undone(each)), None)

    def _is_undone(self, record: Record) -> bool:
        query = "note = ? AND op = 'undone'"
        undone = self._reading(lambda: self._positions(query, record.note))
        return record.hash in {each.of for each in undone}

    def record(self, hash_: str) -> Record | None:
        """Return a record by its hash. Raises JournalUnreadable."""
        found = self._reading(lambda: self._positions("hash = ?", hash_))
        return found[0] if found else None

    def made(self, note: str, token: str) -> str:
        """Return the hash of the last record that made a state of a note, "" when none did.

        The state is named by the beginning of its version token.
        """
        query = "SELECT hash FROM told WHERE note = ? AND instr(after, ?) = 1 ORDER BY"
        rows = self._rows(f"{query} {_LATEST} LIMIT 1", note, token) if token else []
        return str(rows[0][0]) if rows else ""

    def _reading(self, ask: Callable[[], Sequence[Position]]) -> list[Record]:
        """Read records where they stand, and look once more when they have been moved."""
        try:
            return [self._journal.read(position) for position in ask()]
        except JournalUnreadable:
            self.catch_up()
            return [self._journal.read(position) for position in ask()]

    def _rows(self, query: str, *values: str) -> list[Any]:
        def ask() -> list[Any]:
            db = self._opened()
            if self._seen is None:
                self._catch_up()
            return db.execute(query, values).fetchall()

        with self._lock:
            return self._mended(ask)

    def _catch_up(self) -> int:
        db, files = self._opened(), self._journal.files()
        if files == self._seen:
            return 0
        gained = read_journals(db, self._journal, files)
        self._seen = files
        return gained

    def _mended(self, act: Callable[[], _Result]) -> _Result:
        """Act, and once more on a new file when the present one turns out to be damaged."""
        try:
            try:
                return act()
            except sqlite3.DatabaseError as error:
                if not damaged(error):
                    raise
                self._drop()
                return act()
        except (sqlite3.Error, OSError) as error:
            raise StorageFailed(str(self._path), str(error)) from error

    def _opened(self) -> sqlite3.Connection:
        """Open the file, and open it again when it was deleted or made anew by another process."""
        if self._db is not None and self._inode == _inode(self._path):
            return self._db
        self.close()
        self._db = connect(self._path)
        self._inode = _inode(self._path)
        return self._db

    def _drop(self) -> None:
        self.close()
        remove(self._path)


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return 0


def _note_state(row: Sequence[Any]) -> NoteState:
    note, path, token, op, time, *rest = row
    return NoteState(note, path, token, op, time, Actor(*rest[:5]), Position(*rest[5:]))


def _observation_state(row: Sequence[Any]) -> ObservationState:
    observation, note, path, version, parent, op, time, *rest = row
    made = Actor(*rest[:5]), Position(*rest[5:])
    return ObservationState(observation, note, path, version, parent, op, time, *made)
