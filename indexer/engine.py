"""The open files of one vault's index, their locks, and what happens when they are damaged.

An index is a folder in the cache, named for its format and for the settings that it depends on:
programs of two versions keep one each. Damage to segments is mended inside the catalog, in one
transaction that all processes see. A catalog that is damaged itself is dropped with its folder;
processes that have it open notice, and open the new one.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import filelock

from ..vault.errors import LockTimeout, StorageFailed
from ..vault.layout import Layout
from ..vault.store import make_cache
from .catalog import BUSY_SECONDS, Catalog
from .links import Links
from .segments import DamagedIndex, Segment, SegmentStamp, engine_stamp
from .sync import Updater
from .upkeep import Upkeep
from .view import View

log = logging.getLogger(__name__)

FORMAT = 7
"""Version of what the index keeps; raise it when analysis, passages or weights change."""

ATTEMPTS = 4
"""How often something is tried on an index that is found damaged or replaced meanwhile."""

OPENING_SECONDS = 10.0
"""How long one waits for another process that is opening or dropping the index."""

UNUSED_SECONDS = 7 * 86400
"""After so long, the index of another version or of other settings is removed."""

NOTICE = "The index was damaged and has been built anew."

Answer = TypeVar("Answer")

_NO_DAMAGE = {
    sqlite3.SQLITE_AUTH,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_MISUSE,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
}
"""Failures of SQLite that tell of the disk and its rights, not of the file."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What works on one open catalog."""

    catalog: Catalog
    view: View
    links: Links
    updater: Updater
    upkeep: Upkeep

    def close(self) -> None:
        """Close all files."""
        self.view.close()
        self.catalog.close()


class Engine:
    """Opens, mends and closes the index of one vault.

    `lock` is this process's; what works on the parts holds it. `on_open` is called when the
    index was opened, and holds it too. `stop` is set while the index is being closed.
    """

    def __init__(self, layout: Layout, on_open: Callable[[], None]) -> None:
        self.lock = threading.RLock()
        self.stop = threading.Event()
        self.notice = ""
        """What was mended since someone was told last."""
        self._layout, self._on_open = layout, on_open
        self.folder = layout.cache_dir / f"index-{_name(layout)}"
        """Where the files of the index lie."""
        self._parts: Parts | None = None

    def open(self) -> Parts:
        """Return the parts of the index, opened anew if it was replaced."""
        with self.lock:
            if self._parts is None or self._parts.catalog.replaced():
                lost = self._parts is not None
                self.close()
                with self._no_other_opens():
                    self._parts = self._opened(lost)
                self._on_open()
            return self._parts

    def _opened(self, lost: bool) -> Parts:
        make_cache(self._layout, self.folder.name)
        file = self.folder / "catalog.db"
        if not file.exists() and (lost or any(self.folder.glob("segment-*"))):
            self.notice = NOTICE
        try:
            catalog = Catalog(file)
        except sqlite3.DatabaseError as damage:
            self._drop(damage)
            catalog = Catalog(file)
        view = View(catalog, self.folder)
        return Parts(
            catalog,
            view,
            Links(catalog, view),
            Updater(self._layout, catalog, view, self.folder, self.lock, self.stop),
            Upkeep(catalog, view, self.folder, self.lock),
        )

    @property
    def parts(self) -> Parts:
        """The parts as they were opened last: in one question, or one build, always the same."""
        return self._parts or self.open()

    @property
    def is_open(self) -> bool:
        """Whether there are open files."""
        return self._parts is not None

    def close(self) -> None:
        """Close the files; `open` opens them again."""
        with self.lock:
            if self._parts is not None:
                self._parts.close()
                self._parts = None

    @contextlib.contextmanager
    def _no_other_opens(self) -> Iterator[None]:
        """Keep processes from dropping what another is opening: its files would be mixed up."""
        lock = self._file_lock("index.lock", OPENING_SECONDS)
        try:
            lock.acquire()
        except filelock.Timeout as timeout:
            raise LockTimeout(str(self.folder), OPENING_SECONDS) from timeout
        try:
            if not self.folder.exists():
                self._sweep_unused()
            yield
        finally:
            lock.release()

    def build_lock(self, seconds: float) -> filelock.BaseFileLock:
        """Return the lock of those who write or drop segments; below 0 it waits for ever.

        Taking it raises `filelock.Timeout`.
        """
        return self._file_lock("build.lock", seconds)

    def _file_lock(self, name: str, seconds: float) -> filelock.BaseFileLock:
        folder = make_cache(self._layout, "locks")
        return filelock.FileLock(folder / name, timeout=seconds, poll_interval=0.02)

    def _sweep_unused(self) -> None:
        for folder in self._layout.cache_dir.glob("index-*"):
            with contextlib.suppress(OSError):
                used = max(path.stat().st_mtime for path in (folder, *folder.iterdir()))
                if time.time() - used > UNUSED_SECONDS:
                    shutil.rmtree(folder)

    # Damage

    def soundly(self, action: Callable[[], Answer]) -> Answer:
        """Do something with the index; a damaged one is mended, and it is tried again.

        Raises `StorageFailed` when that does not help, or when the cache cannot be used.
        """
        for attempt in range(ATTEMPTS):
            parts = self._parts
            try:
                return action()
            except (DamagedIndex, sqlite3.Error) as damage:
                if attempt == ATTEMPTS - 1:
                    raise self._failure(damage) from damage
                self._mend(parts, damage, thoroughly=attempt == ATTEMPTS - 2)
        raise AssertionError("unreachable")

    def _failure(self, damage: Exception) -> StorageFailed:
        return StorageFailed(str(self.folder), f"the index cannot be used: {damage}")

    def _mend(self, used: Parts | None, damage: Exception, *, thoroughly: bool) -> None:
        """Drop what is damaged, unless another process or thread has done it meanwhile."""
        with self.lock:
            replaced = used is not None and used is not self._parts
            # The second is what a thread meets whose files another has closed: no damage at all.
            if replaced or isinstance(damage, sqlite3.ProgrammingError):
                return
            if self._parts is None or self._parts.catalog.replaced():
                pass
            elif isinstance(damage, sqlite3.Error) or thoroughly:
                self.drop(damage)
            else:
                self._clear_unless_sound(self._parts.catalog, damage)
            self.close()

    def _clear_unless_sound(self, catalog: Catalog, damage: Exception) -> None:
        # While this transaction is open, no segment comes or goes.
        with catalog.writing() as change:
            try:
                for folder, stamp in catalog.segments().values():
                    Segment.open(self.folder / folder, SegmentStamp.parse(stamp)).close()
            except DamagedIndex:
                self._tell(damage)
                catalog.clear(change)

    def drop(self, damage: Exception | None = None) -> None:
        """Remove the files of the index, unless they have been replaced; the notes are untouched.

        Raises `StorageFailed` when it is the disk, its rights or a lock that fails.
        """
        with self.lock, self._no_other_opens():
            if self._parts is not None and not self._parts.catalog.replaced():
                self._drop(damage)
            self.close()

    def drop_others(self) -> None:
        """Remove the indexes of other versions and other settings; whoever uses one builds anew."""
        for folder in self._layout.cache_dir.glob("index-*"):
            if folder != self.folder:
                shutil.rmtree(folder, ignore_errors=True)

    def _drop(self, damage: Exception | None) -> None:
        if isinstance(damage, sqlite3.Error):
            code = getattr(damage, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise LockTimeout(str(self.folder), BUSY_SECONDS) from damage
            if code in _NO_DAMAGE:
                raise self._failure(damage) from damage
        if damage is not None:
            self._tell(damage)
        shutil.rmtree(self.folder, ignore_errors=True)
        make_cache(self._layout, self.folder.name)

    def _tell(self, damage: Exception) -> None:
        log.warning("The index is damaged and is built anew: %s", damage)
        self.notice = NOTICE


def _name(layout: Layout) -> str:
    settings = layout.settings
    stamp = (FORMAT, engine_stamp(), settings.memory_folder, settings.projects_folder)
    return hashlib.blake2b(repr(stamp).encode(), digest_size=5).hexdigest()
