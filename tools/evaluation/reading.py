"""What is measured by asking alone: what is found, whether it can be traced, and what leaks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from ..answers import Passage, RecallAnswer, Source
from ..recall import recall
from ..search import search
from ..vault import Vault
from .figures import Figure, Tally, tallied
from .labels import Hidden, Question

RANKS: Final = (1, 5, 10)
BUDGET: Final = 2000
"""Tokens of the bundles that are asked for."""


def usefulness(vault: Vault, questions: Sequence[Question]) -> tuple[Figure, ...]:
    """Whether questions find the places that answer them: recall@k, MRR, and in the bundle."""
    at: dict[int, Tally] = {rank: Tally() for rank in RANKS}
    first, bundle = Tally(), Tally()
    for one in questions:
        hits = search(vault, one.query, one.project, limit=max(RANKS)).results
        for rank, tally in at.items():
            tally.count(_share(one.expect, hits[:rank]), one.query)
        places = [place for place, hit in enumerate(hits, 1) if _share(one.expect, [hit])]
        first.count(1 / places[0] if places else 0, one.query)
        sources = recall(vault, one.query, one.project, BUDGET).sources
        bundle.count(_share(one.expect, sources), one.query)
    ranked = (tally.figure(f"recall@{rank}") for rank, tally in at.items())
    return (*ranked, first.figure("MRR"), bundle.figure(f"evidence in {BUDGET} tokens"))


def _share(expect: Sequence[str], parts: Sequence[Passage | Source]) -> float:
    """How many of some places are among the parts of an answer."""
    named = {part.path for part in parts}
    named |= {f"{part.path}#^{part.observation_id}" for part in parts}
    return len(named & set(expect)) / len(set(expect))


def provenance(vault: Vault, questions: Sequence[Question]) -> Figure:
    """How much of what is recalled can be traced: to its line, version, date and origin."""
    answers = (recall(vault, one.query, one.project, BUDGET) for one in questions)
    parts = (case for answer in answers for case in _traced(vault, answer))
    return tallied(parts).figure("provenance coverage")


def _traced(vault: Vault, answer: RecallAnswer) -> Iterator[tuple[float, str]]:
    for source in answer.sources:
        memory = vault.layout.place(source.path).note_class == "agent-memory"
        whole = (
            source.path in answer.context
            and source.version >= 1
            and (source.observation_id is not None or not memory)
            and _is_date(source.date)
        )
        yield float(whole), f"{source.path}: a line without an id" if memory else source.path


def _is_date(text: str) -> bool:
    try:
        return bool(datetime.fromisoformat(text))
    except ValueError:
        return False


def leakage(vault: Vault, hidden: Sequence[Hidden], questions: Sequence[Question]) -> Figure:
    """How many answers hold what nobody may be given, or what is another project's."""
    return tallied((*_probes(vault, hidden), *_borders(vault, questions))).rate("leakage")


def _probes(vault: Vault, hidden: Sequence[Hidden]) -> Iterator[tuple[float, str]]:
    for one in hidden:
        for query in one.queries:
            found = search(vault, query, one.project, limit=100).results
            # A search finds what is muted as well, and says so: it is the check before a write.
            shown = [hit.snippet for hit in found if not hit.muted]
            bundle = recall(vault, query, one.project, BUDGET).context
            yield float(not any(_holds(text, one.words) for text in shown)), f"search: {query}"
            yield float(not _holds(bundle, one.words)), f"recall: {query}"


def _holds(text: str, words: str) -> bool:
    return " ".join(words.casefold().split()) in " ".join(text.casefold().split())


def _borders(vault: Vault, questions: Sequence[Question]) -> Iterator[tuple[float, str]]:
    for one in questions:
        if one.project is None:
            continue
        found = search(vault, one.query, one.project, limit=100).results
        sources = recall(vault, one.query, one.project, BUDGET).sources
        for tool, paths in (
            ("search", [hit.path for hit in found]),
            ("recall", [source.path for source in sources]),
        ):
            projects = {vault.layout.place(path).project for path in paths}
            yield float(projects <= {None, one.project}), f"{tool} in {one.project}: {one.query}"
