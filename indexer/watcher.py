"""Watching a vault for changes: which notes may have changed, told to the keeper.

Events are hints only; what a path is now is read from disk. Everything that an event cannot
tell exactly (folders that come or move, lost events) asks for a full look.
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
    """Turns events into hints."""

    def __init__(self, layout: Layout, hint: Hint) -> None:
        self._layout, self._hint = layout, hint

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Hand on the places that an event names, its kind apart: it may be wrong or late."""
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
    """An observer of one vault, by the events of the system."""

    def __init__(self, layout: Layout, hint: Hint) -> None:
        self._layout, self._hint = layout, hint
        self._observer: BaseObserver | None = None
        self._root: tuple[int, int] | None = None

    def start(self) -> None:
        """Start watching. Raises `OSError` when the system grants no more watches."""
        from watchdog.observers import Observer

        self._root = self._root_now()
        self._observer = Observer()
        handler = _Handler(self._layout, self._hint)
        root = str(self._layout.root)
        self._observer.schedule(handler, root, recursive=True, event_filter=CHANGES)
        self._observer.start()

    def alive(self) -> bool:
        """Say whether the observer and its emitters run, on the folder that is there now."""
        observer = self._observer
        return (
            observer is not None
            and observer.is_alive()
            and all(emitter.is_alive() for emitter in tuple(observer.emitters))
            # Events of a folder that was unmounted or replaced say nothing of the new one.
            and self._root == self._root_now()
        )

    def _root_now(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self._layout.root)  # noqa: PTH116 - at each question
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def stop(self) -> None:
        """Stop watching; does nothing when it does not run."""
        observer, self._observer = self._observer, None
        if observer is not None:
            observer.stop()
            if observer.is_alive():
                observer.join(2)
