"""What the journal holds, as the owner's pages show it: each change with its words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ..tools.vault import Vault
from ..vault.errors import RevisionUnavailable
from ..vault.layout import Layout
from ..vault.memory import observations
from ..vault.note import parse_note
from ..vault.replay import replay
from ..vault.revision import Change, Record
from ..vault.source import Source, readable
from .differences import DiffLine, Part, lines, words
from .words import parsed

SHOWN = 12
"""Characters of a revision's hash by which it is called."""


@dataclass(frozen=True, slots=True)
class Revision:
    """One change of a note or of an observation, with who made it.

    `text` is what an observation said after it; `gone` and `come` are its words before and
    after. `unknown` says that the words are not to be had any more.
    """

    hash: str
    moment: datetime
    op: str
    agent: str
    origin: str
    instance: str
    session: str
    client: str
    reason: str
    note: str
    path: str
    version: int | None = None
    text: str = ""
    gone: tuple[Part, ...] = ()
    come: tuple[Part, ...] = ()
    unknown: bool = False
    touched: tuple[str, ...] = ()


def revision_of(record: Record) -> Revision:
    """Return a record as a page shows it, without its words."""
    actor = record.actor
    return Revision(
        hash=record.hash[:SHOWN],
        moment=parsed(record.time),
        op=record.op,
        agent=readable(actor.agent),
        origin=actor.origin,
        instance=readable(actor.instance),
        session=readable(actor.session),
        client=readable(actor.client_version),
        reason=readable(record.reason),
        note=record.note,
        path=readable(record.path),
        touched=tuple(each.observation for each in record.touched),
    )


def note_records(vault: Vault, note: str, path: str = "") -> list[Record]:
    """Return the records of a note, the first first, with what an editor did since."""
    known = vault.store.ledger.history
    known.catch_up()
    state = known.state(note)
    if state is None and not path:
        return []
    vault.store.settle([(path or (state.path if state else ""), note)])
    return known.records(note)


def observation_history(vault: Vault, note: str, observation: str) -> list[Revision]:
    """Return every version of an observation, the last first."""
    state = vault.store.ledger.history.state(note)
    records = note_records(vault, note, state.path if state else "")
    return list(_versions(vault.layout, records, observation))[::-1]


def _versions(layout: Layout, records: Sequence[Record], observation: str) -> Iterator[Revision]:
    before = ""
    for record in records:
        change = next((one for one in record.touched if one.observation == observation), None)
        if change is None:
            continue
        told = replace(revision_of(record), op=_op(record, change), version=change.version)
        try:
            after = _words(layout, records, record, observation)
        except RevisionUnavailable:
            yield replace(told, unknown=True)
            continue
        gone, come = words(before, after)
        yield replace(told, text=after, gone=gone, come=come)
        before = after


def _op(record: Record, change: Change) -> str:
    """What became of an observation; of what was found, nobody knows who made it."""
    return record.op if record.op == "baseline" else change.op or record.op


def _words(layout: Layout, records: Sequence[Record], record: Record, observation: str) -> str:
    data = replay(records, record.hash)
    if data is None:
        return ""
    note = parse_note(layout, record.path or "note.md", data)
    return next((one.text for one in observations(note) if one.id == observation), "")


def text_after(records: Sequence[Record], record: Record | None) -> str:
    """Return the text of a note after a revision. Raises `RevisionUnavailable`."""
    data = replay(records, record.hash) if record else None
    return readable(Source.parse(data).text) if data is not None else ""


def difference(records: Sequence[Record], record: Record) -> list[DiffLine]:
    """Return what a revision changed in its note. Raises `RevisionUnavailable`."""
    at = records.index(record)
    base = next((each for each in records if each.hash == record.base), None)
    before = base or (records[at - 1] if at else None)
    return lines(text_after(records, before), text_after(records, record))
