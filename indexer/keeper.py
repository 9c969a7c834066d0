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

from ..vault.errors import ZibaldoneError
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


class Keeper:
    """The background thread and the watcher of one index."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._watcher = Watcher(index.layout, self._hint)
        self._native = index.layout.settings.watch != "off"
        self._thread = threading.Thread(target=self._run, name="zibaldone-keeper", daemon=True)
        self._wake, self._stop, self._look = threading.Event(), threading.Event(), threading.Event()
        self._last_hint = 0.0

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
                # The next question, or the next turn, builds the index anew.
                log.warning("The index is damaged: %s", damage)
                self._index.repair(damage)
                self._look.set()
            except (ZibaldoneError, OSError) as failure:
                log.warning("Looking at the vault failed: %s", failure)
                self._index.ready.set()
                self._stop.wait(1.0)
            except Exception:  # The edge of a thread: without it the index would stand still.
                log.exception("Keeping the index failed")
                self._index.ready.set()
                self._stop.wait(5.0)

    def _turn(self) -> None:
        if self._native and not self._watcher.alive():
            self._watcher.stop()
            self._watcher.start()
            self._look.set()
        if self._look.is_set() or not self._index.ready.is_set():
            self._look.clear()
            self._index.look()
        elif self._index.marked() >= BULK:
            self._index.look()
        else:
            self._index.absorb()
        self._index.tidy()
        if not self._wake.wait(FULL_LOOK):
            self._look.set()
        self._gather()

    def _gather(self) -> None:
        end = time.monotonic() + CEILING
        while not self._stop.is_set():
            self._wake.clear()
            now = time.monotonic()
            if now >= end or now - self._last_hint >= QUIET:
                return
            time.sleep(0.02)
