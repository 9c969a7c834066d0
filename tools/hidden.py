"""What may not be recalled of a memory note, as agents meet it: not at all.

That is what waits for the owner's review, has expired or is stale. Search and recall never read
it. A note is shown to agents without it, and no agent can change it, or let it pass, by an edit of
the note around it.
"""

from __future__ import annotations

import re
import secrets
from collections import Counter
from collections.abc import Callable

from ..indexer.passages import is_live, today
from ..vault.errors import TextNotFound, TextNotUnique
from ..vault.memory import Observation, observations
from ..vault.note import Note, parse_note
from ..vault.source import Source
from .refusals import OwnerOnly
from .trust import UNREVIEWED
from .vault import Vault

_FIELDS = re.compile(r"\[\s*(?:status|expires)\s*::", re.IGNORECASE)
_CHANGE = "change what is not shown of this note"


def is_hidden(vault: Vault, observation: Observation) -> bool:
    """Whether an observation may not be recalled, and who asks is not the owner."""
    return vault.caller.origin != "owner" and not is_live(observation, today())


def as_told(vault: Vault, note: Note) -> Note:
    """Return a note as who asks may see it: line breaks stand for what is hidden."""
    if note.place.note_class != "agent-memory" or not _FIELDS.search(note.body):
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


def refuse_waiting(vault: Vault, note: Note) -> None:
    """Raise `OwnerOnly` for a note that cannot go without what waits for review in it."""
    waits = (one.status == UNREVIEWED for one in observations(note))
    if vault.caller.origin != "owner" and any(waits):
        raise OwnerOnly("delete this note, for something in it waits for review")


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
    after = _changed_but(vault, note, change)
    made = parse_note(vault.layout, note.path, after.data)
    if _hidden_lines(vault, note) - _hidden_lines(vault, made):
        raise OwnerOnly(_CHANGE)
    return after, seen.source.text, as_told(vault, made).source.text


def _changed_but(vault: Vault, note: Note, change: Callable[[Source, str], Source]) -> Source:
    """Change a note in which names that nobody can guess stand for what waits.

    So no edit can ask, by whether it works, what the hidden words are.
    """
    text, at, pieces, hidden = note.source.text, 0, [], {}
    for one in observations(note):
        if is_hidden(vault, one):
            raw = text[note.source.body + one.start : note.source.body + one.end].rstrip()
            name = f"{raw.split(None, 1)[0]} {secrets.token_hex(16)}"
            hidden[name] = raw
            pieces += [text[at : note.source.body + one.start], name]
            at = note.source.body + one.start + len(raw)
    try:
        after = change(Source.from_text("".join([*pieces, text[at:]])), note.path).text
    except (TextNotFound, TextNotUnique) as beside:
        raise OwnerOnly(_CHANGE) from beside
    for name, raw in hidden.items():
        before, there, behind = after.partition(name)
        if not there:
            raise OwnerOnly(_CHANGE)
        after = before + raw + behind
    return Source.from_text(after)


def _hidden_lines(vault: Vault, note: Note) -> Counter[str]:
    kept = (one for one in observations(note) if is_hidden(vault, one))
    return Counter(note.body[one.start : one.end].rstrip() for one in kept)
