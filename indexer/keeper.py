"""Keeping the index of a long-lived process up to date in the background.

One thread builds the index, then waits for hints of the watcher, gathers a burst of them until
it is quiet or a ceiling is reached, and brings the notes in. It looks at everything now and then
all the same, since events get lost on network shares and in overflowing queues.
"""

from __future__ import annotations

import logging
import threading
import time

from ..vault.errors import ZibaldoneError
from .index import BULK, Index
from .watcher import Watcher

log = logging.getLogger(__name__)

QUIET = 0.15
CEILING = 0.75
"""Seconds without a hint after which a burst is over, and for which it is gathered at most."""

FULL_LOOK = 10.0
"""Seconds between two full looks at the files' sizes and times, which take 40 ms for 10,000."""

LOOK_SHARE, POLL_SHARE = 100, 4
"""Full looks take one part of so many of the time at most, besides a watcher and without."""

BEHIND_LOOK = 1.0
"""Seconds to the next full look while another process builds, or a watcher is settling."""

SETTLING = 3.0
"""Seconds in which a watcher that was just started may miss changes: its watches are added one by
one, and nothing tells when the last of them is there."""

PAUSE = 1.0
"""Seconds after a failure."""


class Keeper:
    """The background thread and the watcher of one index."""

    def __init__(self, index: Index) -> None:
        settings = index.layout.settings
        self._index, self._mode, self._poll_seconds = index, settings.watch, settings.poll_seconds
        self._watcher = Watcher(index.layout, self._hint)
        self._thread = threading.Thread(target=self._run, name="zibaldone-keeper", daemon=True)
        self._stop, self._wake, self._look = threading.Event(), threading.Event(), threading.Event()
        self._last_hint = self._last_look = self._next_start = self._settled = 0.0
        self._looked = False
        self._told: set[str] = set()

    def start(self) -> None:
        """Start in the background; returns at once."""
        self._index.keeper = self
        self._look.set()
        self._thread.start()

    def stop(self) -> None:
        """Stop watching and wait for the thread, at most a few seconds."""
        self._stop.set()
        self._wake.set()
        self._index.interrupt()
        self._thread.join(5)
        self._watcher.stop()
        self._index.keeper = None

    def watching(self) -> bool:
        """Say whether all changes since the last full look at the files get marked."""
        if self._mode == "native":
            return self._looked and self._watcher.alive() and self._last_look >= self._settled
        # Polling is the owner's choice: questions rely on the last look, as it asks for.
        return self._looked and self._mode == "polling"

    def wake(self) -> None:
        """Ask for a full look soon."""
        self._look.set()
        self._wake.set()

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
            except (ZibaldoneError, OSError) as failure:
                self._tell(f"Looking at the vault failed: {failure}")
                self._pause()
            except Exception:  # The edge of a thread: without it the index would stand still.
                log.exception("Keeping the index failed")
                self._pause()

    def _tell(self, problem: str) -> None:
        """Log a problem once, however long it lasts."""
        if problem not in self._told:
            log.warning(problem)
            self._told.add(problem)

    def _pause(self) -> None:
        """Wait, then look at everything; questions look themselves until then."""
        self._looked = False
        self._look.set()
        self._stop.wait(PAUSE)

    def _turn(self) -> None:
        deaf = self._mode == "native" and not self._listen()
        if self._look_due():
            self._look.clear()
            self._last_look = time.monotonic()
            self._index.look(build=True)
            self._looked = True
        else:
            self._index.absorb()
        self._index.tidy()
        if not deaf:
            self._told.clear()
        self._wake.wait(max(0.0, self._last_look + self._interval(deaf) - time.monotonic()))
        self._gather()

    def _look_due(self) -> bool:
        # However busy single notes are, the events of others may have been lost.
        late = time.monotonic() - self._last_look >= self._interval(deaf=not self.watching())
        return late or self._look.is_set() or self._index.marked() >= BULK

    def _interval(self, deaf: bool) -> float:
        """Seconds between two full looks."""
        took = self._index.look_seconds
        if self._index.is_behind() or self._last_look < self._settled:
            return max(BEHIND_LOOK, POLL_SHARE * took)
        if deaf or self._mode == "polling":
            return max(min(self._poll_seconds, FULL_LOOK), POLL_SHARE * took)
        return max(FULL_LOOK, LOOK_SHARE * took)

    def _listen(self) -> bool:
        """Start the watcher where it does not run. Returns whether it runs."""
        if self._watcher.alive():
            return True
        self._looked = False
        if time.monotonic() < self._next_start:
            return False
        self._watcher.stop()
        try:
            self._watcher.start()
        except OSError as failure:
            self._tell(f"The vault is not watched but looked at now and then: {failure}")
            self._next_start = time.monotonic() + FULL_LOOK
            return False
        self._settled = time.monotonic() + SETTLING
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
