"""Packing a recall: what goes into a budget, whole or cut, and what stays out and why.

The best hit goes in first, then hits that are nearly as good in their order, then the rest by
value per token. A long hit goes in short at first, cut at a sentence, so that it neither keeps
everything else out nor is kept out itself; what room is left in the end makes it longer again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..indexer.catalog import Row
from ..vault.memory import normal_form
from .answers import Reason
from .envelope import CUT_LINE, CUT_MARK, PLAIN_NONCE, cited, sealed
from .gather import Candidate, by_value
from .search import date_of, shown
from .tokens import TokenCounter, cut_to

NOTES = 25
"""Notes in one bundle at most."""

STRONG = 0.7
"""Hits with this share of the best value go in by rank, not by value per token."""

SHORT = 100
"""Tokens of a long hit in its short form."""

WORTHWHILE = 40
"""Tokens of room below which a hit is not cut, unless it is the best one."""

_ATTEMPTS = 8
_SENTENCE_ENDS = frozenset(".!?…。！？｡")
_CLOSING = "\"')]»”’」』）"


@dataclass(frozen=True, slots=True)
class Packed:
    """A candidate in the bundle: its text as it is shown, and why that was cut, if it was."""

    candidate: Candidate
    text: str
    tokens: int
    cut: Reason | None = None


@dataclass(frozen=True, slots=True)
class Bundle:
    """What was packed, and what was left out with the reason."""

    packed: tuple[Packed, ...]
    omitted: tuple[tuple[Candidate, Reason], ...]


class Packer:
    """Fills one budget, no more than `share` of it from one note; all sizes are in tokens.

    It relies on counts of parts that add up to at least the count of the whole. Whoever brings
    another counter has to look at the whole.
    """

    def __init__(self, budget: int, share: int, counter: TokenCounter) -> None:
        self._counter, self._share = counter, share
        self._left = budget - counter(sealed("\n", PLAIN_NONCE))
        self._used: dict[int, int] = {}

    def pack(self, candidates: Sequence[Candidate]) -> Bundle:
        """Choose from candidates, of which the first is the best."""
        packed: list[Packed] = []
        omitted: list[tuple[Candidate, Reason]] = []
        facts: set[str] = set()
        for candidate in _in_turn(candidates):
            fact = normal_form(shown(candidate.hit))
            if fact in facts:
                omitted.append((candidate, "duplicate"))
                continue
            taken = self._take(candidate, is_best=candidate is candidates[0])
            if isinstance(taken, Packed):
                facts.add(fact)
                packed.append(taken)
            else:
                omitted.append((candidate, taken))
        packed.sort(key=lambda one: by_value(one.candidate))
        grown = (self._grown(one, is_best=at == 0) for at, one in enumerate(packed))
        return Bundle(tuple(grown), tuple(omitted))

    def _take(self, candidate: Candidate, *, is_best: bool) -> Packed | Reason:
        note = candidate.note
        if note not in self._used and len(self._used) >= NOTES:
            return "limit"
        header = 0 if note in self._used else self._header(candidate.hit.row)
        share = self._share - self._used.get(note, 0)
        room = min(self._left, share) - header
        reason: Reason = "maxPerSource" if share < self._left else "budget"
        is_long = candidate.direct and candidate.tokens > SHORT and not is_best
        room = min(room, SHORT) if is_long else room
        fitted = self._fit(candidate, room, reason, is_best=is_best)
        if fitted is None:
            return reason
        self._spend(note, header + fitted.tokens)
        return fitted

    def _grown(self, packed: Packed, *, is_best: bool) -> Packed:
        """A text that was cut, made as long as what is left allows."""
        if not packed.cut:
            return packed
        note = packed.candidate.note
        share = self._share - self._used[note]
        reason: Reason = "maxPerSource" if share < self._left else "budget"
        room = packed.tokens + min(self._left, share)
        longer = self._fit(packed.candidate, room, reason, is_best=is_best)
        if longer is None or longer.tokens <= packed.tokens:
            return packed
        self._spend(note, longer.tokens - packed.tokens)
        return longer

    def _fit(
        self, candidate: Candidate, room: int, reason: Reason, *, is_best: bool
    ) -> Packed | None:
        if candidate.tokens <= room:
            return Packed(candidate, candidate.text, candidate.tokens)
        if not candidate.direct or (room < WORTHWHILE and not is_best):
            return None
        cut = self._cut(candidate, room, in_sentence=is_best)
        return Packed(candidate, *cut, reason) if cut else None

    def _cut(self, candidate: Candidate, room: int, *, in_sentence: bool) -> tuple[str, int] | None:
        """The longest beginning that fits, and its tokens; what stands behind the body stays."""
        end = f"{CUT_MARK}{candidate.tail}"
        space = room - self._counter(f"{end}\n")
        for _ in range(_ATTEMPTS):
            body = cut_to(candidate.body, space) if space > 0 else ""
            if not body.strip(" -#") or not (in_sentence or _is_whole(candidate.body, body)):
                return None
            tokens = self._counter(f"{body}{end}\n")
            if tokens <= room:
                return f"{body}{end}", tokens
            space -= tokens - room
        return None

    def _header(self, row: Row) -> int:
        """What the citation of a note takes, and the line that may say that the note goes on."""
        return self._counter(cited(NOTES, citation(row))) + self._counter(f"{CUT_LINE}\n")

    def _spend(self, note: int, tokens: int) -> None:
        self._left -= tokens
        self._used[note] = self._used.get(note, 0) + tokens


def citation(row: Row) -> str:
    """Where a note is, its title and its date; a user-doc is in the owner's words."""
    origin = " · owner" if row.note_class == "user-doc" else ""
    return f"{row.path} · {row.title} · {date_of(row.mtime_ns)[:10]}{origin}"


def _in_turn(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates in the order in which they may choose their room."""
    if not candidates:
        return []
    strong = STRONG * candidates[0].value
    first = [one for one in candidates if one.direct and one.value >= strong]
    chosen = {id(one) for one in first}
    rest = [one for one in candidates if id(one) not in chosen]
    return [*first, *sorted(rest, key=_by_density)]


def _by_density(candidate: Candidate) -> tuple[object, ...]:
    """Sort key: value per token, damped so that a full answer may beat a short aside."""
    tokens = min(candidate.tokens, SHORT) if candidate.direct else candidate.tokens
    return (-candidate.value / (12 + tokens) ** 0.5, *by_value(candidate)[1:])


def _is_whole(text: str, cut: str) -> bool:
    """Whether a beginning of a text ends with a sentence or a line, and is not all headings."""
    if all(line.startswith("#") or not line.strip() for line in cut.splitlines()):
        return False
    rest = text[len(cut) :]
    gap = rest[: len(rest) - len(rest.lstrip())]
    return "\n" in gap or cut.rstrip(_CLOSING)[-1:] in _SENTENCE_ENDS
