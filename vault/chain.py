"""Whether a journal is as it was written: line by line, each record after the one before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .files import torn
from .revision import Record, parse
from .seal import seal_problem

FlawKind = Literal[
    "unreadable", "torn", "hash", "digest", "place", "chain", "sequence", "time", "stray"
]
_SENTENCES: dict[FlawKind, str] = {
    "unreadable": "The line is no record.",
    "torn": "The line is torn, and it is not the last of its journal.",
    "hash": "The facts of the record are not those that were written.",
    "digest": "The words of the record are not those that were written.",
    "place": "The record belongs to another device or to another month.",
    "chain": "The record does not follow the one before it: some are missing, or were put in.",
    "sequence": "The number of the record does not follow the one before it.",
    "time": "The record is earlier than the one before it.",
    "stray": "The file is no part of a journal.",
}


@dataclass(frozen=True, slots=True)
class Flaw:
    """Something wrong with a journal. `line` counts from 1; 0 means the file as a whole."""

    device: str
    file: str
    line: int
    kind: FlawKind

    @property
    def sentence(self) -> str:
        """What is wrong, in one sentence."""
        return _SENTENCES[self.kind]


class Chain:
    """Checks the lines of one device's journal, in order."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._last: Record | None = None
        self._broken = False

    def check(self, line: bytes, month: str) -> FlawKind | None:
        """Return the first thing that is wrong with the next line; `month` is that of its file.

        What follows is compared with the line as it is, so that one flaw is told once.
        """
        try:
            raw, record = parse(line)
        except ValueError:
            self._broken = True
            return "torn" if torn(line) else "unreadable"
        problem = seal_problem(raw) or self._misplaced(record, month) or self._unlinked(record)
        self._last, self._broken = record, False
        return "torn" if torn(line) else problem

    def _misplaced(self, record: Record, month: str) -> FlawKind | None:
        here = record.device == self._device and record.time.startswith(month)
        return None if here else "place"

    def _unlinked(self, record: Record) -> FlawKind | None:
        last = self._last
        if self._broken:
            return None
        if record.prev != (last.hash if last else ""):
            return "chain"
        if record.seq != (last.seq if last else 0) + 1:
            return "sequence"
        return "time" if last and record.time < last.time else None
