"""What an edit changed, as a unified diff.

An edit changes one place, so that it is enough to leave out what is equal at both ends: that
takes time in proportion to the note, where a search for the smallest diff may take its square.
"""

from __future__ import annotations

from itertools import takewhile

from ..vault.source import readable

CONTEXT = 1
SHOWN = 4_000
"""Lines around the change, and characters of a diff at most."""


def unified(before: str, after: str) -> str:
    """Return the diff of two texts, without file names; it is cut, and says so, when long."""
    old, new = readable(before).splitlines(), readable(after).splitlines()
    pairs = zip(old, new, strict=False)
    head = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    rest = zip(reversed(old[head:]), reversed(new[head:]), strict=False)
    tail = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], rest))
    start = max(head - CONTEXT, 0)
    above = old[start:head]
    below = old[len(old) - tail :][:CONTEXT]
    removed, added = old[head : len(old) - tail], new[head : len(new) - tail]
    around = len(above) + len(below)
    lines = [
        f"@@ {_range(start, len(removed) + around)} {_range(start, len(added) + around, '+')} @@",
        *(f" {line}" for line in above),
        *(f"-{line}" for line in removed),
        *(f"+{line}" for line in added),
        *(f" {line}" for line in below),
    ]
    text = "\n".join(lines)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}\n…"


def _range(start: int, count: int, sign: str = "-") -> str:
    """A place as a unified diff gives it: the first line from 1, or the line before nothing."""
    first = start + 1 if count else start
    return f"{sign}{first}" if count == 1 else f"{sign}{first},{count}"
