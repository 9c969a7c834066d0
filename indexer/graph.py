"""The link graph: which notes lie how many links away, hubs damped.

A NetworkX graph whose nodes are paths. It is walked by its adjacency, both ways, and never
copied: `ego_graph(undirected=True)` copies all of it on each call.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log2
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import networkx


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A note `hop` links away, reached through `via`; `weight` falls with hops and hubs."""

    path: str
    hop: int
    via: str
    weight: float


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The neighbours that were kept, best first, and how many were not."""

    found: tuple[Neighbour, ...]
    left_out: int


class LinkGraph:
    """The links of a vault. Notes without links are not in it."""

    @cached_property
    def _graph(self) -> networkx.DiGraph[str]:
        # A quarter of a second and 40 MB, which only those pay who ask for links.
        import networkx

        return networkx.DiGraph()

    def build(self, links: Mapping[str, Sequence[str]]) -> None:
        """Fill the graph from resolved links: path -> the paths it leads to."""
        self._graph.add_edges_from(
            (source, target) for source, targets in links.items() for target in targets
        )

    def replace(self, path: str, targets: Sequence[str]) -> None:
        """Replace the outgoing links of one note."""
        graph = self._graph
        graph.remove_edges_from([(path, old) for old in self.outgoing(path)])
        graph.add_edges_from((path, target) for target in targets)

    def outgoing(self, path: str) -> tuple[str, ...]:
        """The notes that this one links to."""
        return tuple(self._graph.succ[path]) if path in self._graph else ()

    def incoming(self, path: str) -> tuple[str, ...]:
        """The notes that link to this one."""
        return tuple(self._graph.pred[path]) if path in self._graph else ()

    def neighbours(self, starts: Sequence[str], depth: int, limit: int = 200) -> Neighbourhood:
        """Return the best `limit` notes within `depth` links, either way; never the starts.

        A step from a note of degree d multiplies the weight by 1 / log2(2 + d): a note with two
        links hands on a half of its weight, a hub with three thousand less than a tenth. Of each
        step only the best `limit` notes are walked from. Ties go by path, so that equal input
        gives equal output.
        """
        known = dict.fromkeys(starts, 1.0)
        found: dict[str, Neighbour] = {}
        edge = {path: 1.0 for path in starts if path in self._graph}
        left_out = 0
        for hop in range(1, depth + 1):
            step = self._step(edge, known, hop)
            kept = heapq.nsmallest(limit, step.values(), key=_order)
            left_out += len(step) - len(kept)
            found.update((neighbour.path, neighbour) for neighbour in kept)
            known.update((neighbour.path, neighbour.weight) for neighbour in step.values())
            edge = {neighbour.path: neighbour.weight for neighbour in kept}
        best = heapq.nsmallest(limit, found.values(), key=_order)
        return Neighbourhood(tuple(best), left_out + len(found) - len(best))

    def _step(
        self, edge: Mapping[str, float], known: Mapping[str, float], hop: int
    ) -> dict[str, Neighbour]:
        step: dict[str, Neighbour] = {}
        for path, weight in sorted(edge.items()):
            passed = weight / log2(2 + self._graph.degree(path))
            for other in self._around(path):
                if other in known:
                    continue
                if other not in step or passed > step[other].weight:
                    step[other] = Neighbour(other, hop, path, passed)
        return step

    def _around(self, path: str) -> Iterator[str]:
        yield from self._graph.succ[path]
        yield from self._graph.pred[path]


def _order(neighbour: Neighbour) -> tuple[int, float, str]:
    return neighbour.hop, -neighbour.weight, neighbour.path
