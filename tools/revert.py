"""Taking back what one agent did to memory since a time, and nobody else's words.

What is to become of each observation is read from the journal before anything is changed. Then
each note is written once, so that a revert that is cut off has left every note as it was or as it
is to be.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..vault.errors import NoteExists, NoteUnusable
from ..vault.frontmatter import remove_property, set_property
from ..vault.memory import Observation, find_observation, find_unnamed, remove_observation
from ..vault.note import parse_note, read_note
from ..vault.replay import Lineage, replay
from ..vault.revision import Record
from ..vault.source import Source
from .derivation import mark_stale
from .history import observation_at, restore, time_of, with_past
from .subjects import lies_at, owner_only, subject_of
from .vault import Vault


@dataclass(frozen=True, slots=True)
class Reverted:
    """What of an agent's was taken back, and what others have changed since and was left."""

    reverted: tuple[str, ...]
    left: tuple[str, ...]


def revert(vault: Vault, agent: str, since: str) -> Reverted:
    """Take back what an agent did to memory since a time, ISO 8601; its words alone.

    An observation goes back to what it was before, or out of its note; so does a summary, and a
    note that the agent deleted comes back. What someone else has changed after it is left, and
    so are notes that are no memory; both are named. Raises `OwnerOnly`, `InvalidArgument` and the
    storage failures.
    """
    owner_only(vault, "revert an agent")
    moment = time_of("since", since)
    known = vault.history()
    journal = vault.store.ledger.journal
    touched: dict[str, dict[str, None]] = {}
    for position in known.of_agent(agent, moment):
        record = journal.read(position)
        if record.actor.origin in ("agent", "untrusted"):
            names = dict.fromkeys(each.observation for each in record.touched)
            touched.setdefault(record.note, {}).update(names)
    reverted: list[str] = []
    left: list[str] = []
    for each, names in touched.items():
        with vault.store.locked():  # What is read now is what is put back.
            note = _Note(vault, agent, moment, each)
            if not names or not note.is_memory():
                left.append(note.path or each)
                continue
            for found, known_as in zip(note.take_back(names), (reverted, left), strict=True):
                known_as += [f"{note.path}#^{name}" for name in found]
    mark_stale(vault)
    return Reverted(tuple(reverted), tuple(left))


class _Note:
    """One memory note that the agent wrote to, with its history."""

    def __init__(self, vault: Vault, agent: str, since: str, note: str) -> None:
        self._vault, self._agent, self._since = vault, agent, since
        subject = subject_of(vault, note, "revert an agent")
        undone = {record.of for record in subject.records if record.op == "undone"}
        # What never reached the note is nobody's doing, and a mark of ours is no one's words.
        kept = (
            each
            for each in subject.records
            if each.actor.origin != "system" and each.hash not in undone
        )
        self._subject = replace(subject, records=tuple(kept))
        self._all = subject

    @property
    def path(self) -> str:
        """Where it lies, or lay."""
        return self._subject.path

    def is_memory(self) -> bool:
        """Whether it is memory, which alone is taken back."""
        return self._vault.layout.place(self.path).note_class == "agent-memory"

    def take_back(self, names: Iterable[str]) -> tuple[list[str], list[str]]:
        """Take back these observations; return those that were, and those left to others."""
        ours: list[str] = []
        left: list[str] = []
        for name in names:
            (ours if self._is_last(self._touching(name)) else left).append(name)
        plans = {name: self._before(name) for name in ours}
        summary = self._summary_before()
        if not self._bring_back(plans):
            return [], left
        done, failed = self._write(plans, summary)
        return done, [*left, *failed]

    # What is to become of it

    def _is_theirs(self, record: Record) -> bool:
        """Whether it is the agent's. One may call itself like the owner's editor."""
        actor = record.actor
        told = actor.origin in ("agent", "untrusted") and actor.agent == self._agent
        return told and record.time >= self._since

    def _is_last(self, records: Sequence[Record]) -> bool:
        return bool(records) and self._is_theirs(records[-1])

    def _touching(self, name: str) -> list[Record]:
        return replace(self._subject, observation=name).touching()

    def _others_last(self, records: Sequence[Record]) -> Record | None:
        """The last record before those with which the agent has ended."""
        return next((each for each in reversed(records) if not self._is_theirs(each)), None)

    def _before(self, name: str) -> Observation | None:
        """The observation as others left it; None when there was none."""
        records = self._touching(name)
        subject = replace(self._all, observation=name)
        last = self._others_last(records)
        if last is not None:
            return observation_at(self._vault, subject, last)
        made = observation_at(self._vault, subject, records[0])
        # A line of the owner's that had no id got one when the agent said the same.
        base = Lineage(self._all.records).base(records[0])
        data = replay(self._all.records, base.hash) if base else None
        note = parse_note(self._vault.layout, self.path, data) if data else None
        return made if note and made and find_unnamed(note, made.text) else None

    def _summary_before(self) -> str | None:
        """The summary as others left it, when the agent's is there now."""
        told = [each for each in self._subject.records if each.after and _tells_summary(each)]
        if not self._is_last(told):
            return None
        last = self._others_last(told)
        data = replay(self._all.records, last.hash) if last else None
        return parse_note(self._vault.layout, self.path, data).summary if data else ""

    # Writing

    def _bring_back(self, plans: Mapping[str, Observation | None]) -> bool:
        """Have the note in its place, from the trash if the agent put it there."""
        if lies_at(self._vault, self._all.note, self.path):
            return True
        records = self._subject.records
        deleted = self._is_last(records) and records[-1].op == "delete"
        if not deleted or not any(plans.values()):  # A file that is gone was taken by its owner.
            return False
        with contextlib.suppress(NoteExists):
            restore(self._vault, self._all.note)
            return True
        return False

    def _write(
        self, plans: Mapping[str, Observation | None], summary: str | None
    ) -> tuple[list[str], list[str]]:
        vault, done, failed = self._vault, [], []
        with vault.store.transaction(self.path):
            note = read_note(vault.layout, self.path)
            source = note.source
            for name, before in plans.items():
                try:
                    changed = self._changed(source, name, before)
                except NoteUnusable:
                    failed.append(name)
                    continue
                if changed.data != source.data:
                    done.append(name)
                source = changed
            if summary is not None:
                with contextlib.suppress(NoteUnusable):
                    source = _summarised(source, summary)
            if source.data != note.source.data:
                act = vault.act("restore", self._all.note, reason="reverted")
                vault.store.write(self.path, source.data, expected=note.source.token, act=act)
            self._clear_away(source)
        vault.index.touched((self.path,))
        return done, failed

    def _changed(self, source: Source, name: str, before: Observation | None) -> Source:
        note = parse_note(self._vault.layout, self.path, source.data)
        item = find_observation(note, name)
        if before is not None:
            return with_past(note, before)
        return remove_observation(source, item) if item else source

    def _clear_away(self, source: Source) -> None:
        """Put a note that the agent alone made, and that holds nothing any more, into the trash."""
        records = self._subject.records
        rest = [line for line in source.body_text.splitlines() if line.strip()]
        empty = len(rest) < 2 and all(line.startswith("#") for line in rest)
        if empty and records[0].before is None and all(map(self._is_theirs, records)):
            act = self._vault.act("delete", self._all.note, reason="reverted")
            self._vault.store.trash(self.path, self._all.note, act)


def _tells_summary(record: Record) -> bool:
    return any(b"summary" in each.removed + each.inserted for each in record.splices)


def _summarised(source: Source, summary: str) -> Source:
    if summary:
        return set_property(source, "summary", summary)
    return remove_property(source, "summary")
