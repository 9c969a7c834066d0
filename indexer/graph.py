"""The link graph: which notes lie how many links away, hubs damped.

A NetworkX graph whose nodes are paths. It is walked by its adjacency, both ways, and never
copied: `ego_graph(undirected=True)` copies all of it on each call.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx

# What one note other than a start may bring into the neighbourhood.
_HUB_SHARE = 64


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A note `hop` links away, reached through `via`; `weight` falls with hops and hubs."""

    path: str
    hop: int
    via: str
    weight: float


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The neighbours that were kept, best first, and how many more were seen."""

    found: tuple[Neighbour, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class Way:
    """What a walk may use: notes by their path, links by their source and target."""

    admits: Callable[[str], bool] | None = None
    follows: Callable[[str, str], bool] | None = None

    def open(self, via: str, links: Iterable[str], backlinks: Iterable[str]) -> set[str]:
        """Return the notes to which one can go on from a note."""
        if self.follows is not None:
            links = (path for path in links if self.follows(via, path))
            backlinks = (path for path in backlinks if self.follows(path, via))
        around = {*links, *backlinks}
        return around if self.admits is None else set(filter(self.admits, around))


class LinkGraph:
    """The links of a vault. An edge with `count` stands for that many links, else for one."""

    def __init__(self) -> None:
        # A quarter of a second and 40 MB, which only those pay who ask for links.
        import networkx

        self._graph: networkx.DiGraph[str] = networkx.DiGraph()

    def replace(self, path: str, targets: Sequence[str]) -> None:
        """Replace the outgoing links of one note, which may be new."""
        self._graph.add_node(path)
        self._graph.remove_edges_from([(path, target) for target in self._graph.succ[path]])
        self._graph.add_edges_from(_edges(path, targets))

    def remove(self, path: str) -> None:
        """Take out a note with the links from and to it."""
        if path in self._graph:
            self._graph.remove_node(path)

    def paths(self) -> tuple[str, ...]:
        """All notes of the graph, in alphabetical order."""
        return tuple(sorted(self._graph))

    def outgoing(self, path: str) -> tuple[str, ...]:
        """The notes that this one links to, in alphabetical order."""
        return tuple(sorted(self._graph.succ[path])) if path in self._graph else ()

    def incoming(self, path: str) -> tuple[str, ...]:
        """The notes that link to this one, in alphabetical order."""
        return tuple(sorted(self._graph.pred[path])) if path in self._graph else ()

    def neighbours(
        self, starts: Sequence[str], depth: int, limit: int = 200, way: Way | None = None
    ) -> Neighbourhood:
        """Return the best `limit` notes within `depth` links, either way; never the starts.

        `way` says which notes and links there are for whoever asks: no others are walked or
        counted.

        A note that is reached over the notes v1, v2, … (a start first) weighs the product of
        1 / log2(2 + degree(v)): a note with two links hands on a half, a hub with three thousand
        less than a tenth. A note keeps its shortest way, of those the heaviest, ties by path.
        Through one note that is no start at most 64 others come in, the first by path.
        `left_out` counts what was seen besides; what lies behind that is not looked at.
        """
        walk = _Walk(self._graph, starts, limit, way or Way())
        for hop in range(1, depth + 1):
            walk.step(hop)
        return walk.result()


class _Walk:
    """One breadth-first walk. A weight only falls on the way, so that no note behind the best
    `limit` ones can bring in a better one: those are not walked from.
    """

    def __init__(
        self, graph: networkx.DiGraph[str], starts: Sequence[str], limit: int, way: Way
    ) -> None:
        self._succ, self._pred = graph.succ, graph.pred
        self._limit, self._way = limit, way
        self._starts = frozenset(starts)
        self._edge = {path: 1.0 for path in self._starts if path in graph}
        self._found: dict[str, Neighbour] = {}
        self._unseen: set[str] = set()

    def step(self, hop: int) -> None:
        reached: dict[str, Neighbour] = {}
        for via in sorted(self._edge):
            links, backlinks = self._succ[via], self._pred[via]
            weight = self._edge[via] / log2(2 + len(links) + len(backlinks))
            open_links = self._way.open(via, links, backlinks)
            for path in self._share(via, open_links):
                known = reached.get(path)
                if known is None or weight > known.weight:
                    reached[path] = Neighbour(path, hop, via, weight)
        self._found.update(reached)
        best = {neighbour.path for neighbour in self._best()}
        self._edge = {path: reached[path].weight for path in best & reached.keys()}

    def _share(self, via: str, around: set[str]) -> Iterable[str]:
        """What `via` brings in of the notes around it."""
        fresh = around - self._starts - self._found.keys()
        if via in self._starts or len(fresh) <= _HUB_SHARE:
            return fresh
        share = heapq.nsmallest(_HUB_SHARE, fresh)
        self._unseen |= fresh
        return share

    def _best(self) -> list[Neighbour]:
        return heapq.nsmallest(self._limit, self._found.values(), key=_order)

    def result(self) -> Neighbourhood:
        found = self._best()
        seen = len(self._unseen | self._found.keys())
        return Neighbourhood(tuple(found), seen - len(found))


def _order(neighbour: Neighbour) -> tuple[float, int, str]:
    return -neighbour.weight, neighbour.hop, neighbour.path


def _edges(path: str, targets: Sequence[str]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for target, count in Counter(targets).items():
        if target != path:
            yield path, target, {"count": count} if count > 1 else {}
