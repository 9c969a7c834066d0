"""Bringing the catalog up to the files: compare, read and analyse, apply.

The comparison of disk and catalog yields what was changed and removed. Changed notes are read
and analysed outside any lock; short transactions then move every reader to the new state. A few
notes become pending documents, many are written straight into a segment.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import secrets
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from itertools import chain, count
from pathlib import Path, PurePosixPath

from ..vault.errors import NoteNotFound, PathRefused
from ..vault.ids import derived_id
from ..vault.layout import Entry, Layout
from ..vault.note import Note, Problem, read_note
from ..vault.paths import NOTE_ENDING
from ..vault.source import token_of
from .catalog import Catalog, Names, Row, decoded
from .passages import Document, Passage, documents, passages, rests, today, visible
from .segments import DamagedIndex, SegmentStamp, write_segment
from .texts import read_bytes
from .view import View

log = logging.getLogger(__name__)

NOTES_AT_ONCE = 200
"""Notes of one transaction of a build: some 40 ms, for which other writers wait."""

TICK_NS, COARSE_TICK_NS = 50_000_000, 2_100_000_000
"""A file written so shortly before it was read may change again within the tick of the file
system's clock. Its time is not trusted, so that the next look reads its bytes. Times in whole
seconds come from file systems that know no others, and FAT counts them by two."""

UNTRUSTED = -1
"""The size of a note whose file has to be read at the next look."""


@dataclass(frozen=True, slots=True)
class Diff:
    """What differs between the files and the catalog, and how many files there are."""

    changed: tuple[Entry, ...]
    removed: tuple[str, ...]
    notes: int


@dataclass(frozen=True, slots=True)
class Prepared:
    """A note ready for the catalog, without documents; its bytes may be those known already."""

    entry: Entry
    row: Row
    known: bool = False


def compare(entries: Iterable[Entry], view: View, below: str = "") -> Diff:
    """Compare a walk of the vault, or of what is `below` a folder, with what the view knows.

    Size, time and inode are compared, and no file is read.
    """
    found = {entry.path: entry for entry in entries}
    known = (path for path in view.numbers if path.startswith(below))
    removed = tuple(path for path in known if path not in found)
    return Diff(_changed(found.values(), view), removed, len(found))


def compare_some(layout: Layout, paths: Iterable[str], view: View) -> Diff:
    """Compare some files with what the view knows; `notes` counts those that are there."""
    entries = {path: entry_of(layout, path) for path in paths}
    there = [entry for entry in entries.values() if entry is not None]
    gone = tuple(path for path, entry in entries.items() if entry is None and view.row(path))
    return Diff(_changed(there, view), gone, len(there))


def _changed(entries: Iterable[Entry], view: View) -> tuple[Entry, ...]:
    rows, day = ((entry, view.row(entry.path)) for entry in entries), today()
    return tuple(e for e, row in rows if row is None or not _is_current(row, e, day))


def looks_known(layout: Layout, path: str, view: View) -> bool:
    """Say whether a file is as it was indexed, or gone and known to be so, by its looks."""
    row, entry = view.row(path), _look_at(layout, path)
    if row is None or entry is None:
        return row is None and entry is None
    return (row.size, row.mtime_ns, row.inode) == (entry.size, entry.mtime_ns, entry.inode)


def _is_current(row: Row, entry: Entry, day: str) -> bool:
    return (
        row.size == entry.size
        and row.mtime_ns == entry.mtime_ns
        and row.inode == entry.inode
        and not _has_expired(row, day)
    )


def _has_expired(row: Row, day: str) -> bool:
    return bool(row.expires) and row.expires < day


def entry_of(layout: Layout, path: str) -> Entry | None:
    """Look at one file as a walk would; `None` when it is gone or is no note of this vault."""
    if not is_note(layout, path):
        return None
    entry = _look_at(layout, path)
    try:
        straight = layout.absolute(path) == layout.root / path
        return entry if straight and _is_spelt_so(layout, path) else None
    except (OSError, PathRefused):
        return None


def _look_at(layout: Layout, path: str) -> Entry | None:
    try:
        found = os.lstat(f"{layout.root}/{path}")
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return Entry(path, found.st_size, found.st_mtime_ns, found.st_ino)


def _is_spelt_so(layout: Layout, path: str) -> bool:
    """Say whether a path has the case that it has on disk.

    Where the file system ignores case, a file is found under its old spelling too.
    """
    folder = str(layout.root)
    for name in path.split("/"):
        file, other = f"{folder}/{name}", f"{folder}/{name.swapcase()}"
        if other != file and os.path.lexists(other):
            same = os.path.samestat(os.lstat(file), os.lstat(other))
            if same and name not in os.listdir(folder):  # noqa: PTH208 - names are all it takes
                return False
        folder = file
    return True


def is_note(layout: Layout, path: str) -> bool:
    """Say whether a path is one that a note may have: its ending, valid text, not ignored."""
    if path[-3:].lower() != NOTE_ENDING or layout.ignored(path):
        return False
    return not any("\ud800" <= character <= "\udfff" for character in path)


class Updater:
    """Writes the catalog, and the segments of a build.

    `lock` guards the catalog; it is held for transactions, never while notes are analysed or
    segments are written. `stop` ends the work early, in a good state.
    """

    def __init__(
        self,
        layout: Layout,
        catalog: Catalog,
        view: View,
        folder: Path,
        lock: AbstractContextManager[object],
        stop: threading.Event,
    ) -> None:
        self._layout, self._catalog, self._view, self._folder = layout, catalog, view, folder
        self._lock, self._stop = lock, stop

    def update(
        self, entries: Iterable[Entry], removed: Iterable[str], behind: int | None = None
    ) -> list[str]:
        """Bring a few notes in and out; returns the paths that changed again meanwhile.

        `behind` tells all processes how many notes a build has yet to bring in.
        """
        prepared = list(self._prepared(entries))
        with self._changing() as change:
            for path in removed:
                self._take_out(path, change)
            if behind is not None:
                self._catalog.set_behind(behind)
            return [
                item.entry.path
                for item, parts in prepared
                if not self._put(item, change, partial(self._pending, parts))
            ]

    @contextlib.contextmanager
    def _changing(self) -> Iterator[int]:
        """Hold the catalog for a change, and let the view take it over."""
        with self._lock:
            with self._catalog.writing() as change:
                yield change
            self._view.reload()

    def build(self, entries: Sequence[Entry], left: int, seen: Callable[[int], None]) -> list[str]:
        """Bring many notes in, in a segment of their own; returns as `update` does.

        Only for the holder of the build lock. `left` notes are for later; `seen` is told how
        many of these have been looked at. What is stopped or killed midway is as good as done
        for the notes that are in the catalog by then.
        """
        kept: list[tuple[Prepared, range]] = []

        def impacts() -> Iterator[Mapping[str, float]]:
            last = 0
            for number, (item, parts) in enumerate(self._prepared(entries), 1):
                kept.append((item, range(last, last + len(parts))))
                last += len(parts)
                yield from (part.impacts for part in parts)
                seen(number)

        folder, stamp = new_segment(self._folder, lambda new: write_segment(new, impacts()))
        total = kept[-1][1].stop if kept else 0
        stale: list[str] = []
        for start in range(0, max(len(kept), 1), NOTES_AT_ONCE):
            some = kept[start : start + NOTES_AT_ONCE]
            with self._changing() as change:
                if start == 0:
                    docs = self._catalog.new_documents(total)
                    self._catalog.add_segment(folder, stamp, docs)
                for item, places in some:
                    if not self._put(item, change, partial(_slice, docs, places)):
                        stale.append(item.entry.path)
                self._catalog.set_behind(left + len(entries) - start - len(some))
            time.sleep(0.001)  # Whoever waits for the lock gets it.
        return stale

    def _prepared(
        self, entries: Iterable[Entry]
    ) -> Iterator[tuple[Prepared, tuple[Document, ...]]]:
        """Read and analyse notes; one that fails is kept as a visible problem."""
        for entry in entries:
            if self._stop.is_set():
                return
            try:
                yield prepare(self._layout, entry, self._view.row(entry.path))
            except (NoteNotFound, PathRefused):
                continue
            except Exception as failure:  # One note must never take down the rest.
                log.exception("Indexing %s failed", entry.path)
                yield Prepared(entry, _failed(self._layout, entry, failure)), ()

    def _put(
        self, item: Prepared, change: int, place: Callable[[Row | None], Sequence[int]]
    ) -> bool:
        """Bring one note in, unless its file has changed since it was read."""
        row, old = item.row, self._catalog.row(item.row.path)
        if _look_at(self._layout, row.path) != item.entry:
            return False
        if old is not None and (old.token == row.token if item.known else _same(old, row)):
            self._catalog.stamp_file(row, change)
        elif item.known:
            return False  # Another process has brought in another text since.
        else:
            row = row._replace(id=self._id(row, old, change), docs=tuple(place(old)))
            self._catalog.put(row, change)
        return True

    def _id(self, row: Row, old: Row | None, change: int) -> str:
        """The note's own id, else one that nobody else has, and that a rename does not change."""
        if _has_own_id(row):
            return row.id
        if old is not None and not _has_own_id(old):
            return old.id
        for path in self._catalog.paths_with(token=row.token):
            self._take_out(path, change)  # It may have gone a moment ago, to this place.
        before = [] if old else self._catalog.ids_lately_gone(row.token)
        others = (derived_id(f"{row.path}\0{number}") for number in count(2))
        free = (
            one
            for one in chain(before, [row.id], others)
            if not self._catalog.has_id(one, besides=row.path)
        )
        return next(free)

    def _pending(self, parts: Sequence[Document], old: Row | None) -> list[int]:
        """Documents for the parts of a note; those that were there already are kept."""
        free: dict[str, list[int]] = {}
        if old is not None:
            for key, doc in zip(decoded(old.passages)[0], old.docs, strict=True):
                free.setdefault(key, []).append(doc)
        kept = [free[part.key].pop() if free.get(part.key) else None for part in parts]
        new = (part.impacts for part, doc in zip(parts, kept, strict=True) if doc is None)
        numbers = iter(self._catalog.add_pending(list(new)))
        return [next(numbers) if doc is None else doc for doc in kept]

    def _take_out(self, path: str, change: int) -> None:
        """Take out a note, unless its file is there; it may have come back."""
        if entry_of(self._layout, path) is None:
            self._catalog.remove(path, change)


def _slice(docs: range, places: range, _: Row | None) -> range:
    return docs[places.start : places.stop]


def _same(one: Row, other: Row) -> bool:
    """Whether a note reads the same: its bytes are, and no observation has expired since."""
    return (one.token, one.passages, one.problem) == (other.token, other.passages, other.problem)


def _has_own_id(row: Row) -> bool:
    return Names.parse(row.names).own_id


def new_segment(folder: Path, write: Callable[[Path], SegmentStamp]) -> tuple[str, str]:
    """Write a segment under a new name in the folder of the index; returns name and stamp.

    Raises `DamagedIndex` when another process has dropped the index meanwhile.
    """
    new = folder / f"segment-{secrets.token_hex(6)}"
    try:
        return new.name, str(write(new))
    except FileNotFoundError as gone:
        raise DamagedIndex("the folder of the index was removed") from gone


def prepare(
    layout: Layout, entry: Entry, known: Row | None = None
) -> tuple[Prepared, tuple[Document, ...]]:
    """Read one note and work out everything that the index keeps of it.

    When its bytes are those that are known, nothing is worked out. Raises `NoteNotFound` and
    `PathRefused`.
    """
    racy, day = _is_racy(entry.mtime_ns), today()
    if known is not None and not known.problem and not _has_expired(known, day):
        data = read_bytes(f"{layout.root}/{entry.path}")
        if data is not None and token_of(data) == known.token:
            return Prepared(entry, _stamped(known, entry, racy), known=True), ()
    note = read_note(layout, entry.path)
    seen, parts = visible(layout, note, day), passages(note, day)
    indexed = documents(seen, parts)
    row = _row(seen, parts, indexed, rests(note))
    # What the system does not let be read may be readable tomorrow, with the same times.
    untrusted = racy or (note.problem is not None and note.problem.kind == "unreadable")
    row = _stamped(row._replace(token=note.source.token), entry, untrusted)
    return Prepared(entry, row), indexed


def _is_racy(mtime_ns: int) -> bool:
    tick = TICK_NS if mtime_ns % 1_000_000_000 else COARSE_TICK_NS
    return time.time_ns() - mtime_ns < tick


def _stamped(row: Row, entry: Entry, untrusted: bool) -> Row:
    size = UNTRUSTED if untrusted else entry.size
    return row._replace(size=size, mtime_ns=entry.mtime_ns, inode=entry.inode)


def _row(
    note: Note,
    parts: Sequence[Passage],
    indexed: Sequence[Document],
    rests_on: tuple[tuple[str, str], ...],
) -> Row:
    place, problem = note.place, note.problem
    links = [[x.target, x.anchor, x.alias, x.kind, x.line] for x in note.structure.links]
    keys = [document.key for document in indexed]
    return Row(
        path=note.path,
        size=UNTRUSTED,
        mtime_ns=0,
        inode=0,
        token=note.source.token,
        id=note.id,
        title=note.title,
        note_class=place.note_class,
        project=place.project or "",
        category=note.category,
        muted=note.muted,
        conflict_copy=problem is not None and problem.kind == "conflict-copy",
        problem=_problem(problem),
        summary=note.summary,
        expires=min((part.expires for part in parts if part.expires), default=""),
        names=str(Names(note.has_own_id, tuple(note.aliases), tuple(note.tags), rests_on)),
        links=json.dumps(links),
        passages=json.dumps([keys, *(part.values() for part in parts)]),
        docs=(),
        kind=note.kind,
    )


def _failed(layout: Layout, entry: Entry, failure: Exception) -> Row:
    place = layout.place(entry.path)
    return Row(
        path=entry.path,
        size=UNTRUSTED,
        mtime_ns=entry.mtime_ns,
        inode=entry.inode,
        token="",
        id=derived_id(entry.path),
        title=PurePosixPath(entry.path).stem,
        note_class=place.note_class,
        project=place.project or "",
        category="",
        muted=False,
        conflict_copy=False,
        problem=_problem(Problem("unreadable", f"{type(failure).__name__}: {failure}")),
        summary="",
        expires="",
        names=str(Names(own_id=False)),
        links="[]",
        passages="[[]]",
        docs=(),
    )


def _problem(problem: Problem | None) -> str:
    return json.dumps([problem.kind, problem.detail]) if problem else ""
