"""The order in which a bundle is read, and its text.

Direct hits come before neighbours, then what has more authority, then what is worth more, then what
is newer. Of one note everything stands together in the order of its file, but for facts that
contradict each other: the stronger comes first, and the other one says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..vault.authorship import TRUST
from .candidates import by_value
from .conflicts import Clash, Place, place
from .envelope import Block, body
from .pack import Bundle, Packed, citation
from .provenance import id_of

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
        marks = self._marks()
        return body([self._block(group, marks) for group in self.groups])

    def goes_on(self, group: Group) -> bool:
        """Whether a hit of a note was left out for want of room."""
        return group[0].candidate.note in self.shortened

    def _block(self, group: Group, marks: dict[Place, str]) -> Block:
        texts = (f"{one.text}{marks.get(place(one.candidate.hit), '')}" for one in group)
        least = min((one.candidate.told.origin for one in group), key=TRUST.__getitem__)
        row = group[0].candidate.hit.row
        return Block(citation(row, least), tuple(texts), self.goes_on(group) and not group[-1].cut)

    def _marks(self) -> dict[Place, str]:
        """What stands behind each fact that a stronger one contradicts."""
        marks: dict[Place, str] = {}
        for clash in self.clashes:
            key = place(clash.weaker.hit)
            before = f"{marks[key]}," if key in marks else " · contradicts"
            marks[key] = f"{before} {self._name(clash)}"
        return marks

    def _name(self, clash: Clash) -> str:
        """How the text names the stronger one: by its id, else by the number of its note."""
        named = id_of(clash.stronger.hit)
        return f"^{named}" if named else f"[{_position(self.groups, clash.stronger.note) + 1}]"


def reading(bundle: Bundle, clashes: Iterable[Clash]) -> Reading:
    """Put what was packed in its order."""
    there = {place(one.candidate.hit) for one in bundle.packed}
    told = [
        clash
        for clash in clashes
        if place(clash.stronger.hit) in there and place(clash.weaker.hit) in there
    ]
    groups = _groups(bundle.packed)
    for clash in told:
        _put_first(groups, clash)
    shortened = (one.note for one, reason in bundle.omitted if one.direct and reason in LEFT_OUT)
    return Reading(bundle, groups, told, frozenset(shortened))


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
    stronger, weaker = (_position(groups, one.note) for one in (clash.stronger, clash.weaker))
    if stronger > weaker:
        groups.insert(weaker, groups.pop(stronger))
    elif stronger == weaker:
        group = groups[stronger]
        first, second = (
            next(at for at, one in enumerate(group) if one.candidate is each)
            for each in (clash.stronger, clash.weaker)
        )
        if first > second:
            group.insert(second, group.pop(first))


def _position(groups: Sequence[Group], note: int) -> int:
    return next(at for at, group in enumerate(groups) if group[0].candidate.note == note)
