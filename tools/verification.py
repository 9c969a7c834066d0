"""Whether the history is as it was written, and what was repaired or is still to be finished."""

from __future__ import annotations

from dataclasses import dataclass

from ..vault.eraser import Eraser
from ..vault.source import readable
from .history import SHOWN
from .subjects import owner_only
from .vault import Vault


@dataclass(frozen=True, slots=True)
class Wrong:
    """Something wrong with a journal. `line` counts from 1; 0 means the file as a whole."""

    device: str
    file: str
    line: int
    kind: str
    problem: str


@dataclass(frozen=True, slots=True)
class Recovery:
    """A write that a crash or a failure cut off, and that was taken back."""

    time: str
    note_id: str
    path: str
    revision: str
    agent: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Verified:
    """What the journals of all devices hold.

    `unfinished` names the purges that were cut off, by note id or note id and observation id.
    """

    devices: int
    records: int
    wrong: tuple[Wrong, ...]
    recovered: tuple[Recovery, ...]
    unfinished: tuple[str, ...]


def verify(vault: Vault) -> Verified:
    """Check every line of every journal. Raises `OwnerOnly` and `JournalUnreadable`."""
    owner_only(vault, "verify the journal")
    journal = vault.store.ledger.journal
    agents: dict[str, str] = {}
    recovered: list[Recovery] = []
    for record in journal.records():
        agents[record.hash] = record.actor.agent
        if record.op == "undone":
            of, reason = record.of or "", readable(record.reason)
            shown = (record.note, record.path, of[:SHOWN])
            recovered.append(Recovery(record.time, *shown, agents.get(of), reason))
    flaws = (
        Wrong(each.device, each.file, each.line, each.kind, each.sentence)
        for each in journal.verify()
    )
    return Verified(
        devices=len({file.device for file in journal.files()}),
        records=len(agents),
        wrong=tuple(flaws),
        recovered=tuple(recovered),
        unfinished=tuple(Eraser(vault.layout).plans()),
    )
