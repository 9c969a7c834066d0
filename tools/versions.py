"""The version of each observation that an answer shows, as the journal tells it.

What an owner has changed in an editor since is entered into the journal first, so that it counts.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final

from ..vault.errors import StorageFailure
from ..vault.history import ObservationState
from .answers import Similar
from .vault import Vault

FIRST_VERSION: Final = 1
"""The version of an observation that nobody has replaced yet."""

LastVersions = Mapping[str, Mapping[str, ObservationState | None]]
"""The last versions of observations, by the ids of their notes and their own."""

_log = logging.getLogger(__name__)


def versions(
    vault: Vault, path: str, note_id: str, observations: Iterable[str]
) -> Mapping[str, int]:
    """The versions of observations of one note, by their ids; at least 1."""
    wanted = set(observations)
    found = last_versions(vault, {(path, note_id, each) for each in wanted}).get(note_id, {})
    return {each: version_of(found.get(each)) for each in wanted}


def with_versions(vault: Vault, shown: Iterable[Similar]) -> tuple[Similar, ...]:
    """Memories with their versions."""
    parts = tuple(shown)
    found = last_versions(
        vault,
        {(each.path, each.note_id, each.observation_id) for each in parts if each.observation_id},
    )
    states = (found.get(each.note_id, {}).get(each.observation_id or "") for each in parts)
    return tuple(
        replace(each, version=version_of(state)) for each, state in zip(parts, states, strict=True)
    )


def version_of(state: ObservationState | None) -> int:
    """The version that a state stands for; 1 for what the journal does not know."""
    return max(state.version, FIRST_VERSION) if state else FIRST_VERSION


def last_versions(
    vault: Vault, shown: Collection[tuple[str, str, str]], *, settle: bool = True
) -> LastVersions:
    """Look up observations, each told by the path and the id of its note, and its own id.

    Unless `settle`, nothing is entered into the journal before. Without a journal that can be
    used, none is known.
    """
    if not shown:
        return {}
    wanted: dict[str, set[str]] = {}
    for _, note, observation in shown:
        wanted.setdefault(note, set()).add(observation)
    try:
        if settle:
            vault.store.settle(sorted({(path, note) for path, note, _ in shown}))
        ledger = vault.store.ledger
        return {note: ledger.last_versions(note, ids) for note, ids in wanted.items()}
    except StorageFailure as failure:
        _log.warning("Versions are not told: %s", failure)
        return {}
