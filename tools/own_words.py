"""Whose words a line of memory is, after an edit by someone who is not its owner.

A line without an id, or with `[origin:: owner]`, counts as what the owner said. So what an agent
writes into a memory note by an edit gets an id and the agent's own origin, and so does a line of
the owner's whose words it changes. A line whose words stay is trusted no more than it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from ..vault.authorship import TRUST, least
from ..vault.errors import InvalidArgument, NoteUnusable
from ..vault.markdown import parse
from ..vault.memory import Observation, attribute, normal_form, observations_in
from ..vault.source import Source, readable
from .answers import Origin
from .provenance import known_origin
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
            raise replace(failure, path=path) from failure

    return changed


def _marked(before: Source, after: Source, own: Origin) -> Source:
    known, forged = _Known(_read(before)), dict[int, str]()
    for place, item in enumerate(_read(after)):
        most = known.most(item, own)
        if TRUST[known_origin(item.origin)] > TRUST[most]:
            forged[place] = most
    if len(forged) > MOST:
        raise InvalidArgument(
            "content", f"it makes more than {MOST} lines of memory; remember them"
        )
    return attribute(after, forged) if forged else after


class _Known:
    """The lines of a note before an edit, by their words."""

    def __init__(self, kept: Iterable[Observation]) -> None:
        self._origins: dict[str, Origin] = {}
        self._left = Counter[str]()
        for item in kept:
            words, origin = normal_form(item.text), known_origin(item.origin)
            self._left[words] += 1
            lowest = self._origins.get(words, origin)
            self._origins[words] = least((lowest, origin))

    def most(self, item: Observation, own: Origin) -> Origin:
        """The origin that a line may have at most; new words, and copies, are of who edits."""
        words = normal_form(item.text)
        was = self._origins.get(words, own)
        self._left[words] -= 1
        return was if self._left[words] >= 0 else least((was, own))


def _read(source: Source) -> tuple[Observation, ...]:
    body = readable(source.body_text)
    return observations_in(body, parse(body))
