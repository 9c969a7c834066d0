"""The catalog and the postings as one process holds them in memory.

A view is refreshed from the catalog by what has changed since it last looked; a question works
on one state of it. `owner` says to which note a document belongs, 0 when it is dead.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from ..vault.categories import category_key
from ._whoosh import Postings
from .best import Best
from .catalog import Catalog, Names, Row, decoded
from .passages import Passage
from .segments import Segment, SegmentStamp

Value = TypeVar("Value")

PARTS_KEPT = 4000
"""Of how many notes the passages are kept decoded."""

SCOPES_KEPT = 32
"""Scopes whose notes are kept; what a caller asks for may be anything."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Which notes a question may see. `None` does not narrow; `category` is a folded label, and
    `kind` that of memory notes which are no category; `notes` are ids.
    """

    project: str | None = None
    note_class: str | None = None
    category: str | None = None
    kind: str | None = None
    notes: frozenset[str] | None = None
    user_memory: bool = False
    muted: bool = True

    def admits(self, row: Row) -> bool:
        """Say whether a note lies in this scope."""
        if row.muted and not self.muted:
            return False
        if self.note_class and row.note_class != self.note_class:
            return False
        if self.notes is not None and row.id not in self.notes:
            return False
        if self.kind is not None and row.kind != self.kind:
            return False
        if self.category and category_key(row.category) != self.category:
            return False
        if self.project is None or row.project == self.project:
            return True
        return self.user_memory and row.note_class == "agent-memory" and not row.project


class Overlay:
    """The postings that are in no segment yet, term by term."""

    def __init__(self) -> None:
        self.last = 0
        """The number of the last document."""
        self._terms: dict[str, Postings] = {}

    def add(self, doc: int, impacts: Mapping[str, float]) -> None:
        """Add one document; document numbers rise."""
        for term, impact in impacts.items():
            found = self._terms.get(term)
            if found is None:
                found = self._terms[term] = (array("I"), array("f"))
            found[0].append(doc)
            found[1].append(impact)
        self.last = doc

    def postings(self, term: str) -> Postings | None:
        """Places of documents in this source, rising, and their impacts."""
        return self._terms.get(term)

    def documents(self, places: Iterable[int]) -> Iterable[int]:
        """The numbers of the documents at some places."""
        return places

    def places(self, documents: Mapping[int, Value]) -> Mapping[int, Value]:
        """The same mapping by place, of the documents that may be in this source."""
        return documents


@dataclass(frozen=True, slots=True)
class Stored:
    """A written segment, and the numbers of its documents in order."""

    segment: Segment
    docs: list[int] = field(repr=False)

    def postings(self, term: str) -> Postings | None:
        """Places of documents in this source, rising, and their impacts."""
        return self.segment.postings(term)

    def documents(self, places: Iterable[int]) -> Iterable[int]:
        """The numbers of the documents at some places."""
        return map(self.docs.__getitem__, places)

    def places(self, documents: Mapping[int, Value]) -> Mapping[int, Value]:
        """The same mapping by place, of the documents that are in this source."""
        docs, found = self.docs, {}
        first, last = (docs[0], docs[-1]) if docs else (0, -1)
        for doc, value in documents.items():
            if first <= doc <= last:
                at = bisect_left(docs, doc)
                if docs[at] == doc:
                    found[at] = value
        return found


class View:
    """What one process knows of the index. Its owner serialises the calls, but for `row`."""

    def __init__(self, catalog: Catalog, folder: Path) -> None:
        self._catalog, self._folder = catalog, folder
        self.rows: dict[int, Row] = {}
        self.numbers: dict[str, int] = {}
        self.stored: dict[int, Stored] = {}
        self.overlay = Overlay()
        self.owner: list[int] = []
        self.copies: set[int] = set()
        """The notes that are conflict copies."""
        self.derived: set[int] = set()
        """The memory notes with active observations that rest on others."""
        self.quiet: set[int] = set()
        """The notes of which no recall tells anything: muted ones, threads, those without a line
        that may be recalled."""
        self.projects: Counter[str] = Counter()
        """How many notes each project has."""
        self.best = Best(self)
        self.change = self._version = -1
        self.behind = 0
        """How many notes a build, of whichever process, has yet to see."""
        self._parts: dict[int, tuple[Passage, ...]] = {}
        self._scopes: dict[Scope, set[int]] = {}

    def close(self) -> None:
        """Close the segments."""
        for stored in self.stored.values():
            stored.segment.close()

    def refresh(self) -> None:
        """Take over what other processes have committed. Raises `DamagedIndex`."""
        version = self._catalog.version()
        if version != self._version:
            self.reload()
            self._version = version

    def reload(self) -> None:
        """Take over what anyone has committed, this process included. Raises `DamagedIndex`."""
        with self._catalog.reading():
            change = self._catalog.change()
            if change != self.change:
                self._take_over()
                self.change = change

    def _take_over(self) -> None:
        self._take_over_segments()
        self.owner.extend([0] * (self._catalog.documents() - len(self.owner)))
        for doc, impacts in self._catalog.pending(self.overlay.last):
            self.overlay.add(doc, impacts)
        for number in self._catalog.gone(self.change):
            self._replace(number, None)
        for row in self._catalog.rows(self.change):
            self._replace(row.number, row)
        self.behind = self._catalog.behind()

    def _take_over_segments(self) -> None:
        wanted = self._catalog.segments()
        if wanted.keys() != self.stored.keys():
            self.best.moved()
        for number, (folder, stamp) in wanted.items():
            if number not in self.stored:
                segment = Segment.open(self._folder / folder, SegmentStamp.parse(stamp))
                docs = self._catalog.documents_of(number)
                self.stored[number] = Stored(segment, docs)
                if docs and docs[0] <= self.overlay.last:
                    # It may hold what was pending; what still is so will be read again.
                    self.overlay = Overlay()
        for number in self.stored.keys() - wanted.keys():
            self.stored.pop(number).segment.close()

    def _replace(self, number: int, row: Row | None) -> None:
        """Put a note in the place of what was known of it; `None` when it is gone."""
        old = self.rows.get(number)
        if old is None and row is None:
            return
        if old is not None:
            self._drop(old)
        if row is not None:
            self._add(row)
        self.best.touch(number, old.docs if old else (), row.docs if row else ())

    def _add(self, row: Row) -> None:
        number = row.number
        self.rows[number] = row
        self.numbers[row.path] = number
        for doc in row.docs:
            self.owner[doc] = number
        for scope, admitted in self._scopes.items():
            if scope.admits(row):
                admitted.add(number)
        if row.conflict_copy:
            self.copies.add(number)
        elif row.note_class == "agent-memory" and Names.parse(row.names).rests:
            self.derived.add(number)
        if row.muted or row.kind == "thread" or _is_bare(row):
            self.quiet.add(number)
        if row.project:
            self.projects[row.project] += 1

    def _drop(self, row: Row) -> None:
        number = row.number
        del self.rows[number]
        self._parts.pop(number, None)
        if self.numbers.get(row.path) == number:
            del self.numbers[row.path]
        for doc in row.docs:
            self.owner[doc] = 0
        for admitted in self._scopes.values():
            admitted.discard(number)
        self.copies.discard(number)
        self.derived.discard(number)
        self.quiet.discard(number)
        if row.project:
            self.projects[row.project] -= 1

    # Reading

    def sources(self) -> Iterator[Stored | Overlay]:
        """Everything that holds postings."""
        yield from self.stored.values()
        yield self.overlay

    def intact(self) -> bool:
        """Say whether the segment files are those that were opened."""
        return all(stored.segment.intact() for stored in self.stored.values())

    def alive(self, docs: Iterable[int]) -> list[int]:
        """Those of some documents that belong to a note."""
        return [doc for doc in docs if self.owner[doc]]

    def row(self, path: str) -> Row | None:
        """The note at a path."""
        return self.rows.get(self.numbers.get(path, 0))

    def within(self, scope: Scope) -> set[int]:
        """The notes of a scope; not to be changed, and good until a change."""
        found = self._scopes.get(scope)
        if found is None:
            if len(self._scopes) >= SCOPES_KEPT:
                self._scopes.clear()
            found = {number for number, row in self.rows.items() if scope.admits(row)}
            self._scopes[scope] = found
        return found

    def parts(self, rows: Iterable[Row]) -> dict[int, tuple[Passage, ...]]:
        """The passages of some notes, by number; not of those that have changed meanwhile."""
        wanted = {row.number: row.change for row in rows}
        known = self._parts
        if len(known) > PARTS_KEPT:
            known.clear()
        missing = [number for number in wanted if number not in known]
        for number, (change, text) in self._catalog.passages(missing).items():
            if change == wanted[number]:
                known[number] = tuple(Passage(*values) for values in decoded(text)[1:])
        return {number: known[number] for number in wanted if number in known}


def _is_bare(row: Row) -> bool:
    """Whether a category of memory has no line that may be recalled."""
    return row.note_class == "agent-memory" and not row.kind and len(row.docs) < 2
