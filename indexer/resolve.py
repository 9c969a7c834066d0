"""From a name to a note: link targets as Obsidian resolves them, and references of tools.

A link goes to the note at exactly that path, else to the one in the linking note's own folder,
else to the one with the shortest path text, ties in alphabetical order (measured on Obsidian
1.13.7). Only where no file has the name do titles count, then aliases. Case, Unicode form and the
ending do not matter. The copies that sync programs leave behind lose to every ordinary note. The
order in which notes were seen decides nothing.
"""

from __future__ import annotations

import bisect
import heapq
import posixpath
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import chain

_ENDING = ".md"
# Longer references are no names, and comparing them is slow.
_LONGEST_REF = 1000
_CLOSE = 0.6
# Of the names that share the most letters, so many are compared in full.
_COMPARED = 400

_Found = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class Names:
    """Everything by which one note may be called."""

    path: str
    id: str
    title: str
    aliases: tuple[str, ...] = ()
    conflict_copy: bool = False

    def called(self) -> set[str]:
        """The names of the note as `asks` gives those of a link: file name, title, aliases."""
        return {_last(_key(self.path)), _fold(self.title), *map(_fold, self.aliases)}


def asks(target: str, source: str) -> set[str]:
    """Return the names on which it depends where a link leads.

    A note that is called by none of them is neither its end nor in the way of another.
    """
    target = target.strip()
    if not target:
        return set()
    if _is_relative(target):
        path = _joined(posixpath.dirname(source), target)
        return set() if path is None else set(map(_last, _keys(path)))
    return {_fold(target), *map(_last, _keys(target))}


class Resolver:
    """All names of a vault, kept up note by note."""

    def __init__(self, names: Iterable[Names] = ()) -> None:
        self._all = (_Names(), _Names())
        for note in names:
            self.replace(None, note)

    def replace(self, old: Names | None, new: Names | None) -> None:
        """Put the names of a note in the place of those that it had; `None` when it is not there.

        The resolver is afterwards as if it had been made of the notes that are there now.
        """
        if old is not None:
            self._all[old.conflict_copy].remove(old)
        if new is not None:
            self._all[new.conflict_copy].add(new)

    def link(self, target: str, source: str) -> str | None:
        """Return the note that a link in `source` leads to; an empty target is the source itself.

        A target that starts with `./` or `../` counts from the source's folder and nowhere else,
        one with a leading `/` from the top of the vault.
        """
        target = target.strip()
        if not target:
            return source
        found = (names.link(target, posixpath.dirname(source)) for names in self._all)
        return next(filter(None, found), None)

    def find(self, ref: str) -> tuple[str, ...]:
        """Return the paths of the notes that a reference of a tool fits best.

        A reference is an id, a path, a title, an alias or a file name, in this order, plain or as
        a wikilink, with or without `#heading` or `#^block`. None: not found. Several: ambiguous.
        Nothing that is merely close is found.
        """
        return self.locate(ref)[0]

    def locate(self, ref: str) -> tuple[tuple[str, ...], str]:
        """Return what `find` does, and the part of the note that the reference names, or ''.

        A `#` may be a part of the name as well: of `C# notes#Old`, the part is `Old` where there
        is a note `C# notes`, else ` notes#Old` of a note `C`.
        """
        if len(ref) > _LONGEST_REF:
            return (), ""
        for name, part in _forms(ref):
            for names in self._all:
                found = names.find(name)
                if found:
                    return found, part
        return (), ""

    def suggest(self, ref: str, limit: int = 5) -> tuple[str, ...]:
        """Return the paths of notes with a file name or title close to a reference, best first."""
        forms = tuple(_forms(ref[:_LONGEST_REF]))
        if not forms:
            return ()
        wanted = _last(_key(forms[-1][0]))
        names = chain.from_iterable(names.close(wanted) for names in self._all)
        paths = dict.fromkeys(chain.from_iterable(names))
        return tuple(paths)[:limit]


class _Names:
    """The notes of one rank by each kind of name, every list in the order of preference."""

    def __init__(self) -> None:
        self._ids: _Found = {}
        self._paths: _Found = {}
        self._stems: _Found = {}
        self._titles: _Found = {}
        self._aliases: _Found = {}
        self._tails: dict[str, list[str]] = {}

    def add(self, note: Names) -> None:
        for names, key in self._places(note):
            _put(names, key, note.path)

    def remove(self, note: Names) -> None:
        for names, key in self._places(note):
            _take(names, key, note.path)

    def _places(self, note: Names) -> Iterator[tuple[_Found, str]]:
        """Where a note stands, to be changed."""
        self._tails.clear()
        path = _key(note.path)
        yield self._ids, _fold(note.id)
        yield self._paths, path
        yield self._stems, _last(path)
        yield self._titles, _fold(note.title)
        for alias in note.aliases:
            yield self._aliases, _fold(alias)

    def link(self, target: str, folder: str) -> str | None:
        if _is_relative(target):
            path = _joined(folder, target)
            return None if path is None else self._at(_keys(path), target)
        if target.startswith("/"):
            return self._at(_keys(target.lstrip("/")), target)
        keys = _keys(target)
        return (
            self._at(keys, target)
            or self._at(_inside(folder, keys), target)
            or self._nearest(target, keys)
        )

    def _at(self, keys: Iterable[str], spelling: str) -> str | None:
        """The note at a path; of two that differ in case only, the one that is spelt so."""
        for key in keys:
            found = self._paths.get(key)
            if found:
                spelt = (path for path in found if len(found) > 1 and _ends_with(path, spelling))
                return next(spelt, found[0])
        return None

    def _nearest(self, target: str, keys: Iterable[str]) -> str | None:
        called = _fold(target)
        found = (
            next(filter(None, map(self._tail, keys)), None)
            or self._titles.get(called)
            or self._aliases.get(called)
        )
        return found[0] if found else None

    def _tail(self, key: str) -> list[str]:
        """The notes whose path ends in `key`, whole folder names compared."""
        same = self._stems.get(_last(key), [])
        if "/" not in key or not same:
            return same
        if key not in self._tails:
            self._tails[key] = [path for path in same if _key(path).endswith(f"/{key}")]
        return self._tails[key]

    def find(self, name: str) -> tuple[str, ...]:
        spoken, keys = _fold(name), _keys(name.removeprefix("./").lstrip("/"))
        found = chain(
            [self._ids.get(spoken)],
            map(self._paths.get, keys),
            [self._titles.get(spoken), self._aliases.get(spoken)],
            map(self._stems.get, keys),
        )
        return tuple(sorted(next(filter(None, found), ())))

    def close(self, wanted: str) -> Iterator[list[str]]:
        """The notes of names like `wanted`, the closest name first."""
        names = {**self._titles, **self._stems}
        for name in _closest(wanted, names):
            yield names[name]


def _closest(wanted: str, names: Iterable[str]) -> list[str]:
    """The names that are close to one, by the longest common parts (difflib), closest first."""
    letters = set(wanted)

    def shared(name: str) -> tuple[int, str]:
        return 2 * len(letters.intersection(name)) - abs(len(name) - len(wanted)), name

    matcher = SequenceMatcher(b=wanted, autojunk=False)
    rated = []
    for name in heapq.nlargest(_COMPARED, names, key=shared):
        matcher.set_seq1(name)
        if matcher.quick_ratio() >= _CLOSE and matcher.ratio() >= _CLOSE:
            rated.append((matcher.ratio(), name))
    return [name for _, name in sorted(rated, reverse=True)]


def _forms(ref: str) -> Iterator[tuple[str, str]]:
    """What a reference may mean: name and part. All of it is the name, or what precedes a `#`."""
    text = ref.strip().removeprefix("!")
    if text.startswith("[[") and text.endswith("]]"):
        text = text[2:-2].partition("|")[0]
    last, first = text.rpartition("#"), text.partition("#")
    parts = {text: "", last[0]: last[2], first[0]: first[2]}
    yield from ((name.strip(), part.strip()) for name, part in parts.items() if name.strip())


def _is_relative(target: str) -> bool:
    if target[0] != "." and "/." not in target:
        return False
    return not {".", ".."}.isdisjoint(target.split("/"))


def _joined(folder: str, target: str) -> str | None:
    """The path that a relative target means, or None outside the vault."""
    if target.startswith("/"):
        folder, target = "", target.lstrip("/")
    path = posixpath.normpath(posixpath.join(folder, target))
    return None if path.split("/")[0] == ".." else path


def _fold(name: str) -> str:
    """Return a name without the differences of case, Unicode form and blanks around it."""
    name = name.strip()
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _key(path: str) -> str:
    return _fold(path).removesuffix(_ENDING)


def _keys(path: str) -> tuple[str, ...]:
    """The keys under which a path may be: `a.md` is the note a.md, else a.md.md."""
    folded = _fold(path)
    bare = folded.removesuffix(_ENDING)
    return (bare,) if bare == folded else (bare, folded)


def _inside(folder: str, keys: Iterable[str]) -> Iterator[str]:
    return (_fold_folder(f"{folder}/") + key for key in keys if folder)


_fold_folder = lru_cache(maxsize=4096)(_fold)


def _ends_with(path: str, spelling: str) -> bool:
    stem = spelling.rpartition("/")[2]
    return path.rpartition("/")[2] in (stem, stem + _ENDING)


def _last(path: str) -> str:
    return path.rpartition("/")[2]


def _rank(path: str) -> tuple[int, str, str]:
    """The order of preference among the notes of one name."""
    return len(path), _fold(path), path


def _put(names: _Found, key: str, path: str) -> None:
    found = names.setdefault(key, [])
    at = bisect.bisect_left(found, _rank(path), key=_rank) if found else 0
    if found[at : at + 1] != [path]:
        found.insert(at, path)


def _take(names: _Found, key: str, path: str) -> None:
    found = names.get(key, [])
    if path in found:
        found.remove(path)
    if not found:
        names.pop(key, None)
