"""Forgotten means gone: words leave note, journal, trash, audit and cache, and a scan proves it.

For the owner alone. What has to go is found in the journal, so it leaves the journal last; what
is to leave it is written down before, by hashes alone. So a purge that was cut off at any step
is finished by another one.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..indexer.view import Scope
from ..vault.eraser import Eraser
from ..vault.errors import InvalidArgument, NoteNotFound, NoteUnusable, RevisionUnavailable
from ..vault.forgetting import Doomed, inserted_lines, of_observation, whole_note
from ..vault.frontmatter import remove_property
from ..vault.ids import is_block_id
from ..vault.layout import conflict_copy
from ..vault.memory import find_observation, observations, remove_observation
from ..vault.note import Note, parse_note, read_note
from ..vault.paths import NOTE_ENDING
from ..vault.replay import replay
from ..vault.revision import Record
from ..vault.source import Source
from ..vault.traces import SHORTEST, Words
from .derivation import mark_stale
from .proof import Proof, prove
from .subjects import Subject, chosen, lies_at, named, owner_only, stands, subject_of
from .vault import Vault


@dataclass(frozen=True, slots=True)
class Purged:
    """What was taken out for good, and the proof.

    `versions` counts the wordings of an observation that were found, `records` those of the
    journal that lost words; `copies` are files beside the note that held them, as in the trash.
    """

    note_id: str
    path: str
    observation_id: str | None
    versions: int | None
    records: int
    copies: tuple[str, ...]
    proof: Proof


@dataclass(frozen=True, slots=True)
class Doom:
    """What a purge would take: the words as they are in the note, if they are, and the changes."""

    note_id: str
    path: str
    observation_id: str | None
    words: str | None
    revisions: int


@dataclass(frozen=True, slots=True)
class _Target:
    """A note, or an observation of it; `path` is empty when nobody knows any more."""

    note: str
    path: str
    observation: str | None

    @property
    def name(self) -> str:
        return f"{self.note}-{self.observation}" if self.observation else self.note


def doomed(vault: Vault, ref: str) -> Doom:
    """Return what `purge` would take, and change nothing. Raises as it does."""
    owner_only(vault, "purge")
    target = _target(vault, ref)
    there = lies_at(vault, target.note, target.path)
    note = read_note(vault.layout, target.path) if there else None
    item = find_observation(note, target.observation)
    records = vault.store.ledger.history.records(target.note)
    told = sum(_is_about(each, target.observation) for each in records)
    return Doom(target.note, target.path, target.observation, item.text if item else None, told)


def purge(vault: Vault, ref: str) -> Purged:
    """Take an observation, in all its versions, or a whole note out of the vault for good.

    `ref` is as in `history`; what was forgotten or deleted is found too. What was cut off
    before is finished. Raises `OwnerOnly`, `NoteNotFound`, `PurgeIncomplete` when the scan finds
    the words in a file of ours, and the storage failures; it may be called again then.
    """
    owner_only(vault, "purge")
    job = _Job(vault, _target(vault, ref))
    with vault.store.locked():
        job.take_out()
        jobs = [job, *_moved(vault, job)]
        for each in jobs[1:]:
            each.take_out()
        for each in jobs:
            each.strike()
    return _finished(vault, jobs)


def _moved(vault: Vault, job: _Job) -> Iterator[_Job]:
    """The same observation in other notes, from or to which its line was moved."""
    known, target = vault.store.ledger.history, job.target
    states = known.versions(target.observation) if target.observation else ()
    for note, path in sorted({each.note: each.path for each in states}.items()):
        other = _Job(vault, _Target(note, path, target.observation))
        # An id that its owner chose may name different lines in different notes.
        same = is_block_id(target.observation or "") or other.words() & job.doomed.texts
        if note != target.note and same:
            yield other


def redact(vault: Vault, ref: str, revision: str) -> Purged:
    """Take the words of one past revision out of the history; what the note says now stays.

    `revision` is a version or a hash, as `history` shows them. Raises as `purge` does,
    `RevisionUnavailable` when there is no such revision or its words are gone already, and
    `InvalidArgument` when they are what the note says now.
    """
    subject = subject_of(vault, ref, "redact a revision")
    record = chosen(subject, revision)
    job = _Job(vault, _Target(subject.note, subject.path, subject.observation))
    with vault.store.locked():
        job.doomed = _of_revision(vault, subject, record, revision)
        job.note_redaction(record)
        job.strike()
    return _finished(vault, [job])


def _of_revision(vault: Vault, subject: Subject, record: Record, revision: str) -> Doomed:
    there = lies_at(vault, subject.note, subject.path)
    now = read_note(vault.layout, subject.path) if there else None
    if subject.observation is None:
        found = inserted_lines(subject.records, record, now.source.text if now else "")
        if not found.texts:
            raise InvalidArgument("revision", "what is left of it is what the note says now")
        return found
    text = _text_at(vault, subject, record, revision)
    present = find_observation(now, subject.observation)
    if present is not None and present.text == text:
        problem = "these words are what the note says now; change them first, or purge them"
        raise InvalidArgument("revision", problem)
    return of_observation(
        vault.layout, subject.records, subject.path, subject.observation, lambda told: told == text
    )


def _text_at(vault: Vault, subject: Subject, record: Record, revision: str) -> str:
    data = replay(subject.records, record.hash, blank=True)
    note = parse_note(vault.layout, subject.path, data) if data else None
    past = find_observation(note, subject.observation)
    if past is None:
        raise RevisionUnavailable(revision, "the observation was not there then")
    return past.text


def _target(vault: Vault, ref: str) -> _Target:
    known = vault.history()
    note, path, observation = named(vault, ref)
    seen = known.versions(observation, note) if observation else known.state(note)
    if not seen and not stands(vault, note, path, observation):
        raise NoteNotFound(ref)
    return _Target(note, path, observation)


class _Job:
    """One purge or redaction, step by step. Each step can be done again."""

    def __init__(self, vault: Vault, target: _Target) -> None:
        self._vault, self.target = vault, target
        self._eraser = Eraser(vault.layout)
        self.copies: list[str] = []
        self.records = 0
        self.doomed = Doomed()

    # Out of the note

    def take_out(self) -> None:
        """Take the words out of the note and find them in its records; a record tells of it."""
        vault, target = self._vault, self.target
        copies = list(self._beside())
        if target.path:
            current = vault.store.read(target.path) if self._is_file() else None
            vault.store.ledger.settle(target.path, target.note, current)
        here = [vault.layout.root / target.path] if self._is_file() else []
        texts = {text for path in (*copies, *here) for text in self._texts(path)}
        self.doomed = self._found(texts)
        if here:
            self._out_of_note(Words(self.doomed.texts))
        self._leave_record()
        self.doomed = self._found(texts)
        for path in copies:
            self._out_of_copy(path)

    def _found(self, texts: set[str]) -> Doomed:
        """What of the journal has to go, and the words of it and of these texts."""
        target, records = self.target, self._history()
        if target.observation is None:
            found = whole_note(records)
        else:
            path = target.path or f"{target.note}{NOTE_ENDING}"
            found = of_observation(self._vault.layout, records, path, target.observation)
        found.texts |= texts
        return found

    def _history(self) -> list[Record]:
        return self._vault.history().records(self.target.note)

    def _texts(self, path: Path) -> Iterator[str]:
        """The words in a file that are to go."""
        note = self._parsed(path, path.read_bytes())
        if self.target.observation is None:
            yield note.source.text
            if note.place.note_class == "user-doc" and len(path.stem) >= SHORTEST:
                yield path.stem
        elif item := find_observation(note, self.target.observation):
            yield item.text

    def _parsed(self, path: Path, data: bytes) -> Note:
        shown = self._shown(path)
        return parse_note(self._vault.layout, self.target.path or shown, data)

    def _shown(self, path: Path) -> str:
        root = self._vault.layout.root
        return str(path.relative_to(root) if path.is_relative_to(root) else path)

    def _out_of_note(self, words: Words) -> None:
        vault, target = self._vault, self.target
        note = read_note(vault.layout, target.path)
        act = vault.act("purge", target.note, target.observation)
        if target.observation is None:
            vault.store.erase(target.path, act)
            return
        data = _without(note, target.observation, words)
        if data != note.source.data:
            vault.store.write(target.path, data, expected=note.source.token, act=act)

    def _leave_record(self) -> None:
        """Leave a record of the purge where nothing had to be taken out of the note."""
        store, target = self._vault.store, self.target
        records = self._history()
        about = [each for each in records if _is_about(each, target.observation)]
        if about and about[-1].op == "purge":
            return
        current = store.read(target.path) if self._is_file() else None
        act = self._vault.act("purge", target.note, target.observation)
        store.ledger.enter(target.path, current, current, act)

    def _is_file(self) -> bool:
        return lies_at(self._vault, self.target.note, self.target.path)

    def note_redaction(self, record: Record) -> None:
        """Leave a record that words of an earlier one were taken out."""
        store, target = self._vault.store, self.target
        current = store.read(target.path) if self._is_file() else None
        act = self._vault.act("redact", target.note, of=record.hash)
        store.ledger.enter(target.path, current, current, act)

    # Out of what lies beside it

    def _beside(self) -> Iterator[Path]:
        """Its files in the trash, and the copies of it that sync programs and people have made."""
        vault, target = self._vault, self.target
        yield from self._eraser.trashed(target.note)
        for row in vault.index.ask(lambda: vault.index.rows(Scope())):
            path = vault.layout.root / row.path
            same = row.id == target.note or (conflict_copy(row.path) and self._is_copy(row.path))
            if same and row.path != target.path and path.is_file():
                yield path

    def _is_copy(self, path: str) -> bool:
        """Whether a conflict copy lies beside the note and begins with its name."""
        folder, _, name = self.target.path.rpartition("/")
        other, _, copy = path.rpartition("/")
        return bool(name) and folder == other and copy.startswith(name.removesuffix(NOTE_ENDING))

    def _out_of_copy(self, path: Path) -> None:
        observation = self.target.observation
        if observation is None:
            self._eraser.remove(path)
            changed = True
        else:
            words = Words(self.doomed.texts)
            changed = self._eraser.change(
                path, lambda data: _without(self._parsed(path, data), observation, words)
            )
        if changed:
            self.copies.append(self._shown(path))

    # Out of the journal and the rest

    def strike(self) -> None:
        """Take the words out of trash, audit, leftovers and, in the end, the journal."""
        target, eraser, ledger = self.target, self._eraser, self._vault.store.ledger
        for hash_, names in eraser.planned(target.name).items():
            self.doomed.parts.setdefault(hash_, set()).update(names)
        eraser.plan(target.name, self.doomed)
        words = Words(self.doomed.texts)
        if target.observation is None and not self._is_file():
            eraser.empty(target.note)
        eraser.strike_lines(words, target.note, target.observation, functools.cache(self._is_gone))
        eraser.sweep(words)
        parts = self.doomed.parts
        self.records = ledger.journal.redact(
            lambda record: parts.get(record.hash, ()), damaged=words.forms
        )
        ledger.history.forget()
        if self._is_file():
            current = self._vault.store.read(target.path)
            ledger.renew(target.path, target.note, current)

    def _is_gone(self, word: str) -> bool:
        """Whether no note has a word any more."""
        index = self._vault.index
        return not index.ask(lambda: index.find(word, Scope(), 1)).hits

    def done(self) -> None:
        """Forget what was written down to be finished."""
        self._eraser.done(self.target.name)

    def words(self) -> set[str]:
        """The words of the observation that the records of the note tell."""
        return self._found(set()).texts


def _finished(vault: Vault, jobs: Sequence[_Job]) -> Purged:
    """Drop what the cache has kept, and look for the words everywhere."""
    vault.index.forget()
    vault.index.refresh()
    for job in jobs:
        job.done()
    target = jobs[0].target
    mark_stale(vault)
    words = Words(text for job in jobs for text in job.doomed.texts)
    proof = prove(vault, words, target.note if target.observation is None else "")
    return Purged(
        note_id=target.note,
        path=target.path,
        observation_id=target.observation,
        versions=len(words.texts) if target.observation else None,
        records=sum(job.records for job in jobs),
        copies=tuple(path for job in jobs for path in job.copies),
        proof=proof,
    )


def _is_about(record: Record, observation: str | None) -> bool:
    if observation is None:
        return True
    return any(each.observation == observation for each in record.touched)


def _without(note: Note, observation: str, words: Words) -> bytes:
    """The bytes of a note without an observation, and without a summary that repeats it."""
    source = note.source
    # From the end, so that the places of those before it stay; a copied line has the same id.
    for item in reversed([each for each in observations(note) if each.id == observation]):
        try:
            source = remove_observation(source, item)
        except NoteUnusable:
            start, end = source.body + item.start, source.body + item.end
            source = Source.from_text(source.text[:start] + source.text[end:])
    if note.summary and words.told_by(note.summary):
        try:
            source = remove_property(source, "summary")
        except NoteUnusable:
            return source.data
    return source.data
