"""Takes words out of what lies beside notes and journal: trash, audit, copies and leftovers.

None of these is journalled, for a record of what is erased would hold it. Whoever erases holds
the vault's lock. All of it can be done again, so that what a crash has cut off is finished by
another attempt.

Of the audit nothing is known here but that it is JSON, one value a line, in files that end with
`.jsonl`: every text that tells of the words gives way to an empty one, and the line, if it is an
object, gets `"redacted": true`.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .errors import StorageFailed, reason_of
from .files import (
    TEMPORARY_ENDING,
    make_folder,
    opened_file,
    opened_folder,
    remove_file,
    remove_folder,
    replace_file,
    torn,
)
from .forgetting import Doomed
from .journal import JOURNAL_FOLDER
from .layout import Layout
from .traces import Words

TRASH_FOLDER = "trash"
PLANS_FOLDER = "purges"
"""Where what is about to leave the journal is written down first, by hashes and names alone."""


class Eraser:
    """Erases in the folders of one vault. Raises StorageFailed."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    # The trash

    def trashed(self, note: str) -> list[Path]:
        """Return the files of a note in the trash, the one that was changed last first."""
        top = self._layout.state_dir / TRASH_FOLDER / note
        found = [path for path in _files(top) if not path.name.endswith(TEMPORARY_ENDING)]
        return sorted(found, key=lambda path: (-path.stat().st_mtime_ns, path.name))

    def empty(self, note: str) -> None:
        """Remove what is in the trash of a note, folders too, for their names are words."""
        top = self._layout.state_dir / TRASH_FOLDER / note
        for path in list(_files(top)):
            self.remove(path)
        for folder, _, _ in os.walk(top, topdown=False):
            with self._failing(Path(folder)), opened_folder(Path(folder).parent) as parent:
                remove_folder(parent, Path(folder).name)

    # One file

    def change(self, path: Path, change: Callable[[bytes], bytes]) -> bool:
        """Put what `change` makes of a file in its place; return whether that is different."""
        with self._failing(path), opened_folder(path.parent) as folder:
            before = _read(folder, path.name)
            after = change(before)
            if after != before:
                replace_file(folder, path.name, [after])
            return after != before

    def remove(self, path: Path) -> None:
        """Remove a file."""
        with self._failing(path), opened_folder(path.parent) as folder:
            remove_file(folder, path.name)

    # What is beside them

    def strike_lines(
        self,
        words: Words,
        note: str = "",
        observation: str | None = None,
        is_gone: Callable[[str], bool] = lambda _: False,
    ) -> int:
        """Take words out of the audit, and whatever else is kept as lines of JSON in the state.

        Of a question that was answered with the observation, or with the note when none is named,
        one word in common is enough; of any other, one that `is_gone` from the notes. The
        journal, which has hashes, is left alone. Returns how many files held some.
        """
        state = self._layout.state_dir

        def change(data: bytes) -> bytes:
            return _without(data, words, (note, observation), is_gone)

        kept = (JOURNAL_FOLDER, TRASH_FOLDER, PLANS_FOLDER)
        found = (path for path in _files(state, ".jsonl") if _top(state, path) not in kept)
        return sum(self.change(path, change) for path in list(found))

    def sweep(self, words: Words) -> int:
        """Remove temporary files that hold some of the words; return how many did.

        Under the lock no write is under way, so that none of them is in use.
        """
        tops = {self._layout.root, self._layout.state_dir}
        left = {path for top in tops for path in _files(top, TEMPORARY_ENDING)}
        held = [path for path in left if self._holds(path, words)]
        for path in held:
            self.remove(path)
        return len(held)

    def _holds(self, path: Path, words: Words) -> bool:
        with self._failing(path), opened_folder(path.parent) as folder:
            return bool(words.in_bytes(_read(folder, path.name)))

    # What is under way

    def plans(self) -> list[str]:
        """Return the names of the purges that were begun and not finished."""
        return sorted(path.stem for path in _files(self._layout.state_dir / PLANS_FOLDER, ".json"))

    def planned(self, name: str) -> dict[str, set[str]]:
        """Return what a purge meant to take out of the journal, nothing when there is no such."""
        path = self._plan(name)
        try:
            with opened_folder(path.parent) as folder:
                found = json.loads(_read(folder, path.name))
            return {hash_: set(names) for hash_, names in found["parts"].items()}
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise StorageFailed(str(path), reason_of(error)) from error
        except (ValueError, KeyError, TypeError, AttributeError):
            return {}  # The journal is what it is made from, and is looked at again.

    def plan(self, name: str, doomed: Doomed) -> None:
        """Write down what is to leave the journal, before anything does."""
        path = self._plan(name)
        parts = {hash_: sorted(names) for hash_, names in sorted(doomed.parts.items())}
        text = json.dumps({"v": 1, "parts": parts}, indent=1) + "\n"
        with self._failing(path):
            make_folder(path.parent, 0o700)
            with opened_folder(path.parent) as folder:
                replace_file(folder, path.name, [text.encode()])

    def done(self, name: str) -> None:
        """Remove what was written down."""
        if self._plan(name).exists():
            self.remove(self._plan(name))

    def _plan(self, name: str) -> Path:
        return self._layout.state_dir / PLANS_FOLDER / f"{name}.json"

    @contextlib.contextmanager
    def _failing(self, path: Path) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StorageFailed(str(path), reason_of(error)) from error


def _files(top: Path, ending: str = "") -> Iterator[Path]:
    for folder, _, names in os.walk(top):
        for name in sorted(names):
            path = Path(folder, name)
            if name.endswith(ending) and not path.is_symlink():
                yield path


def _top(folder: Path, path: Path) -> str:
    return path.relative_to(folder).parts[0]


def _read(folder: int, name: str) -> bytes:
    with opened_file(folder, name) as descriptor, os.fdopen(os.dup(descriptor), "rb") as file:
        return file.read()


def _without(
    data: bytes, words: Words, about: tuple[str, str | None], is_gone: Callable[[str], bool]
) -> bytes:
    """Return lines of JSON without the words; lines that are none and hold them are left out."""
    return b"".join(_struck(line, words, about, is_gone) for line in data.splitlines(keepends=True))


def _struck(
    line: bytes, words: Words, about: tuple[str, str | None], is_gone: Callable[[str], bool]
) -> bytes:
    try:
        if torn(line):
            raise ValueError("a torn line")
        found = json.loads(line)
    except (ValueError, RecursionError):
        texts = line.decode("utf-8", "replace").split('"')
        return b"" if any(map(words.told_by, texts)) else line
    rest = _value(found, words)
    shared = words.shared_by(str(found.get("query", ""))) if isinstance(found, dict) else set()
    if shared and (_asked_for(found, about) or any(map(is_gone, shared))):
        rest["query"] = ""
    if rest == found:
        return line
    if isinstance(rest, dict):
        rest["redacted"] = True
    return json.dumps(rest, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _asked_for(line: Any, about: tuple[str, str | None]) -> bool:
    """Whether a line of the audit says that this was given for its question."""
    given = line.get("given") if isinstance(line, dict) else None
    parts = [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
    note, observation = about
    return any(
        one.get("note") == note and observation in (None, one.get("observation")) for one in parts
    )


def _value(value: Any, words: Words) -> Any:
    if isinstance(value, str):
        return "" if words.told_by(value) else value
    if isinstance(value, list):
        return [_value(each, words) for each in value]
    if isinstance(value, dict):
        return {key: _value(each, words) for key, each in value.items()}
    return value
