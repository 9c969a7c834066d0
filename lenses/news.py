"""What has changed since a page was made: a short log of notes that changed, came or went."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from ..indexer.view import Scope
from ..tools.vault import Vault

KEPT = 200
"""Looks with changes that are kept. Who has missed more is told that anything may have changed."""


@dataclass(frozen=True, slots=True)
class Item:
    """The notes that one look found changed, by their ids; user-docs apart from memory."""

    change: int
    notes: frozenset[str]
    memory: frozenset[str]


class News:
    """The log of one vault. Threads may share it."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._lock = threading.Lock()
        self._items: deque[Item] = deque(maxlen=KEPT)
        self._known: dict[str, tuple[str, str, str]] | None = None
        self._change = self._first = -1

    def now(self) -> int:
        """Look at the vault, and return the number of its state."""
        with self._lock:
            self._vault.index.ask(self._look)
            return self._change

    def since(self, change: int) -> tuple[int, frozenset[str], frozenset[str]] | None:
        """Return the number of the state now, and the user-docs and the memory changed since.

        None when the log does not reach back so far.
        """
        now = self.now()
        with self._lock:
            reaches = change >= (self._items[0].change if self._is_full() else self._first)
            items = [item for item in self._items if item.change > change]
        if not reaches:
            return None
        notes = (item.notes for item in items)
        return now, frozenset().union(*notes), frozenset().union(*(item.memory for item in items))

    def _is_full(self) -> bool:
        return len(self._items) == KEPT

    def _look(self) -> None:
        change = self._vault.index.change()
        if change == self._change:
            return
        rows = self._vault.index.paths(Scope())
        now = {path: (row.token, row.id, row.note_class) for path, row in rows.items()}
        if self._known is None:
            self._first = change
        elif found := set(_changed(self._known, now)):
            notes = frozenset(note for note, kind in found if kind == "user-doc")
            self._items.append(Item(change, notes, frozenset(note for note, _ in found) - notes))
        self._known, self._change = now, change


def _changed(
    before: dict[str, tuple[str, str, str]], now: dict[str, tuple[str, str, str]]
) -> Iterator[tuple[str, str]]:
    """The ids and classes of notes that differ. A note that was read again is as it was."""
    for path in before.keys() | now.keys():
        if before.get(path) != now.get(path):
            for each in (before.get(path), now.get(path)):
                if each is not None:
                    yield each[1], each[2]
