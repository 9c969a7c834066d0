"""Which parts of a note's records hold the words that are to be forgotten.

An observation is followed by its place: through every state of its note, from the records
alone. Where a state cannot be had any more, and for the time before the line had an id, it is
known by its words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from .layout import Layout
from .memory import observations
from .note import parse_note
from .replay import Lineage, bases_first
from .revision import HIDDEN, Record
from .source import token_of
from .splices import splice_into
from .traces import Words

Span = tuple[int, int]
"""Where an observation stands in a file, as offsets in bytes."""

_NOWHERE: Span = (0, 0)

_MARKER = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_TAIL = re.compile(r"(?:[ \t]*\[[\w-]+[ \t]*::[^\[\]\n]*\])*[ \t]*(?:\^([\w-]+))?[ \t]*$")
_SUMMARY = re.compile(rb"^[ \t]*[\"']?summary[\"']?[ \t]*:", re.MULTILINE)


@dataclass(slots=True)
class Doomed:
    """The parts that have to go, by the hash of their record, and the words that stood there."""

    parts: dict[str, set[str]] = field(default_factory=dict)
    texts: set[str] = field(default_factory=set)

    def add(self, record: Record, names: Iterable[str]) -> None:
        """Add parts of a record; those that are gone already are passed over."""
        wanted = record.words.keys() & set(names)
        if wanted:
            self.parts.setdefault(record.hash, set()).update(wanted)


def whole_note(records: Iterable[Record]) -> Doomed:
    """Return all parts of all records of a note."""
    found = Doomed()
    for record in records:
        found.add(record, record.words)
        splices = (text for each in record.splices for text in (each.removed, each.inserted))
        told = b"\n".join(text for text in splices if text.strip(b"\0"))
        found.texts.add(told.decode("utf-8", "surrogateescape"))
    return found


def inserted_lines(records: Iterable[Record], revision: Record, kept: str) -> Doomed:
    """Return the parts that hold a line which one revision brought and that is not `kept`."""
    there = {line.rstrip() for line in kept.splitlines()}
    brought = (part for name, part in revision.words.items() if name.endswith(".inserted"))
    texts = (part.decode("utf-8", "surrogateescape") for part in brought)
    lines = {line.rstrip() for text in texts for line in text.splitlines()} - there - {""}
    found = Doomed(texts={"\n".join(sorted(lines))} if lines else set())
    for record in records:
        for name, part in record.words.items():
            text = part.decode("utf-8", "surrogateescape")
            if lines.intersection(line.rstrip() for line in text.splitlines()):
                found.add(record, [name])
    return found


def of_observation(
    layout: Layout,
    records: Iterable[Record],
    path: str,
    observation: str,
    wanted: Callable[[str], bool] | None = None,
) -> Doomed:
    """Return the parts that hold the words of an observation in the versions that are wanted.

    `wanted` is asked with the text of each version; by default all are.
    """
    return _Follower(layout, path, observation, wanted).follow(Lineage(records))


class _Follower:
    """Follows one observation through the states of its note."""

    def __init__(
        self,
        layout: Layout,
        path: str,
        observation: str,
        wanted: Callable[[str], bool] | None,
    ) -> None:
        self._layout, self._path, self._id, self._wanted = layout, path, observation, wanted
        self._found = Doomed()
        self._sides: list[tuple[Record, str, bool]] = []
        self._states: dict[str, bytes | None] = {}

    def follow(self, lineage: Lineage) -> Doomed:
        bases = {record.hash: lineage.base(record) for record in lineage.records}
        waiting = Counter(base.hash for base in bases.values() if base)
        for record in bases_first(lineage):
            base = bases[record.hash]
            before = b"" if record.before is None else None
            if base is not None and record.before is not None:
                before = self._states.get(base.hash)
                waiting[base.hash] -= 1
                if not waiting[base.hash]:
                    self._states.pop(base.hash, None)
            after = _after(record, before)
            if waiting[record.hash]:
                self._states[record.hash] = after
            self._judge(record, before, after)
        self._by_words(lineage.records)
        return self._found

    def _judge(self, record: Record, before: bytes | None, after: bytes | None) -> None:
        shift = 0
        old, new = self._places(before), self._places(after)
        for number, splice in enumerate(record.splices):
            for side, start, text, places in (
                ("removed", splice.start, splice.removed, old),
                ("inserted", splice.start + shift, splice.inserted, new),
            ):
                name = f"{number}.{side}"
                self._sides.append((record, name, bool(places)))
                if any(start < last and first < start + len(text) for first, last in places):
                    self._found.add(record, [name])
            shift += len(splice.inserted) - len(splice.removed)

    def _places(self, data: bytes | None) -> list[Span]:
        """Where it stands, more than once where a line was copied; `_NOWHERE` if not wanted."""
        found = []
        for place, text in self._items(data or b""):
            wanted = self._wanted is None or self._wanted(text)
            found.append(place if wanted else _NOWHERE)
            self._found.texts.update([text] if wanted else ())
        return found

    def _items(self, data: bytes) -> Iterator[tuple[Span, str]]:
        if b"^" + self._id.encode() not in data:
            return
        # Zeros, which would join the lines around them, stand for words that are gone.
        note = parse_note(self._layout, self._path, data.replace(b"\0", b"\n"))
        text = note.source.text
        for each in observations(note):
            if each.id == self._id:
                ends = (note.source.body + each.start, note.source.body + each.end)
                first, last = (len(text[:end].encode("utf-8", "surrogateescape")) for end in ends)
                yield (first, last), each.text

    def _by_words(self, records: Iterable[Record]) -> None:
        """Add what holds the words where the place is not known, in summaries and in reasons."""
        words = Words(self._found.texts)
        lines = {line for text in words.texts for line in text.splitlines() if line.strip()}
        for record, name, placed in self._sides:
            text = record.words.get(name, b"").decode("utf-8", "surrogateescape")
            if any(self._is_told(line, lines, placed) for line in text.splitlines()):
                self._found.add(record, [name])
        for record in records:
            touched = any(each.observation == self._id for each in record.touched)
            for name, part in record.words.items():
                told = words.told_by(part.decode("utf-8", "replace"))
                if name == "reason":
                    doomed = told or (touched and self._wanted is None)
                else:
                    doomed = bool(_SUMMARY.search(part)) and _tells_in_summary(part, words)
                if doomed:
                    self._found.add(record, [name])

    def _is_told(self, line: str, told: set[str], placed: bool) -> bool:
        """Whether a line carries the id, or is told without one where no place is known."""
        tail = _TAIL.search(line)
        own = tail[1] if tail else None
        bare = _MARKER.sub("", line[: tail.start()] if tail else line).strip()
        if own == self._id:
            return self._wanted is None or bare in told
        return own is None and not placed and bare in told


def _after(record: Record, before: bytes | None) -> bytes | None:
    """The state after a record, with zeros for words that are gone; None when it is unknown."""
    if before is None:
        return None
    state = bytearray(before)
    try:
        splice_into(state, record.splices)
    except ValueError:
        return None
    if record.after in (HIDDEN, None) or token_of(bytes(state)) == record.after:
        return bytes(state)
    return None


def _tells_in_summary(part: bytes, words: Words) -> bool:
    lines = part.decode("utf-8", "replace").splitlines()
    values = (line.partition(":")[2].strip(" \t\"'") for line in lines if ":" in line)
    return any(words.told_by(value) for value in values)
