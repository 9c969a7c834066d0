"""How much a passage counts beside its words: its type, its age, and whose words it is.

A question that asks how lifts what is procedural, one that asks who lifts what says who someone
is. An episodic memory fades, and what expires within days counts a little less; facts and ways
of doing things do not age. All of this is bounded, so that words still decide.
"""

from __future__ import annotations

import datetime as dt
import functools
import re
import unicodedata
from itertools import zip_longest

from ...indexer.catalog import Names
from ...indexer.index import Hit
from ..answers import MemoryType
from ..provenance import Provenance, id_of, type_of

ASKED = 1.3
"""How much more a passage counts whose type the question asks for."""

FADING, HALF_LIFE = 0.4, 90
"""The share of its weight that an episodic memory can lose, and the days for half of that."""

LAST_DAYS, LAST_SHARE = 7, 0.9
"""What is left of the weight of a memory that expires within so many days."""

_ANYWHERE: dict[MemoryType, str] = {
    "procedural": "how howto procedure cómo wie schritte comment étapes pasos passos",
    "identity": "who whose whom quién quiénes wer wem wen wessen quem",
}
_AT_THE_START: dict[MemoryType, str] = {"procedural": "como", "identity": "qui quien quienes"}
_CHINESE: dict[MemoryType, str] = {"procedural": "怎么 怎樣 怎样 如何 步骤", "identity": "谁 誰"}
_MEASURES = "many much long old often far big large tall viel viele lange alt oft weit gross hoch"
"""What follows in a question for a number, as "how many"."""

_WORD = re.compile(r"\w+")

_RANKS = {"owner": 0, "system": 1, "agent": 2, "untrusted": 4}
_INFERENCE = 3


def types_asked(query: str) -> frozenset[MemoryType]:
    """Return the types of memory that the words of a question ask for."""
    words = _WORD.findall(unicodedata.normalize("NFC", query).casefold())
    measures = _MEASURES.split()
    followed = zip_longest(words, words[1:])
    asking = {word for word, after in followed if after not in measures}
    return frozenset(
        kind
        for kind in _ANYWHERE
        if not asking.isdisjoint(_ANYWHERE[kind].split())
        or not asking.intersection(words[:1]).isdisjoint(_AT_THE_START[kind].split())
        or any(each in query for each in _CHINESE[kind].split())
    )


def weight(hit: Hit, date: str, asked: frozenset[MemoryType], day: dt.date) -> float:
    """Return by what the score of a passage is multiplied; `date` is when it was written."""
    kind = type_of(hit)
    if kind is None or hit.passage is None:
        return 1.0
    factor = ASKED if kind in asked else 1.0
    if kind == "episodic":
        age = max(0, (day - dt.date.fromisoformat(date[:10])).days)
        factor *= 1 - FADING + FADING * 0.5 ** (age / HALF_LIFE)
    soon = (day + dt.timedelta(days=LAST_DAYS)).isoformat()
    return factor * LAST_SHARE if hit.passage.expires and hit.passage.expires < soon else factor


def authority(hit: Hit, provenance: Provenance) -> int:
    """Return how far back a passage stands in a bundle, 0 for the owner's rules and own words.

    Then come an agent's observations, then those that it has derived from others, and last what
    nobody vouches for.
    """
    if hit.row.kind == "rules" and type_of(hit) is not None:
        return _RANKS["owner"]
    rank = _RANKS[provenance.origin]
    return _INFERENCE if provenance.origin == "agent" and _is_derived(hit) else rank


def _is_derived(hit: Hit) -> bool:
    return id_of(hit) in _derived(hit.row.names) if id_of(hit) else False


@functools.lru_cache(maxsize=512)
def _derived(names: str) -> frozenset[str]:
    return frozenset(one for one, _ in Names.parse(names).rests)
