"""The fourth check of a write: which memories say the same already, or nearly, or the opposite.

Only one memory is looked through, the user's or that of a project. What is hidden in it (expired,
unreviewed, out of date) is neither compared nor named.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...indexer.catalog import Row
from ...indexer.index import Hit
from ...indexer.view import Scope
from ...vault.categories import category_key, check_label, file_name
from ...vault.errors import CategoryRefused, NoteNotFound, PathRefused
from ...vault.memory import observations
from ...vault.note import read_note
from ..answers import Similar
from ..enforcement import Guard
from ..places import memory_folder
from ..provenance import line_origin
from ..search import shown
from ..vault import Vault
from ..versions import FIRST_VERSION, with_versions
from .echo import Heard, heard, told_again, told_within
from .form import Candidate
from .lexicon import other_words
from .similarity import compare

SIMILAR_SHOWN = 5
COMPARED, MORE_COMPARED = 10, 5
"""Memories that are compared with a new one: those that share its words, and those that say it in
others. For equal ones, `LOOKED_AT` are looked through."""

LOOKED_AT = 40
RELATED = 0.25
"""The score below which a memory on the same subject is not worth a mention."""

FALLBACK = "general"
"""The category of what waits for review and names one that is not there: no text of a client that
is not trusted becomes the name of a note."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory, the user's or a project's, and what its notes hold that is like a candidate.

    `label` and `path` are those of the category; `ids` tells the ids of notes by their paths,
    `doubles` the notes of other categories that seem to hold the candidate already; `echoed` are
    the memories of which the candidate consists wholly. `token` is the version of the category's
    note that was looked through, "" without one.
    """

    folder: str
    label: str
    path: str
    similar: tuple[Similar, ...]
    doubles: tuple[str, ...]
    echoed: tuple[Similar, ...]
    token: str
    ids: Mapping[str, str] = field(repr=False)

    @property
    def key(self) -> str:
        """What the category has in common with its other spellings."""
        return category_key(self.label)

    @property
    def pressing(self) -> tuple[Similar, ...]:
        """What a caller should judge before it writes: all but what is merely related."""
        return tuple(one for one in self.similar if one.kind != "related")


def look(vault: Vault, project: str | None, category: str, candidate: Candidate) -> Memory:
    """Look through a memory. Raises `CategoryRefused`, and what the index raises."""
    told = heard(candidate.text)
    places = _cited_places(vault, told) if told.cited else {}
    memory = vault.index.ask(lambda: _look(vault, project, category, candidate, told, places))
    similar = with_versions(vault, (*memory.similar, *memory.echoed))
    count = len(memory.similar)
    return replace(memory, similar=similar[:count], echoed=similar[count:])


def _cited_places(vault: Vault, told: Heard) -> Mapping[str, str]:
    """The paths of the notes with the observations that a text cites, by their ids."""
    history = vault.history()
    found = {each: history.observation(each) for each in told.cited}
    return {each: state.path for each, state in found.items() if state}


def _look(
    vault: Vault,
    project: str | None,
    category: str,
    candidate: Candidate,
    told: Heard,
    places: Mapping[str, str],
) -> Memory:
    scope = Scope(project=project, note_class="agent-memory")
    rows = [row for row in vault.index.rows(scope) if (row.project or None) == project]
    rows = [row for row in rows if not row.conflict_copy and not row.kind]
    guard = Guard(vault)
    try:
        label = check_label(category, [row.category for row in rows if not row.muted])
    except CategoryRefused as refused:
        raise replace(refused, known=_told(vault, guard, rows)) from None
    guard.refuse_text(candidate.words, category=label, project=project, type=candidate.type)
    folder = memory_folder(vault.layout, project)
    note = _note_of(rows, label)
    if candidate.pending and note is None:
        _refuse_new_project(vault, project)
        label, note = FALLBACK, _note_of(rows, FALLBACK)
    path = note.path if note else f"{folder}/{file_name(label)}"
    hits = [hit for hit in _near(vault, scope, rows, candidate) if guard.admits(hit)]
    doubles = (hit.row.path for hit in hits if candidate.is_told_by(shown(hit)))
    similar = _similar(vault, candidate, hits)
    echoed: tuple[Similar, ...] = ()
    if told.may_echo:
        names = set(map(_name, hits))
        cited = (hit for hit in _cited(vault, rows, places) if _name(hit) not in names)
        hits += [hit for hit in cited if guard.admits(hit)]
        similar, echoed = _with_echoes(vault, candidate, told, hits, similar)
    return Memory(
        folder=folder,
        label=note.category if note else label,
        path=path,
        similar=similar,
        doubles=tuple(dict.fromkeys(one for one in doubles if one != path)),
        echoed=echoed,
        token=note.token if note else "",
        ids={row.path: row.id for row in rows},
    )


def sourced(vault: Vault, memory: Memory, candidate: Candidate) -> Candidate:
    """Return a candidate that is trusted no more than the memories that it tells again.

    Those are the ones that it says in other words, and the ones that it is derived from.
    """
    if "origin" in candidate.fields:
        return candidate
    again = {one.origin for one in memory.similar if one.kind in ("same", "reworded")}
    if "untrusted" not in again and not any(
        _is_untrusted(vault, each) for each in _sources(candidate)
    ):
        return candidate
    return replace(candidate, fields={**candidate.fields, "origin": "untrusted"})


def _sources(candidate: Candidate) -> list[str]:
    cited = candidate.fields.get("derived_from", "").split(",")
    return [each.strip().partition("@")[0] for each in cited if each.strip()]


def _is_untrusted(vault: Vault, observation: str) -> bool:
    state = vault.history().observation(observation)
    try:
        note = read_note(vault.layout, state.path) if state else None
    except NoteNotFound:
        return False
    kept = observations(note) if note else ()
    return any(one.id == observation and one.origin == "untrusted" for one in kept)


def _told(vault: Vault, guard: Guard, rows: Sequence[Row]) -> tuple[str, ...]:
    """The labels of the categories of which something may be recalled."""
    told = (row for row in rows if not row.muted and any(map(guard.admits, vault.index.parts(row))))
    return tuple(row.category for row in told)


def _note_of(rows: Sequence[Row], label: str) -> Row | None:
    key = category_key(label)
    return next((row for row in rows if category_key(row.category) == key), None)


def _refuse_new_project(vault: Vault, project: str | None) -> None:
    """No text of a client that is not trusted becomes the name of a project."""
    if project is not None and project not in vault.index.projects():
        raise PathRefused(project, "what waits for review goes into a project that is there")


def _near(vault: Vault, scope: Scope, rows: Sequence[Row], candidate: Candidate) -> list[Hit]:
    """The observations of a memory that share words with a candidate, the closest first.

    Behind the first `COMPARED` stand those that say some of it in other words.
    """
    paths = {row.path for row in rows}
    found = vault.index.find(candidate.text, scope, LOOKED_AT)
    hits: Iterable[Hit] = found.hits
    if found.hint is not None:  # There is no word in it to look for, so that all have to be seen.
        hits = (hit for row in rows for hit in vault.index.parts(row))
    own = _observations(hits, paths)
    others = other_words(candidate.text)
    more = vault.index.find(others, scope, MORE_COMPARED).hits if others else ()
    first = {_name(hit): hit for hit in (*own[:COMPARED], *_observations(more, paths))}
    return [*first.values(), *(hit for hit in own[COMPARED:] if _name(hit) not in first)]


def _observations(hits: Iterable[Hit], paths: Collection[str]) -> list[Hit]:
    return [
        hit for hit in hits if hit.passage and hit.passage.is_observation and hit.row.path in paths
    ]


def _cited(vault: Vault, rows: Sequence[Row], places: Mapping[str, str]) -> list[Hit]:
    """The observations of a memory that a candidate cites."""
    wanted = set(places.values())
    return [
        hit
        for row in rows
        if row.path in wanted
        for hit in vault.index.parts(row)
        if hit.passage and hit.passage.observation in places
    ]


def _name(hit: Hit) -> str:
    return f"{hit.row.path}/{hit.part}"


def _similar(vault: Vault, candidate: Candidate, hits: Sequence[Hit]) -> tuple[Similar, ...]:
    found = []
    idf = functools.cache(vault.index.idf)
    for hit in hits[: COMPARED + MORE_COMPARED]:
        verdict = compare(candidate.text, shown(hit), idf)
        if verdict.kind == "unrelated" or (verdict.kind == "related" and verdict.score < RELATED):
            continue
        found.append(replace(_as_similar(hit), score=round(verdict.score, 3), kind=verdict.kind))
    return _ordered(found)


def _with_echoes(
    vault: Vault,
    candidate: Candidate,
    told: Heard,
    hits: Sequence[Hit],
    similar: Sequence[Similar],
) -> tuple[tuple[Similar, ...], tuple[Similar, ...]]:
    """What is similar, with what is told again or cited; and what the whole of it consists of."""
    by_name = {_name(hit): hit for hit in hits}
    texts = {name: shown(hit) for name, hit in by_name.items()}
    whole = tuple(_as_similar(by_name[name]) for name in told_again(told, texts))
    within = told_within(told, texts)
    again = [_as_similar(hit) for name, hit in by_name.items() if name in within]
    for name, hit in by_name.items():
        if name not in within and hit.passage and hit.passage.observation in told.cited:
            verdict = compare(candidate.text, shown(hit), vault.index.idf)
            near = replace(_as_similar(hit), score=round(verdict.score, 3), kind="reworded")
            opposed = verdict.kind == "contradicting"
            again.append(replace(near, kind="contradicting") if opposed else near)
    places = {(one.path, one.observation_id, one.text) for one in again}
    rest = [one for one in similar if (one.path, one.observation_id, one.text) not in places]
    return _ordered([*again, *rest]), whole


def _ordered(found: list[Similar]) -> tuple[Similar, ...]:
    # A contradiction scores low by its nature, and matters more than what is merely related.
    found.sort(key=lambda item: (item.kind == "related", -item.score))
    return tuple(found[:SIMILAR_SHOWN])


def _as_similar(hit: Hit) -> Similar:
    return Similar(
        note_id=hit.row.id,
        observation_id=(hit.passage.observation or None) if hit.passage else None,
        path=hit.row.path,
        text=shown(hit),
        score=1.0,
        kind="same",
        version=FIRST_VERSION,
        origin=line_origin(hit),
        muted=True if hit.row.muted else None,
    )
