"""The candidates of a recall: what was found, weighed and measured, as a bundle would show it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from ...indexer.index import Hit
from ...indexer.passages import today
from ..answers import MemoryType
from ..provenance import Provenance, date_of, id_of, provenances, type_of
from ..search import shown
from ..tokens import TokenCounter
from ..vault import Vault
from .envelope import quoted
from .gather import Lead
from .weights import authority, types_asked, weight


class Measure:
    """Counts what a text adds to a bundle: without the frame that each whole text has."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter, self._frame = counter, counter("\n")

    def __call__(self, text: str) -> int:
        """Return the tokens of a text that stands below another one."""
        return max(1, self._counter(f"\n{text}") - self._frame)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that may go into the bundle, with what it is worth.

    What is shown is `body` and `tail`, and only the body may be cut; `tokens` count both with a
    line end. `reserve` are those of a mark that may come behind them. `authority` is 0 for what
    counts most.
    """

    lead: Lead
    told: Provenance
    authority: int
    value: float
    body: str
    tail: str
    tokens: int
    reserve: int = 0

    @property
    def hit(self) -> Hit:
        """The passage."""
        return self.lead.hit

    @property
    def direct(self) -> bool:
        """Whether it answers the words of the question."""
        return self.lead.direct

    @property
    def text(self) -> str:
        """The text as the bundle shows it."""
        return self.body + self.tail

    @property
    def note(self) -> int:
        """The number of the note that it is from."""
        return self.lead.hit.row.number


def by_value(candidate: Candidate) -> tuple[object, ...]:
    """Sort key: the most valuable first; ties break on the place."""
    return (-candidate.value, candidate.hit.row.path, candidate.hit.part)


def weighed(
    vault: Vault, query: str, own: Sequence[Hit], leads: Sequence[Lead], measure: Measure
) -> list[Candidate]:
    """Return the candidates, best first: hits of the caller's own thread, then what was found.

    Not to be called inside a question.
    """
    asked, day = types_asked(query), dt.date.fromisoformat(today())
    told = provenances(vault, [*own, *(lead.hit for lead in leads)])
    found = [
        _candidate(lead, one, lead.value * weight(lead.hit, one.date, asked, day), measure)
        for lead, one in zip(leads, told[len(own) :], strict=True)
    ]
    found.sort(key=by_value)
    top = found[0].value if found else 0.0
    first = [
        _candidate(Lead(hit, top + hit.score, direct=True), one, top + hit.score, measure)
        for hit, one in zip(own, told[: len(own)], strict=True)
    ]
    return [*first, *found]


def _candidate(lead: Lead, told: Provenance, value: float, measure: Measure) -> Candidate:
    body, tail = line_of(lead.hit, told)
    return Candidate(
        lead=lead,
        told=told,
        authority=authority(lead.hit, told),
        value=value,
        body=body,
        tail=tail,
        tokens=measure(f"{body}{tail}\n"),
    )


def line_of(hit: Hit, told: Provenance) -> tuple[str, str]:
    """The text of a hit as the bundle shows it, and what stands behind it.

    Behind an observation that is its id, its origin, its type unless that is the default, and
    its date where the citation of its note has another; for the episodic always, to the minute.
    """
    if hit.passage is None:
        return quoted(hit.row.title), ""
    kind = type_of(hit)
    if kind is None:
        is_doc = hit.row.note_class == "user-doc"
        return quoted(hit.text), "" if is_doc else f" · {told.origin}"
    mark = f" ^{id_of(hit)}" if id_of(hit) else ""
    text = quoted(shown(hit)).replace("\n", "\n  ")
    return f"- {text}", f"{mark} · {' · '.join([told.origin, *_marks(hit, told, kind)])}"


def _marks(hit: Hit, told: Provenance, kind: MemoryType) -> list[str]:
    marks: list[str] = [] if kind == "semantic" else [kind]
    day, minute = told.date[:10], told.date[11:16]
    if kind == "episodic":
        return [*marks, f"{day} {minute}"]
    return [*marks, day] if day != date_of(hit.row.mtime_ns)[:10] else marks
