"""Remembering: one observation, appended to the memory note of its category.

The form is checked, what is already known is recognised, and only then is a line written; the
answer says which note, which line, and what is similar. The note's folder is the tool's to
choose: `agent-memory` for the user, `projects/<project>/agent-memory` for a project.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from ..indexer.catalog import Row
from ..indexer.index import Hit
from ..indexer.passages import is_live, today
from ..indexer.sync import is_note
from ..indexer.view import Scope
from ..vault.categories import category_key, check_label, file_name
from ..vault.errors import InvalidArgument, NoteNotFound, NoteUnusable, SecretRefused
from ..vault.frontmatter import set_property
from ..vault.ids import is_id, new_block_id, new_id
from ..vault.layout import conflict_copy
from ..vault.markdown import parse
from ..vault.memory import (
    Observation,
    append_observation,
    canonical,
    new_memory_source,
    normal_form,
    observations,
    stamp_id,
)
from ..vault.note import MAX_BYTES, Note, read_note
from ..vault.paths import NOTE_ENDING
from ..vault.source import Source
from .answers import MemoryType, Remembered, Similar
from .enforced import Guard
from .places import memory_folder, new_note, project_name
from .search import shown
from .secrets import find_secret
from .similarity import compare
from .vault import Vault
from .versions import FIRST_VERSION, with_versions

TAG = re.compile(r"[\w/-]*[^\W\d][\w/-]*")
REFERENCE = re.compile(r"[A-Za-z0-9-]{1,64}(@v[0-9]+)?")
SIMILAR_SHOWN = 5
COMPARED = 10
"""Memories that are compared with a new one; for equal ones, `LOOKED_AT` are looked through."""

LOOKED_AT = 40
RELATED = 0.25
"""The score below which a memory on the same subject is not worth a mention."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An observation on its way into a note: checked words and the fields of its line."""

    text: str
    tags: tuple[str, ...]
    fields: Mapping[str, str]
    summary: str | None
    form: str

    @property
    def tagged(self) -> str:
        """The words with all tags, as they are going to be written."""
        return " ".join([self.text, *(f"#{tag}" for tag in self.tags)])

    @property
    def type(self) -> str:
        """The type of memory."""
        return self.fields.get("type", "semantic")

    def is_told_by(self, known: str) -> bool:
        """Whether another text says this already: the same words, and all tags in them."""
        if normal_form(known) != self.form:
            return False
        return set(parse(self.text).tags) <= set(parse(known).tags)


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
    text = canonical(observation)
    refuse_secrets(text, summary or "", *tags)
    return Candidate(
        text=text,
        tags=tuple(map(checked_tag, tags)),
        fields={key: value for key, value in fields.items() if value},
        summary=_checked_summary(summary) if summary else None,
        form=normal_form(text),
    )


def refuse_secrets(*texts: str) -> None:
    """Raise `SecretRefused` when one of these texts holds a secret."""
    for text in texts:
        kind = find_secret(text)
        if kind:
            raise SecretRefused(kind)


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


# Looking before writing


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory, the user's or a project's, and what its notes hold that is like a candidate.

    `label` and `path` are those of the category; `ids` tells the ids of notes by their paths,
    `doubles` the notes of other categories that seem to hold the candidate already.
    """

    folder: str
    label: str
    path: str
    similar: tuple[Similar, ...]
    doubles: tuple[str, ...]
    ids: Mapping[str, str] = field(repr=False)

    @property
    def key(self) -> str:
        """What the category has in common with its other spellings."""
        return category_key(self.label)


def _look(vault: Vault, project: str | None, category: str, candidate: Candidate) -> Memory:
    scope = Scope(project=project, note_class="agent-memory")
    rows = [row for row in vault.index.rows(scope) if (row.project or None) == project]
    rows = [row for row in rows if not row.conflict_copy and not row.kind]
    label = check_label(category, [row.category for row in rows if not row.muted])
    guard = Guard(vault)
    guard.refuse_text(candidate.tagged, category=label, project=project, type=candidate.type)
    key = category_key(label)
    note = next((row for row in rows if category_key(row.category) == key), None)
    folder = memory_folder(vault.layout, project)
    path = note.path if note else f"{folder}/{file_name(label)}"
    hits = [hit for hit in _near(vault, scope, rows, candidate) if guard.admits(hit)]
    doubles = (hit.row.path for hit in hits if candidate.is_told_by(shown(hit)))
    return Memory(
        folder=folder,
        label=note.category if note else label,
        path=path,
        similar=_similar(vault, candidate, hits),
        doubles=tuple(dict.fromkeys(one for one in doubles if one != path)),
        ids={row.path: row.id for row in rows},
    )


def _near(vault: Vault, scope: Scope, rows: Sequence[Row], candidate: Candidate) -> list[Hit]:
    """The observations of a memory that share words with a candidate, the closest first."""
    found = vault.index.find(candidate.text, scope, LOOKED_AT)
    hits: Iterable[Hit] = found.hits
    if found.hint is not None:  # There is no word in it to look for, so that all have to be seen.
        hits = (hit for row in rows for hit in vault.index.parts(row))
    paths = {row.path for row in rows}
    return [
        hit for hit in hits if hit.passage and hit.passage.is_observation and hit.row.path in paths
    ]


def _similar(vault: Vault, candidate: Candidate, hits: Sequence[Hit]) -> tuple[Similar, ...]:
    found = []
    for hit in hits[:COMPARED]:
        text = shown(hit)
        verdict = compare(candidate.text, text, vault.index.idf)
        if verdict.kind == "unrelated" or (verdict.kind == "related" and verdict.score < RELATED):
            continue
        found.append(
            Similar(
                note_id=hit.row.id,
                observation_id=(hit.passage.observation or None) if hit.passage else None,
                path=hit.row.path,
                text=text,
                score=round(verdict.score, 3),
                kind=verdict.kind,
                muted=True if hit.row.muted else None,
            )
        )
    # A contradiction scores low by its nature, and matters more than what is merely related.
    found.sort(key=lambda item: (item.kind == "related", -item.score))
    return tuple(found[:SIMILAR_SHOWN])


# Writing


@dataclass(frozen=True, slots=True)
class Written:
    """A note as it is on disk now."""

    path: str
    note_id: str
    token: str


def _remember(vault: Vault, project: str | None, category: str, candidate: Candidate) -> Remembered:
    memory = vault.index.ask(lambda: _look(vault, project, category, candidate))
    with vault.store.transaction(memory.path):
        answer = _told_elsewhere(vault, memory, candidate) or _write(vault, memory, candidate)
    vault.index.touched((answer.path,))
    return with_versions(vault, [answer])[0] if answer.outcome == "skipped" else answer


def _told_elsewhere(vault: Vault, memory: Memory, candidate: Candidate) -> Remembered | None:
    """Name the line of another category that says the same, if it still does."""
    for path in memory.doubles:
        try:
            note = read_note(vault.layout, path)
        except NoteNotFound:
            continue
        double = _double(observations(note), candidate)
        if double is not None:
            return _skip(vault, replace(memory, label=note.category), note, double)
    return None


def _write(vault: Vault, memory: Memory, candidate: Candidate) -> Remembered:
    """Append to the note as it is now; the vault's lock is held."""
    path, note = _target(vault, memory)
    if note is None:
        return _create(vault, memory, path, candidate)
    kept = observations(note)
    double = _double(kept, candidate)
    if double is not None:
        return _skip(vault, memory, note, double)
    block = new_block_id({item.id for item in kept})
    with _naming(path):
        source = append_observation(
            _stamped(memory, note),
            candidate.text,
            id=block,
            tags=candidate.tags,
            fields=candidate.fields,
            structure=note.structure,
        )
        summarised = candidate.summary is not None and candidate.summary != note.summary
        if summarised:
            source = set_property(source, "summary", candidate.summary or "")
    data = source.data
    if len(data) > MAX_BYTES:
        raise NoteUnusable(path, f"it would be larger than {MAX_BYTES // 1024 // 1024} MB")
    note_id = _id_of(memory, note)
    act = vault.act("append", note_id, block)
    token = vault.store.write(path, data, expected=note.source.token, act=act)
    written = Written(path, note_id, token)
    return _answer(memory, written, "appended", block, summarised=summarised)


def _create(vault: Vault, memory: Memory, path: str, candidate: Candidate) -> Remembered:
    block, note_id = new_block_id(()), new_id()
    with _naming(path):
        source = append_observation(
            new_memory_source(memory.label, candidate.summary or "", note_id),
            candidate.text,
            id=block,
            tags=candidate.tags,
            fields=candidate.fields,
        )
    act = vault.act("create", note_id, block)
    token = vault.store.write(path, source.data, expected=None, act=act)
    written = Written(path, note_id, token)
    return _answer(memory, written, "created", block, summarised=candidate.summary is not None)


def _target(vault: Vault, memory: Memory) -> tuple[str, Note | None]:
    """The category's note, else the path of a new one.

    Another process may have made it meanwhile, under another spelling of its label; and the
    file that a new one would take may be that of another category.
    """
    path = new_note(vault.layout, memory.path, "agent-memory")
    note = _present(vault, path)
    if note is not None and category_key(note.category) == memory.key:
        return path, note
    for path in _notes_in(vault, memory.folder):
        other = read_note(vault.layout, path)
        if category_key(other.category) == memory.key and _present(vault, path):
            return path, other
    stem = file_name(memory.label).removesuffix(NOTE_ENDING)
    path, number = new_note(vault.layout, f"{memory.folder}/{stem}{NOTE_ENDING}", "agent-memory"), 2
    while (vault.layout.root / path).exists():
        name = f"{memory.folder}/{stem}-{number}.md"
        path, number = new_note(vault.layout, name, "agent-memory"), number + 1
    return path, None


def _notes_in(vault: Vault, folder: str) -> Iterator[str]:
    there = vault.layout.root / folder
    names = sorted(entry.name for entry in there.iterdir()) if there.is_dir() else []
    for name in names:
        path = f"{folder}/{name}"
        if is_note(vault.layout, path) and not conflict_copy(path) and (there / name).is_file():
            yield path


def _present(vault: Vault, path: str) -> Note | None:
    try:
        note = read_note(vault.layout, path)
    except NoteNotFound:
        return None
    if note.problem is not None and note.problem.kind != "encoding":
        raise NoteUnusable(path, note.problem.detail)
    return note


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """Put the note's path into a failure of code that knows only its text."""
    try:
        yield
    except NoteUnusable as failure:
        raise replace(failure, path=failure.path or path) from failure


def _id_of(memory: Memory, note: Note) -> str:
    """The id by which a note is known; it survives a rename that the indexer has seen."""
    known = memory.ids.get(note.path, "")
    return note.id if note.has_own_id or not is_id(known) else known


def _stamped(memory: Memory, note: Note) -> Source:
    """Give a note that the owner began by hand an id of its own."""
    if note.has_own_id:
        return note.source
    return set_property(note.source, "id", _id_of(memory, note))


def _double(kept: Iterable[Observation], candidate: Candidate) -> Observation | None:
    """The line that says the same. One that is hidden neither blocks nor is named."""
    day = today()
    live = (item for item in kept if is_live(item, day))
    return next((item for item in live if candidate.is_told_by(item.text)), None)


def _skip(vault: Vault, memory: Memory, note: Note, double: Observation) -> Remembered:
    """Name the line that is there; one that the owner added by hand gets its id now."""
    note_id = _id_of(memory, note)
    block, token = double.id, note.source.token
    if not block:
        block = new_block_id({item.id for item in observations(note)})
        with _naming(note.path):
            source = stamp_id(note.source, double, block)
        act = vault.act("edit", note_id)
        token = vault.store.write(note.path, source.data, expected=token, act=act)
    written = Written(note.path, note_id, token)
    return _answer(memory, written, "skipped", block)


def _answer(
    memory: Memory,
    written: Written,
    outcome: Literal["created", "appended", "skipped"],
    block: str,
    *,
    summarised: bool = False,
) -> Remembered:
    return Remembered(
        outcome=outcome,
        note_id=written.note_id,
        observation_id=block,
        version=FIRST_VERSION,
        version_token=written.token,
        path=written.path,
        category=memory.label,
        summary_updated=summarised,
        similar=memory.similar,
    )
