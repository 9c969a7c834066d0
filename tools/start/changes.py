"""What others have changed since an agent's last session: the owner, and other agents.

An agent's last session began with its last `start_session`, as the audit tells. A note counts as
changed when its file is newer than that; who changed it, the journal tells. Of a memory note only
changes count that can be seen in it now, so that nothing that waits for a review shows.
"""

from __future__ import annotations

import heapq
import logging
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from ...indexer.catalog import Row
from ...vault.audit import last_start, now
from ...vault.errors import StorageFailure
from ...vault.revision import Record
from ..borders import Borders
from ..provenance import date_of
from ..render import one_line
from ..trust import Caller
from ..vault import Vault

LOOKED = 30
"""Notes that are looked at: those that were changed last."""

RECORDS = 20
"""Changes of one note that are looked at."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Touched:
    """A note that is newer than a session, and the observations that can be seen in it."""

    row: Row
    visible: frozenset[str]


@dataclass(frozen=True, slots=True)
class NoteChange:
    """A note that others have changed, and who did it last."""

    row: Row
    by: str

    def __str__(self) -> str:
        return f"- {self.row.path} ({self.by}, {date_of(self.row.mtime_ns)})"


def last_session(vault: Vault) -> str:
    """When the caller's last session began, an ISO time; "" when it has had none, or unknown."""
    one = vault.caller
    try:
        return last_start(vault.layout.state_dir, one.agent, one.session, now())
    except StorageFailure as failure:
        _log.warning("When the last session began is not known: %s", failure)
        return ""


def touched(borders: Borders, rows: Iterable[Row], since: str) -> list[Touched]:
    """The notes that are newer than a session; inside a question only."""
    start = _nanoseconds(since)
    newer = (row for row in rows if row.mtime_ns > start and borders.admits_row(row))
    last = heapq.nlargest(LOOKED, newer, key=lambda row: (row.mtime_ns, row.path))
    return [one for one in (_touched(borders, row) for row in last) if one is not None]


def _touched(borders: Borders, row: Row) -> Touched | None:
    told = borders.told(row)
    named = (hit.passage.observation for hit in told if hit.passage)
    return Touched(row, frozenset(filter(None, named))) if told else None


def _nanoseconds(time: str) -> int:
    return int(datetime.fromisoformat(time).timestamp() * 1e6) * 1000


def changes(vault: Vault, found: Collection[Touched], since: str) -> list[NoteChange]:
    """Which of the notes others have changed, and who; outside of questions.

    What an owner has changed in an editor is entered into the journal first.
    """
    try:
        vault.store.settle([(one.row.path, one.row.id) for one in found])
        told = ((one, _changed_by(vault, one, since)) for one in found)
        return [NoteChange(one.row, by) for one, by in told if by]
    except StorageFailure as failure:
        _log.warning("What others have changed is not told: %s", failure)
        return []


def _changed_by(vault: Vault, one: Touched, since: str) -> str:
    """Who changed a note last beside the caller, as far as it can be seen; "" for nobody."""
    history = vault.store.ledger.history
    records = history.since(one.row.id, since, RECORDS)
    seen = next(_by_others(vault.caller, records, one), None)
    if seen is not None:
        return "the owner" if seen.actor.origin == "owner" else one_line(seen.actor.agent)
    known = records or history.state(one.row.id)
    return "" if known else "the owner"


def _by_others(caller: Caller, records: Iterable[Record], one: Touched) -> Iterator[Record]:
    for record in records:
        own = record.actor.origin != "owner" and record.actor.agent == caller.agent
        ids = {each.observation for each in record.touched}
        if not own and record.op != "baseline" and (not ids or ids & one.visible):
            yield record
