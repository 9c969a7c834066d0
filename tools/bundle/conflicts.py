"""Facts in one answer that contradict each other, and which of the two is the stronger.

It is a hint, made of words alone: nothing is left out because of it.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from ...indexer.index import Hit, Index
from ..policy.similarity import Sign, contradiction
from ..provenance import id_of, type_of
from ..search import shown
from .candidates import Candidate, Measure
from .gather import Lead

COMPARED = 16
"""Facts that are compared with each other: those of the most value."""

Pair = tuple[tuple[int, int], tuple[int, int]]
"""The places of two passages."""

Opposed = Mapping[Pair, Sign]
"""Pairs of passages that contradict each other, and how."""


@dataclass(frozen=True, slots=True)
class Clash:
    """Two passages that contradict each other; the stronger has more authority, or is newer."""

    stronger: Hit
    weaker: Hit
    sign: Sign


def opposed(index: Index, leads: Sequence[Lead]) -> Opposed:
    """Compare what was found with each other. Made inside a question only."""
    best = sorted(leads, key=lambda lead: (-lead.value, lead.hit.row.path, lead.hit.part))
    facts = [lead.hit for lead in best if _states_a_fact(lead.hit)][:COMPARED]
    idf = functools.cache(index.idf)
    found: dict[Pair, Sign] = {}
    for one, other in combinations(facts, 2):
        if sign := contradiction(shown(one), shown(other), idf):
            found[one.place, other.place] = sign
    return found


def clashes(pairs: Opposed, candidates: Sequence[Candidate]) -> tuple[Clash, ...]:
    """Say of each that is contradicted by stronger ones which of these is the strongest.

    Those with the strongest come last, so that what they move in their order stays there.
    """
    if not pairs:
        return ()
    by_date = sorted(candidates, key=lambda one: one.told.date, reverse=True)
    by_strength = sorted(by_date, key=lambda one: one.authority)
    rank = {one.hit.place: at for at, one in enumerate(by_strength)}
    strongest: dict[int, tuple[int, Sign]] = {}
    for pair, sign in pairs.items():
        stronger, weaker = sorted(map(rank.__getitem__, pair))
        strongest[weaker] = min(strongest.get(weaker, (stronger, sign)), (stronger, sign))
    found = sorted(((stronger, weaker, sign) for weaker, (stronger, sign) in strongest.items()))
    return tuple(
        Clash(by_strength[stronger].hit, by_strength[weaker].hit, sign)
        for stronger, weaker, sign in reversed(found)
    )


def with_room(
    told: Sequence[Clash], candidates: Sequence[Candidate], measure: Measure
) -> list[Candidate]:
    """Keep room in each weaker candidate for the mark that names the stronger one."""
    names = {clash.weaker.place: id_of(clash.stronger) for clash in told}
    return [
        replace(one, reserve=measure(mark(names[one.hit.place]))) if one.hit.place in names else one
        for one in candidates
    ]


def mark(name: str, position: int = 99) -> str:
    """What stands behind a fact that a stronger one contradicts: its id, else where it is cited."""
    return f" · contradicts {f'^{name}' if name else f'[{position}]'}"


def ref_of(hit: Hit) -> str:
    """How an answer names an observation: by its note and, if it has one, its id."""
    return f"{hit.row.path}#^{id_of(hit)}" if id_of(hit) else hit.row.path


def _states_a_fact(hit: Hit) -> bool:
    # What happened on one day says nothing against what happened on another.
    return type_of(hit) not in (None, "episodic")
