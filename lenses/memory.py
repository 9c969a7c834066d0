"""The Memory lens: what agents remember of the user and of each project, and what the owner does.

Hidden until its switch is turned. Behind each fact stands who wrote it, when, from where and in
which version, as the journal tells.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

from markupsafe import Markup

from ..indexer.catalog import Row
from ..tools.audit import Use
from ..tools.derivation import confirm
from ..tools.lifecycle import forget, update_memory
from ..tools.marks import place_of
from ..tools.provenance import known_origin
from ..tools.tending import mute, name_line, rename_category
from ..vault.errors import InvalidArgument, NoteNotFound, Refused, UsageFailure, ZibaldoneError
from ..vault.history import ObservationState
from ..vault.ledger import OWNER
from ..vault.memory import Observation, observations
from ..vault.note import Note, read_note
from ..vault.source import token_of
from .differences import Part, words
from .markup import render
from .past import observation_history
from .reading import NoteLinks, editors
from .status import status_of
from .uses import NEVER, Given
from .visit import Page, Redirect, Visit, memory_rows, row_with
from .words import moment_of, parsed

SORTS = ("place", "newest", "oldest", "author", "used", "unused")

_NUMBER = re.compile(r"\d{1,9}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Fact:
    """One observation with where it comes from; without a record its note's time stands in."""

    item: Observation
    html: Markup
    origin: str
    version: int
    written: datetime
    changed: datetime
    author: str
    instance: str
    client: str
    session: str
    token: str
    found: bool
    """Whether it was there before its history began, so that nobody knows who wrote it."""

    use: Use | None = None
    """How often it was given to agents, as far as the audit reaches back; None if nobody knows."""

    @property
    def times(self) -> tuple[int, str]:
        """How often it was given, and when last."""
        return (self.use.times, self.use.last) if self.use else (0, "")


@dataclass(frozen=True, slots=True)
class Category:
    """One line of the lens: a memory note and how many facts of it can be recalled."""

    row: Row
    facts: int


def lens_page(visit: Visit) -> Page:
    """Show what is remembered, by whom it is about; without the lens, its switch alone."""
    if not visit.lens:
        return Page("lens_closed.html", {})
    rows = visit.vault.index.ask(lambda: memory_rows(visit.vault))
    rows.sort(key=lambda row: (row.project.casefold(), bool(row.kind), row.title.casefold()))
    groups = [
        (project, [Category(row, max(len(row.docs) - 1, 0)) for row in group])
        for project, group in groupby(rows, key=lambda row: row.project)
    ]
    return Page("lens.html", {"groups": groups, "live": "*"})


def category_page(visit: Visit) -> Page:
    """Show one memory note with all of its observations. Raises `NoteNotFound`."""
    return _category_page(visit)


def _category_page(visit: Visit, error: ZibaldoneError | None = None) -> Page:
    """The page of a category, with why its label could not be changed."""
    row, note = _note(visit)
    facts = _facts(visit, row, note)
    shown = _filtered(facts, visit)
    return Page(
        "category.html",
        {
            "row": row,
            "note": note,
            "pinned": place_of(note.tags) is not None,
            "facts": shown,
            "total": len(facts),
            "authors": sorted({fact.author for fact in facts}),
            "types": sorted({fact.item.type for fact in facts}),
            "origins": sorted({fact.origin for fact in facts}),
            "sorts": SORTS,
            "editors": editors(visit, row.path),
            "plain": _plain(visit, row, note),
            "error": error,
            "live": row.id,
        },
        status_of(error) if error else 200,
    )


def _note(visit: Visit) -> tuple[Row, Note]:
    if not visit.lens:
        raise NoteNotFound(visit.path["id"])
    rows = visit.vault.index.ask(lambda: memory_rows(visit.vault))
    row = row_with(rows, visit.path["id"], visit.query.get("path", ""))
    return row, read_note(visit.vault.layout, row.path)


def _plain(visit: Visit, row: Row, note: Note) -> Markup | None:
    """A note of another kind than a category reads better as a whole."""
    if not row.kind:
        return None
    links = NoteLinks(visit.house, row.path, lens=True)
    return visit.vault.index.ask(lambda: render(note.body, links, title=note.title))


def _facts(visit: Visit, row: Row, note: Note) -> list[Fact]:
    vault = visit.vault
    vault.store.settle([(row.path, row.id)])
    vault.store.ledger.history.catch_up()
    links = NoteLinks(visit.house, row.path, lens=True)
    items = observations(note)
    texts = vault.index.ask(lambda: [render(item.text, links) for item in items])
    baselines: dict[str, bool] = {}
    given = visit.house.uses.known()
    return [
        replace(_fact(visit, row, *each, baselines), use=_use(given, row, each[0]))
        for each in zip(items, texts, strict=True)
    ]


def _use(given: Given | None, row: Row, item: Observation) -> Use | None:
    return None if given is None or not item.id else given.get((row.id, item.id), NEVER)


def _fact(
    visit: Visit, row: Row, item: Observation, html: Markup, baselines: dict[str, bool]
) -> Fact:
    known: Sequence[ObservationState] = ()
    if item.id:
        known = visit.vault.store.ledger.history.versions(item.id, row.id)
    changed = moment_of(row.mtime_ns)
    first, last = (known[0], known[-1]) if known else (None, None)
    actor = first.actor if first else None
    return Fact(
        item=item,
        html=html,
        origin=known_origin(item.origin),
        version=max(last.version, 1) if last else 1,
        written=parsed(first.time) if first else changed,
        changed=parsed(last.time) if last else changed,
        author=actor.agent if actor else "editor",
        instance=actor.instance if actor else "",
        client=actor.client_version if actor else "",
        session=actor.session if actor else "",
        token=token_of(item.text.encode()),
        found=first is None or _was_found(visit, first, baselines),
    )


def _was_found(visit: Visit, first: ObservationState, baselines: dict[str, bool]) -> bool:
    """Whether a history begins with the state in which its note was found."""
    name = first.position.hash
    if first.actor == OWNER and name not in baselines:
        record = visit.vault.store.ledger.history.record(name)
        baselines[name] = record is not None and record.op == "baseline"
    return baselines.get(name, False)


def _filtered(facts: list[Fact], visit: Visit) -> list[Fact]:
    query = visit.query
    wanted = query.get("q", "").casefold()
    found = [
        fact
        for fact in facts
        if wanted in fact.item.text.casefold()
        and query.get("author", "") in ("", fact.author)
        and query.get("origin", "") in ("", fact.origin)
        and query.get("type", "") in ("", fact.item.type)
    ]
    match query.get("sort", ""):
        case "newest":
            found.sort(key=lambda fact: (not fact.found, fact.changed), reverse=True)
        case "oldest":
            found.sort(key=lambda fact: (not fact.found, fact.written))
        case "author":
            found.sort(key=lambda fact: (fact.author, fact.written))
        case "used":
            found.sort(key=lambda fact: fact.times, reverse=True)
        case "unused":
            found.sort(key=lambda fact: fact.times)
    return found


# One observation


def fact_page(visit: Visit) -> Page:
    """Show one observation: its words, its history, what it rests on, and what can be done."""
    return _fact_page(visit, text=None)


def _fact_page(visit: Visit, *, text: str | None, problem: str = "", status: int = 200) -> Page:
    row, note = _note(visit)
    name = visit.path["observation"]
    facts = [fact for fact in _facts(visit, row, note) if fact.item.id == name]
    history = observation_history(visit.vault, row.id, name)
    if not facts and not history:
        raise NoteNotFound(name)
    fact = facts[0] if facts else None
    facts_shown = {
        "row": row,
        "fact": fact,
        "name": name,
        "history": history,
        "rests_on": _rests_on(visit, fact) if fact else [],
        "text": text if text is not None else (fact.item.text if fact else ""),
        "problem": problem,
        "editors": editors(visit, row.path),
        "live": row.id,
    }
    return Page("fact.html", facts_shown, status)


def _rests_on(visit: Visit, fact: Fact) -> list[tuple[str, str, str]]:
    """The sources of a consolidated observation: name, address and words, as far as known."""
    known = visit.vault.store.ledger.history
    found = []
    for reference in fact.item.derived_from:
        name = reference.partition("@")[0]
        state = known.observation(name)
        revisions = observation_history(visit.vault, state.note, name) if state else []
        words_then = next((each.text for each in revisions if each.text), "")
        found.append((reference, f"/m/{state.note}/{name}" if state else "", words_then))
    return found


def edit_fact(visit: Visit) -> Page | Redirect:
    """Put the owner's words in the place of an observation, if it is still the one that was read.

    Else both are shown, and neither is lost. What is refused comes back with the reason.
    """
    row, _ = _note(visit)
    name, text = visit.path["observation"], visit.form.get("text", "")
    given = visit.form.get("version", "")
    if not _NUMBER.fullmatch(given):
        raise InvalidArgument("version", "it is the number of the version that was read")
    ref = f"{row.path}#^{name}@v{given}"
    reason = visit.form.get("reason", "").strip() or None
    try:
        with visit.vault.store.transaction(row.path):
            # Of a line without a history, versions cannot tell that an editor has changed it.
            if _words_now(visit, row, name) != visit.form.get("read", ""):
                return _conflict(visit, text)
            update_memory(visit.vault, ref, text, reason)
    except (Refused, UsageFailure) as refused:
        if isinstance(refused, InvalidArgument) and refused.argument == "ref":
            return _conflict(visit, text)
        return _fact_page(visit, text=text, problem=str(refused), status=400)
    return Redirect(f"/m/{row.id}/{name}?done=changed")


def _words_now(visit: Visit, row: Row, name: str) -> str:
    """A token of what an observation says now; nothing when it is gone."""
    items = observations(read_note(visit.vault.layout, row.path))
    return next((token_of(item.text.encode()) for item in items if item.id == name), "gone")


def _conflict(visit: Visit, text: str) -> Page:
    """Both texts: the one that came meanwhile, and the one that was typed."""
    row, note = _note(visit)
    name = visit.path["observation"]
    fact = next((fact for fact in _facts(visit, row, note) if fact.item.id == name), None)
    gone: tuple[Part, ...] = ()
    come: tuple[Part, ...] = ()
    if fact is not None:
        gone, come = words(fact.item.text, text)
    shown = {"row": row, "fact": fact, "name": name, "text": text, "gone": gone, "come": come}
    return Page("conflict.html", shown, 409)


def forget_fact(visit: Visit) -> Redirect:
    """Take an observation out of its note; its page stays, with the way back."""
    row, _ = _note(visit)
    name = visit.path["observation"]
    forget(visit.vault, f"{row.path}#^{name}", visit.form.get("reason", "").strip() or None)
    return Redirect(f"/m/{row.id}/{name}?done=forgotten")


def confirm_fact(visit: Visit) -> Redirect:
    """Let an observation count again whose sources have changed."""
    row, _ = _note(visit)
    name = visit.path["observation"]
    confirm(visit.vault, f"{row.path}#^{name}")
    return Redirect(f"/m/{row.id}/{name}?done=confirmed")


def name_fact(visit: Visit) -> Redirect:
    """Give an id to a line that the owner wrote by hand, and go to its page."""
    row, _ = _note(visit)
    text, token = visit.form.get("text", ""), visit.form.get("token", "")
    named = name_line(visit.vault, row.path, text, token)
    return Redirect(f"/m/{named.note_id}/{named.observation_id}")


def mute_category(visit: Visit) -> Redirect:
    """Keep a memory note out of every recall, or let it in again."""
    row, _ = _note(visit)
    wanted = visit.form.get("muted", "")
    if wanted not in ("on", "off"):
        raise InvalidArgument("muted", "it is on or off")
    tended = mute(visit.vault, row.path, muted=wanted == "on")
    return Redirect(f"/m/{tended.note_id}")


def rename_label(visit: Visit) -> Page | Redirect:
    """Give a category another label; one that cannot be comes back with the reason."""
    row, _ = _note(visit)
    try:
        done = rename_category(visit.vault, row.path, visit.form.get("label", ""))
    except (Refused, UsageFailure) as error:
        return _category_page(visit, error)
    return Redirect(f"/m/{row.id}{'?done=renamed' if done.outcome == 'changed' else ''}")
