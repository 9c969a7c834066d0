"""From a name to a note: link targets as Obsidian resolves them, and references of tools.

A link goes to the note at exactly that path, else to one of that file name: first in the
linking note's own folder, then the one with the shortest path, ties in alphabetical order
(measured on Obsidian 1.13.7). Only when no file has the name do titles and aliases count. Case and
Unicode form do not matter, nor does the ending. The order in which notes were seen never does.
"""

from __future__ import annotations

import difflib
import posixpath
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

ENDING = ".md"


@dataclass(frozen=True, slots=True)
class Names:
    """Everything by which one note may be called."""

    path: str
    id: str
    title: str
    aliases: tuple[str, ...] = ()
    conflict_copy: bool = False


class Resolver:
    """All names of a vault at one moment."""

    def __init__(self, names: Iterable[Names]) -> None:
        self._paths: dict[str, list[str]] = {}
        self._stems: dict[str, list[str]] = {}
        self._spoken: dict[str, list[str]] = {}
        self._ids: dict[str, list[str]] = {}
        self._copies: set[str] = set()
        for note in sorted(names, key=lambda note: _rank(note.path)):
            self._add(note)

    def _add(self, note: Names) -> None:
        path = _key(note.path)
        _put(self._paths, path, note.path)
        _put(self._stems, path.rpartition("/")[2], note.path)
        _put(self._ids, note.id, note.path)
        for name in {_fold(note.title), *map(_fold, note.aliases)} - {""}:
            _put(self._spoken, name, note.path)
        if note.conflict_copy:
            self._copies.add(note.path)

    def link(self, target: str, source: str) -> str | None:
        """Return the note that a link in `source` leads to; "" is the source itself."""
        target = target.strip()
        if not target:
            return source
        folder = posixpath.dirname(source)
        if target.startswith(("./", "../")):
            joined = posixpath.normpath(posixpath.join(folder, target))
            return None if joined.startswith("..") else self._first(self._paths, _key(joined))
        key = _key(target.lstrip("/"))
        exact = self._first(self._paths, key)
        if exact is not None or target.startswith("/"):
            return exact
        found = self._by_tail(key) or self._spoken.get(_fold(target), [])
        return self._nearest(found, folder)

    def _by_tail(self, key: str) -> list[str]:
        """The notes whose path ends in `key`, whole folder names compared."""
        same_name = self._stems.get(key.rpartition("/")[2], [])
        if "/" not in key:
            return same_name
        return [path for path in same_name if f"/{_key(path)}".endswith(f"/{key}")]

    def _nearest(self, paths: list[str], folder: str) -> str | None:
        ordinary = [path for path in paths if path not in self._copies] or paths
        own = (path for path in ordinary if posixpath.dirname(path) == folder)
        return next(own, ordinary[0] if ordinary else None)

    def _first(self, names: dict[str, list[str]], key: str) -> str | None:
        found = names.get(key)
        return found[0] if found else None

    def find(self, ref: str) -> tuple[str, ...]:
        """Return the notes that a reference of a tool fits best: an id, a path, a file name, a
        title or an alias, as plain text or as a wikilink. Several mean that it is ambiguous.
        """
        name = _bare(ref)
        if not name:
            return ()
        key, spoken = _key(name), _fold(name)
        levels = (
            self._ids.get(name, []),
            self._paths.get(key, []),
            self._by_tail(key),
            self._spoken.get(spoken, []),
        )
        for found in levels:
            if found:
                ordinary = [path for path in found if path not in self._copies]
                return tuple(ordinary or found)
        return ()

    def suggest(self, ref: str, limit: int = 5) -> tuple[str, ...]:
        """Return the paths of notes that are called nearly so, for an error's next step."""
        wanted = _key(_bare(ref)).rpartition("/")[2]
        names = {**self._spoken, **self._stems}
        # Only names that share a beginning or an end are compared: the comparison is slow.
        likely = [n for n in names if n[:2] == wanted[:2] or n[-2:] == wanted[-2:]] or list(names)
        close = difflib.get_close_matches(wanted, likely[:2000], limit, 0.6)
        paths = (path for name in close for path in names[name])
        return tuple(dict.fromkeys(paths))[:limit]


def _bare(ref: str) -> str:
    """A reference without wikilink brackets, alias, and the part behind `#`."""
    text = ref.strip()
    if text.startswith("[[") and text.endswith("]]"):
        text = text[2:-2].partition("|")[0]
    return text.partition("#")[0].strip()


def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name.strip()).casefold())


def _key(path: str) -> str:
    return _fold(path).removesuffix(ENDING)


def _rank(path: str) -> tuple[int, str]:
    return len(path), path


def _put(names: dict[str, list[str]], key: str, path: str) -> None:
    found = names.setdefault(key, [])
    if path not in found[-1:]:
        found.append(path)
