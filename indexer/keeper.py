"""Keeping the index of a long-lived process up to date in the background.

One thread builds the index, then waits for hints of the watcher, gathers a burst of them until
it is quiet or a ceiling is reached, and brings the notes in. It looks at everything now and then
all the same, since events get lost on network shares and in overflowing queues.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time

from ..vault.errors import VaultEmptied, ZibaldoneError
from .index import Index
from .segments import DamagedIndex
from .sync import BULK
from .watcher import Watcher

log = logging.getLogger(__name__)

QUIET = 0.15
CEILING = 0.75
"""Seconds without a hint after which a burst is over, and for which it is gathered at most."""

FULL_LOOK = 10.0
"""Seconds between two full looks at the files' sizes and times (40 ms for 10,000 notes)."""

PAUSE = 1.0
"""Seconds after a failure until the next attempt."""


class Keeper:
    """The background thread and the watcher of one index."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._watcher = Watcher(index.layout, self._hint)
        self._native = index.layout.settings.watch != "off"
        self._thread = threading.Thread(target=self._run, name="zibaldone-keeper", daemon=True)
        self._wake, self._stop, self._look = threading.Event(), threading.Event(), threading.Event()
        self._last_hint = self._last_look = self._next_start = 0.0
        self._told: set[str] = set()

    def start(self) -> None:
        """Start in the background; returns at once."""
        self._index.watched = self._native
        self._look.set()
        self._thread.start()

    def stop(self) -> None:
        """Stop watching and wait for the thread, at most a few seconds."""
        self._stop.set()
        self._wake.set()
        self._thread.join(5)
        self._watcher.stop()

    def _hint(self, path: str | None) -> None:
        if path is None:
            self._look.set()
        else:
            self._index.mark((path,))
        self._last_hint = time.monotonic()
        self._wake.set()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._turn()
            except (DamagedIndex, sqlite3.DatabaseError) as damage:
                self._mend(damage)
            except VaultEmptied as emptied:
                self._index.ready.set()  # What a question is answered with now.
                self._retry(emptied)
            except (ZibaldoneError, OSError) as failure:
                self._retry(failure)
            except Exception:  # The edge of a thread: without it the index would stand still.
                log.exception("Keeping the index failed")
                self._pause()

    def _mend(self, damage: Exception) -> None:
        try:
            self._index.repair(damage)
        except sqlite3.OperationalError as locked:
            self._retry(locked)
        else:
            self._look.set()
            self._stop.wait(PAUSE / 10)  # A full disk damages each new index as well.

    def _retry(self, failure: Exception) -> None:
        self._tell(f"Looking at the vault failed: {failure}")
        self._pause()

    def _tell(self, problem: str) -> None:
        """Log a problem once, however long it lasts."""
        if problem not in self._told:
            log.warning(problem)
            self._told.add(problem)

    def _pause(self) -> None:
        """Wait, then look at everything, for the hints of the failed turn are used up."""
        self._look.set()
        self._stop.wait(PAUSE)

    def _turn(self) -> None:
        deaf = self._native and not self._listen()
        if self._look_due():
            self._look.clear()
            self._last_look = time.monotonic()
            self._index.look()
        else:
            self._index.absorb()
        self._index.tidy()
        if not deaf:
            self._told.clear()
        every = min(FULL_LOOK, self._index.layout.settings.poll_seconds) if deaf else FULL_LOOK
        if not self._wake.wait(max(self._last_look + every - time.monotonic(), 0)):
            self._look.set()
        self._gather()

    def _look_due(self) -> bool:
        return (
            self._look.is_set()
            or not self._index.ready.is_set()
            or self._index.marked() >= BULK
            # However busy single notes are, the events of others may have been lost.
            or time.monotonic() - self._last_look >= FULL_LOOK
        )

    def _listen(self) -> bool:
        """Start the watcher where it does not run. Returns whether it runs."""
        if self._watcher.alive():
            return True
        if time.monotonic() < self._next_start:
            return False
        self._watcher.stop()
        try:
            self._watcher.start()
        except OSError as failure:
            self._tell(f"The vault is not watched but looked at now and then: {failure}")
            self._next_start = time.monotonic() + FULL_LOOK
            return False
        self._look.set()
        return True

    def _gather(self) -> None:
        end = time.monotonic() + CEILING
        while not self._stop.is_set():
            self._wake.clear()
            now = time.monotonic()
            if now >= end or now - self._last_hint >= QUIET:
                return
            time.sleep(0.02)
