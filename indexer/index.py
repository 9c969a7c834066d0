"""The index of one vault: the one object through which the tools find notes.

Every question first catches up: with what other processes have committed, and with what has
changed on disk. Long-lived processes let a watcher and a background thread do the looking;
one-shot commands compare the files by size and time. Whatever is shown is cut out of the file as
it is now: when its hash is not the one that was indexed, that note is indexed again first.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, TypeVar

from filelock import FileLock, Timeout

from ..vault.errors import StorageFailed, VaultEmptied
from ..vault.layout import Layout
from ..vault.note import Problem
from ..vault.source import Source, readable
from ..vault.store import make_cache
from .analysis import only_stop_words, query_terms
from .catalog import Catalog, Row
from .graph import LinkGraph
from .links import Links
from .passages import Passage
from .rank import Ranked, idf, rank
from .resolve import Resolver
from .segments import DamagedIndex, engine_stamp
from .sync import BULK, Diff, Updater, compare, entry_of
from .view import Scope, View

log = logging.getLogger(__name__)

FORMAT = 1
"""Version of what the index keeps; raise it when analysis, passages or weights change."""

BATCHES = (300, 2000, 5000)
"""Notes per commit of a long build: a first part soon, then larger ones."""

PATIENCE = 1.5
"""Seconds for which a question waits for a build that is under way, before it answers in part."""

TEXTS_KEPT = 500
"""Texts of notes that are kept; a size, time or inode that changed makes them be read again."""

UNAVAILABLE = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_NOMEM,
)
"""What SQLite says when a file is whole, but cannot be used now; to drop it would not help."""

REPAIRED = "The index was damaged and has been built anew."

Progress = Callable[[int, int], None]
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage as it stands in the file now; `part` counts from 1, 0 for a note without text."""

    row: Row
    part: int
    passage: Passage | None
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Found:
    """The hits of one question, how many notes fit, and why there may be none."""

    hits: tuple[Hit, ...]
    notes: int
    hint: Literal["only_stop_words", "no_terms"] | None = None


@dataclass(frozen=True, slots=True)
class Freshness:
    """How many notes are indexed, how many wait, and what was repaired since the last answer."""

    notes: int
    behind: int
    notice: str


class Index:
    """The index of one vault. Its methods may be called from several threads.

    `watched` is set by the keeper of a long-lived process, which then looks for changes itself.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.watched = False
        self.progress: Progress | None = None
        self.ready = threading.Event()
        self._folder = layout.cache_dir / "index"
        self._lock = threading.RLock()
        self._catalog: Catalog | None = None
        self._dirty: set[str] = set()
        self._behind = 0
        self._notice = ""
        self._texts: dict[str, tuple[tuple[str, int, int, int], str]] = {}
        self._failure: VaultEmptied | None = None

    # Opening, damage, closing

    def _open(self) -> None:
        if self._catalog is not None and not self._catalog.replaced():
            return
        known = self._catalog is not None
        self._close()
        make_cache(self.layout, "index")
        if not (self._folder / "catalog.db").exists() and (
            known or any(self._folder.glob("segment-*"))
        ):
            self._notice = REPAIRED
        catalog = Catalog(self._folder / "catalog.db", f"{FORMAT} {engine_stamp()}")
        self._view = View(catalog, self._folder)
        self._links = Links(catalog, self._view)
        self._updater = Updater(self.layout, catalog, self._folder, self._lock)
        self._catalog = catalog

    def _close(self) -> None:
        if self._catalog is not None:
            self._catalog.close()
            self._view.close()
            self._catalog = None

    def close(self) -> None:
        """Close the files of the index."""
        with self._lock:
            self._close()

    def repair(self, damage: Exception) -> None:
        """Drop a damaged index, so that the next look builds it anew.

        Raises `damage` when the file is not broken, but busy, or cannot be written now.
        """
        if getattr(damage, "sqlite_errorcode", 0) & 0xFF in UNAVAILABLE:
            raise damage
        log.warning("The index is damaged and is built anew: %s", damage)
        with self._lock:
            self._close()
            shutil.rmtree(self._folder, ignore_errors=True)
            self._notice = REPAIRED
            self.ready.clear()

    def ask(self, question: Callable[[], Answer]) -> Answer:
        """Answer a question on an index that has caught up; a damaged one is built anew first.

        Raises `VaultEmptied` when all notes have vanished at once, and `StorageFailed` when the
        index cannot be written.
        """
        try:
            return self._ask(question)
        except (DamagedIndex, sqlite3.DatabaseError) as failure:
            raise StorageFailed(str(self._folder), str(failure)) from failure

    def _ask(self, question: Callable[[], Answer]) -> Answer:
        for attempt in (1, 2):
            if self.watched:
                self.ready.wait(PATIENCE)
            with self._lock:
                try:
                    self._catch_up()
                    return question()
                except (DamagedIndex, sqlite3.DatabaseError) as damage:
                    if attempt == 2:
                        raise
                    self.repair(damage)
        raise AssertionError("unreachable")

    # Keeping up

    def _catch_up(self) -> None:
        self._open()
        self._view.refresh()
        # Another process may have merged segments between the two looks.
        if not self._view.intact() and not (self._view.refresh() and self._view.intact()):
            raise DamagedIndex("a segment file was changed or removed")
        if self._failure or not self.watched:
            self.look()
        elif self._dirty and len(self._dirty) < BULK:
            self.absorb()

    def look(self) -> None:
        """Compare all files with the index and bring in what differs."""
        self._dirty = set()  # All files are looked at, those too.
        diff = self._compare()
        if len(diff.changed) >= BULK:
            self._build()
        else:
            if diff.changed or diff.removed:
                self._bring_in(diff)
            self._behind = 0  # Where another process was building, it is done.
        self.ready.set()

    def _compare(self) -> Diff:
        entries = list(self.layout.walk())
        with self._lock:
            self._open()
            self._view.refresh()
            diff = compare(entries, self._view)
            known = len(self._view.rows)
        self._failure = None
        if known and not diff.notes and not self._any_left():
            self._failure = VaultEmptied(str(self.layout.root), known)
            raise self._failure
        return diff

    def _any_left(self) -> bool:
        """Whether a known note is there: the first of a vault may be younger than the walk."""
        with self._lock:
            return any(entry_of(self.layout, path) for path in self._view.numbers)

    def _bring_in(self, diff: Diff) -> None:
        self._dirty.update(self._updater.update(diff.changed, diff.removed))
        with self._lock:
            self._view.reload()

    def _build(self) -> None:
        """Bring in many notes, batch by batch, unless another process is already at it."""
        try:
            with self._build_lock(PATIENCE):
                diff = self._compare()
                self._bring_in_batches(diff)
                self._behind = 0
                self._updater.tidy()
        except Timeout:
            self._behind = len(self._compare().changed)

    def _build_lock(self, seconds: float) -> FileLock:
        return FileLock(
            make_cache(self.layout, "locks") / "build.lock", timeout=seconds, poll_interval=0.02
        )

    def _bring_in_batches(self, diff: Diff) -> None:
        done, total = 0, len(diff.changed)
        sizes = iter(BATCHES)
        size = next(sizes)
        while done < total:
            self._behind = total - done
            batch = diff.changed[done : done + size]
            self._bring_in(Diff(batch, diff.removed if done == 0 else (), diff.notes))
            done += len(batch)
            size = next(sizes, size)
            if self.progress:
                self.progress(done, total)

    def mark(self, paths: Iterable[str]) -> None:
        """Note paths that may have changed; the next question looks at them."""
        self._dirty.update(paths)

    def marked(self) -> int:
        """How many paths are marked."""
        return len(self._dirty)

    def absorb(self) -> None:
        """Bring in the marked paths."""
        paths, self._dirty = self._dirty, set()
        self.touched(paths)

    def touched(self, paths: Iterable[str]) -> None:
        """Look at some paths now: notes that were written, moved or removed."""
        entries = {path: entry_of(self.layout, path) for path in paths}
        changed = tuple(entry for entry in entries.values() if entry is not None)
        removed = tuple(path for path, entry in entries.items() if entry is None)
        with self._lock:
            self._open()
            self._bring_in(Diff(changed, removed, 0))

    def tidy(self) -> None:
        """Tidy the index unless another process is at it; for quiet moments.

        What fails then is left as it is: the next question finds damage, and mends it.
        """
        if self._catalog is None:
            return
        try:
            with contextlib.suppress(Timeout), self._build_lock(0):
                self._updater.tidy()
        except (DamagedIndex, sqlite3.DatabaseError, OSError) as failure:
            log.warning("The index was not tidied: %s", failure)

    def refresh(self, *, rebuild: bool = False) -> Freshness:
        """Bring the whole index up to the files before returning; `rebuild` starts from nothing.

        Raises `VaultEmptied` when the vault held notes and now holds none, unless `rebuild`.
        """
        if rebuild:
            # In this order, as the keeper takes the two.
            with self._build_lock(60), self._lock:
                self._close()
                shutil.rmtree(self._folder, ignore_errors=True)
                self._failure = None
        return self.ask(self._refreshed)

    def _refreshed(self) -> Freshness:
        self.look()
        return self.freshness()

    # Reading; only inside a question

    def freshness(self) -> Freshness:
        """How far the index is. A repair is told of once."""
        notice, self._notice = self._notice, ""
        behind = max(self._behind, len(self._dirty))
        if self.watched and not self.ready.is_set():
            behind = max(behind, 1)
        return Freshness(len(self._view.rows), behind, notice)

    def row(self, path: str) -> Row | None:
        """What the index knows of the note at a path."""
        return self._view.row(path)

    def rows(self, scope: Scope) -> list[Row]:
        """The notes of a scope, by path."""
        numbers = self._view.within(scope)
        return sorted((self._view.rows[n] for n in numbers), key=lambda row: row.path)

    def paths(self, scope: Scope) -> Mapping[str, Row]:
        """The notes of a scope, by path, in no order."""
        rows = map(self._view.rows.__getitem__, self._view.within(scope))
        return {row.path: row for row in rows}

    def projects(self) -> frozenset[str]:
        """The names of all projects that have notes."""
        return frozenset(name for name, notes in self._view.projects.items() if notes)

    def resolver(self) -> Resolver:
        """The names by which notes are found."""
        return self._links.resolver()

    def graph(self) -> LinkGraph:
        """The link graph, up to date."""
        return self._links.graph()

    def idf(self, term: str) -> float:
        """Inverse document frequency of an index term over the notes of the vault."""
        return idf(self._view, term)

    def problems(self) -> list[tuple[str, Problem]]:
        """The notes that cannot be used as they are, by path."""
        rows = sorted(self._view.rows.values(), key=lambda row: row.path)
        return [(row.path, Problem(*json.loads(row.problem))) for row in rows if row.problem]

    def find(self, text: str, scope: Scope, limit: int) -> Found:
        """Return the best passages for a question in plain text, cut out of the files."""
        query = query_terms(text)
        if not query:
            return Found((), 0, "only_stop_words" if only_stop_words(text) else "no_terms")
        for _ in range(3):
            ranking = rank(self._view, query, self._view.within(scope), limit)
            hits, stale = self._cut(ranking.hits)
            if not stale:
                break
            self.touched(stale)
        return Found(tuple(hits), ranking.notes)

    def parts(self, row: Row, first: int = 1, last: int | None = None) -> list[Hit]:
        """Passages of a note as they stand in its file, unranked; none when it has changed."""
        count = len(row.docs) - 1
        places = range(max(first, 1), min(last or count, count) + 1)
        return self._cut([Ranked(0.0, row.number, at) for at in places])[0]

    def _cut(self, ranked: Sequence[Ranked]) -> tuple[list[Hit], set[str]]:
        parts = self._view.parts(list({hit.note for hit in ranked}))
        texts: dict[int, str | None] = {}
        hits, stale = [], set()
        today = datetime.now(UTC).date().isoformat()
        for hit in ranked:
            row = self._view.rows[hit.note]
            if not hit.part:
                hits.append(Hit(row, 0, None, "", hit.score))
                continue
            if hit.note not in texts:
                texts[hit.note] = self._text(row)
            text = texts[hit.note]
            if text is None:
                stale.add(row.path)
                continue
            passage = parts[hit.note][hit.part - 1]
            if passage.expires and passage.expires < today:
                continue
            shown = readable(text[passage.start : passage.end])
            hits.append(Hit(row, hit.part, passage, shown, hit.score))
        return hits, stale

    def _text(self, row: Row) -> str | None:
        """The note's text, or `None` when the file no longer holds the text that was indexed."""
        file = f"{self.layout.root}/{row.path}"
        try:
            status = os.lstat(file)
            looks = (row.token, status.st_size, status.st_mtime_ns, status.st_ino)
            known = self._texts.get(row.path)
            if known and known[0] == looks and row.size == status.st_size:
                return known[1]
            with open(file, "rb") as stream:  # noqa: PTH123 - a tenth of the time, on each hit
                source = Source.parse(stream.read())
        except OSError:
            return None
        if source.token != row.token:
            return None
        if len(self._texts) >= TEXTS_KEPT:
            self._texts.clear()
        self._texts[row.path] = (looks, source.text)
        return source.text
