"""What each session has been shown lately: the memories in the answers of search and recall.

Whoever has just seen what is there needs no receipt to judge it. Kept in the memory of the
process only, and for a while; a session that is forgotten here is asked once more.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from .answers import Passage, Source
from .trust import Caller

LATELY = 900.0
"""Seconds for which a session is taken to know what it was shown."""

SESSIONS = 64
MEMORIES = 500

Memory = tuple[str, str, int]
"""The id of a note, that of an observation in it, and its version."""


@dataclass(slots=True)
class _Session:
    looked: float = 0.0
    memories: OrderedDict[Memory, float] = field(default_factory=OrderedDict)


class Shown:
    """Which memories were shown to whom, and when. Threads may share it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._sessions: OrderedDict[tuple[str, str, str], _Session] = OrderedDict()

    def note(self, caller: Caller, parts: Iterable[Passage | Source]) -> None:
        """Note that a caller has looked, and which memories it saw."""
        now = self._clock()
        seen = [
            (each.note_id, each.observation_id, each.version)
            for each in parts
            if each.observation_id
        ]
        with self._lock:
            session = self._sessions.setdefault(_key(caller), _Session())
            self._sessions.move_to_end(_key(caller))
            session.looked = now
            for memory in seen:
                session.memories[memory] = now
                session.memories.move_to_end(memory)
            _shorten(session.memories, MEMORIES)
            _shorten(self._sessions, SESSIONS)

    def has_looked(self, caller: Caller) -> bool:
        """Whether a caller has searched or recalled anything lately."""
        session = self._sessions.get(_key(caller))
        return session is not None and self._clock() - session.looked <= LATELY

    def knows(self, caller: Caller, memories: Iterable[Memory]) -> bool:
        """Whether a caller was shown all of these lately, at these versions."""
        session = self._sessions.get(_key(caller))
        since = self._clock() - LATELY
        seen = session.memories if session else {}
        return all(seen.get(each, since - 1) >= since for each in memories)


def _key(caller: Caller) -> tuple[str, str, str]:
    return caller.agent, caller.instance, caller.session


def _shorten(
    kept: OrderedDict[Memory, float] | OrderedDict[tuple[str, str, str], _Session], most: int
) -> None:
    while len(kept) > most:
        kept.popitem(last=False)
