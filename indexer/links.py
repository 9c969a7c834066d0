"""The link graph of the vault and the names by which notes are found, kept up to the catalog."""

from __future__ import annotations

from collections.abc import Iterable

from . import catalog
from .graph import LinkGraph
from .resolve import Names, Resolver, asks
from .view import View


class Links:
    """Resolver and graph of one view. Both are built when first asked for, then kept up.

    Where a link leads changes only when a note comes, goes or is renamed that is called what the
    link asks for. So only such links are resolved again, beside those of the notes that changed.
    """

    def __init__(self, notes: catalog.Catalog, view: View) -> None:
        self._catalog, self._view = notes, view
        self._resolver = Resolver()
        self._known: dict[int, catalog.Row] = {}
        self._change = -1
        self._graph: LinkGraph | None = None
        self._askers: dict[str, set[str]] = {}
        """The notes with links, by what these ask for, or did at some time."""
        self._due: set[str] = set()
        """The notes whose links are to be resolved before the graph is used."""

    def resolver(self) -> Resolver:
        """Return the resolver of link targets and tool references."""
        if self._change != self._view.change:
            known, rows = self._known, self._view.rows
            for number in known.keys() - rows.keys():
                self._replace(known[number], None)
            for number, row in rows.items():
                if row is not known.get(number):
                    self._replace(known.get(number), row)
            self._known, self._change = dict(rows), self._view.change
        return self._resolver

    def _replace(self, old: catalog.Row | None, new: catalog.Row | None) -> None:
        before, after = _names(old), _names(new)
        if before != after:
            self._resolver.replace(before, after)
            self._ask_again({before, after})
        if self._graph is not None and new is not None:
            self._due.add(new.path)
        elif self._graph is not None and old is not None:
            self._graph.remove(old.path)

    def _ask_again(self, renamed: Iterable[Names | None]) -> None:
        for note in filter(None, renamed):
            for name in note.called():
                self._due |= self._askers.get(name, set())

    def graph(self) -> LinkGraph:
        """Return the graph of resolved links."""
        resolver = self.resolver()
        if self._graph is None:
            self._graph = LinkGraph()
            self._due = {row.path for row in self._known.values()}
        for path, links in self._catalog.links(self._due).items():
            if self._view.row(path) is not None:
                self._graph.replace(path, self._targets(resolver, path, links))
        self._due.clear()
        return self._graph

    def _targets(self, resolver: Resolver, path: str, links: Iterable[list[object]]) -> list[str]:
        found = []
        for target in (str(link[0]) for link in links if link[0]):
            for name in asks(target, path):
                self._askers.setdefault(name, set()).add(path)
            end = resolver.link(target, path)
            if end is not None:
                found.append(end)
        return found


def _names(row: catalog.Row | None) -> Names | None:
    if row is None:
        return None
    aliases = catalog.Names.parse(row.names).aliases
    return Names(row.path, row.id, row.title, aliases, row.conflict_copy)
