"""Editing a whole note in the page: its text, on the version that was read, and what came between.

Nothing that was typed is lost: what cannot be written comes back in the form, with the reason or
with the text that came meanwhile.
"""

from __future__ import annotations

from ..indexer.catalog import Row
from ..tools.rewriting import rewrite
from ..vault.errors import (
    NoteChanged,
    NoteNotFound,
    NoteUnusable,
    Refused,
    StorageFailure,
    UsageFailure,
    ZibaldoneError,
)
from ..vault.note import Note, read_note
from ..vault.text_field import field_text
from .differences import lines
from .status import status_of
from .visit import Page, Redirect, Visit, address_of, row_with

LONGEST = 2 * 1024 * 1024
"""Bytes of a note that can be edited in the page; a form of three times as many is let in."""


def edit_page(visit: Visit) -> Page:
    """Show a user-doc in a form. Raises `NoteNotFound`, and `NoteUnusable` for what is no text."""
    row, note = _note(visit)
    _refuse_large(note)
    return _form(row, note, field_text(note.source))


def _note(visit: Visit) -> tuple[Row, Note]:
    def found() -> Row:
        rows = visit.house.shelves.now().by_id.get(visit.path["id"], [])
        return row_with(rows, visit.path["id"], visit.query.get("path", ""))

    row = visit.vault.index.ask(found)
    return row, read_note(visit.vault.layout, row.path)


def _refuse_large(note: Note) -> None:
    if note.problem and note.problem.kind in ("binary", "too-large", "unreadable"):
        raise NoteUnusable(note.path, note.problem.detail)
    if len(note.source.data) > LONGEST:
        raise NoteUnusable(note.path, "it is too large to be edited in a page")


def _form(row: Row, note: Note, text: str, error: ZibaldoneError | None = None) -> Page:
    """The form: with the text of the note, or what was typed and could not be written."""
    facts = {"row": row, "note": note, "text": text, "error": error, "live": row.id}
    return Page("edit.html", facts, status_of(error) if error else 200)


def save_note(visit: Visit) -> Page | Redirect:
    """Write the text of the form, if the note is still the one that was read; or compare them."""
    text = visit.form.get("text", "")
    try:
        row, note = _note(visit)
        return _saved(visit, row, note, text)
    except NoteNotFound:
        return Page("edit_gone.html", {"text": text}, 409)


def _saved(visit: Visit, row: Row, note: Note, text: str) -> Page | Redirect:
    token = visit.form.get("read", "")
    if "compare" in visit.form:
        return _compared(row, note, text, changed=token != note.source.token)
    try:
        done = rewrite(visit.vault, row.path, row.id, text, token)
    except NoteChanged:
        return _compared(*_note(visit), text, changed=True)
    except (Refused, StorageFailure, UsageFailure) as error:
        return _form(row, note, text, error)
    now = visit.vault.index.ask(lambda: visit.vault.index.row(done.path))
    return Redirect(f"{address_of(now or row)}?done={done.outcome}")


def _compared(row: Row, note: Note, text: str, *, changed: bool) -> Page:
    """Both texts: the one that the file has now, and the one that was typed."""
    now = field_text(note.source)
    diff = lines(now, text)
    facts = {"row": row, "note": note, "now": now, "text": text, "diff": diff, "changed": changed}
    return Page("edit_compared.html", {**facts, "live": row.id}, 409 if changed else 200)
