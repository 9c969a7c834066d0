"""Bringing the index up to the files: compare, prepare, apply, tidy.

The comparison of disk and catalog yields what was changed and removed. Changed notes are read
and analysed outside any lock; one short transaction then moves every reader to the new state.
A few changed notes go into the pending postings, many go straight into a segment of their own.
"""

from __future__ import annotations

import contextlib
import json
import logging
import secrets
import shutil
import stat
import time
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from ..vault.errors import NoteNotFound, PathRefused
from ..vault.ids import derived_id
from ..vault.layout import Entry, Layout
from ..vault.note import Note, read_note
from ..vault.paths import NOTE_ENDING
from .catalog import PENDING, Catalog, Docs, Names, Row
from .passages import Document, Passage, documents, passages, today, visible
from .segments import Segment, SegmentStamp, merge_segments, write_segment
from .view import View

log = logging.getLogger(__name__)

BULK = 200
"""From so many changed notes on, a batch becomes a segment of its own."""

PENDING_LIMIT = 1500
"""Pending documents after which they are written into a segment."""

SEGMENT_LIMIT = 6
"""Segments after which the smaller ones are merged."""

RACY_NS = 50_000_000
"""A file written within 50 ms before it was read may change again within the tick of the file
system's clock; its time is not trusted, so that the next scan looks at the bytes."""


@dataclass(frozen=True, slots=True)
class Diff:
    """What differs between the files and the catalog."""

    changed: tuple[Entry, ...]
    removed: tuple[str, ...]
    notes: int


@dataclass(frozen=True, slots=True)
class Prepared:
    """A note ready for the catalog; its row has no documents yet."""

    entry: Entry
    row: Row
    documents: tuple[Document, ...]


def compare(entries: Iterable[Entry], view: View) -> Diff:
    """Compare a walk of the vault with what the view knows, by size, time and inode."""
    changed, seen = [], set()
    for entry in entries:
        seen.add(entry.path)
        row = view.row(entry.path)
        if row is None or (row.size, row.mtime_ns, row.inode) != (
            entry.size,
            entry.mtime_ns,
            entry.inode,
        ):
            changed.append(entry)
    removed = tuple(path for path in view.numbers if path not in seen)
    return Diff(tuple(changed), removed, len(seen))


def entry_of(layout: Layout, path: str) -> Entry | None:
    """Look at one file as a walk would; `None` when it is gone or is no note of this vault."""
    if not is_note(layout, path):
        return None
    file = layout.root / path
    try:
        found = file.lstat()
        if not stat.S_ISREG(found.st_mode) or layout.absolute(path) != file:
            return None
    except (FileNotFoundError, NotADirectoryError, PathRefused):
        return None
    return Entry(path, found.st_size, found.st_mtime_ns, found.st_ino)


def is_note(layout: Layout, path: str) -> bool:
    """Say whether a path is one that a note may have: its ending, and not ignored."""
    return path[-3:].lower() == NOTE_ENDING and not layout.ignored(path)


def _same(one: Row, other: Row) -> bool:
    """Whether a note reads the same: its bytes are, and no observation has expired since."""
    return one.token == other.token and one.passages == other.passages


def has_own_id(row: Row) -> bool:
    """Say whether the note's id is written in its frontmatter, not derived from its path."""
    return Names.parse(row.names).own_id


class Updater:
    """Writes the catalog and the segments.

    `lock` guards the catalog's connection; it is held for transactions, never while notes are
    analysed or segments written.
    """

    def __init__(
        self, layout: Layout, catalog: Catalog, folder: Path, lock: AbstractContextManager[object]
    ) -> None:
        self._layout, self._catalog, self._folder = layout, catalog, folder
        self._lock = lock

    def prepare(self, entries: Iterable[Entry]) -> list[Prepared]:
        """Read and analyse notes; one that fails is kept as a visible problem."""
        prepared = []
        for entry in entries:
            try:
                prepared.append(prepare(self._layout, entry))
            except (NoteNotFound, PathRefused):
                continue
            except Exception as failure:  # One note must never take down the rest.
                log.exception("Indexing %s failed", entry.path)
                prepared.append(_failed(self._layout, entry, failure))
        return prepared

    def update(self, entries: Sequence[Entry], removed: Sequence[str]) -> list[str]:
        """Bring notes in and take notes out; returns the paths that changed again meanwhile."""
        prepared = self.prepare(entries)
        written = None
        if len(prepared) >= BULK:
            written = self._write(d.impacts for item in prepared for d in item.documents)
        with self._lock, self._catalog.writing() as change:
            segment = self._catalog.add_segment(*written) if written else PENDING
            return self._apply(prepared, removed, change, segment)

    def _apply(
        self, prepared: Sequence[Prepared], removed: Sequence[str], change: int, segment: int
    ) -> list[str]:
        ids = self._ids_of_removed(removed)
        stale, at = [], 0
        for item in prepared:
            if entry_of(self._layout, item.entry.path) == item.entry:
                self._put(item, ids, change, segment, at)
            else:
                stale.append(item.entry.path)
            at += len(item.documents)
        for path in removed:
            # A file may have come back since the comparison.
            if entry_of(self._layout, path) is None:
                self._catalog.remove(path, change)
        return stale

    def _write(self, documents: Iterable[Mapping[str, float]]) -> tuple[str, str]:
        folder = self._folder / f"segment-{secrets.token_hex(6)}"
        return folder.name, str(write_segment(folder, documents))

    def _put(
        self, item: Prepared, ids: dict[str, str], change: int, segment: int, first: int
    ) -> None:
        old = self._catalog.row(item.row.path)
        if old is not None and not old.problem and _same(old, item.row):
            self._catalog.stamp_file(item.row, change)
            return
        row = item.row
        if not has_own_id(row):
            kept = ids.get(row.token) if old is None else None if has_own_id(old) else old.id
            row = replace(row, id=kept or row.id)
        if segment == PENDING:
            docs = self._reuse(item, old)
        else:
            docs = tuple((segment, first + n) for n in range(len(item.documents)))
        self._catalog.put(replace(row, docs=docs), change)

    def _reuse(self, item: Prepared, old: Row | None) -> Docs:
        free: dict[str, list[tuple[int, int]]] = {}
        if old is not None:
            for key, doc in zip(json.loads(old.passages)[0], old.docs, strict=True):
                free.setdefault(key, []).append(doc)
        kept = [free[d.key].pop() if free.get(d.key) else None for d in item.documents]
        new = [d.impacts for d, doc in zip(item.documents, kept, strict=True) if doc is None]
        numbers = iter(self._catalog.add_pending(new))
        return tuple(doc or (PENDING, next(numbers)) for doc in kept)

    def _ids_of_removed(self, removed: Sequence[str]) -> dict[str, str]:
        """The derived ids of notes that are gone, by content: a rename keeps them."""
        rows = filter(None, map(self._catalog.row, removed))
        return {row.token: row.id for row in rows if not has_own_id(row)}

    # Tidying. Only one process at a time may tidy; the owner holds the build lock.

    def tidy(self) -> None:
        """Write pending postings that are many, merge segments that are many, sweep the folder."""
        with self._lock:
            flush = self._catalog.pending_count() > PENDING_LIMIT
            segments = {
                n: (f, SegmentStamp.parse(s)) for n, (f, s) in self._catalog.segments().items()
            }
        if flush:
            self._flush()
        elif len(segments) > SEGMENT_LIMIT:
            self._merge(segments)
        self._sweep()

    def _flush(self) -> None:
        with self._lock:
            waiting = self._catalog.pending()
        written = self._write(impacts for _, impacts in waiting)
        with self._lock, self._catalog.writing(moves=True):
            segment = self._catalog.add_segment(*written)
            self._move({(PENDING, doc): (segment, at) for at, (doc, _) in enumerate(waiting)})
            self._catalog.drop_pending(waiting[-1][0])

    def _merge(self, segments: Mapping[int, tuple[str, SegmentStamp]]) -> None:
        """Merge all segments but the largest, leaving dead documents behind."""
        largest = max(segments, key=lambda number: segments[number][1].documents)
        chosen = {number: value for number, value in segments.items() if number != largest}
        places = self._live(chosen)
        folder = self._folder / f"segment-{secrets.token_hex(6)}"
        with contextlib.ExitStack() as stack:
            sources = []
            for number, (name, stamp) in chosen.items():
                source = Segment.open(self._folder / name, stamp)
                stack.callback(source.close)
                mapping = [places.get((number, doc), -1) for doc in range(stamp.documents)]
                sources.append((source, mapping))
            stamp = merge_segments(folder, sources)
        with self._lock, self._catalog.writing(moves=True):
            merged = self._catalog.add_segment(folder.name, str(stamp))
            self._move({old: (merged, new) for old, new in places.items()})
            self._catalog.drop_segments(chosen)

    def _live(self, chosen: Container[int]) -> dict[tuple[int, int], int]:
        with self._lock:
            rows = list(self._catalog.rows())
        live = (pair for row in rows for pair in row.docs if pair[0] in chosen)
        return {pair: number for number, pair in enumerate(live)}

    def _move(self, places: Mapping[tuple[int, int], tuple[int, int]]) -> None:
        for row in list(self._catalog.rows()):
            docs = tuple(places.get(doc, doc) for doc in row.docs)
            if docs != row.docs:
                self._catalog.move_docs(row.number, docs)

    def _sweep(self) -> None:
        with self._lock:
            wanted = {folder for folder, _ in self._catalog.segments().values()}
        for path in self._folder.glob("segment-*"):
            if path.name not in wanted:
                shutil.rmtree(path, ignore_errors=True)


def prepare(layout: Layout, entry: Entry) -> Prepared:
    """Read one note and work out everything that the index keeps of it."""
    note, day = read_note(layout, entry.path), today()
    parts, seen = passages(note, day), visible(layout, note, day)
    indexed = documents(seen, parts)
    row = _row(seen, entry, parts, indexed)
    return Prepared(entry, replace(row, token=note.source.token), indexed)


def _row(
    note: Note,
    entry: Entry,
    parts: Sequence[Passage],
    indexed: Sequence[Document],
) -> Row:
    place, problem = note.place, note.problem
    links = [[x.target, x.anchor, x.alias, x.kind, x.line] for x in note.structure.links]
    keys = [document.key for document in indexed]
    racy = time.time_ns() - entry.mtime_ns < RACY_NS
    return Row(
        path=entry.path,
        size=-1 if racy else entry.size,
        mtime_ns=entry.mtime_ns,
        inode=entry.inode,
        token=note.source.token,
        id=note.id,
        title=note.title,
        note_class=place.note_class,
        project=place.project or "",
        category=note.category,
        muted=note.muted,
        conflict_copy=problem is not None and problem.kind == "conflict-copy",
        problem=json.dumps([problem.kind, problem.detail]) if problem else "",
        summary=note.summary,
        names=str(Names(note.has_own_id, tuple(note.aliases), tuple(note.tags))),
        links=json.dumps(links),
        passages=json.dumps([keys, *(part.values() for part in parts)]),
        docs=(),
    )


def _failed(layout: Layout, entry: Entry, failure: Exception) -> Prepared:
    place = layout.place(entry.path)
    row = Row(
        path=entry.path,
        size=-1,
        mtime_ns=entry.mtime_ns,
        inode=entry.inode,
        token="",
        id=derived_id(entry.path),
        title=Path(entry.path).stem,
        note_class=place.note_class,
        project=place.project or "",
        category="",
        muted=False,
        conflict_copy=False,
        problem=json.dumps(["unreadable", f"{type(failure).__name__}: {failure}"]),
        summary="",
        names=str(Names(own_id=False)),
        links="[]",
        passages="[[]]",
        docs=(),
    )
    return Prepared(entry, row, ())
