"""The catalog and the postings as one process holds them in memory.

A view is refreshed from the catalog by what has changed since it last looked; a search works on
one state of it. `owner` says to which note a document belongs, 0 when it is dead.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Iterator, MutableMapping, MutableSequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from ..vault.categories import category_key
from .best import Best
from .catalog import PENDING, Catalog, Row
from .passages import Passage
from .segments import Segment, SegmentStamp

Postings: TypeAlias = "tuple[array[int], array[float]]"

SCOPES_KEPT = 32
"""Scopes whose notes are kept; what a caller asks for may be anything."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Which notes a question may see. `None` does not narrow; `category` is a folded label."""

    project: str | None = None
    note_class: str | None = None
    category: str | None = None
    user_memory: bool = False
    muted: bool = True

    def admits(self, row: Row) -> bool:
        """Say whether a note lies in this scope."""
        if row.muted and not self.muted:
            return False
        if self.note_class and row.note_class != self.note_class:
            return False
        if self.category and category_key(row.category) != self.category:
            return False
        if self.project is None or row.project == self.project:
            return True
        return self.user_memory and row.note_class == "agent-memory" and not row.project


class Overlay:
    """The postings that are in no segment yet, term by term."""

    def __init__(self) -> None:
        self.owner: dict[int, int] = {}
        self.last = 0
        self._terms: dict[str, Postings] = {}

    def add(self, doc: int, impacts: dict[str, float]) -> None:
        """Add one document; document numbers rise."""
        for term, impact in impacts.items():
            found = self._terms.get(term)
            if found is None:
                found = self._terms[term] = (array("I"), array("f"))
            found[0].append(doc)
            found[1].append(impact)
        self.owner.setdefault(doc, 0)
        self.last = max(self.last, doc)

    def postings(self, term: str) -> Postings | None:
        """Document numbers, rising, and their impacts."""
        return self._terms.get(term)


@dataclass(slots=True)
class Stored:
    """A written segment and the notes that own its documents."""

    segment: Segment
    owner: MutableSequence[int] = field(repr=False)

    def postings(self, term: str) -> Postings | None:
        """Document numbers, rising, and their impacts."""
        return self.segment.postings(term)


class View:
    """What one process knows of the index. Its owner serialises the calls."""

    def __init__(self, catalog: Catalog, folder: Path) -> None:
        self._catalog, self._folder = catalog, folder
        self.rows: dict[int, Row] = {}
        self.numbers: dict[str, int] = {}
        self.stored: dict[int, Stored] = {}
        self.overlay = Overlay()
        self.change = self.epoch = self._version = -1
        self._parts: dict[int, tuple[Passage, ...]] = {}
        self._scopes: dict[Scope, set[int]] = {}
        self.copies: set[int] = set()
        """The notes that are conflict copies."""
        self.projects: Counter[str] = Counter()
        """How many notes each project has."""
        self.best = Best(self)
        self.renamed = 0
        """Rises when the names by which notes are found have changed."""
        self.refresh()

    def close(self) -> None:
        """Close the segments."""
        for stored in self.stored.values():
            stored.segment.close()

    def refresh(self) -> bool:
        """Take over what was committed since the last look; says whether anything was."""
        version = self._catalog.data_version()
        if version == self._version:
            return False
        with self._catalog.reading():
            self._take_over()
        self._version = version
        return True

    def reload(self) -> None:
        """Take over what this process itself has committed."""
        with self._catalog.reading():
            self._take_over()

    def _take_over(self) -> None:
        change, epoch = self._catalog.change(), self._catalog.epoch()
        if epoch != self.epoch:
            self._start_over()
        elif change == self.change:
            return
        else:
            self._open_new(self._catalog.segments())
        for doc, impacts in self._catalog.pending(self.overlay.last):
            self.overlay.add(doc, impacts)
        for number in self._catalog.gone(self.change):
            self._replace(number, None)
        for row in self._catalog.rows(self.change):
            self._replace(row.number, row)
        self.change, self.epoch = change, epoch

    def _start_over(self) -> None:
        self.rows, self.numbers, self._parts = {}, {}, {}
        self.overlay, self.change = Overlay(), -1
        self._scopes.clear()
        self.copies.clear()
        self.projects.clear()
        self.best.clear()
        wanted = self._catalog.segments()
        for number in [number for number in self.stored if number not in wanted]:
            self.stored.pop(number).segment.close()
        for stored in self.stored.values():
            stored.owner = _nobody(stored.segment)
        self._open_new(wanted)

    def _open_new(self, wanted: dict[int, tuple[str, str]]) -> None:
        for number, (folder, stamp) in wanted.items():
            if number not in self.stored:
                segment = Segment.open(self._folder / folder, SegmentStamp.parse(stamp))
                self.stored[number] = Stored(segment, _nobody(segment))

    def _owner(self, segment: int) -> MutableSequence[int] | MutableMapping[int, int]:
        return self.overlay.owner if segment == PENDING else self.stored[segment].owner

    def _replace(self, number: int, row: Row | None) -> None:
        """Put a note in the place of what was known of it; `None` when it is gone."""
        old = self.rows.get(number)
        if old is None and row is None:
            return
        if _names(old) != _names(row):
            self.renamed += 1
        if old is not None:
            self._drop(old)
        if row is not None:
            self._add(row)
        self.best.touch(number, old.docs if old else (), row.docs if row else ())

    def _add(self, row: Row) -> None:
        self.rows[row.number] = row
        self.numbers[row.path] = row.number
        for segment, doc in row.docs:
            self._owner(segment)[doc] = row.number
        for scope, admitted in self._scopes.items():
            if scope.admits(row):
                admitted.add(row.number)
        if row.conflict_copy:
            self.copies.add(row.number)
        if row.project:
            self.projects[row.project] += 1

    def _drop(self, row: Row) -> None:
        del self.rows[row.number]
        self._parts.pop(row.number, None)
        if self.numbers.get(row.path) == row.number:
            del self.numbers[row.path]
        for segment, doc in row.docs:
            self._owner(segment)[doc] = 0
        for admitted in self._scopes.values():
            admitted.discard(row.number)
        self.copies.discard(row.number)
        if row.project:
            self.projects[row.project] -= 1

    # Reading

    def sources(self) -> Iterator[Stored | Overlay]:
        """Everything that holds postings."""
        yield from self.stored.values()
        yield self.overlay

    def source(self, segment: int) -> Stored | Overlay:
        """The holder of one segment's postings."""
        return self.overlay if segment == PENDING else self.stored[segment]

    def intact(self) -> bool:
        """Say whether the segment files are those that were opened."""
        return all(stored.segment.intact() for stored in self.stored.values())

    def row(self, path: str) -> Row | None:
        """The note at a path."""
        number = self.numbers.get(path)
        return self.rows[number] if number else None

    def within(self, scope: Scope) -> set[int]:
        """The notes of a scope; not to be changed, and good until a change."""
        found = self._scopes.get(scope)
        if found is None:
            if len(self._scopes) >= SCOPES_KEPT:
                self._scopes.clear()
            admitted = {number for number, row in self.rows.items() if scope.admits(row)}
            found = self._scopes[scope] = admitted
        return found

    def parts(self, numbers: list[int]) -> dict[int, tuple[Passage, ...]]:
        """The passages of some notes, decoded once."""
        missing = [number for number in numbers if number not in self._parts]
        if len(self._parts) > 4000:
            self._parts.clear()
            missing = numbers
        for number, text in self._catalog.passages(missing).items():
            self._parts[number] = tuple(Passage(*values) for values in json.loads(text)[1:])
        return {number: self._parts[number] for number in numbers if number in self._parts}


def _nobody(segment: Segment) -> MutableSequence[int]:
    return array("I", bytes(4 * segment.document_count))


def _names(row: Row | None) -> tuple[object, ...]:
    return (row.path, row.id, row.title, row.names, row.conflict_copy) if row else ()
