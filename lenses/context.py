"""Agents → Context: what a session loads first, what it weighs, and the marks that decide it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Final

from ..indexer.catalog import Names, Row
from ..indexer.view import Scope
from ..tools.audit import askers
from ..tools.marks import pinned, place_of
from ..tools.start.answers import StartAnswer, StartOmitted, StartPart, StartPartName
from ..tools.start.session import budgets, preview
from ..tools.tending import mute, pin, unpin
from ..vault.errors import Conflicting, InvalidArgument, NotFound, Refused, UsageFailure
from ..vault.note import CONTEXT_SET
from .audit import AGENTS
from .visit import Page, Redirect, Visit, local, through_the_lens

LISTED = 200
"""Pins, sets and muted notes that are listed at most."""

_PLACE: Final = re.compile(r"\d{1,6}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Section:
    """One part of the start: its budget, what is loaded of it and what is not."""

    name: StartPartName
    budget: int
    loaded: tuple[tuple[StartPart, Row | None], ...]
    left: tuple[tuple[StartOmitted, Row | None], ...]

    @property
    def tokens(self) -> int:
        """What the loaded entries weigh, without the envelope around the whole."""
        return sum(one.tokens for one, _ in self.loaded)

    def share(self, tokens: int) -> float:
        """How much of the budget some tokens take, in percent."""
        return round(min(100 * tokens / self.budget, 100), 1) if self.budget else 0


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of the owner in the whole vault: pins with their places, sets, and mutes."""

    pins: tuple[tuple[Row, int | None], ...]
    sets: tuple[Row, ...]
    muted: tuple[Row, ...]


def context_page(visit: Visit) -> Page:
    """Show what an agent would start with. Raises `NoteNotFound` while the lens is closed."""
    return _context_page(visit)


def _context_page(visit: Visit, problem: str = "", status: int = 200) -> Page:
    through_the_lens(visit)
    given = visit.form or visit.query
    project, agent = given.get("project", "").strip(), given.get("agent", "").strip()
    rows = visit.vault.index.ask(lambda: visit.vault.index.rows(Scope()))
    answer: StartAnswer | None = None
    try:
        answer = preview(visit.vault, project or None, agent=agent or None)
    except (Refused, UsageFailure) as refused:
        problem, status = problem or str(refused), max(status, 400)
    facts = {
        "answer": answer,
        "sections": _sections(visit, answer, rows) if answer else [],
        "marks": _marks(rows),
        "project": project,
        "agent": agent,
        "projects": sorted(visit.vault.index.ask(visit.vault.index.projects)),
        "agents": askers(visit.vault)[:AGENTS],
        "problem": problem,
        "live": "*",
    }
    return Page("context.html", facts, status)


def _sections(visit: Visit, answer: StartAnswer, rows: Sequence[Row]) -> list[Section]:
    by_path = {row.path: row for row in rows}
    found = []
    for name, budget in budgets(visit.vault.settings, answer.project).items():
        loaded = ((one, by_path.get(one.path or "")) for one in answer.parts if one.part == name)
        left = ((one, by_path.get(one.path or "")) for one in answer.omitted if one.part == name)
        found.append(Section(name, budget, tuple(loaded), tuple(left)))
    return [section for section in found if section.budget]


def _marks(rows: Sequence[Row]) -> Marks:
    return Marks(
        tuple((row, _place(row)) for row in pinned(rows)[:LISTED]),
        tuple(row for row in rows if row.kind == CONTEXT_SET)[:LISTED],
        tuple(row for row in rows if row.muted and row.note_class == "agent-memory")[:LISTED],
    )


def _place(row: Row) -> int | None:
    place = place_of(Names.parse(row.names).tags)
    return int(place) if place is not None and isfinite(place) else None


# What the owner does


def pin_note(visit: Visit) -> Page | Redirect:
    """Load a note at the start of sessions, at a place among the pins if one is given."""

    def act(ref: str) -> None:
        place = visit.form.get("place", "").strip()
        if place and not _PLACE.fullmatch(place):
            raise InvalidArgument("place", "it is a number")
        pin(visit.vault, ref, int(place) if place else None)

    return _marked(visit, act)


def unpin_note(visit: Visit) -> Page | Redirect:
    """Load a note at the start of sessions no more."""
    return _marked(visit, lambda ref: unpin(visit.vault, ref))


def mute_note(visit: Visit) -> Page | Redirect:
    """Keep a memory note out of every recall and start, or let it in again."""

    def act(ref: str) -> None:
        wanted = visit.form.get("muted", "")
        if wanted not in ("on", "off"):
            raise InvalidArgument("muted", "it is on or off")
        mute(visit.vault, ref, muted=wanted == "on")

    return _marked(visit, act)


def _marked(visit: Visit, act: Callable[[str], object]) -> Page | Redirect:
    """Change the mark of a note and go back; what is refused comes back with the reason."""
    through_the_lens(visit)
    try:
        act(visit.form.get("note", "").strip())
    except (Conflicting, NotFound, Refused, UsageFailure) as refused:
        return _context_page(visit, str(refused), 400)
    return Redirect(local(visit.form.get("back", "/agents/context")))
