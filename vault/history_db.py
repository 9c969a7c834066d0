"""The tables behind `History`, and how the journals are read into them.

They are a function of the journals. A file that is damaged, or of another schema, is made anew.
"""

from __future__ import annotations

import contextlib
import dataclasses
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from .errors import JournalUnreadable
from .journal import Journal, JournalFile, Position
from .revision import Actor, Record

SCHEMA = 3
WAIT_SECONDS = 20

_TABLES = """
CREATE TABLE file (
    number INTEGER PRIMARY KEY, device TEXT, name TEXT, inode INTEGER, size INTEGER,
    mtime_ns INTEGER, last INTEGER, length INTEGER, hash TEXT, UNIQUE (device, name));
CREATE TABLE actor (
    number INTEGER PRIMARY KEY, agent TEXT, instance TEXT, session TEXT, client TEXT, origin TEXT,
    UNIQUE (agent, instance, session, client, origin));
CREATE TABLE record (
    number INTEGER PRIMARY KEY, hash TEXT UNIQUE, file INTEGER, offset INTEGER, length INTEGER,
    seq INTEGER, time TEXT, op TEXT, note TEXT, path TEXT, after TEXT, actor INTEGER,
    head INTEGER, key TEXT);
CREATE INDEX record_note ON record (note, head);
CREATE INDEX record_path ON record (path, note);
CREATE INDEX record_key ON record (key) WHERE key != '';
CREATE TABLE missing (base TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE revision (
    observation TEXT, version INTEGER, record INTEGER, parent INTEGER, op TEXT,
    PRIMARY KEY (observation, version, record)) WITHOUT ROWID;
CREATE VIEW told AS
    SELECT record.number, device, name, offset, record.length, record.hash, seq, time, op, note,
        path, after, head, key, agent, instance, session, client, origin
    FROM record JOIN file ON file.number = record.file JOIN actor ON actor.number = record.actor;
"""
# Enough for the indexes of a large journal while it is read for the first time.
_CACHE_KIB = 32 * 1024


class _Known(NamedTuple):
    """A file as it was when it was read, its number in the tables, and its last record."""

    number: int
    file: JournalFile
    last: Position


def connect(path: Path) -> sqlite3.Connection:
    """Open the file, and make the tables unless they are there. Raises sqlite3.Error."""
    db = sqlite3.connect(path, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        _use_log(db)
        # A commit may be lost with the power, and is then read again; the file stays whole.
        db.execute("PRAGMA synchronous=NORMAL")
        # Paths may hold words that were forgotten.
        db.execute("PRAGMA secure_delete=ON")
        db.execute(f"PRAGMA cache_size=-{_CACHE_KIB}")
        with _transaction(db):
            if db.execute("PRAGMA user_version").fetchone()[0] != SCHEMA:
                _make_tables(db)
    except BaseException:
        db.close()
        raise
    return db


def remove(path: Path) -> None:
    """Remove the file and what SQLite keeps next to it. Raises OSError."""
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)


def _use_log(db: sqlite3.Connection) -> None:
    """Let readers go on while one writes. Waits, for SQLite itself does not wait for this."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            db.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.005)


def _code(error: sqlite3.Error) -> int:
    """Return the primary result code of SQLite; 0 when the error is not SQLite's own."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def damaged(error: sqlite3.Error) -> bool:
    """Whether SQLite says that the file is broken, and not that it is busy or cannot be had.

    A log that has outlived its file, which someone removed, reads as a failure of the disk.
    """
    broken = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR)
    return _code(error) in broken


def read_journals(db: sqlite3.Connection, journal: Journal, files: Sequence[JournalFile]) -> int:
    """Bring the tables to what the files hold; return how many records are new.

    Of a file that has grown only the end is read, of one that was rewritten the whole. Where
    records that were there are gone, everything is read anew.
    """
    with _transaction(db):
        reader = _Reader(db, journal)
        known = {each.file[:2]: each for each in _known(db)}
        lost = bool(known.keys() - {file[:2] for file in files})
        for file in files:
            lost |= reader.update(file, known.get(file[:2]))
        if lost:
            for table in ("file", "record", "revision", "missing"):
                db.execute(f"DELETE FROM {table}")
            reader.gained = 0
            for file in files:
                reader.update(file, None)
    if lost or reader.rewritten:
        # What was redacted must not live on in the log of the database.
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return reader.gained


def _known(db: sqlite3.Connection) -> Iterator[_Known]:
    for number, device, name, inode, size, mtime_ns, *last in db.execute("SELECT * FROM file"):
        file = JournalFile(device, name, inode, size, mtime_ns)
        yield _Known(number, file, Position(device, name, *last))


class _Reader:
    """Reads files into the tables, inside a transaction."""

    def __init__(self, db: sqlite3.Connection, journal: Journal) -> None:
        self.gained = 0
        self.rewritten = False
        self._db = db
        self._journal = journal
        self._actors: dict[Actor, int] = {}

    def update(self, file: JournalFile, known: _Known | None) -> bool:
        """Read what is new in a file. Return whether records that were in it are gone."""
        if known is None:
            self._read(file, self._number(file), 0)
            return False
        if known.file == file:
            return False
        if start := self._grown_from(file, known):
            self._read(file, known.number, start)
            return False
        self.rewritten = True
        rows = self._db.execute("SELECT hash FROM record WHERE file = ?", (known.number,))
        before = {hash_ for (hash_,) in rows}
        return not before <= self._read(file, known.number, 0)

    def _number(self, file: JournalFile) -> int:
        query = "INSERT INTO file (device, name) VALUES (?, ?) RETURNING number"
        return int(self._db.execute(query, file[:2]).fetchone()[0])

    def _grown_from(self, file: JournalFile, known: _Known) -> int:
        """Return from where a file has to be read: 0 unless it has only grown."""
        if known.file.inode != file.inode:
            return 0
        try:
            self._journal.read(known.last)
        except JournalUnreadable:
            return 0
        return known.last.offset + known.last.length

    def _read(self, file: JournalFile, number: int, start: int) -> set[str]:
        """Read a file from an offset on; return the hashes of the records there."""
        hashes, last = set(), None if start else Position(file.device, file.name, 0, 0, "")
        for position, record in self._journal.scan(file.device, file.name, start):
            self._add(record, number, position)
            hashes.add(record.hash)
            last = position
        seen = "UPDATE file SET inode = ?, size = ?, mtime_ns = ? WHERE number = ?"
        self._db.execute(seen, (*file[2:], number))
        if last:
            place = "UPDATE file SET last = ?, length = ?, hash = ? WHERE number = ?"
            self._db.execute(place, (*last[2:], number))
        return hashes

    def _add(self, record: Record, file: int, position: Position) -> None:
        """Put a record in; one that is there already, in its new place."""
        added = self._db.execute(
            "INSERT OR IGNORE INTO record VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?)",
            (
                record.hash,
                file,
                position.offset,
                position.length,
                record.seq,
                record.time,
                record.op,
                record.note,
                record.path,
                record.after,
                self._actor(record.actor),
                record.key,
            ),
        )
        if added.rowcount:
            self.gained += 1
            self._link(record)
            self._add_revisions(record, added.lastrowid)
            return
        self._db.execute(
            "UPDATE record SET file = ?, offset = ?, length = ?, path = ?, after = ? "
            "WHERE hash = ?",
            (file, position.offset, position.length, record.path, record.after, record.hash),
        )

    def _link(self, record: Record) -> None:
        """Say of the base of a record that it is no head, though it may come only later."""
        behead = "UPDATE record SET head = 0 WHERE hash = ?"
        if record.base and not self._db.execute(behead, (record.base,)).rowcount:
            self._db.execute("INSERT OR IGNORE INTO missing VALUES (?)", (record.base,))
        if self._db.execute("DELETE FROM missing WHERE base = ?", (record.hash,)).rowcount:
            self._db.execute(behead, (record.hash,))

    def _add_revisions(self, record: Record, number: int | None) -> None:
        self._db.executemany(
            "INSERT OR IGNORE INTO revision VALUES (?, ?, ?, ?, ?)",
            [
                (each.observation, each.version or 0, number, each.parent, each.op)
                for each in record.touched
            ],
        )

    def _actor(self, actor: Actor) -> int:
        """Return the number of an actor, who is put in when new."""
        if actor not in self._actors:
            row = dataclasses.astuple(actor)
            self._db.execute("INSERT OR IGNORE INTO actor VALUES (NULL, ?, ?, ?, ?, ?)", row)
            query = (
                "SELECT number FROM actor WHERE agent = ? AND instance = ? AND session = ? "
                "AND client = ? AND origin = ?"
            )
            self._actors[actor] = int(self._db.execute(query, row).fetchone()[0])
        return self._actors[actor]


def _make_tables(db: sqlite3.Connection) -> None:
    kinds = (
        "SELECT type, name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY type DESC"
    )
    for kind, name in db.execute(kinds).fetchall():
        db.execute(f'DROP {kind} "{name}"')
    for statement in _TABLES.split(";")[:-1]:
        db.execute(statement)
    db.execute(f"PRAGMA user_version={SCHEMA}")


@contextlib.contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise
