"""One visit to a page of the explorer: who looks, at what, and what they are answered.

The pages know nothing of HTTP. They take a `Visit` and return an `Answer`; the server makes
responses of those.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from ..indexer.catalog import Row
from ..tools.vault import Vault
from ..vault.errors import NoteNotFound
from ..vault.paths import fold_name
from .news import News
from .shelf import MEMORY, Shelves
from .uses import Uses

Theme = Literal["auto", "light", "dark"]
Language = Literal["en", "es"]

FILES_SECONDS = 20.0
"""How long the names of the files that are no notes are taken for current."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its template and what that is told. `part` is the template of its changing part."""

    template: str
    facts: Mapping[str, object]
    status: int = 200
    part: str = ""


@dataclass(frozen=True, slots=True)
class Redirect:
    """Go on to another address of the explorer, which is then asked for with GET.

    `keep` are the choices that the browser is to remember.
    """

    address: str
    keep: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class File:
    """A file of the vault; one that is no image is offered to be saved."""

    path: Path
    media_type: str
    name: str
    inline: bool


Answer = Page | Redirect | File


class House:
    """What all visits share: the vault, and what is kept of it between them."""

    def __init__(self, vault: Vault) -> None:
        self.vault = vault
        self.shelves = Shelves(vault)
        self.uses = Uses(vault)
        self.files = FileNames(vault)
        self.news = News(vault)
        self.ending = threading.Event()
        """Set when the explorer is about to end, so that no open page holds it up."""


@dataclass(frozen=True, slots=True)
class Visit:
    """What one request asks for, with the choices that its browser remembers."""

    house: House
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] = field(default_factory=dict)
    lens: bool = False
    language: Language = "en"
    theme: Theme = "auto"
    csrf: str = ""
    address: str = "/"
    change: int = -1
    """The number of the state of the vault before it was looked at, for `News`."""

    @property
    def vault(self) -> Vault:
        """The vault that is looked at."""
        return self.house.vault

    def number(self, name: str, default: int = 1) -> int:
        """A number of the query, at least 1."""
        text = self.query.get(name, "")
        return max(int(text), 1) if text.isascii() and text.isdigit() and len(text) < 7 else default


Handler = Callable[[Visit], Answer]


def through_the_lens(visit: Visit) -> None:
    """Raise `NoteNotFound` while the Memory lens is closed: what is behind it is not there."""
    if not visit.lens:
        raise NoteNotFound(visit.address)


class FileNames:
    """The files of a vault that are no notes, found by their path or by their name alone."""

    def __init__(self, vault: Vault) -> None:
        self._layout = vault.layout
        self._lock = threading.Lock()
        self._names: dict[str, list[str]] = {}
        self._until = 0.0

    def find(self, target: str, source: str) -> str | None:
        """Return the path of the file that a link in the note `source` means."""
        wanted = target.strip().removeprefix("./").lstrip("/")
        name = fold_name(wanted.rpartition("/")[2])
        found = self._all().get(name, [])
        folder = source.rpartition("/")[0]
        exact = (wanted, f"{folder}/{wanted}" if folder else wanted)
        tail = f"/{fold_name(wanted)}"
        fitting = [path for path in found if f"/{fold_name(path)}".endswith(tail)]
        return next((path for path in exact if path in found), min(fitting, default=None, key=len))

    def _all(self) -> Mapping[str, list[str]]:
        with self._lock:
            if time.monotonic() > self._until:
                self._names = self._walked()
                self._until = time.monotonic() + FILES_SECONDS
            return self._names

    def _walked(self) -> dict[str, list[str]]:
        names: dict[str, list[str]] = {}
        root = self._layout.root
        for folder, folders, files in os.walk(root):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            below = os.path.relpath(folder, root)
            for name in sorted(files):
                if not name.startswith(".") and not name.lower().endswith(".md"):
                    path = name if below == "." else f"{below}/{name}"
                    names.setdefault(fold_name(name), []).append(path)
        return names


# Addresses


def address_of(row: Row) -> str:
    """Return the address of a note's page."""
    return f"/{'m' if row.note_class == 'agent-memory' else 'n'}/{row.id}"


def file_address(path: str) -> str:
    """Return the address of a file of the vault."""
    return f"/file/{quote(path)}"


def folder_address(path: str) -> str:
    """Return the address of a folder of the tree."""
    return f"/tree/{quote(path)}" if path else "/tree"


def tag_address(name: str) -> str:
    """Return the address of the page of a tag."""
    return f"/tags/{quote(name.casefold())}"


def local(address: str) -> str:
    """Return an address if it is one of the explorer's, else that of its first page."""
    plain = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if plain and address.isprintable() and "\\" not in address else "/"


def memory_rows(vault: Vault) -> list[Row]:
    """The notes of memory, muted ones too; inside a question."""
    return vault.index.rows(MEMORY)


def row_with(rows: list[Row], note_id: str, path: str = "") -> Row:
    """Return the note with an id, of several the one at `path`. Raises `NoteNotFound`."""
    fitting = [row for row in rows if row.id == note_id and path in ("", row.path)]
    if not fitting:
        raise NoteNotFound(note_id)
    return min(fitting, key=lambda row: (row.conflict_copy, row.path))
