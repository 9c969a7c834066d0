"""Whose words a note holds, as the records of its revisions tell.

A document has no place for an origin in its text, and a line may be written by one and changed by
another. So runs of a few words are looked at: each belongs to whoever brought it into the note
first, wherever in the note it has moved since. The same goes for runs with their signs and the
ends of their lines, for `<=` made `>=`, or a line that has lost its "Do not", says another thing
in the same words. What no record tells of is the owner's, who writes in an editor.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from .revision import Origin, Record
from .source import readable

RUN = 5
"""Words that are looked at together. Fewer in a row may be anybody's; a short line is one run."""

TRUST: dict[Origin, int] = {"owner": 3, "system": 2, "agent": 1, "untrusted": 0}
"""How much more one origin counts than another."""

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")
_WORD_OR_SIGN = re.compile(rf"{_WORD.pattern}|[^\w\s]|_")
_LINE_END = ""
"""Stands at both ends of a line among its words and signs."""


def least(origins: Iterable[Origin]) -> Origin:
    """Return the origin that counts least; the owner's where there is none."""
    return min(origins, key=TRUST.__getitem__, default="owner")


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
            self.weakest = least((self.weakest, origin))
        # Where the words of others were redacted, a new beginning does not tell whose the rest is.
        anew = record.op == "baseline" and self.count > 0
        for splice in record.splices:
            for run in _runs(splice.inserted.decode("utf-8", "surrogateescape")):
                self._first.setdefault(run, self.weakest if anew else origin)
        self.last, self.count = record.hash, self.count + 1

    def origin_of(self, text: str) -> Origin:
        """Return the origin, of all who wrote in a text of the note, that counts least."""
        return least(self._first.get(run, "owner") for run in _runs(text))


def _runs(text: str) -> Iterator[int]:
    """Every run of a text's words, and of words and signs, as a number equal for equal ones."""
    for line in map(str.casefold, readable(text).splitlines()):
        words = _WORD.findall(line)
        if words:
            yield from _in_a_row(words)
            yield from _in_a_row([_LINE_END, *_WORD_OR_SIGN.findall(line), _LINE_END])


def _in_a_row(parts: Sequence[str]) -> Iterator[int]:
    for at in range(max(1, len(parts) - RUN + 1)):
        yield hash(tuple(parts[at : at + RUN]))
