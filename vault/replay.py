"""From the records of one note back to the bytes that it had."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .errors import RevisionUnavailable
from .revision import HIDDEN, Record
from .source import token_of
from .splices import splice_into

Spans = tuple[tuple[int, int], ...]
"""Stretches of a file whose words were redacted, by their offsets in bytes."""


class Lineage:
    """The records of one note, each linked to the one that led to the state it starts from.

    The link is `base`. Where that record is missing, the latest earlier record that led to the
    same bytes does as well. Time is not trusted, for the clocks of two devices may differ.
    """

    def __init__(self, records: Iterable[Record]) -> None:
        self.records = sorted(records, key=lambda record: record.order)
        self._by_hash = {record.hash: record for record in self.records}
        self._by_token: dict[str, list[Record]] = {}
        for record in self.records:
            if record.after:
                self._by_token.setdefault(record.after, []).append(record)

    def find(self, hash_: str) -> Record | None:
        """Return a record by its hash."""
        return self._by_hash.get(hash_)

    def base(self, record: Record) -> Record | None:
        """Return the record before; None at a beginning, and where it is missing."""
        if record.before is None:
            return None
        if found := self._by_hash.get(record.base):
            return found
        same = self._by_token.get(record.before, []) if record.before != HIDDEN else []
        return next((each for each in reversed(same) if each.order < record.order), None)

    def path(self, record: Record) -> list[Record]:
        """Return the records that lead from a beginning to this one, both included.

        Raises RevisionUnavailable when one is missing.
        """
        path = [record]
        while path[-1].before is not None:
            base = self.base(path[-1])
            if base is None or len(path) > len(self.records):
                raise RevisionUnavailable(record.hash, "an earlier record of the note is missing")
            path.append(base)
        return path[::-1]


def replay(records: Iterable[Record], until: str = "", *, blank: bool = False) -> bytes | None:
    """Return the bytes of a note after the record `until`; after the last one by default.

    With `blank`, words that were redacted read as so many empty lines, and the rest is had.

    `until` is the hash of a record; `records` are those of one note, in any order. None means that
    there was no note. Raises RevisionUnavailable when the record is not among them, when one
    that leads to it is missing, and when the state held words that were redacted.
    """
    lineage = Lineage(records)
    record = lineage.find(until) if until else next(reversed(list(bases_first(lineage))), None)
    if record is None:
        raise RevisionUnavailable(until, "there is no such record of the note")
    if record.after is None:
        return None
    if record.after == HIDDEN and not blank:
        raise RevisionUnavailable(record.hash, "the note held words that were redacted since")
    state = bytearray()
    for each in lineage.path(record):
        try:
            splice_into(state, each.splices)
        except ValueError as error:
            raise RevisionUnavailable(record.hash, "its records contradict each other") from error
    data = bytes(state)
    if record.after == HIDDEN:
        return data.replace(b"\0", b"\n")
    if token_of(data) != record.after:
        raise RevisionUnavailable(record.hash, "its records do not lead to the bytes it had")
    return data


def tainted_tokens(records: Sequence[Record]) -> Mapping[str, set[str]]:
    """Return, by hash of the record, which of `before` and `after` is of a state with hidden words.

    Such a token would let a guess at the words be tested, for all the rest may be known.
    """
    lineage = Lineage(records)
    after: dict[str, Spans] = {}
    found: dict[str, set[str]] = {}
    for record in bases_first(lineage):
        base = lineage.base(record)
        spans = after.get(base.hash, ()) if base else ()
        after[record.hash] = _hidden_after(record, spans)
        sides = (f"{number}.removed" for number in range(len(record.splices)))
        names = {"before"} if spans or record.hidden.intersection(sides) else set()
        if after[record.hash]:
            names.add("after")
        found[record.hash] = names
    return found


def bases_first(lineage: Lineage) -> Iterable[Record]:
    """Yield every record after its base, whatever the clocks said."""
    done: set[str] = set()
    for record in lineage.records:
        waiting: list[Record] = []
        each: Record | None = record
        while each is not None and each.hash not in done:
            done.add(each.hash)
            waiting.append(each)
            # A note that was made again after it was deleted starts from nothing, but later.
            each = lineage.base(each) or lineage.find(each.base)
        yield from reversed(waiting)


def _hidden_after(record: Record, spans: Spans) -> Spans:
    """Return the hidden stretches after a record, given those before it."""
    for number, splice in reversed(list(enumerate(record.splices))):
        end = splice.start + len(splice.removed)
        shift = len(splice.inserted) - len(splice.removed)
        moved = []
        for first, last in spans:
            if first < splice.start:
                moved.append((first, min(last, splice.start)))
            if last > end:
                moved.append((max(first, end) + shift, last + shift))
        if f"{number}.inserted" in record.hidden:
            moved.append((splice.start, splice.start + len(splice.inserted)))
        spans = tuple(moved)
    return spans
