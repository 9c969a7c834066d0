"""What stands beside the product in each run: plain files, and SQLite's FTS5 over the same text."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import sqlite3
from pathlib import Path

_WORD = re.compile(r"\w+")


def read_all(vault: Path) -> int:
    """Read and decode all notes; return how many."""
    count = 0
    for path in vault.rglob("*.md"):
        path.read_text(encoding="utf-8")
        count += 1
    return count


class Fts:
    """Notes in an FTS5 table on disk, one row each, with the stemmer that comes with it."""

    def __init__(self, file: Path) -> None:
        self._db = sqlite3.connect(file, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS note USING "
            "fts5(path UNINDEXED, title, body, tokenize='porter unicode61')"
        )

    def build(self, vault: Path) -> None:
        """Index all notes in one transaction."""
        self._db.execute("BEGIN")
        for path in sorted(vault.rglob("*.md")):
            self._insert(path.relative_to(vault).as_posix(), path.read_text(encoding="utf-8"))
        self._db.execute("COMMIT")

    def put(self, path: str, text: str) -> None:
        """Index one note, which may be new, and commit."""
        self._db.execute("BEGIN")
        self._db.execute("DELETE FROM note WHERE path = ?", (path,))
        self._insert(path, text)
        self._db.execute("COMMIT")

    def add(self, path: str, text: str) -> None:
        """Index a new row, and commit."""
        self._insert(path, text)

    def _insert(self, path: str, text: str) -> None:
        self._db.execute("INSERT INTO note VALUES (?, ?, ?)", (path, Path(path).stem, text))

    def search(self, text: str, limit: int) -> list[str]:
        """Return the paths that answer any word of a question, best first."""
        words = " OR ".join(f'"{word}"' for word in _WORD.findall(text))
        query = "SELECT path FROM note WHERE note MATCH ? ORDER BY bm25(note, 0, 3, 1) LIMIT ?"
        return [path for (path,) in self._db.execute(query, (words, limit))]

    def close(self) -> None:
        """Close the file."""
        self._db.close()


def replace_durably(file: Path, data: bytes) -> None:
    """Write a file as safely as a file can be written: aside, synced, renamed, folder synced."""
    aside = file.with_name(f".{secrets.token_hex(4)}.tmp")
    with aside.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    aside.rename(file)
    with contextlib.suppress(OSError):
        folder = os.open(file.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
