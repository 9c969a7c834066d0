"""The review queue: what agents proposed that the owner has not accepted yet. For the owner alone.

A proposal is a line of a memory note with `[status:: unreviewed]`, which nothing recalls. To accept
it takes that mark away; to reject it takes the line out, and the journal keeps it. Either needs the
ticket that was shown with the line, and is refused when another byte of it has changed since.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from ..indexer.view import Scope
from ..vault.errors import NoteNotFound, naming
from ..vault.history import History
from ..vault.memory import Observation, observations, remove_observation, replace_observation
from ..vault.note import Note, read_note
from ..vault.source import Source, readable
from .answers import Origin
from .policy.receipts import as_text
from .provenance import known_origin
from .refusals import ProposalChanged
from .subjects import owner_only
from .trust import UNREVIEWED
from .vault import Vault

TICKET_LENGTH = 12

_REVIEW = "review what agents propose"


@dataclass(frozen=True, slots=True)
class Proposal:
    """One line that waits: its words as they would be remembered, and who wrote it when.

    `line` is the line as it stands in the note, and `ticket` stands for exactly these bytes. Who
    wrote it is missing where the journal does not say, as for a line that was added by hand.
    """

    ticket: str
    note_id: str
    path: str
    category: str
    text: str
    line: str
    origin: Origin
    observation_id: str | None = None
    project: str | None = None
    agent: str | None = None
    client_version: str | None = None
    instance: str | None = None
    time: str | None = None


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What became of a proposal; the text is that of the line that was shown."""

    outcome: Literal["accepted", "rejected"]
    note_id: str
    path: str
    text: str
    version_token: str
    observation_id: str | None = None


def queue(vault: Vault) -> tuple[Proposal, ...]:
    """Return what waits, the oldest first; lines of which the time is not known come last.

    Raises `OwnerOnly` for everyone else.
    """
    owner_only(vault, _REVIEW)
    history = vault.history()
    found = [_proposal(history, note, item) for note, item in _waiting(vault)]
    return tuple(sorted(found, key=lambda one: (one.time is None, one.time or "", one.path)))


def accept(vault: Vault, ticket: str) -> Reviewed:
    """Let a proposal be remembered, word for word as it was shown. Its origin stays.

    Raises `OwnerOnly`, and `ProposalChanged` when no line in the queue is the one of the ticket.
    """
    return _decide(vault, ticket, "accepted")


def reject(vault: Vault, ticket: str, reason: str | None = None) -> Reviewed:
    """Take a proposal out of its note; the journal keeps it. Raises as `accept` does."""
    return _decide(vault, ticket, "rejected", reason)


def _waiting(vault: Vault) -> Iterator[tuple[Note, Observation]]:
    rows = vault.index.ask(lambda: vault.index.rows(Scope(note_class="agent-memory")))
    for row in rows:
        try:
            note = read_note(vault.layout, row.path)
        except NoteNotFound:
            continue
        if UNREVIEWED in note.body.casefold():
            yield from ((note, one) for one in observations(note) if one.status == UNREVIEWED)


def _line(note: Note, item: Observation) -> str:
    return note.body[item.start : item.end].rstrip()


def _ticket(note: Note, item: Observation) -> str:
    named = as_text(note.path, note.id, _line(note, item))
    return hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:TICKET_LENGTH]


def _proposal(history: History, note: Note, item: Observation) -> Proposal:
    made = next(iter(history.versions(item.id, note.id)), None) if item.id else None
    return Proposal(
        ticket=_ticket(note, item),
        note_id=note.id,
        path=note.path,
        category=note.category,
        text=readable(item.text),
        line=readable(_line(note, item)),
        origin=known_origin(item.origin),
        observation_id=item.id or None,
        project=note.place.project,
        agent=made.actor.agent if made else None,
        client_version=(made.actor.client_version or None) if made else None,
        instance=(made.actor.instance or None) if made else None,
        time=made.time if made else None,
    )


def _decide(
    vault: Vault, ticket: str, outcome: Literal["accepted", "rejected"], reason: str | None = None
) -> Reviewed:
    owner_only(vault, _REVIEW)
    path = next((n.path for n, one in _waiting(vault) if _ticket(n, one) == ticket.strip()), None)
    if path is None:
        raise ProposalChanged(ticket)
    with vault.store.transaction(path):
        note = read_note(vault.layout, path)
        kept = (one for one in observations(note) if one.status == UNREVIEWED)
        item = next((one for one in kept if _ticket(note, one) == ticket.strip()), None)
        if item is None:
            raise ProposalChanged(ticket)
        source = _reviewed(note, item, outcome)
        op: Literal["accept", "reject"] = "accept" if outcome == "accepted" else "reject"
        act = vault.act(op, note.id, item.id or None, reason=reason)
        token = vault.store.write(path, source.data, expected=note.source.token, act=act)
    vault.index.touched((path,))
    return Reviewed(outcome, note.id, path, readable(item.text), token, item.id or None)


def _reviewed(note: Note, item: Observation, outcome: Literal["accepted", "rejected"]) -> Source:
    with naming(note.path):
        if outcome == "rejected":
            return remove_observation(note.source, item)
        fields = {name: value for name, value in item.fields.items() if name != "status"}
        return replace_observation(note.source, replace(item, fields=fields), item.text)
