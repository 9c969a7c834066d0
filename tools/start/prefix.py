"""A strict prefix: entries in their owner's order, until the first that does not fit.

That one is cut at a sentence or a line, and nothing behind it is loaded, however small. So what
is loaded can be told from the order alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from ...indexer.catalog import Row
from ..answers import Origin
from ..bundle.candidates import Measure
from ..bundle.envelope import CUT_LINE, PLAIN_NONCE, Block, cited, sealed
from ..bundle.pack import shortened
from .answers import StartKind, StartPartName

Line = tuple[str, str]
"""A text, and what stays behind it when it is cut."""

Place = tuple[str, str]
"""A note and the part of it that an anchor names, "" for all of it."""

ENTRIES = 999
"""Entries at most of which the numbers are accounted for."""

MEASURED = 200
"""Lines of an entry that is left out which are measured at most."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that may be loaded. Its lines are read when it is its turn, and not before."""

    part: StartPartName
    kind: StartKind
    title: str
    citation: Callable[[], str] = field(repr=False)
    lines: Callable[[], Iterable[Line]] = field(repr=False)
    origin: Callable[[], Origin] = field(default=lambda: "system", repr=False)
    row: Row | None = None
    anchor: str = ""
    missing: bool = False

    @property
    def place(self) -> Place:
        """The note and the part of it that it is."""
        return (self.row.path if self.row else "", self.anchor)


@dataclass(frozen=True, slots=True)
class Loaded:
    """An entry with its text as it is loaded. `tokens` count its citation too."""

    entry: Entry
    texts: tuple[str, ...]
    tokens: int
    cut: bool = False

    @property
    def block(self) -> Block:
        """Its part of the envelope's text."""
        return Block(self.entry.citation(), self.texts)


@dataclass(frozen=True, slots=True)
class Left:
    """An entry that is not loaded, or not whole, why, and what is missing of it."""

    entry: Entry
    reason: Literal["budget", "order", "missing"]
    tokens: int


class Prefix:
    """The entries of one part that fit into a budget, which includes an envelope."""

    def __init__(self, budget: int, measure: Measure, named: int) -> None:
        self._measure, self._named = measure, named
        self._left = budget - measure(sealed("\n", PLAIN_NONCE))
        self._full = False
        self.loaded: list[Loaded] = []
        self.left: list[Left] = []
        self.more = 0
        """How many entries were left out beside those in `left`."""

    def take(self, entries: Iterable[Entry]) -> None:
        """Load entries in their order, as far as there is room."""
        for entry in entries:
            if entry.missing:
                self._leave(entry, "missing", 0)
            elif self._full and len(self.left) >= self._named:
                self.more += entry.row is not None or any(entry.lines())
            elif self._full:
                lines = list(islice(entry.lines(), MEASURED))
                if lines:
                    self._leave(entry, "order", self._sum(lines))
            else:
                self._load(entry)

    def _load(self, entry: Entry) -> None:
        lines = iter(entry.lines())
        header = self._measure(cited(ENTRIES, entry.citation()))
        room, texts = self._left - header, list[str]()
        for line in lines:
            tokens = self._measure(f"{''.join(line)}\n")
            if tokens > room:
                self._cut(entry, texts, room, line, lines)
                return
            room -= tokens
            texts.append("".join(line))
        if texts:
            self._add(entry, texts, self._left - room)

    def _cut(
        self, entry: Entry, texts: list[str], room: int, line: Line, rest: Iterator[Line]
    ) -> None:
        """Load the beginning of an entry that does not fit: a part of a line, else whole ones."""
        self._full = True
        missing = self._sum([line, *islice(rest, MEASURED)])
        end = shortened(line, room, self._measure)
        if end is not None:
            missing -= end[1]
        else:
            end = CUT_LINE, self._measure(f"{CUT_LINE}\n")
            while texts and room < end[1]:
                last = self._measure(f"{texts.pop()}\n")
                room, missing = room + last, missing + last
        self._leave(entry, "budget", max(missing, 1))
        if texts or end[0] != CUT_LINE:
            self._add(entry, [*texts, end[0]], self._left - room + end[1], cut=True)

    def _add(self, entry: Entry, texts: list[str], tokens: int, *, cut: bool = False) -> None:
        self.loaded.append(Loaded(entry, tuple(texts), tokens, cut))
        self._left -= tokens

    def _leave(
        self, entry: Entry, reason: Literal["budget", "order", "missing"], tokens: int
    ) -> None:
        # However many links lead nowhere: where the prefix ends is always told.
        if reason == "budget" or len(self.left) < self._named:
            self.left.append(Left(entry, reason, tokens))
        else:
            self.more += 1

    def _sum(self, lines: Iterable[Line]) -> int:
        return sum(self._measure(f"{''.join(line)}\n") for line in lines)
