"""The lock of a vault: one writer at a time, over threads and over processes.

Two locks are taken together. The file lock lies in the cache. Processes may have caches of
their own, as sandboxed programs do, so the root folder of the vault itself is locked too where
the file system can: that leaves no trace in it. Both are the kernel's, and are free at once
when their holder is killed.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import filelock

from .errors import LockTimeout, StorageFailed, VaultNotFound, reason_of

LOCK_SECONDS = 10.0
POLL_SECONDS = 0.002
LOCK_FILE = "vault.lock"

_NO_FOLDER_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.EINVAL, errno.EBADF, errno.ENOSYS}


class VaultLock:
    """A lock that a thread may take again while it holds it.

    `folder` makes and returns the folder of the lock file. Threads wait in a queue of their
    own, so that processes take turns and not each of their threads.
    """

    def __init__(self, root: Path, folder: Callable[[], Path]) -> None:
        self._root = root
        self._folder = folder
        self._thread = threading.RLock()
        self._depth = 0

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the lock. Raises LockTimeout after 10 seconds, StorageFailed without a cache."""
        deadline = time.monotonic() + LOCK_SECONDS
        if not self._thread.acquire(timeout=LOCK_SECONDS):
            raise LockTimeout(str(self._root), LOCK_SECONDS)
        try:
            with contextlib.ExitStack() as held:
                if self._depth == 0:
                    held.enter_context(self._file_lock(deadline))
                    held.enter_context(self._folder_lock(deadline))
                self._depth += 1
                try:
                    yield
                finally:
                    self._depth -= 1
        finally:
            self._thread.release()

    @contextlib.contextmanager
    def _file_lock(self, deadline: float) -> Iterator[None]:
        path = self._folder() / LOCK_FILE
        lock = filelock.FileLock(path, mode=0o600, thread_local=False)
        try:
            lock.acquire(timeout=max(0, deadline - time.monotonic()), poll_interval=POLL_SECONDS)
        except filelock.Timeout as error:
            raise LockTimeout(str(self._root), LOCK_SECONDS) from error
        except OSError as error:
            raise StorageFailed(str(path), reason_of(error)) from error
        try:
            yield
        finally:
            lock.release()

    @contextlib.contextmanager
    def _folder_lock(self, deadline: float) -> Iterator[None]:
        try:
            descriptor = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise VaultNotFound(str(self._root)) from error
        try:
            while not _locked(descriptor):
                if time.monotonic() >= deadline:
                    raise LockTimeout(str(self._root), LOCK_SECONDS)
                time.sleep(POLL_SECONDS)
            yield
        finally:
            _unlock(descriptor)


def _locked(descriptor: int) -> bool:
    """Try to lock an open folder. True also where the file system has no such locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_FOLDER_LOCKS:
            raise
    return True


def _unlock(descriptor: int) -> None:
    # A child that was forked meanwhile holds the descriptor too: closing ours would not free it.
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)


_locks: dict[tuple[Path, Path], VaultLock] = {}
_locks_guard = threading.Lock()


def vault_lock(root: Path, cache: Path, folder: Callable[[], Path]) -> VaultLock:
    """Return this process's one lock of the vault at `root` whose cache is at `cache`."""
    with _locks_guard:
        return _locks.setdefault((root, cache), VaultLock(root, folder))


# A forked child must not wait for a thread that it does not have.
os.register_at_fork(after_in_child=_locks.clear)
