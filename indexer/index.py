"""The index of one vault: the one object through which the tools find notes.

Every question first catches up: with what other processes have committed, and with what has
changed on disk. In long-lived processes a keeper looks for changes and builds in the background;
one-shot commands compare the files by size and time. Whatever is shown is cut out of the file as
it is now: when its bytes are not those that were indexed, that note is indexed again first.

A question holds this process's lock, and nothing that takes long does. Who holds the build lock,
of all processes, may write segments and drop them.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import Literal, Protocol, TypeVar

import filelock

from ..vault.errors import VaultEmptied, ZibaldoneError
from ..vault.layout import Entry, Layout
from ..vault.note import Problem
from ..vault.source import readable
from .analysis import only_stop_words, query_terms
from .catalog import Row, decoded
from .engine import Engine, Parts
from .graph import LinkGraph
from .passages import Passage, today
from .rank import Ranked, idf, rank
from .resolve import Resolver
from .segments import DamagedIndex
from .sync import Diff, compare, compare_some, looks_known
from .texts import Texts
from .view import Scope, View

log = logging.getLogger(__name__)

BULK = 200
"""From so many changed notes on, they are a build: batch by batch, each a segment of its own."""

BATCHES = (300, 2000, 4000)
"""Notes per batch: a first part soon, then larger ones."""

PATIENCE = 1.5
"""Seconds for which questions wait for a build that has begun, before they answer in part."""

RECENT_KEPT = 64
"""How many of the notes that were asked for or written last each question looks at."""

ROUNDS = 4
"""How often one ranks anew because a hit has changed or was not to be shown."""

Progress = Callable[[int, int], None]
Answer = TypeVar("Answer")


class Keeper(Protocol):
    """What an index wants of the background thread of its process."""

    def watching(self) -> bool:
        """Say whether all changes since the last full look at the files get marked."""

    def wake(self) -> None:
        """Ask for a full look soon."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage as it stands in the file now; `part` counts from 1, 0 for a note without text."""

    row: Row
    part: int
    passage: Passage | None
    text: str
    score: float

    @property
    def place(self) -> tuple[int, int]:
        """What names the passage inside one question: the number of its note, and its part."""
        return self.row.number, self.part


@dataclass(frozen=True, slots=True)
class Found:
    """The hits of one question, how many notes fit, and why there may be none."""

    hits: tuple[Hit, ...]
    notes: int
    hint: Literal["only_stop_words", "no_terms"] | None = None

    def only(self, admits: Callable[[Hit], bool]) -> Found:
        """What was found without the hits that are not admitted, and their notes counted anew."""
        hits = tuple(filter(admits, self.hits))
        return replace(self, hits=hits, notes=len({hit.row.number for hit in hits}))


@dataclass(frozen=True, slots=True)
class Freshness:
    """How many notes are indexed, how many wait, and what was repaired since the last answer.

    `quiet` of the notes may not be recalled at all.
    """

    notes: int
    quiet: int
    behind: int
    notice: str


class Index:
    """The index of one vault. Its methods may be called from several threads.

    They raise `StorageFailed` and `LockTimeout` when the cache cannot be used, `VaultNotFound`
    when the vault has gone, and `VaultEmptied` when its notes have vanished all at once.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.keeper: Keeper | None = None
        self.progress: Progress | None = None
        self.ready = threading.Event()
        """Set when all files have been looked at since the index was opened."""
        self.look_seconds = 0.0
        """What the last look at all files took, without bringing anything in."""
        self._engine = Engine(layout, self._when_opened)
        self._texts = Texts(layout)
        self._marks: set[str] = set()
        self._marks_lock = threading.Lock()
        self._recent: dict[str, None] = {}
        self._patient_until = 0.0
        self._behind = 0
        self._emptied = False
        self._day = ""

    def _when_opened(self) -> None:
        self._patient_until = time.monotonic() + PATIENCE
        self.ready.clear()
        self._wake_keeper()

    def _wake_keeper(self) -> None:
        if self.keeper is not None:
            self.keeper.wake()

    def interrupt(self) -> None:
        """End a build that is under way, in a good state, and begin none until it is closed."""
        self._engine.stop.set()

    def close(self) -> None:
        """Close the files of the index."""
        self._engine.close()
        self._engine.stop.clear()

    def ask(self, question: Callable[[], Answer]) -> Answer:
        """Answer a question on an index that has caught up; a damaged one is built anew first.

        What the question raises goes to the caller.
        """
        return self._engine.soundly(lambda: self._answer(question))

    def _answer(self, question: Callable[[], Answer], *, again: bool = True) -> Answer:
        self._catch_up()
        with self._engine.lock:
            view = self._engine.open().view
            view.refresh()
            if not view.intact():
                raise DamagedIndex("a segment file was changed or removed")
            if not (again and view.behind and not self._behind):
                return question()
        # Another process has dropped the index since the files were compared with it.
        return self._answer(question, again=False)

    # Keeping up

    def _catch_up(self) -> None:
        with self._engine.lock:
            self._engine.open().view.refresh()
        if self.keeper is None:
            self._look(build=True)
        elif self._emptied or (self.ready.is_set() and not self._vouched(self.keeper)):
            self._look(build=False)
        elif not self.ready.is_set():
            self.ready.wait(max(0.0, self._patient_until - time.monotonic()))
        elif len(self._marks) < BULK:
            self.mark(self._changed_lately())
            self._absorb()

    def _vouched(self, keeper: Keeper) -> bool:
        """Whether nothing can have changed but what is marked.

        A new day lets things expire, and another process may have begun anew.
        """
        return keeper.watching() and self._day == today() and not self._view.behind

    @property
    def watched(self) -> bool:
        """Whether a keeper looks for changes, so that questions may come just before it does."""
        return self.keeper is not None

    def _changed_lately(self) -> list[str]:
        """Those of the notes that were asked for last that have changed.

        The owner may just have saved one, and the watcher takes some milliseconds to tell of it.
        """
        view = self._view
        return [path for path in tuple(self._recent) if not looks_known(self.layout, path, view)]

    def look(self, *, build: bool | None = None) -> None:
        """Compare all files with the index and bring in what differs.

        Many notes are brought in by the keeper, where there is one, or if `build` is true.
        """
        self._engine.soundly(lambda: self._look(build=build or self.keeper is None))

    def look_below(self, folder: str) -> None:
        """Compare the files below a folder with the index and bring in what differs.

        Many notes are left to the keeper.
        """
        self._engine.soundly(lambda: self._look_below(f"{folder}/"))

    def _look_below(self, below: str) -> None:
        entries = list(self.layout.walk(start=below))
        with self._engine.lock:
            view = self._engine.open().view
            view.refresh()
            diff = compare(entries, view, below)
        paths = {*(entry.path for entry in diff.changed), *diff.removed}
        if len(paths) >= BULK:
            self._wake_keeper()
        elif paths:
            self._look_at(paths)

    def absorb(self) -> None:
        """Look at the marked files and bring in what differs."""
        self._engine.soundly(self._absorb)

    def touched(self, paths: Iterable[str]) -> None:
        """Bring in notes that were just written, moved or removed.

        Raises nothing: what fails is left to the next question, since the notes are written.
        """
        touched = set(paths)
        self._remember(touched)
        try:
            self._engine.soundly(lambda: self._look_at(touched))
        except (ZibaldoneError, OSError) as failure:
            log.warning("The index will take up %d notes later: %s", len(touched), failure)
            self.mark(touched)

    def _remember(self, paths: Iterable[str]) -> None:
        with self._marks_lock:
            self._recent.update(dict.fromkeys(paths))
            while len(self._recent) > RECENT_KEPT:
                del self._recent[next(iter(self._recent))]

    def mark(self, paths: Iterable[str]) -> None:
        """Note paths that may have changed; the next question looks at them."""
        with self._marks_lock:
            self._marks.update(paths)

    def is_behind(self) -> bool:
        """Say whether notes wait for a build, of this process or another."""
        return self._behind > 0

    @property
    def folder(self) -> Path:
        """Where the files of the index lie."""
        return self._engine.folder

    def marked(self) -> int:
        """How many paths are marked."""
        return len(self._marks)

    @contextlib.contextmanager
    def _taking_marks(self) -> Iterator[set[str]]:
        """Take the marks away; they come back when what is done with them fails."""
        with self._marks_lock:
            taken, self._marks = self._marks, set()
        with contextlib.ExitStack() as undoing:
            undoing.callback(self.mark, taken)
            yield taken
            undoing.pop_all()

    def _absorb(self) -> None:
        with self._taking_marks() as paths:
            if paths:
                self._look_at(paths)

    def _look_at(self, paths: Collection[str]) -> None:
        view = self._view
        with self._engine.lock:
            view.refresh()
        diff = compare_some(self.layout, paths, view)
        if not diff.notes:
            self._refuse_emptied(view, diff.removed)
        self._bring_in(diff)

    def _refuse_emptied(self, view: View, told: Collection[str]) -> None:
        """Raise `VaultEmptied` when no known note is there.

        A single last one that someone has told of may be deleted like any other.
        """
        known = tuple(view.numbers)
        there = any(os.path.lexists(f"{self.layout.root}/{path}") for path in known)
        deleted = len(known) == 1 and known[0] in told
        self._emptied = bool(known) and not there and not deleted
        if self._emptied:
            raise VaultEmptied(str(self.layout.root), len(known))

    def _look(self, *, build: bool, patience: float = PATIENCE) -> None:
        day = today()
        with self._taking_marks() as marked:
            diff = self._compare(marked)
            if len(diff.changed) < BULK:
                self._bring_in(diff)
                self._finish()
            elif build:
                self._build(patience)
            else:
                self._behind = len(diff.changed)
                self._wake_keeper()
        self._day = day
        self.ready.set()

    def _compare(self, marked: Collection[str] = ()) -> Diff:
        started = time.monotonic()
        entries = list(self.layout.walk())
        with self._engine.lock:
            view = self._engine.open().view
            view.refresh()
            diff = compare(entries, view)
            self._emptied = False
            if not diff.notes:
                self._refuse_emptied(view, marked)
        self.look_seconds = time.monotonic() - started
        return diff

    def _bring_in(self, diff: Diff) -> None:
        if diff.changed or diff.removed:
            self.mark(self._parts.updater.update(diff.changed, diff.removed))

    def _finish(self) -> None:
        """Tell other processes that all notes are in, where a build was broken off."""
        self._behind = 0
        if self._view.behind:
            with contextlib.suppress(filelock.Timeout), self._engine.build_lock(0):
                self._parts.updater.update((), (), behind=0)

    def _build(self, patience: float) -> None:
        """Bring in many notes, batch by batch, unless another process is already at it."""
        # Who knows already that another one is building does not wait again.
        seconds = 0 if self._behind and patience > 0 else patience
        try:
            with self._engine.build_lock(seconds):
                self._bring_in_batches(self._compare())
                if not self._engine.stop.is_set():
                    self._parts.upkeep.tidy()
        except filelock.Timeout:
            self._behind = len(self._compare().changed)

    def _bring_in_batches(self, diff: Diff) -> None:
        updater = self._parts.updater
        done, total = 0, len(diff.changed)
        updater.update((), diff.removed, behind=total)
        for batch in _batches(diff.changed):
            self._behind = total - done
            stale = updater.build(
                batch, total - done - len(batch), partial(self._show, done, total)
            )
            self.mark(stale)
            done += len(batch)
        if not self._engine.stop.is_set():
            updater.update((), (), behind=0)
            self._behind = 0

    def _show(self, before: int, total: int, seen: int) -> None:
        done = before + seen
        if self.progress is not None and (done % 100 == 0 or done == total):
            self.progress(done, total)

    def tidy(self) -> None:
        """Tidy the index, if it is open and no other process is at it; for quiet moments.

        What fails is left as it is: the next question finds damage, and mends it.
        """
        try:
            if self._engine.is_open:
                with contextlib.suppress(filelock.Timeout), self._engine.build_lock(0):
                    self._parts.upkeep.tidy()
        except (DamagedIndex, sqlite3.Error, ZibaldoneError, OSError) as failure:
            log.warning("The index was not tidied: %s", failure)

    def refresh(self, *, rebuild: bool = False) -> Freshness:
        """Bring the whole index up to the files before returning; `rebuild` starts from nothing.

        Waits for a build of another process. Raises `VaultEmptied` when the vault held notes and
        now holds none, unless `rebuild`.
        """
        if rebuild:
            with self._engine.build_lock(-1):
                self._engine.open()
                self._engine.drop()
        self._engine.soundly(lambda: self._look(build=True, patience=-1))
        self.absorb()
        with self._engine.lock:
            return self.freshness()

    def forget(self) -> None:
        """Drop every index of this vault, with all that its files keep of what is gone.

        The next question builds it anew, in every process. Raises `StorageFailed`.
        """
        with self._engine.build_lock(-1):
            self._engine.open()
            self._engine.drop()
            self._engine.drop_others()

    # Reading; only inside a question

    @property
    def _parts(self) -> Parts:
        return self._engine.parts

    @property
    def _view(self) -> View:
        return self._engine.parts.view

    def freshness(self) -> Freshness:
        """How far the index is. A repair is told of once."""
        notice, self._engine.notice = self._engine.notice, ""
        view = self._view
        behind = max(self._behind, self.marked())
        if self.keeper is not None and not self.ready.is_set():
            behind = max(behind, view.behind, 1)
        return Freshness(len(view.rows), len(view.quiet), behind, notice)

    def change(self) -> int:
        """A number that rises whenever notes were brought in."""
        return self._view.change

    def row(self, path: str) -> Row | None:
        """What the index knows of the note at a path."""
        return self._view.row(path)

    def rows(self, scope: Scope) -> list[Row]:
        """The notes of a scope, by path."""
        return sorted(self.paths(scope).values(), key=lambda row: row.path)

    def paths(self, scope: Scope) -> Mapping[str, Row]:
        """The notes of a scope, by path, in no order."""
        view = self._view
        rows = map(view.rows.__getitem__, view.within(scope))
        return {row.path: row for row in rows}

    def derived(self) -> list[Row]:
        """The memory notes with observations that rest on others, by path."""
        rows = (self._view.rows[number] for number in self._view.derived)
        return sorted(rows, key=lambda row: row.path)

    def projects(self) -> frozenset[str]:
        """The names of all projects that have notes."""
        return frozenset(name for name, notes in self._view.projects.items() if notes)

    def resolver(self) -> Resolver:
        """The names by which notes are found."""
        return self._parts.links.resolver()

    def graph(self) -> LinkGraph:
        """The link graph, up to date."""
        return self._parts.links.graph()

    def idf(self, term: str) -> float:
        """Inverse document frequency of an index term over the notes of the vault."""
        return idf(self._view, term)

    def problems(self) -> list[tuple[str, Problem]]:
        """The notes that cannot be used as they are, by path."""
        rows = sorted(self._view.rows.values(), key=lambda row: row.path)
        return [(row.path, Problem(*decoded(row.problem))) for row in rows if row.problem]

    def find(self, text: str, scope: Scope, limit: int) -> Found:
        """Return the best passages for a question in plain text, cut out of the files."""
        query = query_terms(text)
        if not query:
            return Found((), 0, "only_stop_words" if only_stop_words(text) else "no_terms")
        wanted = limit
        for _ in range(ROUNDS):
            view = self._view
            ranking = rank(view, query, view.within(scope), wanted)
            hits, stale = self._cut(ranking.hits)
            if stale:
                self._look_at(stale)
            elif len(hits) >= limit or len(ranking.hits) < wanted:
                break
            else:
                wanted *= 2
        return Found(tuple(hits[:limit]), ranking.notes)

    def parts(self, row: Row, first: int = 1, last: int | None = None) -> list[Hit]:
        """Passages of a note as they stand in its file, in order, unranked."""
        for _ in range(ROUNDS):
            now = self._view.row(row.path)
            if now is None:
                break
            count = len(now.docs) - 1
            places = range(max(first, 1), min(last or count, count) + 1)
            hits, stale = self._cut([Ranked(0.0, now.number, at) for at in places])
            if not stale:
                return hits
            self._look_at(stale)
        return []

    def _cut(self, ranked: Sequence[Ranked]) -> tuple[list[Hit], set[str]]:
        """Cut passages out of their files; also returns the notes that have changed."""
        view, day = self._view, today()
        rows = {hit.note: view.rows[hit.note] for hit in ranked}
        parts = view.parts(rows.values())
        texts = {number: self._texts.of(row) for number, row in rows.items()}
        stale = {rows[n].path for n, text in texts.items() if text is None or n not in parts}
        self._remember(row.path for row in rows.values())
        hits = []
        for hit in ranked:
            row, text = rows[hit.note], texts[hit.note]
            if text is None or row.path in stale:
                continue
            passage = parts[hit.note][hit.part - 1] if hit.part else None
            if passage is None:
                hits.append(Hit(row, 0, None, "", hit.score))
            elif not passage.expires or passage.expires >= day:
                shown = readable(text[passage.start : passage.end])
                hits.append(Hit(row, hit.part, passage, shown, hit.score))
        return hits, stale


def _batches(entries: Sequence[Entry]) -> Iterator[Sequence[Entry]]:
    start = 0
    for size in chain(BATCHES, repeat(BATCHES[-1])):
        if start >= len(entries):
            return
        yield entries[start : start + size]
        start += size
