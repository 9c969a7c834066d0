"""The catalog: what was seen of each note, and where its words are in the text index.

One SQLite file in the cache folder. It is the only pointer into the segments, so that one
transaction moves every reader from one state to the next, in this process and in others.
A file that SQLite calls damaged, or that another version wrote, is dropped and built anew.
"""

from __future__ import annotations

import json
import sqlite3
import time
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SCHEMA = 1
WAIT_SECONDS = 20
PENDING = 0
"""The number of the segment that is not written yet: its postings are in table `pending`."""

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE segment (number INTEGER PRIMARY KEY AUTOINCREMENT, folder TEXT, stamp TEXT);
CREATE TABLE note (
    number INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT UNIQUE, size INTEGER, mtime_ns INTEGER,
    inode INTEGER, token TEXT, id TEXT, title TEXT, class TEXT, project TEXT, category TEXT,
    muted INTEGER, copy INTEGER, problem TEXT, summary TEXT, names TEXT, links TEXT,
    passages TEXT, docs BLOB, change INTEGER);
CREATE INDEX note_change ON note (change);
CREATE TABLE gone (number INTEGER PRIMARY KEY, change INTEGER);
CREATE TABLE pending (doc INTEGER PRIMARY KEY AUTOINCREMENT, terms TEXT);
"""

Docs = tuple[tuple[int, int], ...]
"""Per index document of a note, head first: (segment number, document number in it)."""


@dataclass(frozen=True, slots=True)
class Names:
    """How a note is named beside its path and title."""

    own_id: bool
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Names:
        """Read what `str` wrote."""
        own, aliases, tags = json.loads(text)
        return cls(own, tuple(aliases), tuple(tags))

    def __str__(self) -> str:
        return json.dumps([self.own_id, self.aliases, self.tags])


@dataclass(frozen=True, slots=True)
class Row:
    """One note as the catalog knows it. JSON columns are kept as text until someone asks."""

    path: str
    size: int
    mtime_ns: int
    inode: int
    token: str
    id: str
    title: str
    note_class: str
    project: str
    category: str
    muted: bool
    conflict_copy: bool
    problem: str
    summary: str
    names: str = field(repr=False)
    links: str = field(repr=False)
    passages: str = field(repr=False)
    docs: Docs = field(repr=False)
    number: int = 0


_COLUMNS = (
    "path, size, mtime_ns, inode, token, id, title, class, project, category, muted, copy, "
    "problem, summary, names, links, passages, docs"
)
_LIGHT = _COLUMNS.replace("links, passages", "'', ''")


class Catalog:
    """An open catalog file. Not thread-safe: its owner serialises the calls."""

    def __init__(self, path: Path, stamp: str) -> None:
        self.path = path
        self._stamp = f"{SCHEMA} {stamp}"
        self._db = self._open()
        self.inode = path.stat().st_ino

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(
            self.path, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            _use_log(db)
            db.execute("PRAGMA synchronous=NORMAL")
            db.execute("BEGIN IMMEDIATE")
            self._create(db)
            db.execute("COMMIT")
        except BaseException:
            db.close()  # Which rolls back.
            raise
        return db

    def _create(self, db: sqlite3.Connection) -> None:
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
            for statement in _TABLES.split(";")[:-1]:
                db.execute(statement)
            rows = (("stamp", self._stamp), ("change", "0"), ("epoch", "0"))
            db.executemany("INSERT INTO meta VALUES (?, ?)", rows)
        found = db.execute("SELECT value FROM meta WHERE key = 'stamp'").fetchone()
        if found is None or found[0] != self._stamp:
            raise sqlite3.DatabaseError("the index was written by another version")

    def close(self) -> None:
        """Close the file; a closed catalog cannot be used again."""
        self._db.close()

    def replaced(self) -> bool:
        """Say whether the file is no longer the one that was opened."""
        try:
            return self.path.stat().st_ino != self.inode
        except FileNotFoundError:
            return True

    def data_version(self) -> int:
        """A number that changes when another connection has committed."""
        return int(self._db.execute("PRAGMA data_version").fetchone()[0])

    def meta(self, key: str) -> str:
        """A value of the small key table, or an empty text."""
        found = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return found[0] if found else ""

    def change(self) -> int:
        """The number of the last change; rises with each transaction that writes notes."""
        return int(self.meta("change"))

    def epoch(self) -> int:
        """Rises when documents moved between segments, so that readers load everything anew."""
        return int(self.meta("epoch"))

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold one state of the file for several reads."""
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            if self._db.in_transaction:
                self._db.execute("COMMIT")

    @contextmanager
    def writing(self, *, moves: bool = False) -> Iterator[int]:
        """Hold the only write transaction; yields the number of the new change."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            change = self.change() + 1
            self.set_meta("change", str(change))
            if moves:
                self.set_meta("epoch", str(self.epoch() + 1))
            yield change
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:  # A full disk makes SQLite end it.
                self._db.execute("ROLLBACK")
            raise

    def set_meta(self, key: str, value: str) -> None:
        """Store a value in the small key table; inside `writing` only."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    # Notes

    def rows(self, since: int = -1) -> Iterator[Row]:
        """The notes changed after `since`, without their passages and links."""
        query = f"SELECT {_LIGHT}, number FROM note WHERE change > ? ORDER BY path"
        return map(_row, self._db.execute(query, (since,)))

    def gone(self, since: int) -> list[int]:
        """The numbers of notes that were removed after change `since`."""
        query = "SELECT number FROM gone WHERE change > ?"
        return [number for (number,) in self._db.execute(query, (since,))]

    def row(self, path: str) -> Row | None:
        """One note, whole."""
        query = f"SELECT {_COLUMNS}, number FROM note WHERE path = ?"
        found = self._db.execute(query, (path,)).fetchone()
        return _row(found) if found else None

    def passages(self, numbers: Iterable[int]) -> dict[int, str]:
        """The passages of the given notes, as JSON text."""
        return self._texts("passages", numbers)

    def _texts(self, column: str, numbers: Iterable[int]) -> dict[int, str]:
        wanted = list(numbers)
        marks = ",".join("?" * len(wanted))
        query = f"SELECT number, {column} FROM note WHERE number IN ({marks})"
        return dict(self._db.execute(query, wanted).fetchall())

    def links(self, since: int = -1) -> dict[str, list[list[object]]]:
        """Links of the notes changed after `since`: path -> [target, anchor, alias, kind, line]."""
        return self._decoded("links", since)

    def names(self) -> dict[str, Names]:
        """Of every note: whether its id is its own, its aliases, its tags."""
        return {
            path: Names(bool(own), tuple(aliases), tuple(tags))
            for path, (own, aliases, tags) in self._decoded("names", -1).items()
        }

    def _decoded(self, column: str, since: int) -> dict[str, Any]:
        query = f"SELECT path, {column} FROM note WHERE change > ?"
        rows = self._db.execute(query, (since,)).fetchall()
        # One call decodes all notes in a fifth of the time of ten thousand calls.
        values = json.loads("[" + ",".join(text for _, text in rows) + "]")
        return {path: value for (path, _), value in zip(rows, values, strict=True)}

    def put(self, row: Row, change: int) -> int:
        """Insert or replace a note by its path; returns its number. Inside `writing` only."""
        values = (
            row.path, row.size, row.mtime_ns, row.inode, row.token, row.id, row.title,
            row.note_class, row.project, row.category, row.muted, row.conflict_copy, row.problem,
            row.summary, row.names, row.links, row.passages, _pack(row.docs), change,
        )  # fmt: skip
        marks = ", ".join("?" * len(values))
        updates = ", ".join(
            f"{name} = excluded.{name}" for name in f"{_COLUMNS}, change".split(", ")[1:]
        )
        cursor = self._db.execute(
            f"INSERT INTO note ({_COLUMNS}, change) VALUES ({marks}) "
            f"ON CONFLICT (path) DO UPDATE SET {updates} RETURNING number",
            values,
        )
        return int(cursor.fetchone()[0])

    def stamp_file(self, row: Row, change: int) -> None:
        """Keep new file times of a note whose bytes did not change. Inside `writing` only."""
        self._db.execute(
            "UPDATE note SET size = ?, mtime_ns = ?, inode = ?, change = ? WHERE path = ?",
            (row.size, row.mtime_ns, row.inode, change, row.path),
        )

    def move_docs(self, number: int, docs: Docs) -> None:
        """Point a note to other index documents."""
        self._db.execute("UPDATE note SET docs = ? WHERE number = ?", (_pack(docs), number))

    def remove(self, path: str, change: int) -> None:
        """Drop a note. Inside `writing` only."""
        found = self._db.execute(
            "DELETE FROM note WHERE path = ? RETURNING number", (path,)
        ).fetchone()
        if found:
            self._db.execute("INSERT OR REPLACE INTO gone VALUES (?, ?)", (found[0], change))

    # Segments and pending postings

    def segments(self) -> dict[int, tuple[str, str]]:
        """Segment number -> (folder name, stamp)."""
        rows = self._db.execute("SELECT number, folder, stamp FROM segment ORDER BY number")
        return {number: (folder, stamp) for number, folder, stamp in rows}

    def add_segment(self, folder: str, stamp: str) -> int:
        """Register a written segment; returns its number. Inside `writing` only."""
        cursor = self._db.execute(
            "INSERT INTO segment (folder, stamp) VALUES (?, ?)", (folder, stamp)
        )
        return int(cursor.lastrowid or 0)

    def drop_segments(self, numbers: Iterable[int]) -> None:
        """Forget segments. Inside `writing` only."""
        self._db.executemany("DELETE FROM segment WHERE number = ?", [(n,) for n in numbers])

    def add_pending(self, impacts: Sequence[Mapping[str, float]]) -> list[int]:
        """Keep postings that are in no segment yet; returns their document numbers."""
        numbers = []
        for terms in impacts:
            cursor = self._db.execute(
                "INSERT INTO pending (terms) VALUES (?)", (json.dumps(terms),)
            )
            numbers.append(int(cursor.lastrowid or 0))
        return numbers

    def pending(self, after: int = 0) -> list[tuple[int, dict[str, float]]]:
        """Pending documents with a number above `after`, in order."""
        rows = self._db.execute(
            "SELECT doc, terms FROM pending WHERE doc > ? ORDER BY doc", (after,)
        ).fetchall()
        return [(doc, json.loads(terms)) for doc, terms in rows]

    def pending_count(self) -> int:
        """How many documents wait for a segment."""
        return int(self._db.execute("SELECT count(*) FROM pending").fetchone()[0])

    def drop_pending(self, up_to: int) -> None:
        """Forget pending documents up to a number. Inside `writing` only."""
        self._db.execute("DELETE FROM pending WHERE doc <= ?", (up_to,))


def _use_log(db: sqlite3.Connection) -> None:
    """Let readers go on while one writes. Waits, for SQLite itself does not wait for this."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            db.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.005)


def _pack(docs: Docs) -> bytes:
    return array("I", [number for pair in docs for number in pair]).tobytes()


def _unpack(packed: bytes) -> Docs:
    flat = array("I")
    flat.frombytes(packed)
    return tuple(zip(flat[::2], flat[1::2], strict=True))


def _row(values: tuple[Any, ...]) -> Row:
    *fields, docs, number = values
    fields[10], fields[11] = bool(fields[10]), bool(fields[11])
    return Row(*fields, _unpack(docs), number)
