"""What differs between two texts, line by line, and word by word in lines that were changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import takewhile, zip_longest
from typing import Literal

CONTEXT = 2
LONGEST = 1500
"""Lines around a change, and changed lines beyond which no smaller differences are looked for."""

Kind = Literal["same", "gone", "come", "gap"]

_WORD = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a line: `changed` when the other text has something else there."""

    text: str
    changed: bool = False


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a difference; a gap stands for equal lines that are not shown."""

    kind: Kind
    parts: tuple[Part, ...] = ()


def lines(before: str, after: str) -> list[DiffLine]:
    """Return how one text became another; nothing when they are equal."""
    old, new = before.splitlines(), after.splitlines()
    if old == new:
        return []
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    gone, come = old[head : len(old) - tail], new[head : len(new) - tail]
    found = [DiffLine("gap")] if head > CONTEXT else []
    found += _same(old[max(head - CONTEXT, 0) : head])
    found += _middle(gone, come)
    below = old[len(old) - tail :]
    found += _same(below[:CONTEXT])
    return found + ([DiffLine("gap")] if len(below) > CONTEXT else [])


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _same(texts: Sequence[str]) -> list[DiffLine]:
    return [DiffLine("same", (Part(text),)) for text in texts]


def _middle(old: Sequence[str], new: Sequence[str]) -> Iterator[DiffLine]:
    if max(len(old), len(new)) > LONGEST:
        yield from (DiffLine("gone", (Part(text),)) for text in old)
        yield from (DiffLine("come", (Part(text),)) for text in new)
        return
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag == "equal":
            yield from _shortened(old[start:end])
        else:
            yield from _changed(old[start:end], new[new_start:new_end])


def _shortened(texts: Sequence[str]) -> list[DiffLine]:
    if len(texts) <= 2 * CONTEXT + 1:
        return _same(texts)
    return [*_same(texts[:CONTEXT]), DiffLine("gap"), *_same(texts[-CONTEXT:])]


def _changed(old: Sequence[str], new: Sequence[str]) -> list[DiffLine]:
    gone, come = [], []
    for one, other in zip_longest(old, new):
        before, after = words(one or "", other or "")
        if one is not None:
            gone.append(DiffLine("gone", before if other is not None else (Part(one),)))
        if other is not None:
            come.append(DiffLine("come", after if one is not None else (Part(other),)))
    return gone + come


def words(before: str, after: str) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Return two texts in parts, those marked that the other has not."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    if max(len(old), len(new)) > LONGEST:
        return (Part(before, True),), (Part(after, True),)
    gone: list[Part] = []
    come: list[Part] = []
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if start < end:
            gone.append(Part("".join(old[start:end]), tag != "equal"))
        if new_start < new_end:
            come.append(Part("".join(new[new_start:new_end]), tag != "equal"))
    return tuple(gone), tuple(come)
