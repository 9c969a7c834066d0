"""What a revision does to the bytes of a file: splices, and how they are found and applied.

A splice replaces bytes at an offset in the file as it was before. The splices of a revision
are in order and do not overlap; several at one offset are inserted in the order listed.

Splices carry whole lines, and of a very long line at most `CONTEXT` bytes to each side of the
change. So a line that was changed is found whole in the record of the change, for a reader and
for the redaction of its words.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

CONTEXT = 4096
MAX_PIECES = 64

_LINE = re.compile(rb"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class Splice:
    """At `start`, a byte offset in the file before, `removed` gives way to `inserted`."""

    start: int
    removed: bytes = b""
    inserted: bytes = b""


def apply(splices: Sequence[Splice], before: bytes) -> bytes:
    """Return the bytes after. Raises ValueError when what they remove is not there."""
    for splice in splices:
        if before[splice.start : splice.start + len(splice.removed)] != splice.removed:
            raise ValueError(f"other bytes are at {splice.start}")
    state = bytearray(before)
    splice_into(state, splices)
    return bytes(state)


def splice_into(state: bytearray, splices: Sequence[Splice]) -> None:
    """Apply splices by their offsets and lengths alone. Raises ValueError beyond the end."""
    for splice in reversed(splices):
        end = splice.start + len(splice.removed)
        if end > len(state):
            raise ValueError(f"the file ends before {end}")
        state[splice.start : end] = splice.inserted


def invert(splices: Iterable[Splice]) -> tuple[Splice, ...]:
    """Return the splices that lead back from after to before."""
    inverted, shift = [], 0
    for splice in splices:
        inverted.append(Splice(splice.start + shift, splice.inserted, splice.removed))
        shift += len(splice.inserted) - len(splice.removed)
    return tuple(inverted)


def in_order(splices: Sequence[Splice]) -> bool:
    """Whether offsets are not negative, and no splice starts before the one ahead of it ends."""
    end = 0
    for splice in splices:
        if splice.start < end:
            return False
        end = splice.start + len(splice.removed)
    return True


def whole(data: bytes) -> tuple[Splice, ...]:
    """Return the splices that make a file of nothing: one for each line, at most 64.

    They are several so that one line can be redacted and the rest stay.
    """
    lines = _LINE.findall(data)
    size = max(1, -(-len(lines) // MAX_PIECES))
    pieces = (b"".join(lines[at : at + size]) for at in range(0, len(lines), size))
    return tuple(Splice(0, b"", piece) for piece in pieces)


def splices_between(before: bytes, after: bytes) -> tuple[Splice, ...]:
    """Return the splices that lead from one state to another; none when they are equal.

    Lines that occur once on both sides, in the same order, stay as they are (the patience
    method of Bram Cohen); the runs between them are replaced. Time is n log n in the lines.
    """
    if before == after:
        return ()
    start, tail = _common_ends(before, after)
    old = _LINE.findall(before, start, len(before) - tail)
    new = _LINE.findall(after, start, len(after) - tail)
    found, offset, line = [], start, 0
    for old_lines, new_lines in _changed_runs(old, new):
        offset += sum(map(len, old[line : old_lines.start]))
        removed = b"".join(old[old_lines.start : old_lines.stop])
        inserted = b"".join(new[new_lines.start : new_lines.stop])
        found.append(_narrowed(Splice(offset, removed, inserted)))
        offset += len(removed)
        line = old_lines.stop
    return tuple(found)


def _common_ends(one: bytes, other: bytes) -> tuple[int, int]:
    """Return how many bytes at start and end are common and are whole lines on both sides."""
    prefix = _common_prefix(one, other, min(len(one), len(other)))
    prefix = one.rfind(b"\n", 0, prefix) + 1
    suffix = _common_suffix(one, other, min(len(one), len(other)) - prefix)
    if not all(_line_starts(data, prefix, len(data) - suffix) for data in (one, other)):
        feed = one.find(b"\n", len(one) - suffix)
        suffix = len(one) - (feed + 1) if feed >= 0 else 0
    return prefix, suffix


def _line_starts(data: bytes, base: int, offset: int) -> bool:
    return offset == base or data[offset - 1 : offset] == b"\n"


def _common_prefix(one: bytes, other: bytes, limit: int) -> int:
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_suffix(one: bytes, other: bytes, limit: int) -> int:
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low


def _changed_runs(old: list[bytes], new: list[bytes]) -> Iterator[tuple[range, range]]:
    """Yield the runs of line numbers that differ, between lines that stay."""
    old_start = new_start = 0
    for old_end, new_end in [*_anchors(old, new), (len(old), len(new))]:
        old_next, new_next = old_end + 1, new_end + 1
        while old_start < old_end and new_start < new_end and old[old_start] == new[new_start]:
            old_start, new_start = old_start + 1, new_start + 1
        while old_start < old_end and new_start < new_end and old[old_end - 1] == new[new_end - 1]:
            old_end, new_end = old_end - 1, new_end - 1
        if old_start < old_end or new_start < new_end:
            yield range(old_start, old_end), range(new_start, new_end)
        old_start, new_start = old_next, new_next


def _anchors(old: list[bytes], new: list[bytes]) -> list[tuple[int, int]]:
    """Return the longest rising run of pairs of lines that occur once on both sides."""
    single_old, single_new = _single(old), _single(new)
    pairs = [(at, single_new[line]) for line, at in single_old.items() if line in single_new]
    tops: list[int] = []  # The smallest end of a rising run of each length.
    ends: list[int] = []  # Which pair that end is.
    previous: list[int] = []
    for index, (_, at) in enumerate(pairs):
        length = bisect.bisect_left(tops, at)
        tops[length : length + 1] = [at]
        ends[length : length + 1] = [index]
        previous.append(ends[length - 1] if length else -1)
    chain, index = [], ends[-1] if ends else -1
    while index >= 0:
        chain.append(pairs[index])
        index = previous[index]
    return chain[::-1]


def _single(lines: list[bytes]) -> dict[bytes, int]:
    """Return the lines that occur once, in order, with their numbers."""
    found: dict[bytes, int] = {}
    repeated = set()
    for number, line in enumerate(lines):
        if line in found:
            repeated.add(line)
        found[line] = number
    return {line: number for line, number in found.items() if line not in repeated}


def _narrowed(splice: Splice) -> Splice:
    """Leave out what both sides share of very long lines, beyond `CONTEXT`."""
    removed, inserted = splice.removed, splice.inserted
    limit = min(len(removed), len(inserted))
    if limit <= CONTEXT:
        return splice
    prefix = _common_prefix(removed, inserted, limit)
    suffix = _common_suffix(removed, inserted, limit - prefix)
    head = _at_character(inserted, max(0, prefix - CONTEXT), -1)
    tail = len(inserted) - _at_character(inserted, len(inserted) - max(0, suffix - CONTEXT), 1)
    return Splice(
        splice.start + head,
        removed[head : len(removed) - tail],
        inserted[head : len(inserted) - tail],
    )


def _at_character(data: bytes, offset: int, direction: int) -> int:
    """Move an offset to where a UTF-8 character starts."""
    while 0 < offset < len(data) and data[offset] & 0xC0 == 0x80:
        offset += direction
    return offset
