"""Agents → Audit: what agents have asked, what they were given, and what was not there for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, get_args

from ..indexer.catalog import Row
from ..tools.audit import (
    AuditAnswer,
    Wanted,
    askers,
    audit,
    blind_spots,
    daily,
    is_missed,
    most_asked,
)
from ..vault.audit import Given, LeftOut, Retrieval, Retriever
from ..vault.errors import InvalidArgument, NoteNotFound
from ..vault.source import readable
from .chart import chart
from .past import SHOWN
from .visit import Page, Visit, address_of, through_the_lens
from .words import parsed

LENGTH = 30
PARTS = 3
QUESTIONS = 50
"""Questions of one page, parts of an answer that it names, and entries of a list of questions."""

AGENTS = 100
"""Names of agents that are suggested where one is typed."""

FILTERS: Final = ("q", "agent", "instance", "session", "tool", "since", "until")
TOOLS: Final[tuple[Retriever, ...]] = get_args(Retriever)


@dataclass(frozen=True, slots=True)
class Part:
    """A note or an observation that was given or left out, with where it can be seen now.

    `revision` is its state then, `revision_href` where the journal has that, and `is_now` says
    that the note is still as it was; `reason` says why it was left out.
    """

    title: str
    href: str
    tokens: int
    observation: str = ""
    version: int | None = None
    revision: str = ""
    revision_href: str = ""
    is_now: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One question of an agent, as a page shows it; `more` and `more_left_out` are not named."""

    one: Retrieval
    moment: datetime
    missed: bool
    given: tuple[Part, ...]
    more: int
    left_out: tuple[Part, ...]
    more_left_out: int


def audit_page(visit: Visit) -> Page:
    """Show what was asked, the last first, and how much on which day. Raises `NoteNotFound`."""
    through_the_lens(visit)
    given = _given(visit)
    wanted = _wanted(given)
    page = visit.number("page")
    answer = audit(visit.vault, wanted, LENGTH, (page - 1) * LENGTH)
    facts = {
        "entries": _entries(visit, answer, whole=False),
        "answer": answer,
        "chart": chart(daily(visit.vault, wanted)),
        "page": page,
        "more": answer.total > page * LENGTH,
        **_filters(visit, given),
    }
    return Page("audit.html", facts)


def moment_page(visit: Visit) -> Page:
    """Show in full what was asked at one moment. Raises `NoteNotFound`."""
    through_the_lens(visit)
    moment = visit.path["moment"]
    try:
        answer = audit(visit.vault, Wanted(since=moment, until=moment), LENGTH)
    except InvalidArgument as problem:
        raise NoteNotFound(moment) from problem
    if not answer.retrievals:
        raise NoteNotFound(moment)
    return Page("asked.html", {"entries": _entries(visit, answer, whole=True)})


def questions_page(visit: Visit) -> Page:
    """Show which questions find nothing, and which come most often."""
    through_the_lens(visit)
    given = _given(visit)
    wanted = _wanted(given)
    facts = {
        "missed": blind_spots(visit.vault, wanted, QUESTIONS),
        "frequent": most_asked(visit.vault, wanted, QUESTIONS),
        **_filters(visit, given),
    }
    return Page("questions.html", facts)


def _given(visit: Visit) -> dict[str, str]:
    given = {name: visit.query.get(name, "").strip() for name in FILTERS}
    return given | {"tool": given["tool"] if given["tool"] in TOOLS else ""}


def _wanted(given: Mapping[str, str]) -> Wanted:
    tool = next((each for each in TOOLS if each == given["tool"]), None)
    names = ("agent", "instance", "session", "since", "until")
    asked = {name: given[name] or None for name in names}
    return Wanted(tool=tool, query=given["q"] or None, **asked)


def _filters(visit: Visit, given: dict[str, str]) -> dict[str, object]:
    kept = {name: value for name, value in given.items() if value}
    return {"given": given, "kept": kept, "tools": TOOLS, "agents": askers(visit.vault)[:AGENTS]}


# Entries


def _entries(visit: Visit, answer: AuditAnswer, *, whole: bool) -> list[Entry]:
    rows = _rows(visit, answer)
    return [_entry(visit, rows, one, whole=whole) for one in answer.retrievals]


def _rows(visit: Visit, answer: AuditAnswer) -> dict[str, Row]:
    """The notes that are named and still there, by their ids."""
    index = visit.vault.index
    rows = index.ask(lambda: [index.row(path) for path in answer.paths.values()])
    return {row.id: row for row in rows if row is not None}


def _entry(visit: Visit, rows: Mapping[str, Row], one: Retrieval, *, whole: bool) -> Entry:
    all_given = one.given if whole else _distinct(one.given)
    given = all_given if whole else all_given[:PARTS]
    left_out = one.left_out if whole else ()
    return Entry(
        one=one,
        moment=parsed(one.time),
        missed=is_missed(one),
        given=tuple(_part(visit, rows, each, whole=whole) for each in given),
        more=len(all_given) - len(given) + one.more_given,
        left_out=tuple(_omission(visit, rows, each) for each in left_out),
        more_left_out=len(one.left_out) - len(left_out) + one.more_left_out,
    )


def _distinct(given: Iterable[Given]) -> tuple[Given, ...]:
    """Each note or observation once, for several parts of a note may have been given."""
    first: dict[tuple[str, str], Given] = {}
    for part in given:
        first.setdefault((part.note, part.observation), part)
    return tuple(first.values())


def _part(visit: Visit, rows: Mapping[str, Row], part: Given, *, whole: bool) -> Part:
    title, href = _place(visit, rows, part.note, part.observation)
    made = visit.vault.store.ledger.history.made(part.note, part.revision) if whole else ""
    row = rows.get(part.note)
    return Part(
        title=title,
        href=href,
        tokens=part.tokens,
        observation=part.observation,
        version=part.version,
        revision=part.revision,
        revision_href=f"/journal/{part.note}/{made[:SHOWN]}" if made else "",
        is_now=bool(row and part.revision and row.token.startswith(part.revision)),
    )


def _omission(visit: Visit, rows: Mapping[str, Row], one: LeftOut) -> Part:
    title, href = _place(visit, rows, one.note)
    return Part(title, href, one.tokens, reason=one.reason)


def _place(
    visit: Visit, rows: Mapping[str, Row], note: str, observation: str = ""
) -> tuple[str, str]:
    """What a note is called and where it is shown; of one that is gone, its journal."""
    row = rows.get(note)
    if row is not None:
        address = address_of(row)
        known = visit.vault.store.ledger.history
        told = observation and known.observation(observation, note)
        return row.category or row.title, f"{address}/{observation}" if told else address
    state = visit.vault.store.ledger.history.state(note) if note else None
    return (readable(state.path), f"/journal/{note}") if state and state.path else ("", "")
