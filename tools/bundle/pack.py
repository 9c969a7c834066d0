"""Packing a recall: what goes into a budget, whole or cut, and what stays out and why.

The best hit goes in first, then hits that are nearly as good in their order, then the rest by
value per token. A long hit goes in short at first, cut at a sentence, so that it neither keeps
everything else out nor is kept out itself; what room is left in the end makes it longer again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...indexer.catalog import Row
from ...indexer.index import Hit
from ...vault.memory import normal_form
from ..answers import Origin, Reason
from ..provenance import date_of
from ..search import shown
from ..tokens import cut_to
from .candidates import Candidate, Measure, by_value
from .envelope import CUT_LINE, CUT_MARK, PLAIN_NONCE, cited, sealed

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
    """A candidate in the bundle: its text as it is shown, and why that was cut, if it was.

    `tokens` count the candidate's reserve too.
    """

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
    """Packs the candidates of one question, of which the first is the best.

    All sizes are in tokens; `share` bounds what is taken from one note. What was measured once
    is kept, so that packing again for another budget is quick.
    """

    def __init__(self, candidates: Sequence[Candidate], share: int, measure: Measure) -> None:
        self._candidates, self._share, self._measure = candidates, share, measure
        self._turns = _in_turn(candidates)
        self._facts = [_fact(candidate.hit) for candidate in self._turns]
        self._headers: dict[int, int] = {}
        self._cuts: dict[tuple[int, int], tuple[str, int] | None] = {}
        self._left = 0
        self._used: dict[int, int] = {}

    def pack(self, budget: int) -> Bundle:
        """Choose what goes into a budget.

        The parts are taken to add up to the whole. Whoever needs the whole to stay within the
        budget has to look at it.
        """
        self._left = budget - self._measure(sealed("\n", PLAIN_NONCE))
        self._used = {}
        packed: list[Packed] = []
        omitted: list[tuple[Candidate, Reason]] = []
        told: set[str] = set()
        for candidate, fact in zip(self._turns, self._facts, strict=True):
            if fact in told:
                omitted.append((candidate, "duplicate"))
                continue
            taken = self._take(candidate, is_best=candidate is self._candidates[0])
            if isinstance(taken, Packed):
                told.add(fact)
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
        more = min(self._left, share)
        if more < WORTHWHILE:
            return packed
        longer = self._fit(packed.candidate, packed.tokens + more, reason, is_best=is_best)
        if longer is None or longer.tokens <= packed.tokens:
            return packed
        self._spend(note, longer.tokens - packed.tokens)
        return longer

    def _fit(
        self, candidate: Candidate, room: int, reason: Reason, *, is_best: bool
    ) -> Packed | None:
        room -= candidate.reserve
        if candidate.tokens <= room:
            return Packed(candidate, candidate.text, candidate.tokens + candidate.reserve)
        if not candidate.direct or (room < WORTHWHILE and not is_best):
            return None
        place = (id(candidate), room)
        if place not in self._cuts:
            self._cuts[place] = self._cut(candidate, room, in_sentence=is_best)
        if cut := self._cuts[place]:
            return Packed(candidate, cut[0], cut[1] + candidate.reserve, reason)
        return None

    def _cut(self, candidate: Candidate, room: int, *, in_sentence: bool) -> tuple[str, int] | None:
        """The longest beginning that fits, and its tokens; what stands behind the body stays."""
        line = (candidate.body, candidate.tail)
        return shortened(line, room, self._measure, in_sentence=in_sentence)

    def _header(self, row: Row) -> int:
        """What the citation of a note takes, and the line that may say that the note goes on."""
        if row.number not in self._headers:
            texts = (cited(NOTES, citation(row, "owner")), f"{CUT_LINE}\n")
            self._headers[row.number] = sum(map(self._measure, texts))
        return self._headers[row.number]

    def _spend(self, note: int, tokens: int) -> None:
        self._left -= tokens
        self._used[note] = self._used.get(note, 0) + tokens


def shortened(
    line: tuple[str, str], room: int, measure: Measure, *, in_sentence: bool = False
) -> tuple[str, int] | None:
    """The longest beginning of a body that fits, with the tail behind it, and its tokens.

    It ends with a sentence or a line, or if need be `in_sentence`. None when nothing has room.
    """
    body, tail = line
    end = f"{CUT_MARK}{tail}"
    space = room - measure(f"{end}\n")
    for _ in range(_ATTEMPTS):
        cut = cut_to(body, space) if space > 0 else ""
        if not cut.strip(" -#") or not (in_sentence or _is_whole(body, cut)):
            return None
        tokens = measure(f"{cut}{end}\n")
        if tokens <= room:
            return f"{cut}{end}", tokens
        space -= tokens - room
    return None


def _fact(hit: Hit) -> str:
    """What two passages have in common that say the same."""
    is_fact = hit.passage is not None and hit.passage.is_observation
    return normal_form(shown(hit)) if is_fact else hit.text


def citation(row: Row, origin: Origin) -> str:
    """Where a note is, its title and its date; of a document also whose words it is."""
    whose = f" · {origin}" if row.note_class == "user-doc" else ""
    return f"{row.path} · {row.title} · {date_of(row.mtime_ns)[:10]}{whose}"


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
