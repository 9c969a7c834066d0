"""The journal and the trash: what happened, to which note, by whom, and the way back.

While the Memory lens is closed, both tell of user-docs alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..indexer.catalog import Row
from ..tools.history import restore, time_of, trash
from ..tools.purge import doomed, purge
from ..tools.revert import revert
from ..vault.errors import InvalidArgument, NoteNotFound, RevisionUnavailable
from ..vault.revision import Record
from .past import SHOWN, difference, note_records, revision_of
from .visit import Page, Redirect, Visit, address_of, memory_rows

LENGTH = 50
BATCH = 200
"""Revisions of one page, and of one look into the journal."""

FILTERS: Final = ("agent", "instance", "session", "since", "until")


def journal_page(visit: Visit) -> Page:
    """Show what happened in the whole vault, the last first, narrowed by who and when."""
    given = {name: visit.query.get(name, "").strip() for name in FILTERS}
    page = visit.number("page")
    records = _records(visit, given)
    skipped = (page - 1) * LENGTH
    shown = [record for _, record in zip(range(skipped + LENGTH + 1), records, strict=False)]
    known = visit.vault.store.ledger.history
    facts = {
        "revisions": [revision_of(record) for record in shown[skipped:][:LENGTH]],
        "given": given,
        "page": page,
        "more": len(shown) > skipped + LENGTH,
        "agents": known.agents() if visit.lens else [],
        "titles": _titles(visit),
        "live": "*",
    }
    return Page("journal.html", facts)


def _records(visit: Visit, given: dict[str, str]) -> Iterator[Record]:
    known = visit.vault.store.ledger.history
    known.catch_up()
    since, until = (_moment(name, given[name]) for name in ("since", "until"))
    who = {name: given[name] for name in ("agent", "instance", "session")}
    skip = 0
    while True:
        batch = known.latest(BATCH, skip, since=since, until=until, **who)
        yield from (record for record in batch if _is_shown(visit, record.path))
        if len(batch) < BATCH:
            return
        skip += BATCH


def _is_shown(visit: Visit, path: str) -> bool:
    """Whether the owner is to see what happened at a path. Of a purged one nobody knows it."""
    if visit.lens:
        return True
    return bool(path) and visit.vault.layout.place(path).note_class == "user-doc"


def _moment(name: str, text: str) -> str:
    """A time as records have it, or nothing."""
    return time_of(name, text) if text else ""


def _titles(visit: Visit) -> dict[str, str]:
    """The titles of the notes that are there, by their ids."""

    def rows() -> list[Row]:
        memory = memory_rows(visit.vault) if visit.lens else []
        return [*visit.house.shelves.now().newest, *memory]

    return {row.id: row.title for row in visit.vault.index.ask(rows)}


def note_journal_page(visit: Visit) -> Page:
    """Show what happened to one note, the last first. Raises `NoteNotFound`."""
    records, row = _of_note(visit)
    facts = {
        "revisions": [revision_of(record) for record in records[::-1]],
        "row": row,
        "name": row.title if row else records[-1].path,
        "note": visit.path["id"],
        "live": visit.path["id"],
    }
    return Page("note_journal.html", facts)


def _of_note(visit: Visit) -> tuple[list[Record], Row | None]:
    """The records of a note that the owner is to see, and the note if it is there."""
    note = visit.path["id"]
    index = visit.vault.index
    found = index.ask(lambda: [index.row(path) for path in index.resolver().find(note)])
    row = next((each for each in found if each and each.id == note), None)
    known = visit.vault.store.ledger.history
    known.catch_up()
    state = known.state(note)
    path = row.path if row else state.path if state else ""
    if not _is_shown(visit, path):
        raise NoteNotFound(note)
    records = note_records(visit.vault, note, path)
    if not records:
        raise NoteNotFound(note)
    return records, row


def revision_page(visit: Visit) -> Page:
    """Show what one revision changed, word by word. Raises `NoteNotFound`."""
    records, row = _of_note(visit)
    record = next((each for each in records if each.hash[:SHOWN] == visit.path["revision"]), None)
    if record is None:
        raise NoteNotFound(visit.path["revision"])
    try:
        diff, unknown = difference(records, record), ""
    except RevisionUnavailable as failure:
        diff, unknown = [], failure.reason
    facts = {
        "revision": revision_of(record),
        "diff": diff,
        "unknown": unknown,
        "row": row,
        "name": row.title if row else records[-1].path,
        "note": visit.path["id"],
        "is_last": record is records[-1],
        "had_text": record.after is not None,
    }
    return Page("revision.html", facts)


def restore_revision(visit: Visit) -> Redirect:
    """Bring back a note as it was after a revision, or from the trash. Raises `NoteNotFound`."""
    _of_note(visit)
    note = visit.path["id"]
    restored = restore(visit.vault, note, visit.form.get("to") or None)
    row = visit.vault.index.ask(lambda: visit.vault.index.row(restored.path))
    return Redirect(address_of(row) if row else f"/journal/{note}")


def restore_fact(visit: Visit) -> Redirect:
    """Bring back a forgotten observation, or an earlier version of one."""
    if not visit.lens:
        raise NoteNotFound(visit.path["id"])
    note, name = visit.path["id"], visit.path["observation"]
    known = visit.vault.store.ledger.history
    state = known.state(note)
    if state is None:
        raise NoteNotFound(note)
    restore(visit.vault, f"{state.path}#^{name}", visit.form.get("to") or None)
    return Redirect(f"/m/{note}/{name}?done=restored")


def revert_agent(visit: Visit) -> Page:
    """Take back what one agent did to memory since a time, and tell what was left."""
    if not visit.lens:
        raise NoteNotFound("revert")
    agent, since = visit.form.get("agent", ""), visit.form.get("since", "")
    if not agent:
        raise InvalidArgument("agent", "it is the name of the agent")
    done = revert(visit.vault, agent, since or "1970-01-02T00:00")
    return Page("reverted.html", {"agent": agent, "since": since, "done": done})


# The trash


def trash_page(visit: Visit) -> Page:
    """Show the deleted notes, the last first."""
    found = [each for each in trash(visit.vault) if _is_shown(visit, each.path)]
    return Page("trash.html", {"found": found, "live": "*"})


def purge_page(visit: Visit) -> Page:
    """Say what a purge would take, before it does."""
    ref = _purgeable(visit, visit.query.get("note", ""), visit.query.get("observation", ""))
    return Page("purge.html", {"doom": doomed(visit.vault, ref), "ref": ref})


def purge_words(visit: Visit) -> Page:
    """Take a note or an observation out for good, and show the proof."""
    given = visit.form
    ref = _purgeable(visit, given.get("note", ""), given.get("observation", ""))
    return Page("purged.html", {"done": purge(visit.vault, ref)})


def _purgeable(visit: Visit, note: str, observation: str) -> str:
    known = visit.vault.store.ledger.history
    known.catch_up()
    state = known.state(note)
    path = state.path if state else ""
    if state is None:
        rows = visit.vault.index.ask(lambda: visit.vault.index.resolver().find(note))
        path = rows[0] if len(rows) == 1 else ""
    if not note or not _is_shown(visit, path):
        raise NoteNotFound(note)
    return f"{note}#^{observation}" if observation else note
