"""The one module that writes: the files of a vault, and the folder of its cache.

A write holds the vault's lock, compares what is on disk with what was read, and replaces the
file in one step: a temporary file in the same folder, fsync, rename, fsync of the folder. After
a `kill -9` the file is the old one or the new one, whole. Folders are opened one by one from
the root and no symlink is followed on the way, so that a folder that is exchanged for a symlink
in the middle of a write leads nowhere.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import secrets
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import (
    NoteChanged,
    NoteExists,
    NoteNotFound,
    NoteUnusable,
    PathRefused,
    SettingsInvalid,
    StorageFailed,
    VaultNotFound,
    ZibaldoneError,
    reason_of,
)
from .ids import derived_id
from .layout import Layout
from .ledger import SYSTEM, Act, Ledger
from .lock import vault_lock
from .paths import NOTE_ENDING, check_component
from .settings import CACHE_VARIABLE
from .source import token_of

TEMPORARY_ENDING = ".zib-tmp"
KEY_FILE = "receipts.key"
KEY_BYTES = 32
STALE_SECONDS = 3600
UPDATE_ATTEMPTS = 5

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a named pipe would wait for a writer.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_FOLDER_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EBADF}
_NOT_A_FOLDER = {errno.ELOOP, errno.ENOTDIR}
_NOT_THERE = {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG}


def _step(name: str) -> None:
    """Mark a step of a write. Does nothing; tests put a kill in its place."""


@dataclass(frozen=True, slots=True)
class _File:
    """A file as it was read: its bytes, and what of it a replacement has to keep."""

    data: bytes
    status: os.stat_result
    attributes: dict[str, bytes]

    @property
    def token(self) -> str:
        return token_of(self.data)

    def looks_like(self, status: os.stat_result) -> bool:
        """Whether a file with this status is, to all appearance, still the one that was read."""
        then, now = self.status, status
        return (then.st_ino, then.st_size, then.st_mtime_ns) == (
            now.st_ino,
            now.st_size,
            now.st_mtime_ns,
        )


class Store:
    """Reads and writes the files of one vault, by their relative paths.

    `identify` gives the id of the note at a path, for the error that says it is there already.
    Every method raises PathRefused for a path that leaves the vault, and VaultNotFound when
    the vault itself is gone.
    """

    def __init__(self, layout: Layout, *, identify: Callable[[str], str] = derived_id) -> None:
        self.ledger = Ledger(layout, lambda: make_cache(layout), self._read_or_none)
        self._layout = layout
        self._root = layout.root
        self._identify = identify

    def read(self, path: str) -> bytes:
        """Return the bytes of a file. Raises NoteNotFound, or NoteUnusable if it is unreadable."""
        real = self._layout.absolute(path)
        try:
            with self._folder_of(real) as folder:
                found = _read(folder, real.name, path)
        except OSError as error:
            if error.errno not in _NOT_THERE:
                raise NoteUnusable(path, reason_of(error)) from error
            found = None
        if found is None:
            raise self._vault_gone() or NoteNotFound(path)
        return found.data

    def write(self, path: str, data: bytes, *, expected: str | None, act: Act | None = None) -> str:
        """Write a file whole and return its new version token.

        `expected` is the token of the bytes that the caller read; None means that the file must
        not be there. `act` says who does what, for the journal. Raises NoteChanged when other
        bytes are there now (with an empty token when none are), NoteExists when a new file would
        take the name of one, or of its twin, LockTimeout, and StorageFailed with the old state
        in place.
        """
        gone = None if expected is None else NoteChanged(path, "")
        with self.transaction(path), self._failing(path, gone):
            new = expected is None
            real = self._layout.new_path(path) if new else self._layout.absolute(path)
            with self._folder_of(real, create=new) as folder:
                current = _read(folder, real.name, path)
                self._compare(real, current, expected)
                _step("compared")
                if current is None or current.data != data:
                    with self._told(path, current, data, act):
                        self._replace(folder, real, data, current)
        return token_of(data)

    @contextlib.contextmanager
    def _told(
        self, path: str, current: _File | None, data: bytes | None, act: Act | None
    ) -> Iterator[None]:
        """Enter a change of a note into the journal before it is made; take it back if it fails.

        Files that are no notes, such as the settings, have no history.
        """
        if not path.lower().endswith(NOTE_ENDING):
            yield
            return
        record = self.ledger.enter(path, current.data if current else None, data, act)
        _step("entered")
        try:
            yield
        except BaseException:
            self.ledger.take_back(record)
            raise

    def settle(self, notes: Iterable[tuple[str, str]]) -> None:
        """Enter into the journal what editors have changed in notes that have a history.

        The notes are pairs of path and id. Raises StorageFailed and JournalUnreadable.
        """
        self.ledger.history.catch_up()
        for path, note in notes:
            if self.ledger.lags(path, note):
                with self.transaction(path):
                    self.ledger.settle(path, note, self._read_or_none(path))

    def update(self, path: str, change: Callable[[bytes | None], bytes]) -> tuple[str, bool]:
        """Read a file, apply `change` and write the result, as one step.

        `change` gets the bytes, or None when there is no file; it is called again when an editor
        has changed the file meanwhile. Returns the version token and whether anything was
        written: equal bytes write nothing. What `change` raises, and what `write` does, goes to
        the caller, with nothing written.
        """
        attempts = UPDATE_ATTEMPTS
        with self.transaction(path):
            while True:
                attempts -= 1
                before = self._read_or_none(path)
                after = change(before)
                if after == before:
                    return token_of(after), False
                expected = None if before is None else token_of(before)
                try:
                    return self.write(path, after, expected=expected), True
                except (NoteChanged, NoteExists):
                    if not attempts:
                        raise

    def _read_or_none(self, path: str) -> bytes | None:
        try:
            return self.read(path)
        except NoteNotFound:
            return None

    @contextlib.contextmanager
    def transaction(self, path: str) -> Iterator[None]:
        """Hold the vault's lock over several reads and writes. A thread may nest it.

        `path` is what the caller is about to change. Raises LockTimeout after 10 seconds.
        """
        self._layout.absolute(path)
        with self.locked():
            yield

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the vault's lock, as `transaction` does, over what is not in one file."""
        lock = vault_lock(self._root, self._layout.cache_dir, self._lock_folder)
        with lock.hold():
            yield

    def _lock_folder(self) -> Path:
        return make_cache(self._layout, "locks")

    def trash(self, path: str, note_id: str, act: Act | None = None) -> str:
        """Move a note to `trash/<note id>/<its path>` of the state folder and return that place.

        The place is relative to the vault when the state folder lies in it, else absolute. A
        number is added when it is taken. Raises NoteNotFound, and StorageFailed with the note
        still where it was.
        """
        real = self._layout.absolute(path)
        kept_in = self._layout.state_dir / "trash" / check_component(note_id, "note id")
        kept_in /= real.parent.relative_to(self._root)
        base = self._base_of(kept_in)
        gone = NoteNotFound(path)
        with (
            self.transaction(path),
            self._failing(path, gone),
            self._folder_of(real) as source,
        ):
            current = _read(source, real.name, path)
            if current is None:
                raise gone
            act = act or Act("delete", note_id, SYSTEM)
            with (
                _opened(base, kept_in.relative_to(base).parts, create=True) as target,
                self._told(path, current, None, act),
            ):
                kept = kept_in / _free_name(target, real.name)
                _move(source, real.name, target, kept.name)
        return self._shown(kept)

    def erase(self, path: str, act: Act) -> None:
        """Remove a note for good; what it held goes into the journal, from where it is redacted.

        Raises NoteNotFound, and StorageFailed with the note still there.
        """
        real, gone = self._layout.absolute(path), NoteNotFound(path)
        with self.transaction(path), self._failing(path, gone), self._folder_of(real) as folder:
            current = _read(folder, real.name, path)
            if current is None:
                raise gone
            with self._told(path, current, None, act):
                os.unlink(real.name, dir_fd=folder)
            _step("erased")
            _sync_folder(folder)

    def _base_of(self, folder: Path) -> Path:
        """Return the folder from which one of the state's is opened step by step."""
        if folder.is_relative_to(self._root):
            return self._root
        return next(each for each in folder.parents if each.exists())

    def _shown(self, path: Path) -> str:
        """Return a path as callers see it: relative when it is in the vault."""
        return str(path.relative_to(self._root) if path.is_relative_to(self._root) else path)

    def probe(self) -> str | None:
        """Return why nothing could be written now; None when it could. Writes nothing."""
        layout = self._layout
        try:
            caches = (layout.cache_dir, *layout.cache_dir.parents)
            cache = next(each for each in caches if each.exists())
            memory = self._root / layout.settings.memory_folder
            for folder in (self._root, memory, layout.state_dir, cache):
                if folder.exists() and not os.access(folder, os.W_OK | os.X_OK):
                    return f"{folder} cannot be written to"
            disk = os.statvfs(self._root)
        except OSError as error:
            return reason_of(error)
        full = disk.f_blocks > 0 and disk.f_bavail == 0
        return f"no space is left on the disk of {self._root}" if full else None

    def leftovers(self) -> tuple[str, ...]:
        """Return the temporary files that killed processes have left in vault and trash.

        Left means that the process is gone or that the file is more than an hour old.
        """
        return tuple(map(self._shown, self._left()))

    def _left(self) -> Iterator[Path]:
        state = self._layout.state_dir
        apart = [] if state.is_relative_to(self._root) else [state]
        for folder, _, names in itertools.chain.from_iterable(map(os.walk, [self._root, *apart])):
            temporary = (name for name in sorted(names) if name.endswith(TEMPORARY_ENDING))
            yield from filter(_is_left, (Path(folder, name) for name in temporary))

    def sweep(self) -> tuple[str, ...]:
        """Remove what `leftovers` lists, and return it. Raises StorageFailed."""
        swept = tuple(self._left())
        for path in swept:
            with self._failing(str(path), None):
                path.unlink(missing_ok=True)
        return tuple(map(self._shown, swept))

    def _folder_of(
        self, real: Path, *, create: bool = False
    ) -> contextlib.AbstractContextManager[int]:
        return _opened(self._root, real.parent.relative_to(self._root).parts, create=create)

    def _compare(self, real: Path, current: _File | None, expected: str | None) -> None:
        path = self._layout.relative(real)
        if expected is None:
            if current is not None:
                raise NoteExists(path, self._identify(path))
        elif current is None:
            raise NoteChanged(path, "")
        elif current.token != expected:
            raise NoteChanged(path, current.token)

    def _replace(self, folder: int, real: Path, data: bytes, current: _File | None) -> None:
        """Put `data` in the place of `current`: the only step that changes a note."""
        with _temporary(folder, data, current) as temporary:
            self._look_again(folder, real, current)
            os.rename(temporary, real.name, src_dir_fd=folder, dst_dir_fd=folder)
        _step("renamed")
        try:
            _sync_folder(folder)
        except OSError:
            _put_back(folder, real.name, data, current)
            raise
        _step("durable")

    def _look_again(self, folder: int, real: Path, current: _File | None) -> None:
        """Compare once more just before the rename, for an editor does not know of the lock."""
        with contextlib.suppress(FileNotFoundError):
            status = os.stat(real.name, dir_fd=folder, follow_symlinks=False)
            if current is not None and current.looks_like(status):
                return
        now = _read(folder, real.name, str(real))
        if now is not None or current is not None:
            self._compare(real, now, current.token if current else None)

    @contextlib.contextmanager
    def _failing(self, path: str, gone: ZibaldoneError | None) -> Iterator[None]:
        """Turn a failure of the operating system into a typed one; `gone` when nothing is there."""
        try:
            yield
        except OSError as error:
            if error.errno in _NOT_A_FOLDER:
                raise PathRefused(path, "a folder on it is a file or a symlink") from error
            if error.errno == errno.ENOENT and (typed := self._vault_gone() or gone):
                raise typed from error
            raise StorageFailed(path, reason_of(error)) from error

    def _vault_gone(self) -> VaultNotFound | None:
        return None if os.path.lexists(self._root) else VaultNotFound(str(self._root))


@contextlib.contextmanager
def _opened(base: Path, parts: Sequence[str], *, create: bool) -> Iterator[int]:
    """Open the folder `parts` below `base`, following no symlink; yield its descriptor.

    With `create`, folders that are missing are made, and removed again if the block fails.
    """
    made: list[tuple[int, str]] = []
    with contextlib.ExitStack() as descriptors:

        def enter(name: str | Path, folder: int | None) -> int:
            descriptor = os.open(name, _FOLDER, dir_fd=folder)
            descriptors.callback(os.close, descriptor)
            return descriptor

        folder = enter(base, None)
        try:
            for part in parts:
                if create and _make_folder(folder, part):
                    made.append((folder, part))
                    _sync_folder(folder)
                    _step("folder made")
                folder = enter(part, folder)
            yield folder
        except BaseException:
            for parent, part in reversed(made):
                with contextlib.suppress(OSError):
                    os.rmdir(part, dir_fd=parent)
            raise


def _make_folder(folder: int, name: str) -> bool:
    """Make a folder unless something of that name is there; say whether it was made."""
    try:
        os.mkdir(name, dir_fd=folder)
    except FileExistsError:
        return False
    return True


def _read(folder: int, name: str, path: str) -> _File | None:
    """Read a file of an open folder; None when it is not there. `path` is for the error."""
    try:
        descriptor = os.open(name, _READ, dir_fd=folder)
    except FileNotFoundError:
        return None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise NoteUnusable(path, "it is not a regular file")
    with os.fdopen(descriptor, "rb") as file:
        return _File(file.read(), status, _attributes(descriptor))


def _attributes(descriptor: int) -> dict[str, bytes]:
    """Return the extended attributes of a file, such as a desktop's tags, where there are any."""
    if sys.platform != "linux":
        return {}
    try:
        return {name: os.getxattr(descriptor, name) for name in os.listxattr(descriptor)}
    except OSError:
        return {}


@contextlib.contextmanager
def _temporary(folder: int, data: bytes, like: _File | None) -> Iterator[str]:
    """Write `data` durably to a temporary file that takes after `like`; yield its name.

    The block renames it. If anything fails, it is removed.
    """
    name = f".{os.getpid()}-{secrets.token_hex(6)}{TEMPORARY_ENDING}"
    descriptor = os.open(name, _CREATE, 0o600 if like else 0o666, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            _step("created")
            file.write(data)
            file.flush()
            _step("written")
            if like:
                _take_after(descriptor, like)
            os.fsync(descriptor)
        _step("synced")
        yield name
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=folder)
        raise


def _put_back(folder: int, name: str, data: bytes, before: _File | None) -> None:
    """Undo a replacement that the disk may not keep, as far as it lets us: it has failed."""
    with contextlib.suppress(OSError):
        now = _read(folder, name, name)
        if now is None or now.data != data:
            return
        if before is None:
            os.unlink(name, dir_fd=folder)
            return
        with _temporary(folder, before.data, before) as temporary:
            os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)


def _take_after(descriptor: int, like: _File) -> None:
    """Give an open file the owner, where allowed, the mode and the attributes of another."""
    status, mine = like.status, os.fstat(descriptor)
    if (mine.st_uid, mine.st_gid) != (status.st_uid, status.st_gid):
        with contextlib.suppress(PermissionError):
            os.fchown(descriptor, status.st_uid, status.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
    if sys.platform == "linux":
        for name, value in like.attributes.items():
            with contextlib.suppress(OSError):
                os.setxattr(descriptor, name, value)


def _sync_folder(folder: int) -> None:
    """Make the names in a folder durable, where its file system can."""
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise


def _free_name(folder: int, name: str) -> str:
    """Return `name`, numbered when the folder has it already: `a (2).md`."""
    taken = set(os.listdir(folder))
    parts, free, number = Path(name), name, 1
    while free in taken:
        number += 1
        free = f"{parts.stem} ({number}){parts.suffix}"
    return free


def _move(source: int, name: str, target: int, free: str) -> None:
    """Move a file between open folders, so that a copy of it is durable at any moment."""
    try:
        os.rename(name, free, src_dir_fd=source, dst_dir_fd=target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _copy(source, name, target, free)
        _step("copied")
        os.unlink(name, dir_fd=source)
    _step("moved")
    _sync_folder(target)
    _sync_folder(source)


def _copy(source: int, name: str, target: int, free: str) -> None:
    found = _read(source, name, name)
    if found is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    with _temporary(target, found.data, found) as temporary:
        os.rename(temporary, free, src_dir_fd=target, dst_dir_fd=target)
    _sync_folder(target)


def _is_left(path: Path) -> bool:
    """Whether a temporary file's process, which its name tells, is gone, or the file is old."""
    try:
        if time.time() - path.lstat().st_mtime > STALE_SECONDS:
            return True
        os.kill(int(path.name[1:].split("-")[0]), 0)
    except ProcessLookupError:
        return True
    except (OSError, ValueError, OverflowError):
        return False  # Gone meanwhile, another user's process, or no name of ours.
    return False


def make_cache(layout: Layout, *parts: str) -> Path:
    """Make a folder of the vault's cache, for its user's eyes only, and return it.

    Raises StorageFailed when it cannot be made or belongs to another user: an index is
    unpickled, so whoever can write it can run code. Raises SettingsInvalid when it has come to
    lie in the vault.
    """
    folder = layout.cache_dir.joinpath(*parts)
    try:
        layout.cache_dir.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for each in (*reversed(folder.parents[: len(parts)]), folder):
            each.mkdir(mode=0o700, exist_ok=True)
        status = layout.cache_dir.stat()
        if status.st_uid != os.geteuid():
            raise StorageFailed(str(layout.cache_dir), "it belongs to another user")
        if status.st_mode & 0o077:
            layout.cache_dir.chmod(0o700)
        inside = Path(os.path.realpath(folder)).is_relative_to(layout.root)
    except OSError as error:
        raise StorageFailed(str(folder), reason_of(error)) from error
    if inside:
        raise SettingsInvalid(CACHE_VARIABLE, f"the cache would lie in the vault, at {folder}")
    return folder


def signing_key(layout: Layout) -> bytes:
    """Return the key with which receipts of a vault are signed: made once, kept in its cache.

    Raises StorageFailed when it can be neither read nor made.
    """
    path = make_cache(layout) / KEY_FILE
    try:
        if not path.exists():
            _make_key(path)
        key = path.read_bytes()
    except OSError as error:
        raise StorageFailed(str(path), reason_of(error)) from error
    if len(key) != KEY_BYTES:
        raise StorageFailed(str(path), "it is no key; remove it, and a new one is made")
    return key


def _make_key(path: Path) -> None:
    """Make a key in one step, unless another process is quicker."""
    temporary = path.with_name(f".{os.getpid()}-{secrets.token_hex(6)}{TEMPORARY_ENDING}")
    try:
        with os.fdopen(os.open(temporary, _CREATE, 0o600), "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
