"""Primitives that write: appends to files of lines, and whole replacements.

Every function works on a name in an open folder, so that a folder that is exchanged for a
symlink in the middle leads nowhere. After a `kill -9` a line is there whole, or what is there
of it is `torn`, which a reader can tell. All of them raise OSError; callers say what failed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

TEMPORARY_ENDING = ".zib-tmp"
BLOCK = 16 * 1024

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a named pipe would wait for its other end.
_SAFE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NO_FOLDER_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EBADF}


def step(name: str) -> None:
    """Mark a step of a write. Does nothing; tests put a kill in its place."""


def make_folder(path: Path, mode: int = 0o777) -> None:
    """Make a folder and what is missing above it, durably, unless it is there."""
    if not path.is_dir():
        path.mkdir(mode=mode, parents=True, exist_ok=True)
        with opened_folder(Path(os.path.realpath(path.parent))) as folder:
            sync_folder(folder)


@contextlib.contextmanager
def opened_folder(base: Path, parts: Sequence[str] = (), *, create: bool = False) -> Iterator[int]:
    """Open the folder `parts` below `base`, following no symlink; yield its descriptor.

    With `create`, folders that are missing below `base` are made, for their owner's eyes only.
    """
    with contextlib.ExitStack() as descriptors:
        folder = os.open(base, _FOLDER)
        descriptors.callback(os.close, folder)
        for part in parts:
            if create:
                _make_folder(folder, part)
            folder = os.open(part, _FOLDER, dir_fd=folder)
            descriptors.callback(os.close, folder)
        yield folder


def _make_folder(folder: int, name: str) -> None:
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=folder)
        sync_folder(folder)


def sync_folder(folder: int) -> None:
    """Make the names in an open folder durable, where its file system can."""
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise


@contextlib.contextmanager
def opened_file(folder: int, name: str, flags: int = os.O_RDONLY) -> Iterator[int]:
    """Open a regular file of an open folder; yield its descriptor. It is made with O_CREAT."""
    descriptor = os.open(name, flags | _SAFE, 0o600, dir_fd=folder)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        yield descriptor
    finally:
        os.close(descriptor)


def append_line(folder: int, name: str, line: bytes) -> None:
    """Append `line` to a file, durably; the file is made when it is not there.

    If it fails, for want of space say, the file has the length that it had.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    with opened_file(folder, name, flags) as descriptor:
        size = os.fstat(descriptor).st_size
        step("opened")
        try:
            _write_all(descriptor, line)
            step("appended")
            os.fsync(descriptor)
            if not size:
                sync_folder(folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, size)
            raise
        step("appended durably")


def add_line(folder: int, name: str, line: bytes) -> None:
    """Append `line` to a file, without waiting for the disk; the file is made when it is not there.

    Processes may add at once: the system puts each line at the end. A torn line before it is
    ended. Where the file is replaced or removed meanwhile, the line goes into the new one.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
    there = False
    while not there:
        with opened_file(folder, name, flags) as descriptor:
            status = os.fstat(descriptor)
            whole = not status.st_size or os.pread(descriptor, 1, status.st_size - 1) == b"\n"
            _write_all(descriptor, line if whole else b"\n" + line)
            there = _is_at(folder, name, status)


def _is_at(folder: int, name: str, status: os.stat_result) -> bool:
    """Whether a name of an open folder still leads to the file with this status."""
    try:
        now = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(now, status)


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def last_line(descriptor: int, end: int) -> tuple[int, bytes]:
    """Return the line that ends at offset `end`, its line feed included, and where it starts.

    Reads backwards from there, so the cost is that of the line and not of the file.
    """
    data, start, size = b"", end, BLOCK
    while start:
        step_back = min(start, size)
        start -= step_back
        data = os.pread(descriptor, step_back, start) + data
        found = data.rfind(b"\n", 0, len(data) - 1)
        if found >= 0:
            return start + found + 1, data[found + 1 :]
        size *= 2
    return 0, data


def torn(line: bytes) -> bool:
    """Whether a line is what a crash leaves of one: without its end, or with blocks of zeros."""
    return not line.endswith(b"\n") or b"\0" in line


def cut_torn_line(folder: int, name: str) -> bool:
    """Cut a torn last line off a file, durably. Return whether there was one."""
    with opened_file(folder, name, os.O_RDWR) as descriptor:
        start, line = last_line(descriptor, os.fstat(descriptor).st_size)
        if not line or not torn(line):
            return False
        os.ftruncate(descriptor, start)
        os.fsync(descriptor)
        step("cut")
        return True


def replace_file(folder: int, name: str, lines: Iterable[bytes]) -> None:
    """Put a file of these lines in the place of one that may be there, in one step, durably.

    The mode is kept. If it fails, the old file is in place and no temporary file is left.
    """
    temporary = f".{os.getpid()}-{secrets.token_hex(6)}{TEMPORARY_ENDING}"
    mode = 0o600
    with contextlib.suppress(FileNotFoundError):
        mode = stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    descriptor = os.open(
        temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFE, 0o600, dir_fd=folder
    )
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, mode)
            file.writelines(lines)
            file.flush()
            os.fsync(descriptor)
        step("replacement written")
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise
    step("replaced")
    sync_folder(folder)


def remove_file(folder: int, name: str) -> None:
    """Remove a file of an open folder, durably, if it is there."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)
        step("removed")
        sync_folder(folder)


def remove_folder(folder: int, name: str) -> None:
    """Remove an empty folder of an open one, durably; one with something in it stays."""
    with contextlib.suppress(OSError):
        os.rmdir(name, dir_fd=folder)
        sync_folder(folder)
