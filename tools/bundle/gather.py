"""What a recall may tell: the hits, the passages next to them, and linked notes.

Hits far below the best one are noise. What a hit itself links to is worth more than what lies
around its note, and is shown where the link points. Each passage comes once, by its best value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...indexer.catalog import Row
from ...indexer.graph import Neighbour
from ...indexer.index import Found, Hit, Index
from ...vault.errors import NoteNotFound
from ...vault.markdown import parse
from ...vault.note import read_note
from ...vault.sections import find_part
from ..borders import Borders

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


@dataclass(frozen=True, slots=True)
class Lead:
    """A passage that may answer a question, and what it is worth by the words of the notes.

    `direct` is one that answers the words of the question; `hop` 0 is one of those or stands
    next to one.
    """

    hit: Hit = field(repr=False)
    value: float
    hop: int = 0
    via: str | None = None
    direct: bool = False


class Gatherer:
    """Finds the leads of one question. `beyond` counts the neighbours that it left out."""

    def __init__(self, index: Index, borders: Borders) -> None:
        self._index, self._borders = index, borders
        self.beyond = 0

    def gather(self, found: Found, depth: int) -> list[Lead]:
        """Return every passage once, at its best value."""
        hits = [hit for hit in map(self._with_text, found.hits) if hit and self._is_told(hit)]
        floor = hits[0].score * FLOOR if hits else 0.0
        best: dict[tuple[int, int], Lead] = {}
        for lead in self._all([hit for hit in hits if hit.score >= floor], depth):
            place = lead.hit.place
            if place not in best or lead.value > best[place].value:
                best[place] = lead
        return list(best.values())

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

    def _all(self, hits: Sequence[Hit], depth: int) -> Iterator[Lead]:
        for hit in hits:
            yield Lead(hit, hit.score, direct=True)
        yield from self._beside(hits)
        if depth:
            yield from self._linked(hits, depth)

    def _beside(self, hits: Sequence[Hit]) -> Iterator[Lead]:
        for hit in hits[:STARTS]:
            if hit.score < GOOD * hits[0].score:
                return
            for near in self._index.parts(hit.row, hit.part - 1, hit.part + 1):
                if near.part != hit.part and not _is_heading(near.text) and self._is_told(near):
                    yield Lead(near, hit.score * BESIDE)

    def _linked(self, hits: Sequence[Hit], depth: int) -> Iterator[Lead]:
        scores: dict[str, float] = {}
        for hit in hits:
            scores.setdefault(hit.row.path, hit.score)
        pointed = set()
        for hit, path, anchor in self._links_of(hits[:STARTS]):
            pointed.add(path)
            row = self._index.row(path)
            for told in self._opening(row, anchor) if row else ():
                hop = 0 if path in scores else 1
                yield Lead(told, hit.score * LINKED, hop, hit.row.path)
        around = self._around(scores, depth)
        rest = around.keys() - scores.keys() - pointed
        others = sorted(rest, key=lambda path: (-around[path][0], path))
        self.beyond += len(others[NEIGHBOURS:])
        for row in filter(None, map(self._index.row, others[:NEIGHBOURS])):
            value, near = around[row.path]
            for told in self._opening(row, ""):
                yield Lead(told, value, near.hop, near.via)

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
        # Whatever is a link has a bracket; to parse a text takes a while.
        for hit in (hit for hit in hits if "[" in hit.text):
            for link in parse(hit.text).links:
                path = resolver.link(link.target, hit.row.path) if link.target else None
                if path and self._borders.admits_note(path):
                    yield hit, path, link.anchor

    def _opening(self, row: Row, anchor: str) -> Iterable[Hit]:
        """The passage of a note to which a link points, else the first; if it may be told."""
        start = self._start_of(row, anchor) if anchor else None
        if start is not None:
            for hit in filter(self._is_told, self._index.parts(row)):
                if hit.passage and hit.passage.start <= start < hit.passage.end:
                    return [hit]
        # The first two are mostly enough: a heading, and what stands below it.
        for first, last in ((1, 2), (3, None)):
            for hit in filter(self._is_told, self._index.parts(row, first, last)):
                if not _is_heading(hit.text):
                    return [hit]
        return []

    def _start_of(self, row: Row, anchor: str) -> int | None:
        """Where in the text of a note an anchor points to."""
        try:
            note = read_note(self._index.layout, row.path)
        except NoteNotFound:
            return None
        part = find_part(note.structure, note.body, anchor)
        return note.source.body + part[0] if part else None


def _is_heading(text: str) -> bool:
    """Whether a text has nothing but headings."""
    return all(line.startswith("#") or not line.strip() for line in text.splitlines())
