"""Keeping the text index in shape: pending documents into segments, few segments, no leftovers.

All of it only moves documents, never changes what a question finds. One process at a time does
it, the holder of the build lock; killed at any moment, it leaves at most a folder to sweep.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from .catalog import Catalog
from .segments import Segment, SegmentStamp, merge_segments, write_segment
from .sync import new_segment
from .view import View

PENDING_LIMIT = 1500
"""Pending documents after which they are written into a segment."""

SEGMENT_LIMIT = 6
"""Small segments after which they are merged."""

FULL = 20_000
"""Documents from which a segment is no longer small: it is left alone while most are alive."""


class Upkeep:
    """Tidies one index. `lock` guards catalog and view, and is free while segments are written."""

    def __init__(
        self, catalog: Catalog, view: View, folder: Path, lock: AbstractContextManager[object]
    ) -> None:
        self._catalog, self._view, self._folder, self._lock = catalog, view, folder, lock
        self._tidied = -1

    def tidy(self) -> None:
        """Do what is due. Raises `DamagedIndex` and `OSError`, with the index as it was."""
        with self._lock:
            self._view.reload()
            if self._view.change == self._tidied:
                return
            flush = self._catalog.pending_count() > PENDING_LIMIT
        if flush:
            self._flush()
        self._merge()
        self._sweep()
        self._tidied = self._view.change

    def _flush(self) -> None:
        with self._lock:
            # What is dead in this view is dead for good, but it knows nothing of later documents.
            last = self._view.overlay.last
            waiting = [(doc, terms) for doc, terms in self._catalog.pending() if doc <= last]
            alive = set(self._view.alive(doc for doc, _ in waiting))
        kept = {doc: terms for doc, terms in waiting if doc in alive}
        written = new_segment(self._folder, lambda new: write_segment(new, kept.values()))
        with self._lock:
            with self._catalog.writing():
                self._catalog.add_segment(*written, kept)
                self._catalog.drop_pending(last)
            self._view.reload()

    def _merge(self) -> None:
        """Write small and worn segments into one, and leave dead documents behind."""
        with self._lock:
            held = {number: stored.docs for number, stored in self._view.stored.items()}
            alive = {number: self._view.alive(docs) for number, docs in held.items()}
            chosen = _to_merge({n: len(docs) for n, docs in held.items()}, alive)
            named = self._catalog.segments()
        if not chosen:
            return
        docs = sorted(doc for number in chosen for doc in alive[number])
        places = {doc: place for place, doc in enumerate(docs)}
        sources = [(*named[n], [places.get(doc, -1) for doc in held[n]]) for n in chosen]
        written = self._merged(sources) if docs else None
        with self._lock:
            with self._catalog.writing():
                if not chosen <= self._catalog.segments().keys():
                    return  # The index was cleared meanwhile; the sweep takes what was written.
                if written:
                    self._catalog.add_segment(*written, docs)
                self._catalog.drop_segments(chosen)
            self._view.reload()

    def _merged(self, sources: Iterable[tuple[str, str, Sequence[int]]]) -> tuple[str, str]:
        with contextlib.ExitStack() as stack:
            opened = []
            for name, stamp, places in sources:
                source = Segment.open(self._folder / name, SegmentStamp.parse(stamp))
                stack.callback(source.close)
                opened.append((source, places))
            return new_segment(self._folder, lambda new: merge_segments(new, opened))

    def _sweep(self) -> None:
        """Remove the segments that are in use no more, or never were."""
        with self._lock:
            wanted = {folder for folder, _ in self._catalog.segments().values()}
        for path in self._folder.glob("segment-*"):
            if path.name not in wanted:
                shutil.rmtree(path, ignore_errors=True)


def _to_merge(sizes: Mapping[int, int], alive: Mapping[int, Sequence[int]]) -> set[int]:
    """The small segments when they are many; else what is dead, and what is large and worn."""
    small = {number for number, size in sizes.items() if size < FULL}
    worn = {number for number, size in sizes.items() if 2 * len(alive[number]) < size}
    dead = {number for number in sizes if not alive[number]}
    return small | worn if len(small) > SEGMENT_LIMIT else dead | (worn - small)
