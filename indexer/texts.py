"""The texts of notes, as far as their files still hold what was indexed.

What an answer shows is cut out of the file as it is now. Reading and hashing it each time would
be most of a search, so texts are kept; a file whose size, time and inode are those that were
indexed is not read again.
"""

from __future__ import annotations

import os
import stat

from ..vault.errors import NoteNotFound
from ..vault.layout import Layout
from ..vault.note import MAX_BYTES, read_note
from ..vault.source import Source
from .catalog import Row

CHARACTERS_KEPT = 8_000_000
"""How much text is kept, over all notes."""


class Texts:
    """The texts of one vault's notes. Its owner serialises the calls."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._kept: dict[str, str] = {}
        self._size = 0

    def of(self, row: Row) -> str | None:
        """The text of a note, or `None` when its file holds another one, or is gone."""
        file = f"{self._layout.root}/{row.path}"
        try:
            found = os.lstat(file)
        except OSError:
            return None
        looks = (found.st_size, found.st_mtime_ns, found.st_ino)
        if looks == (row.size, row.mtime_ns, row.inode):
            known = self._kept.get(row.token)
            if known is not None:
                return known
        source = self._read(row, file)
        if source is None or source.token != row.token:
            return None
        self._keep(row.token, source.text)
        return source.text

    def _read(self, row: Row, file: str) -> Source | None:
        if row.problem:
            # Of some of these, only the frontmatter is taken for their text.
            try:
                return read_note(self._layout, row.path).source
            except NoteNotFound:
                return None
        data = read_bytes(file)
        return None if data is None else Source.parse(data)

    def _keep(self, token: str, text: str) -> None:
        if token not in self._kept:
            self._kept[token] = text
            self._size += len(text)
            while self._size > CHARACTERS_KEPT:
                self._size -= len(self._kept.pop(next(iter(self._kept))))


def read_bytes(file: str) -> bytes | None:
    """Return what a regular file holds, a little more than the largest note at most.

    `None` when there is no such file, or when it cannot be read. No symlink is followed.
    """
    try:
        # Without O_NONBLOCK, opening a named pipe would wait for a writer.
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as stream:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                return None
            # A limit makes room for so many bytes, which costs more than reading a small file.
            return stream.read(-1 if found.st_size <= MAX_BYTES else MAX_BYTES + 1)
    except OSError:
        return None
