"""Threads: short-term notes that only their own thread reads, until they expire.

They never reach search, nor the recall of another thread. What in them is worth keeping,
`consolidate` names with its sources, for the agent to remember it in its own words.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace

from ..indexer.analysis import terms
from ..indexer.catalog import Row
from ..indexer.index import Hit
from ..indexer.passages import Passage, today
from ..indexer.view import Scope
from ..vault.errors import InvalidArgument, NoteNotFound, naming
from ..vault.frontmatter import set_property
from ..vault.ids import new_block_id, new_id
from ..vault.memory import append_observation, canonical, observations
from ..vault.note import Note, check_size, read_note
from ..vault.source import Source, readable
from ..vault.thread import (
    KINDS,
    OVER,
    NoteKind,
    ThreadLine,
    is_over,
    last_day,
    new_thread_source,
    thread_lines,
    written,
)
from .answers import (
    Consolidation,
    KnownMemory,
    MemoryCandidate,
    MemoryType,
    ThreadNote,
    ThreadNoted,
    ThreadNotes,
)
from .enforcement import Guard
from .kinds import ask_fresh, checked_name, is_called, name_key, places, present, rows_of
from .policy.similarity import compare
from .provenance import known_origin
from .search import shown
from .secrets import refuse_secrets
from .trust import said_by
from .vault import Vault

READ = 500
"""Lines of a thread that are read at most: the last ones."""

RECALLED = 20
"""Lines of a thread that a recall considers."""

LAST = 10
"""Lines of a thread that a session starts with, beside those that are pending."""

COMPARED = 5
"""Memories with which a candidate is compared."""

_LASTING: dict[NoteKind, MemoryType] = {
    "decision": "semantic",
    "discarded": "semantic",
    "searched": "episodic",
}
"""What of a thread may be worth keeping, and as which type of memory."""


def take_note(vault: Vault, thread: str, text: str, kind: NoteKind = "state") -> ThreadNoted:
    """Note something for the thread's own later use; each note keeps the thread alive.

    The same words of the same kind are not noted twice. Raises `ObservationRefused`,
    `SecretRefused`, `InvalidArgument`, `NoteUnusable` and the storage failures; nothing is
    written then.
    """
    name = checked_name("thread", thread)
    if kind not in KINDS:
        raise InvalidArgument("kind", f"{kind!r} is not one of {', '.join(KINDS)}")
    wanted = canonical(written(kind, canonical(text)))
    refuse_secrets(text)
    row = _row(vault, name)
    guard = vault.index.ask(lambda: Guard(vault))
    guard.refuse_text(text, category="", project=None, type="working")
    with vault.store.transaction(next(places(vault, "thread", None, name))):
        path, note = _target(vault, name, row)
        answer = _append(vault, name, path, note, wanted)
    vault.index.touched((answer.path,))
    return answer


def read_notes(vault: Vault, thread: str, kind: NoteKind | None = None) -> ThreadNotes:
    """Return what a thread noted, oldest first. A thread that is over or new has nothing."""
    name = checked_name("thread", thread)
    note = _live(vault, _row(vault, name))
    if note is None:
        return ThreadNotes(name, (), 0)
    found = [line for line in thread_lines(note) if kind in (None, line.kind)]
    return ThreadNotes(
        thread=name,
        notes=tuple(ThreadNote(one.kind, one.text, one.id or None) for one in found[-READ:]),
        more=max(0, len(found) - READ),
        note_id=note.id,
        path=note.path,
        expires=last_day(note) or None,
    )


def consolidate(vault: Vault, thread: str) -> Consolidation:
    """Return what in a thread may be worth keeping, and what memory has of it already.

    Lines that say the same are one candidate, in the words of the last. What is remembered in
    the same words already is counted in `known` and left out.
    """
    name = checked_name("thread", thread)
    note = _live(vault, _row(vault, name))
    lines = [one for one in thread_lines(note) if one.kind in _LASTING] if note else []
    return vault.index.ask(lambda: _consolidation(vault, name, lines))


def sweep_threads(vault: Vault) -> tuple[str, ...]:
    """Move the notes of threads that are over to the trash, and return their paths."""
    rows = vault.index.ask(lambda: rows_of(vault, "thread", None))
    swept = tuple(row.path for row in rows if _swept(vault, row))
    if swept:
        vault.index.touched(swept)
    return swept


def thread_hits(vault: Vault, thread: str, query: str) -> list[Hit]:
    """The lines of a thread that share words with a question; inside a question only."""
    key, wanted = name_key(thread), frozenset(terms(query))
    row = next((one for one in _rows(vault) if name_key(one.title) == key), None)
    note = _live(vault, row)
    if row is None or note is None or not wanted:
        return []
    hits = [_hit(row, note, number, line) for number, line in enumerate(thread_lines(note), 1)]
    scored = (replace(hit, score=_share(hit.text, wanted)) for hit in hits)
    found = sorted((hit for hit in scored if hit.score), key=lambda hit: (-hit.score, -hit.part))
    return found[:RECALLED]


def thread_tail(vault: Vault, thread: str) -> tuple[Row | None, list[Hit]]:
    """What a thread has pending and noted last, oldest first; inside a question only."""
    key = name_key(thread)
    row = next((one for one in _rows(vault) if name_key(one.title) == key), None)
    note = _live(vault, row)
    if row is None or note is None:
        return None, []
    lines = list(enumerate(thread_lines(note), 1))
    last = {number for number, _ in lines[-LAST:]}
    kept = [each for each in lines if each[1].kind == "pending" or each[0] in last]
    return row, [_hit(row, note, number, line) for number, line in kept]


# Finding


def _rows(vault: Vault) -> list[Row]:
    return rows_of(vault, "thread", None)


def _row(vault: Vault, name: str) -> Row | None:
    key = name_key(name)
    found = ask_fresh(vault, lambda: [row for row in _rows(vault) if name_key(row.title) == key])
    return found[0] if found else None


def _live(vault: Vault, row: Row | None) -> Note | None:
    """The note of a thread as it is now, if it is not over."""
    if row is None:
        return None
    try:
        note = read_note(vault.layout, row.path)
    except NoteNotFound:
        return None
    return note if note.kind == "thread" and not is_over(note, today()) else None


# Writing; the vault's lock is held


def _target(vault: Vault, name: str, row: Row | None) -> tuple[str, Note | None]:
    """The thread's note, else the path of a new one; a note that is over makes way."""
    known = present(vault, row.path) if row else None
    if known is not None and is_called(known, "thread", name):
        if not is_over(known, today()):
            return known.path, known
        _trash(vault, known)
    for path in places(vault, "thread", None, name):
        note = present(vault, path)
        if note is None or (is_called(note, "thread", name) and not is_over(note, today())):
            return path, note
    raise AssertionError("places never end")


def _trash(vault: Vault, note: Note) -> None:
    act = vault.act("delete", note.id, reason=OVER)
    vault.store.trash(note.path, note.id, act)


def _swept(vault: Vault, row: Row) -> bool:
    """Move a note to the trash if it is over now."""
    with vault.store.transaction(row.path):
        note = present(vault, row.path)
        if note is None or note.kind != "thread" or not is_over(note, today()):
            return False
        _trash(vault, note)
    return True


def _append(vault: Vault, name: str, path: str, note: Note | None, text: str) -> ThreadNoted:
    kept = observations(note) if note else ()
    double = next((one for one in kept if one.text == text and one.id), None)
    day = dt.date.fromisoformat(today()) + dt.timedelta(days=vault.settings.thread_days)
    if note is not None and double is not None:
        return _answer(name, "unchanged", double.id, note.path, note.id, note.source)
    block, note_id = new_block_id({one.id for one in kept}), note.id if note else new_id()
    source = note.source if note else new_thread_source(name, note_id, day.isoformat())
    with naming(path):
        source = append_observation(source, text, id=block, fields=said_by(vault.caller))
        if note is not None and last_day(note):
            source = set_property(source, "expires", max(last_day(note), day.isoformat()))
    check_size(path, source)
    act = vault.act("append" if note else "create", note_id, block)
    expected = note.source.token if note else None
    vault.store.write(path, source.data, expected=expected, act=act)
    return _answer(name, "noted", block, path, note_id, source)


def _answer(
    name: str, outcome: str, block: str, path: str, note_id: str, source: Source
) -> ThreadNoted:
    return ThreadNoted(
        outcome="noted" if outcome == "noted" else "unchanged",
        thread=name,
        observation_id=block,
        note_id=note_id,
        path=path,
        version_token=source.token,
    )


# Consolidating and recalling


def _consolidation(vault: Vault, name: str, lines: Sequence[ThreadLine]) -> Consolidation:
    candidates, known = [], 0
    for group in _groups(vault, lines):
        candidate = _candidate(vault, group)
        if any(one.kind == "same" for one in candidate.similar):
            known += 1
        else:
            candidates.append(candidate)
    return Consolidation(name, tuple(candidates), known)


def _groups(vault: Vault, lines: Sequence[ThreadLine]) -> list[list[ThreadLine]]:
    """Lines that say the same, together, in the order in which each was first said."""
    groups: list[list[ThreadLine]] = []
    for line in lines[-READ:]:
        for group in groups:
            verdict = compare(line.text, group[-1].text, vault.index.idf)
            if line.kind == group[-1].kind and verdict.kind in ("same", "reworded"):
                group.append(line)
                break
        else:
            groups.append([line])
    return groups


def _candidate(vault: Vault, group: Sequence[ThreadLine]) -> MemoryCandidate:
    last = group[-1]
    found = vault.index.find(last.text, Scope(note_class="agent-memory", muted=False), COMPARED)
    similar = []
    guard = Guard(vault)
    for hit in filter(guard.admits, found.hits):
        if hit.passage is None or not hit.passage.is_observation:
            continue
        kind = compare(last.text, shown(hit), vault.index.idf).kind
        if kind != "unrelated" and kind != "related":
            place = f"{hit.row.path}#^{hit.passage.observation}"
            similar.append(KnownMemory(place, shown(hit), kind))
    return MemoryCandidate(
        text=last.text,
        kind=last.kind,
        type=_LASTING[last.kind],
        sources=tuple(one.id for one in group if one.id),
        similar=tuple(similar),
    )


def _hit(row: Row, note: Note, number: int, line: ThreadLine) -> Hit:
    base = note.source.body
    passage = Passage(
        key="",
        start=base + line.start,
        end=base + line.end,
        line=line.line,
        is_observation=True,
        observation=line.id,
        origin=known_origin(line.origin),
        type="working",
        words=written(line.kind, line.text),
    )
    return Hit(row, number, passage, readable(note.body[line.start : line.end]), 0.0)


def _share(text: str, wanted: frozenset[str]) -> float:
    return len(wanted & frozenset(terms(text))) / len(wanted)
