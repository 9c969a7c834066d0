"""Facts in one answer that contradict each other, and which of the two is the stronger.

It is a hint, made of words alone: nothing is left out because of it.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from ..indexer.index import Hit, Index
from .candidates import Candidate
from .gather import Lead
from .provenance import id_of, type_of
from .search import shown
from .similarity import Sign, contradiction

COMPARED = 16
"""Facts that are compared with each other: those of the most value."""

Place = tuple[int, int]
"""A passage: the number of its note, and its part there."""

Opposed = Mapping[tuple[Place, Place], Sign]
"""Pairs of passages that contradict each other, and how."""


@dataclass(frozen=True, slots=True)
class Clash:
    """Two candidates that contradict each other; the stronger has more authority, or is newer."""

    stronger: Candidate
    weaker: Candidate
    sign: Sign


def opposed(index: Index, leads: Sequence[Lead]) -> Opposed:
    """Compare what was found with each other. Made inside a question only."""
    best = sorted(leads, key=lambda lead: (-lead.value, lead.hit.row.path, lead.hit.part))
    facts = [lead.hit for lead in best if _states_a_fact(lead.hit)][:COMPARED]
    idf = functools.cache(index.idf)
    found: dict[tuple[Place, Place], Sign] = {}
    for one, other in combinations(facts, 2):
        if sign := contradiction(shown(one), shown(other), idf):
            found[place(one), place(other)] = sign
    return found


def clashes(pairs: Opposed, candidates: Sequence[Candidate]) -> tuple[Clash, ...]:
    """Say of each pair which is the stronger."""
    known = {place(one.hit): one for one in candidates} if pairs else {}
    found = []
    for (one, other), sign in pairs.items():
        pair = sorted((known[one], known[other]), key=lambda each: each.told.date, reverse=True)
        stronger, weaker = sorted(pair, key=lambda each: each.authority)
        found.append(Clash(stronger, weaker, sign))
    return tuple(found)


def place(hit: Hit) -> Place:
    """What names a passage inside one question."""
    return hit.row.number, hit.part


def ref_of(hit: Hit) -> str:
    """How an answer names an observation: by its note and, if it has one, its id."""
    return f"{hit.row.path}#^{id_of(hit)}" if id_of(hit) else hit.row.path


def _states_a_fact(hit: Hit) -> bool:
    # What happened on one day says nothing against what happened on another.
    return type_of(hit) not in (None, "episodic")
