"""What an edit changed: line by line as a unified diff, or word by word.

An edit changes one place, so that it is enough to leave out what is equal at both ends: that
takes time in proportion to the note, where a search for the smallest diff may take its square.
"""

from __future__ import annotations

import difflib
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


def word_diff(before: str, after: str) -> str:
    """What changed, word by word: `Prefers [-dark-]{+light+} themes.`"""
    old, new = before.split(), after.split()
    parts = []
    for tag, start, end, new_start, new_end in difflib.SequenceMatcher(
        None, old, new
    ).get_opcodes():
        gone, come = " ".join(old[start:end]), " ".join(new[new_start:new_end])
        if tag == "equal":
            parts.append(gone)
            continue
        parts.append((f"[-{gone}-]" if gone else "") + (f"{{+{come}+}}" if come else ""))
    return " ".join(parts)
