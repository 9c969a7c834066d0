"""The owner's notes as they stand on the shelf: folder by folder, newest first, tag by tag.

Made of user-docs alone, so that nothing of memory can show through a name or a count. It is made
anew when the index has changed and kept until then: at 10,000 notes that takes some 30 ms.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from ..indexer.catalog import Names, Row
from ..indexer.view import Scope
from ..tools.vault import Vault
from ..vault.paths import fold_name

USER_DOCS = Scope(note_class="user-doc")
MEMORY = Scope(note_class="agent-memory")


@dataclass(slots=True)
class Folder:
    """One folder with notes in or below it; `count` is that of all of them."""

    path: str
    folders: list[Folder] = field(default_factory=list)
    notes: list[Row] = field(default_factory=list)
    count: int = 0

    @property
    def name(self) -> str:
        """The last part of its path."""
        return PurePosixPath(self.path).name


class Shelf:
    """The user-docs of one moment."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.folders: dict[str, Folder] = {"": Folder("")}
        self.newest = sorted(rows, key=lambda row: (-row.mtime_ns, row.path))
        self.by_id: dict[str, list[Row]] = defaultdict(list)
        self._named: list[tuple[str, Row]] = []
        for row in rows:
            self.by_id[row.id].append(row)
            self._folder(row.path.rpartition("/")[0]).notes.append(row)
        for folder in sorted(self.folders.values(), key=lambda one: -one.path.count("/")):
            folder.count += len(folder.notes)
            folder.folders.sort(key=lambda one: one.path.casefold())
            folder.notes.sort(key=lambda row: (row.title.casefold(), row.path))
            if folder.path:
                self._above(folder.path).count += folder.count

    def _folder(self, path: str) -> Folder:
        found = self.folders.get(path)
        if found is None:
            found = self.folders[path] = Folder(path)
            self._above(path).folders.append(found)
        return found

    def _above(self, path: str) -> Folder:
        return self._folder(path.rpartition("/")[0])

    def titled(self, query: str, limit: int) -> list[Row]:
        """Notes whose title or file name holds all words of a query, beginnings of names first."""
        words = fold_name(query).split()
        if not words:
            return []
        found = [
            (not name.startswith(words[0]), len(name), row.path, row)
            for name, row in self._titles()
            if all(word in name for word in words)
        ]
        return [row for *_, row in sorted(found, key=lambda each: each[:3])[:limit]]

    def _titles(self) -> list[tuple[str, Row]]:
        if not self._named:
            for row in self.newest:
                stem = PurePosixPath(row.path).stem
                name = row.title if stem == row.title else f"{row.title} {stem}"
                self._named.append((fold_name(name), row))
        return self._named

    def tags(self) -> Mapping[str, list[Row]]:
        """The notes of each tag, whatever its case; a tag also has those of the tags below it."""
        found: dict[str, list[Row]] = defaultdict(list)
        for row in self.newest:
            names = set()
            for tag in Names.parse(row.names).tags:
                parts = tag.casefold().split("/")
                names |= {"/".join(parts[:end]) for end in range(1, len(parts) + 1)}
            for name in names:
                found[name].append(row)
        return found


class Shelves:
    """Keeps the shelf of a vault up to date. Threads may share it; ask it inside a question."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._made: tuple[int, Shelf] | None = None

    def now(self) -> Shelf:
        """Return the shelf as the index has it now."""
        change = self._vault.index.change()
        if self._made is None or self._made[0] != change:
            self._made = (change, Shelf(self._vault.index.rows(USER_DOCS)))
        return self._made[1]
