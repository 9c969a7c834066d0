"""Ranking: term at a time over impacts, first whole notes, then the passages of the best.

A note's score is the sum over the query's terms of idf times its best impact in any of its
documents; a passage's score is its own sum plus a share of its note's. So a note whose evidence
as a whole answers the question lifts its passages, and passages are what is ranked. The idf is
that of BM25 in its non-negative form, over notes (Robertson and Zaragoza, 2009).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import log

from .analysis import QueryTerm
from .best import matching
from .view import View

NOTE_SHARE = 0.5
"""How much of its note's score a passage receives."""

ROUNDING = 1e-9
"""How much sums in another order may differ, as a share of them."""

COPY_SHARE = 0.3
"""What is left of the score of a sync program's conflict copy, so that it ranks behind."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A passage by its note and its place in the note (1 is the first; 0: only the head fits)."""

    score: float
    note: int
    part: int


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best passages, and how many notes fit at all."""

    hits: tuple[Ranked, ...]
    notes: int


@dataclass(frozen=True, slots=True)
class _Term:
    """A term of the query: its weight, and its impacts on the notes that are allowed."""

    weight: float
    impacts: Mapping[int, float]
    most: float
    """What it can add to the score of a note."""


def rank(view: View, query: Sequence[QueryTerm], allowed: set[int], limit: int) -> Ranking:
    """Return the `limit` best passages of the allowed notes; equal input, equal order."""
    weights = {term.text: term.weight * idf(view, term.text) for term in query}
    terms = [_term(view, text, weight, allowed) for text, weight in weights.items()]
    scores = _notes(view, terms, limit)
    hits = _passages(view, weights, _highest(view, terms, scores, limit))
    hits.sort(key=lambda hit: (-hit.score, view.rows[hit.note].path, hit.part))
    return Ranking(tuple(hits[:limit]), len(set().union(*(term.impacts for term in terms))))


def idf(view: View, term: str) -> float:
    """Inverse document frequency of an index term over the notes of the vault."""
    holders = len(view.best.impacts(term).by_note)
    return log(1 + (len(view.rows) - holders + 0.5) / (holders + 0.5))


def _term(view: View, text: str, weight: float, allowed: set[int]) -> _Term:
    found = view.best.impacts(text)
    impacts = found.by_note
    if len(allowed) < len(view.rows):
        impacts = {note: impacts[note] for note in allowed & impacts.keys()}
    return _Term(weight, impacts, weight * found.peak)


def _notes(view: View, terms: Iterable[_Term], limit: int) -> dict[int, float]:
    """The scores of the notes, with all that may be among the `limit` best.

    The terms that can add most come first. Once what is left cannot lift a new note among the
    best, only the notes that are there are looked up in it (MaxScore; Turtle and Flood, 1995).
    """
    ordered = sorted(terms, key=lambda term: term.most)
    left = [0.0, *accumulate(term.most for term in ordered)]
    scores: dict[int, float] = {}
    closed = False
    for term in reversed(ordered):
        more = left.pop()
        if not closed and len(scores) >= limit:
            least = (1 - ROUNDING) * _least(view, scores, limit)
            if closed := more < least:
                scores = {note: score for note, score in scores.items() if score + more >= least}
        _add(scores, term, closed=closed)
    return scores


def _add(scores: dict[int, float], term: _Term, *, closed: bool) -> None:
    weight, impacts, get = term.weight, term.impacts, scores.get
    if closed:
        for note, score in scores.items():
            scores[note] = score + weight * impacts.get(note, 0.0)
    else:
        for note, impact in impacts.items():
            scores[note] = get(note, 0.0) + weight * impact


def _least(view: View, scores: Mapping[int, float], limit: int) -> float:
    """The score of the last of the `limit` best so far; conflict copies do not count."""
    if not view.copies.isdisjoint(scores):
        scores = {note: score for note, score in scores.items() if note not in view.copies}
    best = heapq.nlargest(limit, scores.values())
    return best[-1] if len(best) == limit else 0.0


def _highest(
    view: View, terms: Sequence[_Term], scores: Mapping[int, float], limit: int
) -> dict[int, float]:
    """The best notes with their exact scores, for which the order of the additions is the query's.

    In any other order, two states of the same index could differ in the last digit.
    """
    least = (1 - ROUNDING) * _least(view, scores, limit)
    exact = {
        note: sum(term.weight * term.impacts.get(note, 0.0) for term in terms) * _share(view, note)
        for note, score in scores.items()
        if score >= least
    }
    order = sorted((-score, view.rows[note].path, note) for note, score in exact.items())
    return {note: exact[note] for _, _, note in order[:limit]}


def _share(view: View, note: int) -> float:
    return COPY_SHARE if note in view.copies else 1.0


def _passages(view: View, weights: Mapping[str, float], notes: Mapping[int, float]) -> list[Ranked]:
    documents = {
        doc: (note, part) for note in notes for part, doc in enumerate(view.rows[note].docs)
    }
    sums: dict[tuple[int, int], float] = {}
    for source in view.sources():
        places = source.places(documents)
        for term, weight in weights.items() if places else ():
            postings = source.postings(term)
            if postings is not None:
                for place, impact in matching(postings, places):
                    sums[place] = sums.get(place, 0.0) + weight * impact
    hits = [
        Ranked(_share(view, note) * score + NOTE_SHARE * notes[note], note, part)
        for (note, part), score in sums.items()
        if part
    ]
    # A note that only its head answers for is shown by its first passage.
    for note in notes.keys() - {hit.note for hit in hits}:
        first = 1 if len(view.rows[note].docs) > 1 else 0
        hits.append(Ranked(NOTE_SHARE * notes[note], note, first))
    return hits
