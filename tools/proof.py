"""The proof that words are gone: every file of vault, state and cache, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..vault.eraser import TRASH_FOLDER
from ..vault.journal import JOURNAL_FOLDER
from ..vault.revision import parse
from ..vault.traces import Form, Trace, Words, scan
from .refusals import PurgeIncomplete
from .vault import Vault


@dataclass(frozen=True, slots=True)
class Place:
    """A file where the same words stand, in which form, and how often."""

    path: str
    form: Form
    count: int


@dataclass(frozen=True, slots=True)
class Proof:
    """What was looked at: all files of the vault, its state and its cache.

    `lines` is how many lines of the words were looked for, the longest of those that are `known`.
    In `elsewhere` is where the same words stand and were left: in other notes and what follows
    from them, and in files of other programs. `unseen` could not be read or holds compressed
    data, as the folder of git does.
    """

    files: int
    bytes: int
    lines: int
    known: int
    elsewhere: tuple[Place, ...]
    unseen: tuple[str, ...]


def prove(vault: Vault, words: Words, purged_note: str = "") -> Proof:
    """Look for words everywhere. Raises `PurgeIncomplete` when they are in a file of ours.

    `purged_note` is the id of a note of which nothing may be left.
    """
    layout = vault.layout
    seen = scan((layout.root, layout.state_dir, layout.cache_dir), words)
    judge = _Judge(vault, words, purged_note, seen.traces)
    left = sorted({judge.shown(each) for each in seen.traces if judge.is_left(each)})
    if left:
        raise PurgeIncomplete(tuple(left))
    places = tuple(Place(judge.shown(each), each.form, each.count) for each in seen.traces)
    unseen = tuple(judge.shown_path(Path(path)) for path in seen.unseen)
    return Proof(seen.files, seen.bytes, len(words.lines), words.known, places, unseen)


class _Judge:
    """Tells the words that should be gone from the same words of somebody else."""

    def __init__(
        self, vault: Vault, words: Words, purged_note: str, traces: tuple[Trace, ...]
    ) -> None:
        self._layout, self._words, self._purged = vault.layout, words, purged_note
        self._notes = {str(vault.layout.root / entry.path) for entry in vault.layout.walk()}
        self._in_a_note = any(each.path in self._notes for each in traces)

    def shown(self, trace: Trace) -> str:
        return self.shown_path(Path(trace.path))

    def shown_path(self, path: Path) -> str:
        root = self._layout.root
        return str(path.relative_to(root) if path.is_relative_to(root) else path)

    def is_left(self, trace: Trace) -> bool:
        """Whether a trace is in a file of ours that no note, as it is now, accounts for."""
        path = Path(trace.path)
        if path.is_relative_to(self._layout.cache_dir):
            return not self._in_a_note
        if not path.is_relative_to(self._layout.state_dir):
            return False
        kind, *below = path.relative_to(self._layout.state_dir).parts
        if kind == TRASH_FOLDER:
            return not below or below[0] == self._purged
        return kind != JOURNAL_FOLDER or not all(self._of_others(path))

    def _of_others(self, path: Path) -> Iterator[bool]:
        """Of each line of a journal with the words, whether it is a record of another note."""
        for line in path.read_bytes().splitlines(keepends=True):
            if self._words.in_bytes(line):
                try:
                    yield parse(line)[1].note != self._purged
                except ValueError:
                    yield False
