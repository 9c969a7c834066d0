"""The order in which a bundle is read, and its text.

Direct hits come before neighbours, then what has more authority, then what is worth more, then what
is newer. Of one note everything stands together in the order of its file, but for facts that
contradict each other: the stronger comes first, and the other one says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ...indexer.index import Hit
from ...vault.authorship import least
from ..provenance import id_of
from .candidates import by_value
from .conflicts import Clash, mark
from .envelope import Block, body
from .pack import Bundle, Packed, citation

LEFT_OUT = ("budget", "maxPerSource", "limit")

_NO_DIGITS = str.maketrans("", "", "-:TZ")

Group = list[Packed]
"""What was packed of one note."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A bundle as it is read: by note, and with the contradictions in it.

    `shortened` are the notes of which a hit was left out for want of room.
    """

    bundle: Bundle
    groups: Sequence[Group]
    clashes: Sequence[Clash]
    shortened: frozenset[int]

    def text(self) -> str:
        """What stands in the envelope."""
        return body([self._block(group) for group in self.groups])

    def goes_on(self, group: Group) -> bool:
        """Whether a hit of a note was left out for want of room."""
        return group[0].candidate.note in self.shortened

    def _block(self, group: Group) -> Block:
        texts = tuple(one.text for one in group)
        origin = least(one.candidate.told.origin for one in group)
        row = group[0].candidate.hit.row
        return Block(citation(row, origin), texts, self.goes_on(group) and not group[-1].cut)


def reading(bundle: Bundle, clashes: Iterable[Clash]) -> Reading:
    """Put what was packed in its order, and mark what contradicts something stronger in it."""
    there = {one.candidate.hit.place for one in bundle.packed}
    told = [one for one in clashes if {one.stronger.place, one.weaker.place} <= there]
    groups = _groups(bundle.packed)
    for clash in told:
        _put_first(groups, clash)
    marks = {one.weaker.place: _mark(groups, one) for one in told}
    marked = [
        [_marked(one, marks.get(one.candidate.hit.place)) for one in group] for group in groups
    ]
    shortened = (one.note for one, reason in bundle.omitted if one.direct and reason in LEFT_OUT)
    return Reading(bundle, marked, told, frozenset(shortened))


def _mark(groups: Sequence[Group], clash: Clash) -> str:
    return mark(id_of(clash.stronger), _position(groups, clash.stronger) + 1)


def _marked(packed: Packed, mark: str | None) -> Packed:
    if mark is None:
        return replace(packed, tokens=packed.tokens - packed.candidate.reserve)
    return replace(packed, text=packed.text + mark)


def _groups(packed: Iterable[Packed]) -> list[Group]:
    by_note: dict[int, Group] = {}
    for one in packed:
        by_note.setdefault(one.candidate.note, []).append(one)
    for group in by_note.values():
        group.sort(key=lambda one: one.candidate.hit.part)
    return sorted(by_note.values(), key=_order)


def _order(group: Group) -> tuple[object, ...]:
    best = min((one.candidate for one in group), key=by_value)
    row = best.hit.row
    hop = min(one.candidate.lead.hop for one in group)
    recency = -int(best.told.date.translate(_NO_DIGITS))
    return (hop > 0, best.authority, -best.value, recency, row.id, row.path)


def _put_first(groups: list[Group], clash: Clash) -> None:
    """Move the stronger of two before the other, and nothing else."""
    stronger, weaker = (_position(groups, one) for one in (clash.stronger, clash.weaker))
    if stronger > weaker:
        groups.insert(weaker, groups.pop(stronger))
    elif stronger == weaker:
        group = groups[stronger]
        parts = [one.candidate.hit.part for one in group]
        first, second = parts.index(clash.stronger.part), parts.index(clash.weaker.part)
        if first > second:
            group.insert(second, group.pop(first))


def _position(groups: Sequence[Group], hit: Hit) -> int:
    """Where the note of a hit stands."""
    return next(at for at, group in enumerate(groups) if group[0].candidate.note == hit.row.number)
