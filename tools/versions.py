"""The version of each observation that an answer shows, as the journal tells it.

What an owner has changed in an editor since is entered into the journal first, so that it counts.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final, TypeVar

from ..vault.errors import StorageFailure
from .answers import Passage, Similar, Source
from .vault import Vault

FIRST_VERSION: Final = 1
"""The version of an observation that nobody has replaced yet."""

_Shown = TypeVar("_Shown", Passage, Source, Similar)
_log = logging.getLogger(__name__)


def versions(
    vault: Vault, path: str, note_id: str, observations: Iterable[str]
) -> Mapping[str, int]:
    """The versions of observations of one note, by their ids; at least 1."""
    return _versions(vault, {(path, note_id, each) for each in observations}).get(note_id, {})


def with_versions(vault: Vault, shown: Iterable[_Shown]) -> tuple[_Shown, ...]:
    """The parts of an answer with the versions of the observations in them."""
    parts = tuple(shown)
    found = _versions(
        vault,
        {(each.path, each.note_id, each.observation_id) for each in parts if each.observation_id},
    )
    return tuple(_with(each, found.get(each.note_id, {})) for each in parts)


def _with(part: _Shown, found: Mapping[str, int]) -> _Shown:
    version = found.get(part.observation_id or "", FIRST_VERSION)
    return part if version == part.version else replace(part, version=version)


def _versions(
    vault: Vault, shown: Collection[tuple[str, str, str]]
) -> Mapping[str, Mapping[str, int]]:
    """By note and observation. Without a journal that can be used all are first versions."""
    found: dict[str, dict[str, int]] = {}
    if not shown:
        return found
    try:
        vault.store.settle(sorted({(path, note) for path, note, _ in shown}))
        wanted: dict[str, set[str]] = {}
        for _, note, observation in shown:
            wanted.setdefault(note, set()).add(observation)
        for note, ids in wanted.items():
            known = vault.store.ledger.versions(note, ids)
            found[note] = {each: max(known[each], FIRST_VERSION) for each in ids}
    except StorageFailure as failure:
        _log.warning("Versions are not told: %s", failure)
    return found
