"""What becomes of an observation: its next version, and its leaving.

The note holds what is true now. What it held before stands in the journal, from which the owner
can bring it back.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

from ..indexer.catalog import Row
from ..vault.errors import InvalidArgument, NoteAmbiguous, NoteNotFound, naming
from ..vault.memory import (
    Observation,
    canonical,
    find_observation,
    remove_observation,
    replace_observation,
)
from ..vault.note import Note, check_size, parse_note, read_note
from ..vault.revision import Op
from ..vault.source import Source
from .answers import Forgotten, Updated
from .derivation import STALE, mark_stale
from .diff import word_diff
from .enforcement import Guard
from .hidden import is_hidden
from .kinds import refuse_agents
from .marks import refuse_marks
from .refs import resolve, rows_with
from .secrets import refuse_secrets
from .vault import Vault
from .versions import FIRST_VERSION, versions

REASON_LENGTH = 500


@dataclass(frozen=True, slots=True)
class Place:
    """Where an observation is: the row of its note, its id, and the version that was cited."""

    row: Row
    observation: str
    cited: int | None = None


def update_memory(vault: Vault, ref: str, observation: str, reason: str | None = None) -> Updated:
    """Put new words in the place of an observation; it keeps its id and gets the next version.

    `ref` is its id, `note#^id`, or a citation `id@v2`, which is refused when that is no longer
    its version. Fields such as `expires` stay; the words count as the caller's from now on.
    Raises `NoteNotFound`, `NoteAmbiguous`, `ObservationRefused`, `SecretRefused`,
    `InvalidArgument`, `NoteUnusable` and the storage failures; the note is as it was then.
    """
    text, why = canonical(observation), _checked_reason(reason)
    refuse_secrets(text)
    place, rows, guard = vault.index.ask(
        lambda: (locate(vault, ref), vault.index.derived(), Guard(vault))
    )
    own = vault.caller.origin

    def change(source: Source, item: Observation) -> Source:
        if text == item.text:
            return source
        guard.refuse_text(
            text, category=place.row.category, project=place.row.project, type=item.type
        )
        fields = {key: value for key, value in item.fields.items() if key != "origin"}
        if item.status == STALE and own != "untrusted":
            del fields["status"]  # Who states it anew has looked at what it rests on.
        said = fields if own == "agent" else {**fields, "origin": own}
        return replace_observation(source, dataclasses.replace(item, fields=said), text)

    before, note = _changed(vault, place, "update", why, change)
    mark_stale(vault, rows)
    version = _version(vault, place, note)
    return Updated(
        outcome="unchanged" if before.text == text else "updated",
        note_id=note.known_as(place.row.id),
        observation_id=place.observation,
        version=version,
        receipt=f"{place.observation}@v{version}",
        path=note.path,
        version_token=note.source.token,
        diff=None if before.text == text else word_diff(before.text, text),
    )


def forget(vault: Vault, ref: str, reason: str | None = None) -> Forgotten:
    """Take an observation out of its note, and with that out of every search and recall.

    Only the owner brings it back. `ref` is as in `update_memory`, which raises the same.
    """
    why = _checked_reason(reason)
    place, rows = vault.index.ask(lambda: (locate(vault, ref), vault.index.derived()))
    _, note = _changed(vault, place, "forget", why, remove_observation)
    mark_stale(vault, rows)
    version = _version(vault, place, note)
    return Forgotten(
        outcome="forgotten",
        note_id=note.known_as(place.row.id),
        observation_id=place.observation,
        version=version,
        receipt=f"{place.observation}@v{version}",
        path=note.path,
        version_token=note.source.token,
    )


def _checked_reason(reason: str | None) -> str:
    text = " ".join((reason or "").split())
    if len(text) > REASON_LENGTH:
        raise InvalidArgument("reason", f"it is longer than {REASON_LENGTH} characters")
    refuse_secrets(text)
    return text


def locate(vault: Vault, ref: str) -> Place:
    """Return the observation that `ref` names; inside a question only."""
    name, _, cited = ref.strip().removeprefix("[[").removesuffix("]]").partition("@v")
    # No version has ten digits, and int takes no thousands of them.
    version = int(cited[:10]) if cited.isascii() and cited.isdigit() else None
    if "#" in name:
        found = resolve(vault, name)
        if not found.part.startswith("^"):
            raise InvalidArgument("ref", f"{ref!r} names no observation; one is note#^id")
        return Place(found.row, found.part[1:], version)
    observation = name.removeprefix("^")
    rows = rows_with(vault, observation)
    if len(rows) != 1:
        paths = tuple(f"{row.path}#^{observation}" for row in rows)
        raise NoteAmbiguous(ref, paths) if paths else NoteNotFound(ref)
    return Place(rows[0], observation, version)


def _changed(
    vault: Vault,
    place: Place,
    op: Op,
    reason: str,
    change: Callable[[Source, Observation], Source],
) -> tuple[Observation, Note]:
    """Change the note as it is now; return the observation before and the note after."""
    path = place.row.path
    with vault.store.transaction(path):
        note = read_note(vault.layout, path)
        if note.place.note_class != "agent-memory":
            raise NoteNotFound(f"{path}#^{place.observation}")
        refuse_agents(vault, note.kind)
        item = find_observation(note, place.observation)
        # What is stale may be stated anew by whoever knows its id.
        if item is None or (is_hidden(vault, item) and item.status != STALE):
            raise NoteNotFound(f"{path}#^{place.observation}")
        _refuse_superseded(vault, place, note)
        with naming(path):
            source = change(note.source, item)
            check_size(path, source)
        if source.data != note.source.data:
            refuse_marks(vault, note, parse_note(vault.layout, path, source.data))
            act = vault.act(op, note.known_as(place.row.id), place.observation, reason=reason)
            vault.store.write(path, source.data, expected=note.source.token, act=act)
    vault.index.touched((path,))
    return item, parse_note(vault.layout, path, source.data)


def _refuse_superseded(vault: Vault, place: Place, note: Note) -> None:
    now = _version(vault, place, note)
    if place.cited is not None and place.cited != now:
        raise InvalidArgument("ref", f"version {place.cited} is not the last one, which is {now}")


def _version(vault: Vault, place: Place, note: Note) -> int:
    known = versions(vault, note.path, note.known_as(place.row.id), [place.observation])
    return known.get(place.observation, FIRST_VERSION)
