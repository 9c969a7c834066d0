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

if TYPE_CHECKING:
    from .view import Overlay, Stored, View

KEPT = 1_000_000
"""Pairs of note and impact that are kept, over all terms: some 75 MB. With 10,000 notes that is
room for the few hundred words that most questions are made of."""

TOUCHES = 200
"""Changed notes that are kept; terms that have seen few of them are worked out anew."""

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
    docs: tuple[int, ...]
    whole: bool


@dataclass(slots=True)
class _Due:
    """What a term has to be looked at for: the documents of notes, and the notes they replace."""

    replaced: set[int]
    documents: dict[int, int] = field(default_factory=dict)
    places: list[tuple[Stored | Overlay, Mapping[int, int]]] = field(default_factory=list)


class Best:
    """The best impacts of one view. Its owner serialises the calls."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._kept: dict[str, Impacts] = {}
        self._size = 0
        self._touches: list[_Touch] = []
        self._due: dict[int, _Due] = {}

    def moved(self) -> None:
        """Take into account that documents are in other places; their impacts are the same."""
        self._due.clear()

    def touch(self, note: int, old: tuple[int, ...], new: tuple[int, ...]) -> None:
        """Take into account that a note has other documents than before."""
        if not self._kept or old == new:
            return
        if len(self._touches) >= TOUCHES:
            self._forget_touches(TOUCHES // 2)
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
        peak, get, owner = 0.0, found.get, self._view.owner.__getitem__
        for source in self._view.sources():
            postings = source.postings(term)
            if postings is None:
                continue
            places, impacts = postings
            peak = max(peak, max(impacts))
            owners = map(owner, source.documents(places))
            for note, impact in zip(owners, impacts, strict=True):
                if note and impact > get(note, 0.0):
                    found[note] = impact  # noqa: PERF403 (it asks the dictionary that it fills)
        return Impacts(found, peak, len(self._touches))

    def _forget_touches(self, number: int) -> None:
        """Forget the first touches, and the terms that have not been asked for since then."""
        del self._touches[:number]
        self._kept = {term: one for term, one in self._kept.items() if one.seen >= number}
        self._size = sum(len(one.by_note) for one in self._kept.values())
        for one in self._kept.values():
            one.seen -= number

    def _forget_oldest(self) -> None:
        oldest = next(iter(self._kept))
        self._size -= len(self._kept.pop(oldest).by_note)

    def _renew(self, term: str, found: Impacts) -> None:
        due = self._due_since(found.seen)
        best = found.by_note
        for note in due.replaced:
            best.pop(note, None)
        for source, places in due.places:
            postings = source.postings(term)
            if postings is not None:
                for note, impact in matching(postings, places):
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
                    due.documents.update(dict.fromkeys(touch.docs, touch.note))
            for note in due.replaced & self._view.rows.keys():
                due.documents.update(dict.fromkeys(self._view.rows[note].docs, note))
            both = ((source, source.places(due.documents)) for source in self._view.sources())
            due.places = [(source, places) for source, places in both if places]
        return due


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
