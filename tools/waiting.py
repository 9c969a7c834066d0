"""What waits for the owner's review, as agents meet it: not at all.

Search and recall never read it. A note is shown to agents without it, and no agent can change it,
or let it pass, by an edit of the note around it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from ..vault.errors import OwnerOnly
from ..vault.memory import Observation, observations
from ..vault.note import Note, parse_note
from ..vault.source import Source
from .trust import UNREVIEWED
from .vault import Vault


def is_hidden(vault: Vault, observation: Observation) -> bool:
    """Whether an observation waits for a review and who asks is not the one to make it."""
    return observation.status == UNREVIEWED and vault.caller.origin != "owner"


def as_told(vault: Vault, note: Note) -> Note:
    """Return a note as who asks may see it: line breaks stand for what waits for review."""
    if note.place.note_class != "agent-memory" or UNREVIEWED not in note.body.casefold():
        return note
    hidden = [one for one in observations(note) if is_hidden(vault, one)]
    if not hidden:
        return note
    text, at, pieces = note.source.text, 0, []
    for one in hidden:
        start, end = note.source.body + one.start, note.source.body + one.end
        pieces += [text[at:start], *(c for c in text[start:end] if c in "\r\n")]
        at = end
    kept = "".join([*pieces, text[at:]])
    return parse_note(vault.layout, note.path, kept.encode("utf-8", "surrogateescape"))


def changed_around(
    vault: Vault, note: Note, change: Callable[[Source, str], Source]
) -> tuple[Source, str, str]:
    """Change a note; return its new source, and the text before and after as it may be seen.

    What the change raises is judged by what is to be seen. Raises `OwnerOnly` when a line that
    is not would be another afterwards.
    """
    seen = as_told(vault, note)
    if seen is note:
        after = change(note.source, note.path)
        return after, note.source.text, after.text
    change(seen.source, note.path)
    after = change(note.source, note.path)
    made = parse_note(vault.layout, note.path, after.data)
    if _hidden_lines(vault, note) - _hidden_lines(vault, made):
        raise OwnerOnly("change what waits for review in this note")
    return after, seen.source.text, as_told(vault, made).source.text


def _hidden_lines(vault: Vault, note: Note) -> Counter[str]:
    kept = (one for one in observations(note) if is_hidden(vault, one))
    return Counter(note.body[one.start : one.end].rstrip() for one in kept)
