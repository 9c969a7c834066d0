"""The candidates of a recall: the hits, the passages next to them, and linked notes.

Hits far below the best one are noise. What a hit itself links to is worth more than what lies
around its note, and is shown where the link points. Each passage comes once, by its best value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..indexer.catalog import Row
from ..indexer.graph import Neighbour
from ..indexer.index import Found, Hit, Index
from ..vault.errors import NoteNotFound
from ..vault.markdown import parse
from ..vault.note import read_note
from ..vault.sections import find_anchor, find_block
from .answers import Origin
from .borders import Borders
from .envelope import quoted
from .search import origin_of, shown
from .tokens import TokenCounter

STARTS = 8
"""Hits beside which is looked, and whose links are followed."""

WALKS = 4
"""Notes from which the graph is walked."""

NEIGHBOURS = 16
"""Neighbour notes that are considered; the others are counted as left out."""

FLOOR = 0.25
"""Hits below this share of the best score are noise and are not brought."""

GOOD = 0.4
"""Only hits with this share of the best score bring what stands next to them."""

BESIDE, LINKED = 0.35, 0.5
"""What a passage next to a hit, and one a link away, keep of the hit's score."""


class Measure:
    """Counts what a text adds to a bundle: without the frame that each whole text has."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter, self._frame = counter, counter("\n")

    def __call__(self, text: str) -> int:
        """Return the tokens of a text that stands below another one."""
        return max(1, self._counter(f"\n{text}") - self._frame)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that may go into the bundle.

    `direct` is one that answers the words of the question; `hop` 0 is one of those or stands
    next to one. What is shown is `body` and `tail`, and only the body may be cut; `tokens`
    count both with a line end.
    """

    hit: Hit = field(repr=False)
    value: float
    hop: int
    via: str | None
    direct: bool
    body: str
    tail: str
    tokens: int

    @property
    def text(self) -> str:
        """The text as the bundle shows it."""
        return self.body + self.tail

    @property
    def note(self) -> int:
        """The number of the note that it is from."""
        return self.hit.row.number

    @property
    def origin(self) -> Origin:
        """Whose words it is."""
        return origin_of(self.hit)


def by_value(candidate: Candidate) -> tuple[object, ...]:
    """Sort key: the most valuable first; ties break on the place."""
    return (-candidate.value, candidate.hit.row.path, candidate.hit.part)


class Gatherer:
    """Finds the candidates of one question. `beyond` counts the neighbours that it left out."""

    def __init__(self, index: Index, borders: Borders, measure: Measure) -> None:
        self._index, self._borders, self._measure = index, borders, measure
        self.beyond = 0

    def gather(self, found: Found, depth: int) -> list[Candidate]:
        """Return every candidate once, best first."""
        hits = [hit for hit in map(self._with_text, found.hits) if hit and self._is_told(hit)]
        floor = hits[0].score * FLOOR if hits else 0.0
        best: dict[tuple[int, int], Candidate] = {}
        for candidate in self._all([hit for hit in hits if hit.score >= floor], depth):
            key = (candidate.note, candidate.hit.part)
            if key not in best or candidate.value > best[key].value:
                best[key] = candidate
        return sorted(best.values(), key=by_value)

    def with_own(self, own: Sequence[Hit], candidates: Sequence[Candidate]) -> list[Candidate]:
        """Put hits of the caller's own thread, best first, before all candidates."""
        top = candidates[0].value if candidates else 0.0
        first = [self._candidate(hit, top + hit.score, direct=True) for hit in own]
        return [*first, *candidates]

    def _with_text(self, hit: Hit) -> Hit | None:
        """A hit, or in the place of a lone heading what stands below it; None for nothing."""
        if hit.passage is None:
            return hit if hit.row.note_class == "user-doc" else None
        if not _is_heading(hit.text):
            return hit
        below = self._index.parts(hit.row, hit.part + 1, hit.part + 1)
        text = (replace(near, score=hit.score) for near in below if not _is_heading(near.text))
        return next(text, hit)

    def _is_told(self, hit: Hit) -> bool:
        return self._borders.admits(hit)

    def _all(self, hits: Sequence[Hit], depth: int) -> Iterator[Candidate]:
        for hit in hits:
            yield self._candidate(hit, hit.score, direct=True)
        yield from self._beside(hits)
        if depth:
            yield from self._linked(hits, depth)

    def _beside(self, hits: Sequence[Hit]) -> Iterator[Candidate]:
        for hit in hits[:STARTS]:
            if hit.score < GOOD * hits[0].score:
                return
            for near in self._index.parts(hit.row, hit.part - 1, hit.part + 1):
                if near.part != hit.part and not _is_heading(near.text) and self._is_told(near):
                    yield self._candidate(near, hit.score * BESIDE)

    def _linked(self, hits: Sequence[Hit], depth: int) -> Iterator[Candidate]:
        scores: dict[str, float] = {}
        for hit in hits:
            scores.setdefault(hit.row.path, hit.score)
        pointed = set()
        for hit, path, anchor in self._links_of(hits[:STARTS]):
            pointed.add(path)
            row = self._index.row(path)
            for told in self._opening(row, anchor) if row else ():
                near = Neighbour(path, 0 if path in scores else 1, hit.row.path, 1.0)
                yield self._candidate(told, hit.score * LINKED, near)
        around = self._around(scores, depth)
        rest = around.keys() - scores.keys() - pointed
        others = sorted(rest, key=lambda path: (-around[path][0], path))
        self.beyond += len(others[NEIGHBOURS:])
        for row in filter(None, map(self._index.row, others[:NEIGHBOURS])):
            value, near = around[row.path]
            for told in self._opening(row, ""):
                yield self._candidate(told, value, near)

    def _around(
        self, scores: Mapping[str, float], depth: int
    ) -> dict[str, tuple[float, Neighbour]]:
        """What the graph has around the best hits, with its value."""
        near: dict[str, tuple[float, Neighbour]] = {}
        for start in list(scores)[:WALKS]:
            around = self._index.graph().neighbours([start], depth, NEIGHBOURS, self._borders.way)
            # The surroundings of several starts overlap: the largest part left out is what counts.
            self.beyond = max(self.beyond, around.left_out)
            for neighbour in around.found:
                value = scores[start] * LINKED * neighbour.weight
                if value > near.get(neighbour.path, (0.0,))[0]:
                    near[neighbour.path] = (value, neighbour)
        return near

    def _links_of(self, hits: Sequence[Hit]) -> Iterator[tuple[Hit, str, str]]:
        """The notes to which the hits themselves link, with the anchors of the links."""
        resolver = self._index.resolver()
        for hit in hits:
            for link in parse(hit.text).links:
                path = resolver.link(link.target, hit.row.path) if link.target else None
                if path and self._borders.admits_note(path):
                    yield hit, path, link.anchor

    def _opening(self, row: Row, anchor: str) -> Iterable[Hit]:
        """The passage of a note to which a link points, else the first; if it may be told."""
        parts = [hit for hit in self._index.parts(row) if self._is_told(hit)]
        start = self._start_of(row, anchor) if anchor else None
        for hit in parts:
            if start is not None and hit.passage and hit.passage.start <= start < hit.passage.end:
                return [hit]
        return [hit for hit in parts if not _is_heading(hit.text)][:1]

    def _start_of(self, row: Row, anchor: str) -> int | None:
        """Where in the text of a note an anchor points to."""
        try:
            note = read_note(self._index.layout, row.path)
        except NoteNotFound:
            return None
        if anchor.startswith("^"):
            block = find_block(note.structure, note.body, anchor[1:])
            return note.source.body + block[0] if block else None
        heading = find_anchor(note.structure, anchor)
        return note.source.body + heading.start if heading else None

    def _candidate(
        self, hit: Hit, value: float, near: Neighbour | None = None, *, direct: bool = False
    ) -> Candidate:
        body, tail = line_of(hit)
        return Candidate(
            hit=hit,
            value=value,
            hop=near.hop if near else 0,
            via=near.via if near else None,
            direct=direct,
            body=body,
            tail=tail,
            tokens=self._measure(f"{body}{tail}\n"),
        )


def _is_heading(text: str) -> bool:
    """Whether a text has nothing but headings."""
    return all(line.startswith("#") or not line.strip() for line in text.splitlines())


def line_of(hit: Hit) -> tuple[str, str]:
    """The text of a hit as the bundle shows it; of an observation, also its id and its origin."""
    if hit.passage is None:
        return quoted(hit.row.title), ""
    if not hit.passage.is_observation:
        return quoted(hit.text), ""
    mark = f" ^{hit.passage.observation}" if hit.passage.observation else ""
    text = quoted(shown(hit)).replace("\n", "\n  ")
    return f"- {text}", f"{mark} · {origin_of(hit)}"
