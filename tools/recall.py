"""One coherent bundle for a question: the best passages, their lines around, their neighbours.

Candidates are the hits, the passages next to them, and passages of notes that the link graph
reaches in `depth` steps. They are packed by value per token, the best hit first, and laid out by
authority: direct hits before neighbours, the owner's words before inferences, then relevance,
then recency. Equal input gives equal output, but for the envelope's nonce.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ..indexer.catalog import Names, Row
from ..indexer.graph import Neighbour
from ..indexer.index import Found, Hit, Index
from ..indexer.view import Scope
from ..vault.markdown import parse
from ..vault.memory import normal_form
from .answers import Omitted, Reason, RecallAnswer, Source
from .envelope import CUT_MARK, Block, seal
from .search import FIRST_VERSION, date_of, hint_of, known_project, origin_of, shown
from .tokens import TokenCounter, count_tokens, cut_to
from .vault import Vault

HITS = 40
"""Passages that are considered as direct hits."""

STARTS = 8
"""Notes from which the graph is walked."""

NEIGHBOURS = 16
"""Neighbour notes that are considered; the others are counted as left out."""

FLOOR = 0.12
"""Hits below this share of the best score are noise and are not brought."""

BESIDE, LINKED = 0.35, 0.5
"""What a passage next to a hit, and one a link away, keep of the hit's score."""

OMITTED = 20
"""Left-out notes that are named; the rest is counted."""

ENVELOPE = "<recalled 00000000>\n</recalled 00000000>"
AUTHORITY = {"owner": 0, "system": 1, "agent": 2, "untrusted": 3}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that may go into the bundle. `hop` 0 is a hit or stands next to one."""

    hit: Hit
    value: float
    hop: int
    via: str | None
    text: str
    tokens: int

    @property
    def density(self) -> float:
        """Value per token, damped so that a full answer may beat a short aside."""
        return self.value / (12 + self.tokens) ** 0.5


@dataclass(frozen=True, slots=True)
class Bundle:
    """What was packed, whole or cut, and what was left out and why."""

    packed: tuple[tuple[Candidate, bool], ...]
    omitted: tuple[tuple[Candidate, Reason], ...]


def recall(
    vault: Vault,
    query: str,
    project: str | None = None,
    budget_tokens: int = 4000,
    depth: int = 1,
    max_per_source: int | None = None,
    counter: TokenCounter = count_tokens,
) -> RecallAnswer:
    """Return the notes that answer `query`, and their neighbours, within a budget.

    `budget_tokens` bounds `context` as it is returned, by `counter`. `depth` (0 to 3) is how many
    links away neighbours may lie. No note takes more than `max_per_source` tokens (default: half
    the budget, at least 500). With `project`: that project, and the user's memory that is not
    tied to another one.
    """
    share = max_per_source or max(500, budget_tokens // 2)

    def question() -> RecallAnswer:
        scope = Scope(project=known_project(vault, project), user_memory=True, muted=False)
        gatherer = Gatherer(vault, scope, counter)
        found = vault.index.find(query, scope, HITS)
        candidates = gatherer.gather(found, depth)
        bundle, context = _within(budget_tokens, share, counter, candidates)
        return _answer(vault, bundle, context, found, gatherer.beyond, budget_tokens, counter)

    return vault.index.ask(question)


def _within(
    budget: int, share: int, counter: TokenCounter, candidates: Sequence[Candidate]
) -> tuple[Bundle, str]:
    """Pack until the sealed text fits; a counter whose parts add up needs one round."""
    room = budget
    while True:
        bundle = Packer(room, share, counter).pack(candidates)
        context = seal([_block(group) for group in _groups(bundle.packed)])
        excess = counter(context) - budget
        if excess <= 0:
            return bundle, context
        room -= excess


class Gatherer:
    """Finds the candidates of one question."""

    def __init__(self, vault: Vault, scope: Scope, counter: TokenCounter) -> None:
        self._index: Index = vault.index
        self._scope, self._counter = scope, counter
        self._allowed = vault.index.paths(scope)
        self._projects = vault.index.projects()
        self.beyond = 0

    def gather(self, found: Found, depth: int) -> list[Candidate]:
        """Return every candidate once, best first."""
        hits = [hit for hit in found.hits if self._admits(hit)]
        if not hits:
            return []
        floor = hits[0].score * FLOOR
        hits = [hit for hit in hits if hit.score >= floor]
        best: dict[tuple[int, int], Candidate] = {}
        for candidate in self._all(hits, depth):
            key = (candidate.hit.row.number, candidate.hit.part)
            if key not in best or candidate.value > best[key].value:
                best[key] = candidate
        return sorted(best.values(), key=_by_value)

    def _all(self, hits: Sequence[Hit], depth: int) -> Iterator[Candidate]:
        for hit in hits:
            yield self._candidate(hit, hit.score, 0, None)
        yield from self._beside(hits)
        if depth:
            yield from self._linked(hits, depth)

    def _beside(self, hits: Sequence[Hit]) -> Iterator[Candidate]:
        for hit in hits[:STARTS]:
            for near in self._index.parts(hit.row, hit.part - 1, hit.part + 1):
                if near.part != hit.part and self._admits(near):
                    yield self._candidate(near, hit.score * BESIDE, 0, None)

    def _linked(self, hits: Sequence[Hit], depth: int) -> Iterator[Candidate]:
        scores: dict[str, float] = {}
        for hit in hits:
            scores.setdefault(hit.row.path, hit.score)
        near: dict[str, tuple[float, Neighbour]] = {}
        for start in list(scores)[:STARTS]:
            around = self._index.graph().neighbours([start], depth, limit=NEIGHBOURS)
            self.beyond += around.left_out
            for neighbour in around.found:
                value = scores[start] * LINKED * neighbour.weight
                if value > near.get(neighbour.path, (0.0,))[0]:
                    near[neighbour.path] = (value, neighbour)
        rows = [self._allowed[path] for path in near.keys() & self._allowed.keys() - scores.keys()]
        rows.sort(key=lambda row: (-near[row.path][0], row.path))
        self.beyond += len(rows[NEIGHBOURS:])
        for row in rows[:NEIGHBOURS]:
            value, neighbour = near[row.path]
            for hit in self._opening(row):
                yield self._candidate(hit, value, neighbour.hop, neighbour.via)

    def _opening(self, row: Row) -> list[Hit]:
        """The first passage of a note that may be shown here."""
        if row.conflict_copy:
            return []
        return [hit for hit in self._index.parts(row) if self._admits(hit)][:1]

    def _candidate(self, hit: Hit, value: float, hop: int, via: str | None) -> Candidate:
        text = line_of(hit)
        return Candidate(hit, value, hop, via, text, self._counter(f"{text}\n"))

    def _admits(self, hit: Hit) -> bool:
        """Keep out the user's memory that is tied to another project than the one asked for."""
        project, row = self._scope.project, hit.row
        if project is None or row.project == project:
            return True
        others = self._projects - {project}
        if not others.isdisjoint(Names.parse(row.names).tags):
            return False
        structure = parse(hit.text)
        if not others.isdisjoint(structure.tags):
            return False
        resolver = self._index.resolver()
        targets = (resolver.link(link.target, row.path) for link in structure.links)
        rows = (self._index.row(target) for target in targets if target)
        return all(target is None or target.project not in others for target in rows)


class Packer:
    """Fills one budget. Token counts of parts add up to at least the count of the whole."""

    def __init__(self, budget: int, share: int, counter: TokenCounter) -> None:
        self._counter, self._share = counter, share
        self._left = budget - counter(ENVELOPE) - 1
        self._used: dict[int, int] = {}

    def pack(self, candidates: Sequence[Candidate]) -> Bundle:
        """Choose what goes in: the best candidate first, then by value per token."""
        packed: list[tuple[Candidate, bool]] = []
        omitted: list[tuple[Candidate, Reason]] = []
        facts: set[str] = set()
        ordered = [*candidates[:1], *sorted(candidates[1:], key=_by_density)]
        for candidate in ordered:
            fact = normal_form(shown(candidate.hit))
            if fact in facts:
                omitted.append((candidate, "duplicate"))
                continue
            fitted, reason = self._fit(candidate)
            if fitted is None:
                omitted.append((candidate, reason))
                continue
            facts.add(fact)
            packed.append((fitted, fitted is not candidate))
        return Bundle(tuple(packed), tuple(omitted))

    def _fit(self, candidate: Candidate) -> tuple[Candidate | None, Reason]:
        note = candidate.hit.row.number
        header = (
            0 if note in self._used else self._counter(f"[999] {citation(candidate.hit.row)}\n")
        )
        share = self._share - self._used.get(note, 0)
        room = min(self._left, share) - header
        reason: Reason = "maxPerSource" if share < self._left else "budget"
        fitted = candidate
        if candidate.tokens > room:
            # Only a direct hit is worth cutting; anything else makes way for what fits.
            if candidate.hop or room < 8:
                return None, reason
            text = cut_to(candidate.text, room - self._counter(f"{CUT_MARK}\n")) + CUT_MARK
            if text == CUT_MARK:
                return None, reason
            fitted = replace(candidate, text=text, tokens=self._counter(f"{text}\n"))
        self._left -= header + fitted.tokens
        self._used[note] = self._used.get(note, 0) + header + fitted.tokens
        return fitted, reason


def line_of(hit: Hit) -> str:
    """The text of a hit as the bundle shows it: an observation with its id and its origin."""
    if hit.passage is None:
        return hit.row.title
    if hit.passage.is_observation:
        mark = f" ^{hit.passage.observation}" if hit.passage.observation else ""
        text = shown(hit).replace("\n", "\n  ")
        return f"- {text}{mark} · {origin_of(hit)}"
    return hit.text


def citation(row: Row) -> str:
    """Where a note is, its title and its date; a user-doc is in the owner's words."""
    origin = " · owner" if row.note_class == "user-doc" else ""
    return f"{row.path} · {row.title} · {date_of(row.mtime_ns)[:10]}{origin}"


def _by_value(candidate: Candidate) -> tuple[object, ...]:
    return (-candidate.value, candidate.hit.row.path, candidate.hit.part)


def _by_density(candidate: Candidate) -> tuple[object, ...]:
    return (-candidate.density, candidate.hit.row.path, candidate.hit.part)


def _answer(
    vault: Vault,
    bundle: Bundle,
    context: str,
    found: Found,
    beyond: int,
    budget: int,
    counter: TokenCounter,
) -> RecallAnswer:
    left_out = _left_out(bundle)
    return RecallAnswer(
        context=context,
        tokens=counter(context),
        budget_tokens=budget,
        sources=tuple(
            _source(item, cut) for group in _groups(bundle.packed) for item, cut in group
        ),
        omitted=left_out[:OMITTED],
        omitted_more=max(0, len(left_out) - OMITTED) + beyond,
        index=vault.index_state(),
        hint=hint_of(found) or (None if found.hits else "No note answers to these words."),
    )


Group = list[tuple[Candidate, bool]]


def _groups(packed: Iterable[tuple[Candidate, bool]]) -> list[Group]:
    """Gather what was packed by note, in the order in which an agent should read it."""
    by_note: dict[int, Group] = {}
    for item in packed:
        by_note.setdefault(item[0].hit.row.number, []).append(item)
    for group in by_note.values():
        group.sort(key=lambda item: item[0].hit.part)
    return sorted(by_note.values(), key=_reading_order)


def _reading_order(group: Group) -> tuple[object, ...]:
    best = min((item for item, _ in group), key=_by_value)
    row = best.hit.row
    hop = min(item.hop for item, _ in group)
    return (hop > 0, AUTHORITY[origin_of(best.hit)], -best.value, -row.mtime_ns, row.id, row.path)


def _block(group: Group) -> Block:
    return Block(citation(group[0][0].hit.row), tuple(item.text for item, _ in group))


def _source(candidate: Candidate, cut: bool) -> Source:
    row, passage = candidate.hit.row, candidate.hit.passage
    return Source(
        note_id=row.id,
        observation_id=(passage.observation or None) if passage else None,
        version=FIRST_VERSION,
        path=row.path,
        title=row.title,
        hop=candidate.hop,
        via=candidate.via,
        tokens=candidate.tokens,
        origin=origin_of(candidate.hit),
        date=date_of(row.mtime_ns),
        cut=True if cut else None,
    )


def _left_out(bundle: Bundle) -> tuple[Omitted, ...]:
    """Name each note once that has nothing in the bundle, or a fact that is there already."""
    present = {item.hit.row.number for item, _ in bundle.packed}
    named: dict[int, Omitted] = {}
    for candidate, reason in bundle.omitted:
        row = candidate.hit.row
        if row.number not in named and (reason != "duplicate" or row.number not in present):
            named[row.number] = Omitted(row.id, row.title, reason, candidate.tokens)
    return tuple(named.values())
