"""Remembering: one observation, appended to the memory note of its category.

The form is checked, what is already known is recognised, and only then is a line written; the
answer says which note, which line, and what is similar. The note's folder is the tool's to
choose: `agent-memory` for the user, `projects/<project>/agent-memory` for a project.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from ..indexer.view import Scope
from ..vault.categories import category_key, check_label, file_name
from ..vault.errors import InvalidArgument, NoteNotFound, NoteUnusable
from ..vault.frontmatter import set_property
from ..vault.ids import new_block_id, new_id
from ..vault.memory import (
    Observation,
    append_observation,
    canonical,
    new_memory_source,
    normal_form,
    observations,
    stamp_id,
)
from ..vault.note import Note, parse_note, read_note
from ..vault.source import Source
from .answers import MemoryType, Remembered, Similar
from .places import memory_folder, project_name
from .search import FIRST_VERSION, shown
from .similarity import compare
from .vault import Vault

TAG = re.compile(r"[\w/-]*[^\W\d][\w/-]*")
REFERENCE = re.compile(r"[A-Za-z0-9-]{1,64}(@v[0-9]+)?")
SIMILAR_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Candidate:
    """An observation on its way into a note: checked words and the fields of its line."""

    text: str
    tags: tuple[str, ...]
    fields: dict[str, str]
    summary: str | None


def remember_about_user(
    vault: Vault,
    observation: str,
    category: str = "general",
    summary: str | None = None,
    type: MemoryType = "semantic",  # noqa: A002 - the contract's word
    tags: Sequence[str] = (),
    derived_from: Sequence[str] = (),
    expires: str | None = None,
) -> Remembered:
    """Append one fact about the user to the note of its category; the note is made when new.

    A fact that is there already, but for case, blanks and a final full stop, is `skipped`.
    `expires` is a date, YYYY-MM-DD, after which the fact is no longer recalled.
    Raises `ObservationRefused`, `CategoryRefused`, `InvalidArgument`, `NoteUnusable` and the
    storage failures; nothing is written then.
    """
    candidate = _check(vault, observation, summary, type, tags, derived_from, expires)
    return _remember(vault, None, category, candidate)


def remember_about_project(
    vault: Vault,
    project: str,
    observation: str,
    category: str = "general",
    summary: str | None = None,
    type: MemoryType = "semantic",  # noqa: A002 - the contract's word
    tags: Sequence[str] = (),
    derived_from: Sequence[str] = (),
    expires: str | None = None,
) -> Remembered:
    """Append one fact about a project to its note of that category; see `remember_about_user`.

    A project is a folder under `projects/`; a new name makes a new one.
    """
    name = project_name(vault.layout, project)
    candidate = _check(vault, observation, summary, type, tags, derived_from, expires)
    return _remember(vault, name, category, candidate)


# The checks, each on its own


def _check(
    vault: Vault,
    observation: str,
    summary: str | None,
    kind: str,
    tags: Sequence[str],
    derived_from: Sequence[str],
    expires: str | None,
) -> Candidate:
    fields = {
        "type": "" if kind == "semantic" else _checked_type(kind),
        "origin": "" if vault.caller.origin == "agent" else vault.caller.origin,
        "expires": _checked_date(expires) if expires else "",
        "derived_from": ", ".join(map(_checked_reference, derived_from)),
    }
    return Candidate(
        text=canonical(observation),
        tags=tuple(map(checked_tag, tags)),
        fields={key: value for key, value in fields.items() if value},
        summary=_checked_summary(summary) if summary else None,
    )


def _checked_type(kind: str) -> str:
    known = get_args(MemoryType)
    if kind not in known:
        raise InvalidArgument("type", f"{kind!r} is not one of {', '.join(known)}")
    return kind


def _checked_date(text: str) -> str:
    try:
        return dt.date.fromisoformat(text).isoformat()
    except ValueError as problem:
        raise InvalidArgument("expires", f"{text!r} is not a date like 2027-01-31") from problem


def _checked_reference(text: str) -> str:
    if not REFERENCE.fullmatch(text):
        raise InvalidArgument("derived_from", f"{text!r} is not the id of an observation")
    return text


def checked_tag(text: str) -> str:
    """Return a tag without its `#`. Raises `InvalidArgument` when it is none."""
    tag = text.removeprefix("#")
    if not TAG.fullmatch(tag) or len(tag) > 100:
        raise InvalidArgument("tags", f"{text!r} is not a tag: letters, digits, _ - / only")
    return tag


def _checked_summary(text: str) -> str:
    summary = " ".join(text.split())
    if len(summary) > 500:
        raise InvalidArgument("summary", "it is longer than 500 characters")
    return summary


# Writing


@dataclass(frozen=True, slots=True)
class Found:
    """What the search before the write tells: where to write, and what is known already."""

    label: str
    path: str
    similar: tuple[Similar, ...]

    @property
    def elsewhere(self) -> Similar | None:
        """The same fact under another category of the same memory."""
        others = (item for item in self.similar if item.kind == "same" and item.path != self.path)
        return next((item for item in others if item.observation_id), None)


def _remember(vault: Vault, project: str | None, category: str, candidate: Candidate) -> Remembered:
    found = vault.index.ask(lambda: _look(vault, project, category, candidate))
    if found.elsewhere is not None:
        with contextlib.suppress(NoteNotFound):
            return _known(vault, found, found.elsewhere)
    with vault.store.transaction(found.path):
        answer = _write(vault, found, candidate)
    vault.index.touched((found.path,))
    return answer


def _look(vault: Vault, project: str | None, category: str, candidate: Candidate) -> Found:
    scope = Scope(project=project, note_class="agent-memory")
    notes = [row for row in vault.index.rows(scope) if (row.project or None) == project]
    label = check_label(category, tuple(dict.fromkeys(row.category for row in notes)))
    key = category_key(label)
    path = f"{memory_folder(vault.layout, project)}/{file_name(label)}"
    for row in notes:
        if category_key(row.category) == key and not row.conflict_copy:
            label, path = row.category, row.path
            break
    return Found(label, path, _similar(vault, scope, project, candidate))


def _similar(
    vault: Vault, scope: Scope, project: str | None, candidate: Candidate
) -> tuple[Similar, ...]:
    found = []
    for hit in vault.index.find(candidate.text, scope, 10).hits:
        passage = hit.passage
        if passage is None or not passage.is_observation or (hit.row.project or None) != project:
            continue
        text = shown(hit)
        verdict = compare(candidate.text, text, vault.index.idf)
        if verdict.kind != "unrelated":
            found.append(
                Similar(
                    note_id=hit.row.id,
                    observation_id=passage.observation or None,
                    path=hit.row.path,
                    text=text,
                    score=round(verdict.score, 3),
                    kind=verdict.kind,
                )
            )
    found.sort(key=lambda item: -item.score)
    return tuple(found[:SIMILAR_SHOWN])


def _known(vault: Vault, found: Found, known: Similar) -> Remembered:
    note = read_note(vault.layout, known.path)
    return Remembered(
        outcome="skipped",
        note_id=known.note_id,
        observation_id=known.observation_id or "",
        version=FIRST_VERSION,
        version_token=note.source.token,
        path=known.path,
        category=note.category,
        summary_updated=False,
        similar=found.similar,
    )


def _write(vault: Vault, found: Found, candidate: Candidate) -> Remembered:
    """Append to the note as it is now; the vault's lock is held."""
    note = _present(vault, found.path)
    if note is None:
        block = new_block_id(())
        source = new_memory_source(found.label, candidate.summary or "", new_id())
        source = _appended(source, candidate, block)
        token = vault.store.write(found.path, source.data, expected=None)
        note = parse_note(vault.layout, found.path, source.data)
        return _answer(found, note, "created", block, token, candidate.summary is not None)
    kept = observations(note)
    double = next((item for item in kept if _equal(item, candidate)), None)
    if double is not None:
        return _skip(vault, found, note, double)
    block = new_block_id({item.id for item in kept})
    source = _appended(_stamped(note), candidate, block)
    summarised = candidate.summary is not None and candidate.summary != note.summary
    if summarised:
        source = set_property(source, "summary", candidate.summary or "")
    token = vault.store.write(found.path, source.data, expected=note.source.token)
    return _answer(found, note, "appended", block, token, summarised)


def _present(vault: Vault, path: str) -> Note | None:
    try:
        note = read_note(vault.layout, path)
    except NoteNotFound:
        return None
    if note.problem is not None and note.problem.kind != "encoding":
        raise NoteUnusable(path, note.problem.detail)
    return note


def _stamped(note: Note) -> Source:
    """Give a note that the owner began by hand an id of its own."""
    return note.source if note.has_own_id else set_property(note.source, "id", note.id)


def _appended(source: Source, candidate: Candidate, block: str) -> Source:
    return append_observation(
        source, candidate.text, id=block, tags=candidate.tags, fields=candidate.fields
    )


def _equal(known: Observation, candidate: Candidate) -> bool:
    return known.status in ("", "active") and normal_form(known.text) == normal_form(candidate.text)


def _skip(vault: Vault, found: Found, note: Note, double: Observation) -> Remembered:
    """Name the line that is there; one that the owner added by hand gets its id now."""
    if double.id:
        return _answer(found, note, "skipped", double.id, note.source.token, summarised=False)
    block = new_block_id({item.id for item in observations(note)})
    source = stamp_id(note.source, double, block)
    token = vault.store.write(note.path, source.data, expected=note.source.token)
    return _answer(found, note, "skipped", block, token, summarised=False)


def _answer(
    found: Found,
    note: Note,
    outcome: Literal["created", "appended", "skipped"],
    block: str,
    token: str,
    summarised: bool,
) -> Remembered:
    return Remembered(
        outcome=outcome,
        note_id=note.id,
        observation_id=block,
        version=FIRST_VERSION,
        version_token=token,
        path=note.path,
        category=found.label,
        summary_updated=summarised,
        similar=found.similar,
    )
