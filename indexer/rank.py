"""Ranking: term at a time over impacts, first whole notes, then the passages of the best.

A note's score is the sum over the query's terms of idf times its best impact in any of its
documents; a passage's score is its own sum plus a share of its note's. So a note whose evidence
as a whole answers the question lifts its passages, and passages are what is ranked. The idf is
that of BM25 in its non-negative form, over notes (Robertson and Zaragoza, 2009).
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Container, Sequence
from dataclasses import dataclass
from math import log

from .analysis import QueryTerm
from .view import Postings, View

NOTE_SHARE = 0.5
"""How much of its note's score a passage receives."""

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


def rank(
    view: View, query: Sequence[QueryTerm], allowed: Container[int], limit: int
) -> Ranking:
    """Return the `limit` best passages of the allowed notes; equal input, equal order."""
    weights = {term.text: term.weight * idf(view, term.text) for term in query}
    scores = _notes(view, weights, allowed)
    best = heapq.nsmallest(
        limit, scores.items(), key=lambda item: (-item[1], view.rows[item[0]].path)
    )
    hits = _passages(view, weights, dict(best))
    hits.sort(key=lambda hit: (-hit.score, view.rows[hit.note].path, hit.part))
    return Ranking(tuple(hits[:limit]), len(scores))


def idf(view: View, term: str) -> float:
    """Inverse document frequency of an index term over the notes of the vault."""
    holders = len(_best(view, term))
    total = max(len(view.rows), holders)
    return log(1 + (total - holders + 0.5) / (holders + 0.5))


def _notes(view: View, weights: dict[str, float], allowed: Container[int]) -> dict[int, float]:
    scores: dict[int, float] = {}
    get = scores.get
    for term, weight in weights.items():
        for note, impact in _best(view, term).items():
            if note in allowed:
                scores[note] = get(note, 0.0) + weight * impact
    for note in scores:
        if view.rows[note].conflict_copy:
            scores[note] *= COPY_SHARE
    return scores


def _best(view: View, term: str) -> dict[int, float]:
    """Per note that has the term, the best impact of its documents; kept until a change."""
    found = view.best.get(term)
    if found is not None:
        return found
    found = {}
    get = found.get
    for source in view.sources():
        postings = source.postings(term)
        if postings is None:
            continue
        owner = source.owner
        for doc, impact in zip(*postings, strict=True):
            note = owner[doc]
            if note and impact > get(note, 0.0):
                found[note] = impact
    view.keep_best(term, found)
    return found


def _passages(view: View, weights: dict[str, float], notes: dict[int, float]) -> list[Ranked]:
    wanted = _documents(view, notes)
    sums: dict[tuple[int, int], float] = {}
    for segment, documents in wanted.items():
        source = view.source(segment)
        for term, weight in weights.items():
            postings = source.postings(term)
            if postings is not None:
                for place, impact in _impacts(postings, documents):
                    sums[place] = sums.get(place, 0.0) + weight * impact
    hits, seen = [], set()
    for (note, part), score in sums.items():
        if part:
            seen.add(note)
            share = COPY_SHARE if view.rows[note].conflict_copy else 1.0
            hits.append(Ranked(share * score + NOTE_SHARE * notes[note], note, part))
    # A note that only its head answers for is shown by its first passage.
    for note in notes.keys() - seen:
        hits.append(Ranked(NOTE_SHARE * notes[note], note, 1 if len(view.rows[note].docs) > 1 else 0))
    return hits


def _documents(view: View, notes: dict[int, float]) -> dict[int, dict[int, tuple[int, int]]]:
    wanted: dict[int, dict[int, tuple[int, int]]] = {}
    for note in notes:
        for part, (segment, doc) in enumerate(view.rows[note].docs):
            wanted.setdefault(segment, {})[doc] = (note, part)
    return wanted


def _impacts(
    postings: Postings, documents: dict[int, tuple[int, int]]
) -> list[tuple[tuple[int, int], float]]:
    numbers, impacts = postings
    if 4 * len(documents) > len(numbers):
        pairs = zip(numbers, impacts, strict=True)
        return [(documents[doc], impact) for doc, impact in pairs if doc in documents]
    found = []
    for doc, place in documents.items():
        at = bisect_left(numbers, doc)
        if at < len(numbers) and numbers[at] == doc:
            found.append((place, impacts[at]))
    return found

