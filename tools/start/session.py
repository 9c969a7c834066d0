"""The start of a session: what an agent should know before it does anything, within budgets.

Each of the three parts has a budget of its own in the settings, and is a strict prefix of its
entries. The whole is one text in an envelope, as a recall is, and its tokens never exceed the
three budgets together. Equal input gives equal output, but for the envelope's nonce.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ...indexer.catalog import Row
from ...indexer.view import Scope
from ...vault.settings import Settings
from ..answers import IndexState
from ..auditing import auditing
from ..borders import Borders
from ..bundle.candidates import Measure
from ..bundle.envelope import PLAIN_NONCE, body, fresh_nonce, sealed
from ..derivation import settled
from ..kinds import checked_name
from ..places import known_project
from ..provenance import date_of
from ..subjects import owner_only
from ..tokens import TokenCounter, count_tokens
from ..vault import Caller, Vault
from .answers import StartAnswer, StartOmitted, StartPart, StartPartName
from .changes import NoteChange, Touched, changes, last_session, touched
from .entries import Start
from .prefix import Left, Loaded, Prefix

NAMED = 20
"""Entries of a part that are named when they are left out; the others are counted."""


def start_session(
    vault: Vault,
    project: str | None = None,
    thread: str | None = None,
    counter: TokenCounter = count_tokens,
) -> StartAnswer:
    """Return what a session starts with: about the user, a project if given, and the work.

    First the owner's context sets and pinned notes, then what is derived. With `thread`, what
    that thread noted last and has pending is in it. Without a project, nothing of any is. The
    budgets are settings. Raises `PathRefused` for a project that is no plain name, and
    `RuleForbids` for one of which the caller may recall nothing.
    """
    filters = {"project": project, "thread": thread}
    with auditing(vault, "start_session", "", filters) as audited:
        answer, rows = _started(vault, project, thread, counter, kept=True)
        return audited.answered(answer, rows)


def preview(
    vault: Vault, project: str | None = None, thread: str | None = None, agent: str | None = None
) -> StartAnswer:
    """Return what `start_session` would give an agent now; no record of it is kept.

    For the owner alone; raises `OwnerOnly`, and as `start_session` does.
    """
    owner_only(vault, "see what an agent would start with")
    asking = Caller(agent=agent) if agent else Caller()
    asked_by = vault.with_caller(asking)
    return _started(asked_by, project, thread, count_tokens, kept=False)[0]


@dataclass(frozen=True, slots=True)
class _Gathered:
    """The three parts as far as they were loaded."""

    parts: tuple[Prefix, ...]
    index: IndexState

    @property
    def loaded(self) -> list[Loaded]:
        return [one for part in self.parts for one in part.loaded]


def _started(
    vault: Vault, project: str | None, thread: str | None, counter: TokenCounter, *, kept: bool
) -> tuple[StartAnswer, Iterable[Row]]:
    name = known_project(vault.layout, project)
    called = None if thread is None else checked_name("thread", thread)
    since = last_session(vault)
    news = _news(vault, name, since) if since else ()
    measure = Measure(counter)

    def question() -> _Gathered:
        borders = Borders(vault, name, closed=True)
        start = Start(vault, borders, name, called, news)
        parts = []
        for part, budget in budgets(vault.settings, name).items():
            prefix = Prefix(budget, measure, NAMED)
            prefix.take(start.entries(part))
            start.loaded.update(one.entry.place for one in prefix.loaded)
            parts.append(prefix)
        if kept:
            borders.guard.tell("recall")
        return _Gathered(tuple(parts), vault.index_state())

    gathered = settled(vault, question)
    budget = sum(budgets(vault.settings, name).values())
    loaded, text = _within(budget, gathered.loaded, counter)
    answer = _answer(gathered, loaded, text, budget, counter)
    rows = (one.entry.row for one in loaded if one.entry.row)
    return replace(answer, project=name, since=since or None), rows


def budgets(settings: Settings, project: str | None) -> dict[StartPartName, int]:
    """The budget of each part, in the order of the parts; without a project, it has none."""
    return {
        "personal": settings.personal_tokens,
        "project": settings.project_tokens if project is not None else 0,
        "work": settings.work_tokens,
    }


def _news(vault: Vault, project: str | None, since: str) -> Sequence[NoteChange]:
    """What others have changed about the user and a project since a session."""

    def question() -> list[Touched]:
        scopes = [Scope(project="", note_class="agent-memory", muted=False)]
        if project is not None:
            scopes.append(Scope(project=project, muted=False))
        rows = (row for scope in scopes for row in vault.index.paths(scope).values())
        return touched(Borders(vault, project, closed=True), rows, since)

    return changes(vault, vault.index.ask(question), since)


def _within(
    budget: int, loaded: Sequence[Loaded], counter: TokenCounter
) -> tuple[Sequence[Loaded], str]:
    """The text of what was loaded; its end is dropped where a counter finds it too long."""
    while True:
        text = body([one.block for one in loaded])
        if counter(sealed(text, PLAIN_NONCE)) <= budget or not loaded:
            return loaded, text
        loaded = loaded[:-1]


def _answer(
    gathered: _Gathered, loaded: Sequence[Loaded], text: str, budget: int, counter: TokenCounter
) -> StartAnswer:
    context = sealed(text, fresh_nonce(text))
    dropped = (Left(one.entry, "budget", one.tokens) for one in gathered.loaded[len(loaded) :])
    left = [*(one for part in gathered.parts for one in part.left), *dropped]
    return StartAnswer(
        context=context,
        tokens=counter(context),
        budget_tokens=budget,
        parts=tuple(map(_part, loaded)),
        omitted=tuple(map(_omitted, left)),
        omitted_more=sum(part.more for part in gathered.parts),
        index=gathered.index,
    )


def _part(loaded: Loaded) -> StartPart:
    entry, row = loaded.entry, loaded.entry.row
    return StartPart(
        part=entry.part,
        kind=entry.kind,
        title=entry.title,
        tokens=loaded.tokens,
        origin=loaded.entry.origin(),
        note_id=row.id if row else None,
        path=row.path if row else None,
        date=date_of(row.mtime_ns) if row else None,
        cut=True if loaded.cut else None,
    )


def _omitted(left: Left) -> StartOmitted:
    entry, row = left.entry, left.entry.row
    return StartOmitted(
        part=entry.part,
        kind=entry.kind,
        title=entry.title,
        reason=left.reason,
        tokens=left.tokens,
        note_id=row.id if row else None,
        path=row.path if row else None,
    )
