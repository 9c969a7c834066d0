"""The link graph of the vault and the names by which notes are found, kept up to the catalog."""

from __future__ import annotations

from .catalog import Catalog
from .graph import LinkGraph
from .resolve import Names, Resolver
from .view import View


class Links:
    """Resolver and graph of one view. Both are built when first asked for."""

    def __init__(self, catalog: Catalog, view: View) -> None:
        self._catalog, self._view = catalog, view
        self._resolver: Resolver | None = None
        self._graph: LinkGraph | None = None
        self._renamed = self._change = -1

    def resolver(self) -> Resolver:
        """Return the resolver of link targets and tool references."""
        if self._resolver is None or self._renamed != self._view.renamed:
            names = self._catalog.names()
            self._resolver = Resolver(
                Names(row.path, row.id, row.title, names[row.path].aliases, row.conflict_copy)
                for row in self._view.rows.values()
                if row.path in names
            )
            self._renamed, self._graph = self._view.renamed, None
        return self._resolver

    def graph(self) -> LinkGraph:
        """Return the graph of resolved links; a new name anywhere resolves all links anew."""
        resolver = self.resolver()
        if self._graph is None:
            self._graph = LinkGraph()
            self._graph.build(self._targets(resolver, -1))
        elif self._change != self._view.change:
            for path, targets in self._targets(resolver, self._change).items():
                self._graph.replace(path, targets)
        self._change = self._view.change
        return self._graph

    def _targets(self, resolver: Resolver, since: int) -> dict[str, list[str]]:
        found = {}
        for path, links in self._catalog.links(since).items():
            targets = (resolver.link(str(link[0]), path) for link in links if link[0])
            found[path] = [target for target in targets if target]
        return found
