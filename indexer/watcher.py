"""Watching a vault for changes: which notes may have changed, told to the keeper.

Events are hints only; what a path is now is read from disk. Everything that an event cannot
tell exactly (folders that move, lost events) asks for a full look.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import PurePath
from typing import TYPE_CHECKING

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)

from ..vault.layout import Layout
from .sync import is_note

if TYPE_CHECKING:
    from watchdog.observers.api import BaseObserver

Hint = Callable[[str | None], None]
"""Called with a note's relative path, or `None` for "anything may have changed"."""


CHANGES: list[type[FileSystemEvent]] = [
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
]
"""Not the opening and closing of files that are read, of which a search makes dozens."""


class _Handler(FileSystemEventHandler):
    def __init__(self, layout: Layout, hint: Hint) -> None:
        self._layout, self._hint = layout, hint

    def on_any_event(self, event: FileSystemEvent) -> None:
        self._hand_on(os.fsdecode(event.src_path), event.is_directory)
        if event.dest_path:
            self._hand_on(os.fsdecode(event.dest_path), event.is_directory)

    def _hand_on(self, path: str, folder: bool) -> None:
        try:
            relative = PurePath(path).relative_to(self._layout.root).as_posix()
        except ValueError:
            return
        if folder:
            if not self._layout.ignored(relative):
                self._hint(None)
        elif is_note(self._layout, relative):
            self._hint(relative)


class Watcher:
    """One running observer on a vault, native or polling."""

    def __init__(self, layout: Layout, hint: Hint) -> None:
        self._layout, self._hint = layout, hint
        self._observer: BaseObserver | None = None
        self._watched: os.stat_result | None = None

    def start(self) -> None:
        """Start watching. Raises `OSError` when the system grants no more watches."""
        self._observer = self._make()
        handler = _Handler(self._layout, self._hint)
        root = str(self._layout.root)
        self._watched = self._layout.root.stat()
        self._observer.schedule(handler, root, recursive=True, event_filter=CHANGES)
        self._observer.start()

    def _make(self) -> BaseObserver:
        settings = self._layout.settings
        if settings.watch == "polling":
            from watchdog.observers.polling import PollingObserver

            return PollingObserver(timeout=settings.poll_seconds)
        from watchdog.observers import Observer

        return Observer()

    def alive(self) -> bool:
        """Say whether the observer and its emitters still run, and on the folder of now."""
        observer = self._observer
        return (
            observer is not None
            and observer.is_alive()
            and all(emitter.is_alive() for emitter in observer.emitters)
            and self._in_place()
        )

    def _in_place(self) -> bool:
        # A folder that was mounted anew, or put back, is another one under the same name.
        try:
            now = self._layout.root.stat()
        except OSError:
            return False
        return self._watched is not None and os.path.samestat(self._watched, now)

    def stop(self) -> None:
        """Stop watching; does nothing when it does not run."""
        observer, self._observer = self._observer, None
        if observer is None:
            return
        observer.stop()  # One that has died, too: its emitters live on without it.
        if observer.is_alive():
            observer.join(2)
