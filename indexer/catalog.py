"""The catalog: what was seen of each note, and where its words are in the text index.

One SQLite file in the cache folder. It is the only pointer into the segments, so that one
transaction moves every reader from one state to the next, in this process and in others. Each
index document has a number that never changes and is never used again; a segment says which
documents it holds, so that documents move between segments without a note being touched.
"""

from __future__ import annotations

import json
import sqlite3
import time
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

BUSY_SECONDS = 5.0
"""How long a write waits for the writes of other processes, each of which takes a few ms."""

RENAME_SECONDS = 60
"""How long after a note has gone a new one with the same bytes is taken for it, renamed."""

# The long columns come last, so that what is in the others is read without them.
_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID;
CREATE TABLE segment (
    number INTEGER PRIMARY KEY AUTOINCREMENT, folder TEXT, stamp TEXT, docs BLOB);
CREATE TABLE note (
    number INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT UNIQUE, change INTEGER, size INTEGER,
    mtime_ns TEXT, inode TEXT, token TEXT, id TEXT, title TEXT, class TEXT, project TEXT,
    category TEXT, muted INTEGER, copy INTEGER, problem TEXT, summary TEXT, expires TEXT,
    kind TEXT, docs BLOB, names TEXT, links TEXT, passages TEXT);
CREATE INDEX note_change ON note (change);
CREATE INDEX note_token ON note (token);
CREATE INDEX note_id ON note (id);
CREATE TABLE gone (number INTEGER PRIMARY KEY, change INTEGER, token TEXT, id TEXT, at INTEGER);
CREATE INDEX gone_change ON gone (change);
CREATE INDEX gone_token ON gone (token);
CREATE TABLE pending (doc INTEGER PRIMARY KEY, terms TEXT);
"""


def decoded(text: str) -> Any:
    """Read a JSON column. SQLite notices no torn page in the midst of a long text.

    Raises `sqlite3.DatabaseError`, as for other damage.
    """
    try:
        return json.loads(text)
    except ValueError as error:
        raise sqlite3.DatabaseError(f"a text of the catalog is damaged: {error}") from error


@dataclass(frozen=True, slots=True)
class Names:
    """How a note is named beside its path and title, and what its observations rest on.

    `rests` are pairs of ids: an active observation, and one that it rests on, of whatever note.
    """

    own_id: bool
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    rests: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Names:
        """Read what `str` wrote."""
        own, aliases, tags, rests = decoded(text)
        return cls(own, tuple(aliases), tuple(tags), tuple((one, on) for one, on in rests))

    def __str__(self) -> str:
        return json.dumps([self.own_id, self.aliases, self.tags, self.rests])


class Row(NamedTuple):
    """One note as the catalog knows it. JSON columns are kept as text until someone asks.

    `expires` is the first day of which the end takes something out of the note, or empty.
    `kind` is that of a memory note that is no category, such as a plan, or empty.
    `docs` are the numbers of its index documents, the head first, then one for each passage.
    """

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
    expires: str
    names: str
    links: str
    passages: str
    docs: tuple[int, ...]
    kind: str = ""
    number: int = 0
    change: int = 0


_COLUMNS = (
    "path, size, mtime_ns, inode, token, id, title, class, project, category, muted, copy, "
    "problem, summary, expires, names, links, passages, docs, kind"
)
_LIGHT = _COLUMNS.replace("links, passages", "'', ''")
_PUT = (
    f"INSERT INTO note ({_COLUMNS}, change) VALUES ({', '.join('?' * 21)}) "
    "ON CONFLICT (path) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in f"{_COLUMNS}, change".split(", ")[1:])
)


class Catalog:
    """An open catalog file. Not thread-safe: its owner serialises the calls.

    Every method may raise `sqlite3.DatabaseError`. What writes belongs inside `writing`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._db = sqlite3.connect(
            path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        with ExitStack() as undoing:
            undoing.callback(self._db.close)
            self._prepare()
            self._file = _identity(path)
            undoing.pop_all()

    def _prepare(self) -> None:
        self._use_log()
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute("PRAGMA journal_size_limit = 8000000")
        with self._transaction("IMMEDIATE"):
            tables = "SELECT 1 FROM sqlite_master WHERE name = 'meta'"
            if not self._db.execute(tables).fetchone():
                for statement in _TABLES.split(";")[:-1]:
                    self._db.execute(statement)
                # Not one note has been looked for yet, so the index is behind.
                # The time in ms: no number of a catalog that was dropped comes again.
                first = (("change", time.time_ns() // 1_000_000), ("doc", 1), ("behind", 1))
                self._db.executemany("INSERT INTO meta VALUES (?, ?)", first)

    def _use_log(self) -> None:
        """Let readers go on while one writes. Waits, for SQLite itself does not wait for this."""
        deadline = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
                if not busy or time.monotonic() > deadline:
                    raise
                time.sleep(0.005)

    def close(self) -> None:
        """Close the file; a closed catalog cannot be used again."""
        self._db.close()

    def replaced(self) -> bool:
        """Say whether the file is no longer the one that was opened."""
        return _identity(self._path) != self._file

    def version(self) -> int:
        """A number that changes when another connection has committed."""
        return int(self._db.execute("PRAGMA data_version").fetchone()[0])

    @contextmanager
    def _transaction(self, kind: str) -> Iterator[None]:
        self._db.execute(f"BEGIN {kind}")
        try:
            yield
            self._db.execute("COMMIT")
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold one state of the file for several reads."""
        with self._transaction("DEFERRED"):
            yield

    @contextmanager
    def writing(self) -> Iterator[int]:
        """Hold the only write transaction; yields the number of the new change."""
        with self._transaction("IMMEDIATE"):
            change = self.change() + 1
            self._set("change", change)
            yield change

    def _get(self, key: str) -> int:
        return int(self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()[0])

    def _set(self, key: str, value: int) -> None:
        self._db.execute("UPDATE meta SET value = ? WHERE key = ?", (value, key))

    def change(self) -> int:
        """The number of the last change; rises with each transaction that writes."""
        return self._get("change")

    def behind(self) -> int:
        """How many notes the build that is under way, or that was broken off, has yet to see."""
        return self._get("behind")

    def set_behind(self, notes: int) -> None:
        """Tell all processes how many notes a build has yet to see."""
        self._set("behind", notes)

    # Notes

    def rows(self, since: int = -1) -> Iterator[Row]:
        """The notes changed after `since`, without their passages and links."""
        query = f"SELECT {_LIGHT}, number, change FROM note WHERE change > ?"
        return map(_row, self._db.execute(query, (since,)))

    def row(self, path: str) -> Row | None:
        """One note, whole."""
        query = f"SELECT {_COLUMNS}, number, change FROM note WHERE path = ?"
        found = self._db.execute(query, (path,)).fetchone()
        return _row(found) if found else None

    def gone(self, since: int) -> list[int]:
        """The numbers of notes that were removed after change `since`."""
        query = "SELECT number FROM gone WHERE change > ?"
        return [number for (number,) in self._db.execute(query, (since,))]

    def paths_with(self, *, token: str) -> list[str]:
        """Some of the notes that hold the same bytes."""
        query = "SELECT path FROM note WHERE token = ? LIMIT 4"
        return [path for (path,) in self._db.execute(query, (token,))]

    def ids_lately_gone(self, token: str) -> list[str]:
        """The derived ids of notes with these bytes that have gone a moment ago, the last first."""
        query = "SELECT id FROM gone WHERE token = ? AND at >= ? AND id <> '' ORDER BY at DESC"
        oldest = int(time.time()) - RENAME_SECONDS
        return [found for (found,) in self._db.execute(query, (token, oldest))]

    def has_id(self, identifier: str, *, besides: str) -> bool:
        """Say whether a note at another path has this id."""
        query = "SELECT 1 FROM note WHERE id = ? AND path <> ?"
        return self._db.execute(query, (identifier, besides)).fetchone() is not None

    def passages(self, numbers: Sequence[int]) -> dict[int, tuple[int, str]]:
        """Of the given notes, the change that put them, and their passages as JSON."""
        marks = ",".join("?" * len(numbers))
        query = f"SELECT number, change, passages FROM note WHERE number IN ({marks})"
        return {number: (change, text) for number, change, text in self._db.execute(query, numbers)}

    def links(self, paths: Iterable[str]) -> dict[str, list[list[object]]]:
        """Per path of some notes: [target, anchor, alias, kind, line] for each link."""
        query = "SELECT path, links FROM note WHERE path IN (SELECT value FROM json_each(?))"
        rows = self._db.execute(query, (json.dumps(list(paths)),)).fetchall()
        # One call decodes all notes in a fifth of the time of ten thousand calls.
        values = decoded("[" + ",".join(text for _, text in rows) + "]")
        return {path: value for (path, _), value in zip(rows, values, strict=True)}

    def put(self, row: Row, change: int) -> None:
        """Insert or replace a note by its path; its number stays."""
        values = (
            row.path, row.size, str(row.mtime_ns), str(row.inode), row.token, row.id, row.title,
            row.note_class, row.project, row.category, row.muted, row.conflict_copy, row.problem,
            row.summary, row.expires, row.names, row.links, row.passages, _packed(row.docs),
            row.kind, change,
        )  # fmt: skip
        self._db.execute(_PUT, values)

    def stamp_file(self, row: Row, change: int) -> None:
        """Keep new file times of a note whose bytes did not change."""
        self._db.execute(
            "UPDATE note SET size = ?, mtime_ns = ?, inode = ?, change = ? WHERE path = ?",
            (row.size, str(row.mtime_ns), str(row.inode), change, row.path),
        )

    def remove(self, path: str, change: int) -> None:
        """Drop a note; of one with a derived id, remember what it was."""
        query = "DELETE FROM note WHERE path = ? RETURNING number, token, id, names"
        for number, token, identifier, names in self._db.execute(query, (path,)).fetchall():
            kept = "" if Names.parse(names).own_id else identifier
            values = (number, change, token, kept, int(time.time()))
            self._db.execute("INSERT INTO gone VALUES (?, ?, ?, ?, ?)", values)

    def clear(self, change: int) -> None:
        """Forget everything; the index is to be built anew."""
        self._set("behind", max(1, self._count("note")))
        for path in [path for (path,) in self._db.execute("SELECT path FROM note")]:
            self.remove(path, change)
        self._db.execute("DELETE FROM segment")
        self._db.execute("DELETE FROM pending")

    # Documents: in segments, or pending

    def documents(self) -> int:
        """All document numbers are smaller than this one."""
        return self._get("doc")

    def new_documents(self, count: int) -> range:
        """Take new document numbers, all larger than any before."""
        first = self._get("doc")
        self._set("doc", first + count)
        return range(first, first + count)

    def segments(self) -> dict[int, tuple[str, str]]:
        """Segment number -> (folder name, stamp)."""
        rows = self._db.execute("SELECT number, folder, stamp FROM segment ORDER BY number")
        return {number: (folder, stamp) for number, folder, stamp in rows}

    def documents_of(self, segment: int) -> list[int]:
        """The numbers of the documents that a segment holds, in its order, which rises."""
        query = "SELECT docs FROM segment WHERE number = ?"
        return list(_unpacked(self._db.execute(query, (segment,)).fetchone()[0]))

    def add_segment(self, folder: str, stamp: str, docs: Iterable[int]) -> None:
        """Register a written segment."""
        query = "INSERT INTO segment (folder, stamp, docs) VALUES (?, ?, ?)"
        self._db.execute(query, (folder, stamp, _packed(docs)))

    def drop_segments(self, numbers: Iterable[int]) -> None:
        """Forget segments."""
        self._db.executemany("DELETE FROM segment WHERE number = ?", [(n,) for n in numbers])

    def add_pending(self, impacts: Sequence[Mapping[str, float]]) -> range:
        """Keep documents that are in no segment yet; returns their numbers."""
        numbers = self.new_documents(len(impacts))
        rows = zip(numbers, map(json.dumps, impacts), strict=True)
        self._db.executemany("INSERT INTO pending VALUES (?, ?)", rows)
        return numbers

    def pending(self, after: int = 0) -> list[tuple[int, dict[str, float]]]:
        """Pending documents with a number above `after`, in order."""
        query = "SELECT doc, terms FROM pending WHERE doc > ? ORDER BY doc"
        return [(doc, decoded(terms)) for doc, terms in self._db.execute(query, (after,))]

    def pending_count(self) -> int:
        """How many documents wait for a segment."""
        return self._count("pending")

    def drop_pending(self, up_to: int) -> None:
        """Forget pending documents up to a number."""
        self._db.execute("DELETE FROM pending WHERE doc <= ?", (up_to,))

    def _count(self, table: str) -> int:
        return int(self._db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _packed(docs: Iterable[int]) -> bytes:
    return array("I", docs).tobytes()


def _unpacked(packed: bytes) -> array[int]:
    docs = array("I")
    try:
        docs.frombytes(packed)
    except (TypeError, ValueError) as error:
        raise sqlite3.DatabaseError(f"the catalog is damaged: {error}") from error
    if 0 in docs:  # Documents count from 1; a torn page reads as zeros.
        raise sqlite3.DatabaseError("the catalog has lost where the words of a note are")
    return docs


def _row(values: tuple[Any, ...]) -> Row:
    fields = list(values)
    # Some file systems use all 64 bits of an inode, and some times lie beyond the year 2262.
    fields[2], fields[3] = int(fields[2]), int(fields[3])
    fields[10], fields[11] = bool(fields[10]), bool(fields[11])
    fields[18] = tuple(_unpacked(fields[18]))
    return Row._make(fields)
