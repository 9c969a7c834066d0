"""Where things lie in a vault: its root and folders, which files are notes, and their class.

Nothing here writes. Opening a layout creates no folder, and a walk only lists.
"""

from __future__ import annotations

import fnmatch
import functools
import logging
import os
import re
import stat
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple
from urllib.parse import unquote

from .errors import PathRefused, VaultNotFound, reason_of
from .paths import NOTE_ENDING, check_component, contained, fold_name, twin
from .settings import (
    SETTINGS_FILE,
    STATE_FOLDER,
    Settings,
    cache_folder,
    load_settings,
    state_folder,
)

_log = logging.getLogger(__name__)

VAULT_MARKS = (SETTINGS_FILE, STATE_FOLDER, ".obsidian")

# Syncthing, Dropbox, Nextcloud, Obsidian Sync, Resilio.
_CONFLICT_COPY = re.compile(
    r"\.sync-conflict-\d{8}-\d{6}|\([^()]*conflicted copy[^()]*\)|\(copia en conflicto[^()]*\)"
    r"|\(case conflict[^()]*\)|\.conflict\.md$",
    re.IGNORECASE,
)

NoteClass = Literal["user-doc", "agent-memory"]
Axis = Literal["user", "project"]


@dataclass(frozen=True, slots=True)
class Place:
    """What a note's place says: its class, its project, and for memory whom it is about."""

    note_class: NoteClass
    project: str | None
    axis: Axis | None


class Entry(NamedTuple):
    """One note file as a walk sees it: relative path, size in bytes, time and inode."""

    path: str
    size: int
    mtime_ns: int
    inode: int


class WalkProblem(NamedTuple):
    """Something that a walk left out and that its owner may expect to be a note."""

    path: str
    reason: str


def _log_problem(problem: WalkProblem) -> None:
    _log.warning("left out %s: %s", problem.path, problem.reason)


@dataclass(frozen=True, slots=True)
class Layout:
    """One vault: its real root, its settings, and where its state and cache lie."""

    root: Path
    settings: Settings
    state_dir: Path
    cache_dir: Path

    def place(self, path: str) -> Place:
        """Return the class, project and axis of a note, by its relative path alone.

        Folder names are compared exactly, in NFC. The file need not be there.
        """
        settings = self.settings
        folders = unicodedata.normalize("NFC", path).split("/")[:-1]
        if folders and folders[0] == settings.memory_folder:
            return Place("agent-memory", None, "user")
        if len(folders) < 2 or folders[0] != settings.projects_folder:
            return Place("user-doc", None, None)
        if len(folders) > 2 and folders[2] == settings.memory_folder:
            return Place("agent-memory", folders[1], "project")
        return Place("user-doc", folders[1], None)

    def absolute(self, path: str | PurePosixPath) -> Path:
        """Return the real path of a file or folder of the vault, symlinks resolved.

        Raises PathRefused when the path, or a symlink on it, leads out of the vault. What it
        names need not be there.
        """
        relative = contained(str(path))
        real = Path(os.path.realpath(self.root / relative))
        if real == self.root or not real.is_relative_to(self.root):
            raise PathRefused(str(path), "it leads out of the vault")
        return real

    def relative(self, real: Path) -> str:
        """Return the path, as notes have it, of a real path in the vault."""
        return real.relative_to(self.root).as_posix()

    def new_path(self, path: str | PurePosixPath) -> Path:
        """Return the real path of a note to be made, if it may be made there.

        Folders that are there may be called anything visible; what is new gets a safe name in
        NFC (see `check_component`). When a file is there whose name differs only in case or
        Unicode form, the path of that one is returned. Refused with PathRefused: hidden folders;
        a folder that differs from one that is there, or from the memory or projects folder, only
        in case or compatibility form; a symlink that would give the note another class or
        project. Raises OSError when a folder on the way cannot be listed.
        """
        path = str(path)
        self.absolute(path)
        *folders, name = contained(path).parts
        folder = self._spelled_on_disk(folders, path)
        spelled = folder / (twin(self.root / folder, name) or check_component(name))
        real = self.absolute(spelled)
        if any(
            part.startswith(".") for part in (*spelled.parts, *real.relative_to(self.root).parts)
        ):
            raise PathRefused(path, "what begins with a dot is hidden and holds no notes")
        if self.place(self.relative(real)) != self.place(path):
            raise PathRefused(path, "a symlink on it leads to notes of another class or project")
        return real

    def _spelled_on_disk(self, folders: list[str], path: str) -> PurePosixPath:
        """Return the folders as they are on disk; refuse twins, and unsafe names of new ones."""
        here = PurePosixPath()
        for depth, name in enumerate(folders):
            found = twin(self.root / here, name)
            for other in (found or name, *self._special(folders, depth)):
                if fold_name(other) == fold_name(name) and not _same_text(other, name):
                    raise PathRefused(path, f"its folder {name!r} is a look-alike of {other!r}")
            here /= found or check_component(name)
        return here

    def _special(self, folders: list[str], depth: int) -> tuple[str, ...]:
        """Return the folder names that mean something at this depth of a path."""
        if depth == 0:
            return (self.settings.memory_folder, self.settings.projects_folder)
        below_projects = depth == 2 and folders[0] == self.settings.projects_folder
        return (self.settings.memory_folder,) if below_projects else ()

    def ignored(self, path: str) -> bool:
        """Whether a path is no note's: hidden, part of the state, or matched by `ignore`."""
        ignores = _ignores(self)
        prefix = ""
        for part in path.split("/"):
            if part.startswith(".") or (ignores and ignores(prefix + part, part)):
                return True
            prefix += f"{part}/"
        return False

    def walk(
        self, on_problem: Callable[[WalkProblem], None] = _log_problem, start: str = ""
    ) -> Iterator[Entry]:
        """Yield every note file, in an order that depends on the names alone.

        `start` is a folder with a slash behind it; only what is below it is walked then.
        `on_problem` hears of each folder or file that could not be listed and of each symlink
        that leads out of the vault; without it they are logged. A symlink to something in the
        vault is passed over, because what it leads to is walked itself. Raises VaultNotFound when
        the root cannot be listed, so that an unmounted disk is not taken for an empty vault.
        """
        folders = [start]
        ignores = _ignores(self)
        while folders:
            prefix = folders.pop()
            below: list[str] = []
            for entry in self._listing(prefix, on_problem):
                name = entry.name
                relative = prefix + name
                if name[0] == "." or not (name.isascii() or _is_text(relative, on_problem)):
                    continue
                if entry.is_symlink():
                    self._judge_link(entry, relative, on_problem)
                elif entry.is_dir(follow_symlinks=False):
                    if not ignores or not ignores(relative, name):
                        below.append(f"{relative}/")
                elif name[-3:].lower() == NOTE_ENDING:
                    if ignores and ignores(relative, ""):
                        continue
                    found = _stat(entry, relative, on_problem)
                    if found is not None:
                        yield Entry(relative, found.st_size, found.st_mtime_ns, found.st_ino)
            folders.extend(reversed(below))

    def _listing(
        self, prefix: str, on_problem: Callable[[WalkProblem], None]
    ) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(f"{self.root}/{prefix}") as entries:
                return sorted(entries, key=attrgetter("name"))
        except FileNotFoundError as error:
            if not prefix:
                raise VaultNotFound(str(self.root)) from error
            return []  # Removed since its parent was listed.
        except OSError as error:
            if not prefix:
                raise VaultNotFound(str(self.root)) from error
            on_problem(WalkProblem(prefix[:-1], reason_of(error)))
            return []

    def _judge_link(
        self,
        entry: os.DirEntry[str],
        relative: str,
        on_problem: Callable[[WalkProblem], None],
    ) -> None:
        """Report a symlink that its owner may take for a note or a folder of notes."""
        inside = Path(os.path.realpath(entry.path)).is_relative_to(self.root)
        mode, reason = 0, "a symlink that leads out of the vault"
        try:
            mode = entry.stat().st_mode
        except OSError as error:
            reason = f"a broken symlink ({error.strerror})" if inside else reason
        if inside and mode:
            return  # Its target is walked where it lies.
        if stat.S_ISDIR(mode) or entry.name.lower().endswith(NOTE_ENDING):
            on_problem(WalkProblem(relative, reason))


def _same_text(one: str, other: str) -> bool:
    return unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other)


def _stat(
    entry: os.DirEntry[str], relative: str, on_problem: Callable[[WalkProblem], None]
) -> os.stat_result | None:
    try:
        found = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None  # Removed since its folder was listed.
    except OSError as error:
        on_problem(WalkProblem(relative, reason_of(error)))
        return None
    if stat.S_ISREG(found.st_mode):
        return found
    on_problem(WalkProblem(relative, "not a regular file"))
    return None


def _is_text(relative: str, on_problem: Callable[[WalkProblem], None]) -> bool:
    """Whether a name is valid UTF-8, so that an answer can carry it."""
    try:
        relative.encode("utf-8")
    except UnicodeEncodeError:
        shown = relative.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        on_problem(WalkProblem(shown, "its name is not UTF-8"))
        return False
    return True


@functools.lru_cache(maxsize=32)
def _ignores(layout: Layout) -> Callable[[str, str], bool] | None:
    """Return a test of (relative path, name of the folder or nothing); None when it is idle."""
    state = ""
    if layout.state_dir.is_relative_to(layout.root):
        state = layout.state_dir.relative_to(layout.root).as_posix()
    patterns = layout.settings.ignore
    if not patterns and (not state or state.startswith(".")):
        return None
    match = re.compile("|".join(map(fnmatch.translate, patterns)) or r"(?!)").match

    def ignores(relative: str, name: str) -> bool:
        relative, name = (unicodedata.normalize("NFC", each) for each in (relative, name))
        return relative == state or bool(match(relative) or (name and match(name)))

    return ignores


def conflict_copy(path: str) -> bool:
    """Whether a file's name is one that a sync program gives to the loser of a conflict."""
    return _CONFLICT_COPY.search(path.rsplit("/", 1)[-1]) is not None


def _folder_named(place: str | Path) -> Path:
    """Return the path that a user means: a `file:` URI is decoded, `~` is a home folder."""
    text = str(place)
    if text[:5].lower() == "file:":
        text = text[5:]
        if text.startswith("//"):
            host, slash, rest = text[2:].partition("/")
            if host not in {"", "localhost"}:
                raise VaultNotFound(str(place))
            text = slash + rest
        return Path(unquote(text, errors="surrogateescape"))
    return Path(text).expanduser()


def open_layout(path: str | Path) -> Layout:
    """Return the layout of the vault at a folder, a symlink to one, or a `file:` URI of one.

    Creates nothing. Raises VaultNotFound when there is no folder, SettingsInvalid when its
    settings or the environment cannot be used.
    """
    try:
        root = Path(os.path.realpath(_folder_named(path), strict=True))
    except (OSError, ValueError, RuntimeError) as error:
        raise VaultNotFound(str(path)) from error
    if not str(path) or not root.is_dir():
        raise VaultNotFound(str(path))
    return Layout(root, load_settings(root), state_folder(root), cache_folder(root))


def find_vault(start: str | Path) -> Path:
    """Return the nearest folder, from `start` upward, that holds a mark of a vault.

    The marks are `zibaldone.toml`, `.zibaldone` and `.obsidian`. Raises VaultNotFound.
    """
    folder = Path(os.path.realpath(start))
    for candidate in (folder, *folder.parents):
        if any(os.path.lexists(candidate / mark) for mark in VAULT_MARKS):
            return candidate
    raise VaultNotFound(str(start))
