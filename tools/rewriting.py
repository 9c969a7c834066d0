"""The owner's edit of a whole note: the text of its file, as a text field shows it."""

from __future__ import annotations

from ..vault.errors import NoteChanged
from ..vault.note import parse_note, read_note
from ..vault.text_field import with_field_text
from .answers import Edited
from .notes import refuse_unreadable, refuse_unusable
from .subjects import owner_only
from .vault import Vault


def rewrite(vault: Vault, path: str, note_id: str, text: str, version_token: str) -> Edited:
    """Put `text` in the place of the text of a note, frontmatter too, and keep all else of it.

    `version_token` is that of the note whose `field_text` the owner has changed; `note_id` is the
    id by which the index knows it. Text that is there already writes nothing. Raises `OwnerOnly`,
    `NoteNotFound`, `NoteChanged`, `NoteUnusable`, `InvalidArgument` and the storage failures; the
    note is as it was then.
    """
    owner_only(vault, "rewrite a whole note")
    with vault.store.transaction(path):
        note = read_note(vault.layout, path)
        refuse_unusable(note, None)
        if version_token != note.source.token:
            raise NoteChanged(path, note.source.token)
        source, known = with_field_text(note.source, text), note.known_as(note_id)
        changed = source.data != note.source.data
        if changed:
            refuse_unreadable("text", parse_note(vault.layout, path, source.data))
            act = vault.act("edit", known)
            vault.store.write(path, source.data, expected=note.source.token, act=act)
    if changed:
        vault.index.touched((path,))
    return Edited("edited" if changed else "unchanged", known, path, source.token)
