"""Whose words a note holds, as the records of its revisions tell.

A document has no place for an origin in its text, and a line may be written by one and changed by
another. So runs of a few words are looked at: each belongs to whoever brought it into the note
first, wherever in the note it has moved since. What no record tells of is the owner's, who
writes in an editor.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .revision import Origin, Record
from .source import readable

RUN = 5
"""Words that are looked at together. Fewer in a row may be anybody's; a short line is one run."""

TRUST: dict[Origin, int] = {"owner": 3, "system": 2, "agent": 1, "untrusted": 0}
"""How much more one origin counts than another."""

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")


class Authorship:
    """Who wrote what in one note. Give it the records in the order of time."""

    def __init__(self) -> None:
        self.last = ""
        """The hash of the record that was added last."""
        self.count = 0
        self.weakest: Origin = "owner"
        """The origin, of all who have written words of the note, that counts least."""
        self._first: dict[int, Origin] = {}

    def add(self, record: Record) -> None:
        """Take in the next record."""
        origin = record.actor.origin
        if origin != "system":
            self.weakest = min(self.weakest, origin, key=TRUST.__getitem__)
        # Where the words of others were redacted, a new beginning does not tell whose the rest is.
        anew = record.op == "baseline" and self.count > 0
        for splice in record.splices:
            for run in _runs(splice.inserted.decode("utf-8", "surrogateescape")):
                self._first.setdefault(run, self.weakest if anew else origin)
        self.last, self.count = record.hash, self.count + 1

    def origin_of(self, text: str) -> Origin:
        """Return the origin, of all who wrote in a text of the note, that counts least."""
        found: Iterable[Origin] = (self._first.get(run, "owner") for run in _runs(text))
        return min(found, key=TRUST.__getitem__, default="owner")


def _runs(text: str) -> Iterator[int]:
    """Every run of words of a text, as a number that is equal for equal words."""
    for line in readable(text).splitlines():
        words = _WORD.findall(line.casefold())
        for at in range(max(1, len(words) - RUN + 1) if words else 0):
            yield hash(tuple(words[at : at + RUN]))
