"""Per term, the best impact that each note has in any of its documents, kept over small changes.

To work it out, every posting of the term is looked at. After a change only the notes that have
changed are looked at again, in the terms that are asked for.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from ._whoosh import Postings
from .catalog import Docs

if TYPE_CHECKING:
    from .view import View

KEPT = 300_000
"""Pairs of note and impact that are kept, over all terms: some 30 MB."""

TOUCHES = 200
"""Changed notes after which everything is worked out anew."""

Value = TypeVar("Value")


@dataclass(slots=True)
class Impacts:
    """The best impact of each note that has a term; no impact is above `peak`."""

    by_note: dict[int, float]
    peak: float
    seen: int


@dataclass(frozen=True, slots=True)
class _Touch:
    """A note that has changed: the documents that are new, or all when some are gone."""

    note: int
    docs: Docs
    whole: bool


@dataclass(slots=True)
class _Due:
    """What a term has to be looked at for: these documents, and the notes they replace."""

    replaced: set[int]
    documents: dict[int, dict[int, int]] = field(default_factory=dict)


class Best:
    """The best impacts of one view. Its owner serialises the calls."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._kept: dict[str, Impacts] = {}
        self._size = 0
        self._touches: list[_Touch] = []
        self._due: dict[int, _Due] = {}

    def clear(self) -> None:
        """Forget everything."""
        self._kept.clear()
        self._touches.clear()
        self._due.clear()
        self._size = 0

    def touch(self, note: int, old: Docs, new: Docs) -> None:
        """Take into account that a note has other documents than before."""
        if not self._kept:
            return
        if len(self._touches) >= TOUCHES:
            self.clear()
            return
        before = frozenset(old)
        whole = not before.issubset(new)
        docs = new if whole else tuple(doc for doc in new if doc not in before)
        self._touches.append(_Touch(note, docs, whole))
        self._due.clear()

    def impacts(self, term: str) -> Impacts:
        """Return the best impacts of a term; not to be changed, and good until a change."""
        found = self._kept.pop(term, None)
        if found is None:
            found = self._worked_out(term)
            self._size += len(found.by_note)
        elif found.seen < len(self._touches):
            self._size -= len(found.by_note)
            self._renew(term, found)
            self._size += len(found.by_note)
        self._kept[term] = found
        while self._size > KEPT and len(self._kept) > 1:
            self._forget_oldest()
        return found

    def _worked_out(self, term: str) -> Impacts:
        found: dict[int, float] = {}
        peak, get = 0.0, found.get
        for source in self._view.sources():
            postings = source.postings(term)
            if postings is None:
                continue
            numbers, impacts = postings
            peak = max(peak, max(impacts))
            owners = map(source.owner.__getitem__, numbers)
            for note, impact in zip(owners, impacts, strict=True):
                if note and impact > get(note, 0.0):
                    found[note] = impact  # noqa: PERF403 (it asks the dictionary that it fills)
        return Impacts(found, peak, len(self._touches))

    def _forget_oldest(self) -> None:
        oldest = next(iter(self._kept))
        self._size -= len(self._kept.pop(oldest).by_note)

    def _renew(self, term: str, found: Impacts) -> None:
        due = self._due_since(found.seen)
        best = found.by_note
        for note in due.replaced:
            best.pop(note, None)
        for segment, documents in due.documents.items():
            postings = self._view.source(segment).postings(term)
            if postings is not None:
                for note, impact in matching(postings, documents):
                    best[note] = max(impact, best.get(note, 0.0))
                    found.peak = max(impact, found.peak)
        found.seen = len(self._touches)

    def _due_since(self, seen: int) -> _Due:
        due = self._due.get(seen)
        if due is None:
            fresh = self._touches[seen:]
            due = self._due[seen] = _Due({touch.note for touch in fresh if touch.whole})
            for touch in fresh:
                if touch.note not in due.replaced:
                    _add(due, touch.note, touch.docs)
            for note in due.replaced & self._view.rows.keys():
                _add(due, note, self._view.rows[note].docs)
        return due


def _add(due: _Due, note: int, docs: Docs) -> None:
    for segment, doc in docs:
        due.documents.setdefault(segment, {})[doc] = note


def matching(postings: Postings, documents: Mapping[int, Value]) -> Iterable[tuple[Value, float]]:
    """Return what stands for each of the documents that have the term, with its impact."""
    numbers, impacts = postings
    if 4 * len(documents) > len(numbers):
        pairs = zip(numbers, impacts, strict=True)
        return [(documents[doc], impact) for doc, impact in pairs if doc in documents]
    found = []
    for doc, value in documents.items():
        at = bisect_left(numbers, doc)
        if at < len(numbers) and numbers[at] == doc:
            found.append((value, impacts[at]))
    return found
