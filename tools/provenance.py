"""Whose words a passage is, since when, and in which version: what note and journal tell together.

Of an observation the line tells the origin, and the journal since when it says that. A passage
of a document has the origin of whoever wrote words of it, as the journal knows; what it does
not know the owner wrote in an editor.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import get_args

from ..indexer.catalog import Row
from ..indexer.index import Hit
from ..vault.authorship import least
from ..vault.errors import StorageFailure
from ..vault.history import ObservationState
from .answers import MemoryType, Origin
from .vault import Vault
from .versions import last_versions, version_of

_TYPES: tuple[MemoryType, ...] = get_args(MemoryType)
_ORIGINS: tuple[Origin, ...] = get_args(Origin)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where the words of a passage are from; `date` is an ISO 8601 moment in UTC."""

    origin: Origin
    date: str
    version: int


def provenances(vault: Vault, hits: Sequence[Hit], *, inside: bool = False) -> list[Provenance]:
    """Return where the words of each hit are from.

    What an editor has changed is entered into the journal first, but not `inside` a question,
    when nothing may be written. Raises nothing when the journal cannot be used: nothing counts
    as the owner's then that an agent may have written.
    """
    named = {(hit.row.path, hit.row.id, id_of(hit)) for hit in hits if id_of(hit)}
    known = last_versions(vault, named, settle=not inside)
    origins = _written(vault, [hit for hit in hits if not _is_observation(hit)])
    found = []
    for hit in hits:
        state = known.get(hit.row.id, {}).get(id_of(hit))
        origin = origins.get(hit.place) or line_origin(hit)
        found.append(Provenance(origin, _date(hit.row, state), version_of(state)))
    return found


def _written(vault: Vault, hits: Sequence[Hit]) -> dict[tuple[int, int], Origin]:
    """The origins of passages in which somebody else than the owner has written.

    An owner who takes the id out of a note, or gives it one, does not make all in it her own: what
    was told of any note at that path counts too.
    """
    if not hits:
        return {}
    history, known = vault.store.ledger.history, {hit.row.path: {hit.row.id} for hit in hits}
    try:
        vault.history()
        others = history.by_others({hit.row.id for hit in hits}, known)
        if not others:
            return {}
        for path, note in history.once_at(known):
            known[path].add(note)
        authors = {note: vault.store.ledger.authorship(note) for note in others}
    except StorageFailure as failure:
        _log.warning("The journal does not tell whose words documents hold: %s", failure)
        return {hit.place: "agent" for hit in hits}
    return {
        hit.place: least(
            authors[note].origin_of(hit.text) if hit.part else authors[note].weakest
            for note in known[hit.row.path] & others
        )
        for hit in hits
    }


def _date(row: Row, state: ObservationState | None) -> str:
    """When words were written; the journal may have heard of them later than the note's time."""
    changed = date_of(row.mtime_ns)
    return min(f"{state.time[:19]}Z", changed) if state else changed


# An answer tells the date of a note for each of its passages, and measures it before.
@functools.lru_cache(maxsize=1024)
def date_of(mtime_ns: int) -> str:
    """A file time as an ISO 8601 moment in UTC, to the second."""
    return datetime.fromtimestamp(mtime_ns / 1e9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def line_origin(hit: Hit) -> Origin:
    """Whose words a hit is as its line says: the owner's, unless an observation says otherwise."""
    return known_origin(hit.passage.origin if hit.passage else "owner")


def known_origin(origin: str) -> Origin:
    """The origin that a line names. One that is none of ours is nobody's to trust."""
    return next((known for known in _ORIGINS if known == origin), "untrusted")


def known_type(kind: str) -> MemoryType:
    """The type that a line names. One that is none of ours is the default."""
    return next((known for known in _TYPES if known == kind), "semantic")


def type_of(hit: Hit) -> MemoryType | None:
    """The type of an observation; None for other passages."""
    if hit.passage is None or not hit.passage.is_observation:
        return None
    return known_type(hit.passage.type)


def told_type(hit: Hit) -> MemoryType | None:
    """The type as an answer tells it: None for the default."""
    kind = type_of(hit)
    return None if kind == "semantic" else kind


def id_of(hit: Hit) -> str:
    """The id of an observation; empty without one."""
    return hit.passage.observation if hit.passage else ""


def _is_observation(hit: Hit) -> bool:
    return hit.passage is not None and hit.passage.is_observation
