"""What has to leave the journal when words are forgotten, found and taken out line by line."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Sequence

from .files import torn
from .replay import tainted_tokens
from .revision import Record, parse
from .seal import canonical, without

Hide = Callable[[Record], Iterable[str]]
"""Names the parts of a record that have to go, of those in `Record.words`."""

_HASH = re.compile(rb"[0-9a-f]{64}")
# Marks of lines that hide words from a plain search, or that lost some at another time.
_MARKS = (b'"base64"', b"\\u", b'"sealed"')


class Redaction:
    """One redaction. First it looks at every line, then it is told the records of `notes`, then
    it gives back each line without what has to go.

    It is the same whether or not an earlier attempt has already done a part of it.
    """

    def __init__(
        self, hide: Hide | None, words: Sequence[bytes], damaged: Sequence[bytes] = ()
    ) -> None:
        self.notes: set[str] = set()
        self.count = 0
        self._hide = hide
        self._words = [word for word in words if word]
        doomed = [*self._words, *(word for word in damaged if word)]
        self._forms = {form for word in doomed for form in (word, _in_json(word))}
        self._names: dict[str, set[str]] = {}
        self._hashes: set[bytes] = set()
        self._damaged: set[bytes] = set()

    def look(self, line: bytes) -> None:
        """Find what of a line has to go."""
        holds = any(form in line for form in self._forms)
        if torn(line) or not (holds or self._hide or any(mark in line for mark in _MARKS)):
            return
        try:
            record = parse(line)[1]
        except ValueError:
            if holds:
                self._damaged.add(line)
            return
        names = self._parts_of(record)
        if names:
            self._add(record.hash, names)
            self.count += 1
        if names or record.redacted:
            self.notes.add(record.note)

    def _parts_of(self, record: Record) -> set[str]:
        there = record.words
        named = there.keys() & set(self._hide(record) if self._hide else ())
        return named | {
            name for name, text in there.items() if any(word in text for word in self._words)
        }

    def tell(self, records: Iterable[Record]) -> None:
        """Add the tokens that have to go, given all records of one note."""
        hidden = [
            dataclasses.replace(record, hidden=record.hidden | self._names.get(record.hash, set()))
            for record in records
        ]
        for hash_, tokens in tainted_tokens(hidden).items():
            if tokens:
                self._add(hash_, tokens)

    def _add(self, hash_: str, names: set[str]) -> None:
        self._names[hash_] = self._names.get(hash_, set()) | names
        self._hashes.add(hash_.encode())

    def without(self, line: bytes) -> bytes:
        """Return a line without what has to go: nothing of it, when it is torn or damaged."""
        if line in self._damaged or torn(line):
            return b""
        if self._hashes.isdisjoint(_HASH.findall(line)):
            return line
        try:
            raw, record = parse(line)
        except ValueError:
            return line
        rest = without(raw, self._names.get(record.hash, ()))
        return line if rest is raw else canonical(rest) + b"\n"


def _in_json(word: bytes) -> bytes:
    """Return how a word stands inside a JSON string."""
    return canonical(word.decode("utf-8", "replace"))[1:-1]
