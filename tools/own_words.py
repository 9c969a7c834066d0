"""Whose words a line of memory is, after an edit by someone who is not its owner.

A line without an id, or with `[origin:: owner]`, counts as what the owner said. So what an agent
writes into a memory note by an edit gets an id and the agent's own origin, and so does a line of
the owner's whose words it changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from ..vault.errors import InvalidArgument, NoteUnusable
from ..vault.ids import new_block_id
from ..vault.markdown import parse
from ..vault.memory import Observation, observations_in, replace_observation, stamp_id
from ..vault.source import Source, readable
from .vault import Vault

MOST = 200
"""Lines of memory that one edit may make."""

Change = Callable[[Source, str], Source]


def in_own_words(vault: Vault, change: Change) -> Change:
    """Return an edit after which each line that it has made has the origin of the caller.

    It raises `InvalidArgument` when it makes more than `MOST`, and `NoteUnusable` when a line
    cannot be marked.
    """

    def changed(source: Source, path: str) -> Source:
        after = change(source, path)
        is_memory = vault.layout.place(path).note_class == "agent-memory"
        if vault.caller.origin == "owner" or not is_memory or after == source:
            return after
        try:
            return _marked(source, after, vault.caller.origin)
        except NoteUnusable as failure:
            raise NoteUnusable(path, failure.problem) from failure

    return changed


def _marked(before: Source, after: Source, origin: str) -> Source:
    for _ in range(2 * MOST):
        item = _forged(before, after, origin)
        if item is None:
            return after
        if not item.id:
            taken = set(parse(readable(after.body_text)).blocks)
            after = stamp_id(after, item, new_block_id(taken))
            continue
        fields = {key: value for key, value in item.fields.items() if key != "origin"}
        own = {} if origin == "agent" else {"origin": origin}
        after = replace_observation(after, replace(item, fields=fields | own), item.text)
    raise InvalidArgument("content", f"it makes more than {MOST} lines of memory; remember them")


def _forged(before: Source, after: Source, origin: str) -> Observation | None:
    """The first line that the edit has made and that would pass for somebody else's."""
    known = Counter(map(_said, _read(before)))
    for item in _read(after):
        if known[_said(item)]:
            known[_said(item)] -= 1
        elif item.origin not in (origin, "untrusted"):
            return item
    return None


def _said(item: Observation) -> tuple[str, str, str]:
    return item.id, item.text, item.origin


def _read(source: Source) -> tuple[Observation, ...]:
    body = readable(source.body_text)
    return observations_in(body, parse(body))
