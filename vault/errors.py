"""Every failure a caller can meet: one small class each, built from facts.

An error knows its stable `code`, the exit code of the command line, a sentence that says
what happened and the next step. No call site builds a message.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar


def listing(items: tuple[str, ...], limit: int = 12) -> str:
    """The first of some names in one line, and how many more there are."""
    shown = ", ".join(items[:limit])
    return f"{shown} and {len(items) - limit} more" if len(items) > limit else shown


def reason_of(error: OSError) -> str:
    """What the system says of a failure."""
    return error.strerror or str(error)


class ZibaldoneError(Exception):
    """Base of all typed failures. Subclasses are dataclasses whose fields are the facts."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1

    @property
    def sentence(self) -> str:
        """What happened, in one sentence."""
        return "The operation failed."

    @property
    def next_step(self) -> str:
        """What the caller can do about it, in one sentence."""
        return ""

    def facts(self) -> dict[str, object]:
        """The fields of the error, for programs."""
        return dataclasses.asdict(self) if dataclasses.is_dataclass(self) else {}

    def __str__(self) -> str:
        return f"{self.sentence} {self.next_step}".strip()


class UsageFailure(ZibaldoneError):
    """The call itself is wrong: exit code 2."""

    exit_code = 2


class NotFound(ZibaldoneError):
    """Something that was named is not there, or is out of bounds: exit code 3."""

    exit_code = 3


class Refused(ZibaldoneError):
    """A law or a rule forbids it; nothing was changed: exit code 4."""

    exit_code = 4


class Conflicting(ZibaldoneError):
    """More than one thing fits, or the thing has changed meanwhile: exit code 5."""

    exit_code = 5


class StorageFailure(ZibaldoneError):
    """The disk, its rights or a lock stand in the way: exit code 6."""

    exit_code = 6


@dataclass(eq=False)
class InvalidArgument(UsageFailure):
    """An argument has the wrong name, type or range."""

    argument: str
    problem: str
    nearest: str | None = None
    code = "invalid_argument"

    @property
    def sentence(self) -> str:
        return f"Argument {self.argument!r}: {self.problem}."

    @property
    def next_step(self) -> str:
        return f"Did you mean {self.nearest!r}?" if self.nearest else "Correct it and call again."


@dataclass(eq=False)
class SettingsInvalid(UsageFailure):
    """`zibaldone.toml` cannot be used."""

    path: str
    problem: str
    code = "settings_invalid"

    @property
    def sentence(self) -> str:
        return f"The settings in {self.path} cannot be used: {self.problem}."

    @property
    def next_step(self) -> str:
        return "Correct it, or take it out to get the default."


@dataclass(eq=False)
class VaultNotFound(NotFound):
    """No vault at the given place."""

    path: str
    code = "vault_not_found"

    @property
    def sentence(self) -> str:
        return f"There is no vault at {self.path}."

    @property
    def next_step(self) -> str:
        return "Give a folder with --vault or ZIBALDONE_VAULT, or make one with `zib init`."


@dataclass(eq=False)
class VaultEmptied(StorageFailure):
    """The vault held notes and suddenly holds none, as an unmounted disk does."""

    path: str
    known: int
    code = "vault_emptied"

    @property
    def sentence(self) -> str:
        return f"The vault at {self.path} held {self.known} notes and now holds none."

    @property
    def next_step(self) -> str:
        return (
            "If its disk or share is not mounted, mount it. "
            "If the notes are meant to be gone, run `zib index --rebuild`."
        )


@dataclass(eq=False)
class NoteNotFound(NotFound):
    """No note answers to this reference."""

    ref: str
    suggestions: tuple[str, ...] = ()
    code = "note_not_found"

    @property
    def sentence(self) -> str:
        return f"There is no note {self.ref!r}."

    @property
    def next_step(self) -> str:
        if self.suggestions:
            return f"Close to it: {listing(self.suggestions)}."
        return "Find it with `search`, or make it with `create_note`."


@dataclass(eq=False)
class NoteAmbiguous(Conflicting):
    """More than one note answers to this reference."""

    ref: str
    candidates: tuple[str, ...]
    code = "note_ambiguous"

    @property
    def sentence(self) -> str:
        return f"{self.ref!r} fits {len(self.candidates)} notes: {listing(self.candidates)}."

    @property
    def next_step(self) -> str:
        return "Call again with one of these paths."


@dataclass(eq=False)
class NoteExists(Conflicting):
    """A new note would take the path or the title of one that is there."""

    path: str
    note_id: str
    code = "note_exists"

    @property
    def sentence(self) -> str:
        return f"A note of that name exists: {self.path} (id {self.note_id})."

    @property
    def next_step(self) -> str:
        return "Change it with `edit_note`, or choose another title."


@dataclass(eq=False)
class NoteUnusable(Refused):
    """One note cannot be read or changed safely; its bytes stay as they are."""

    path: str
    problem: str
    code = "note_unusable"

    @property
    def sentence(self) -> str:
        return f"{self.path} cannot be used: {self.problem}."

    @property
    def next_step(self) -> str:
        return "Mend the file in an editor; `zib doctor` says how. Nothing was written."


@contextmanager
def naming(path: str) -> Iterator[None]:
    """Put the path of a note into a NoteUnusable of code that knows only the note's text."""
    try:
        yield
    except NoteUnusable as failure:
        raise dataclasses.replace(failure, path=failure.path or path) from failure


@dataclass(eq=False)
class PathRefused(Refused):
    """A path, title, folder or project name that is not allowed, or leaves the vault."""

    value: str
    reason: str
    code = "path_refused"

    @property
    def sentence(self) -> str:
        return f"{self.value!r} is not a usable name here: {self.reason}."

    @property
    def next_step(self) -> str:
        return "Use a plain name or a path relative to the vault."


@dataclass(eq=False)
class CategoryRefused(Refused):
    """A category label that is blank, over-long, of several lines or of forbidden characters."""

    label: str
    reason: str
    known: tuple[str, ...] = ()
    code = "category_refused"

    @property
    def sentence(self) -> str:
        return f"{self.label!r} cannot be a category: {self.reason}."

    @property
    def next_step(self) -> str:
        if self.known:
            return f"Known categories: {listing(self.known)}."
        return "Use a short word or two, such as preferences."


@dataclass(eq=False)
class ObservationRefused(Refused):
    """An observation whose form is not acceptable."""

    reason: str
    code = "observation_refused"

    @property
    def sentence(self) -> str:
        return f"The observation was not written: {self.reason}."

    @property
    def next_step(self) -> str:
        return "State one fact in plain words, at most 4 KB."


@dataclass(eq=False)
class TextNotFound(Conflicting):
    """The text to replace does not occur in the note."""

    path: str
    find: str
    code = "text_not_found"

    @property
    def sentence(self) -> str:
        return f"The text to find does not occur in {self.path}."

    @property
    def next_step(self) -> str:
        return "Read the note with `get_note` and copy the text exactly."


@dataclass(eq=False)
class TextNotUnique(Conflicting):
    """The text to replace occurs more than once."""

    path: str
    count: int
    lines: tuple[int, ...]
    code = "text_not_unique"

    @property
    def sentence(self) -> str:
        where = ", ".join(map(str, self.lines[:12]))
        return f"The text to find occurs {self.count} times in {self.path}, on lines {where}."

    @property
    def next_step(self) -> str:
        return "Give more of the text around the one that you mean."


@dataclass(eq=False)
class SectionNotFound(NotFound):
    """The note has no such heading."""

    path: str
    section: str
    headings: tuple[str, ...]
    code = "section_not_found"

    @property
    def sentence(self) -> str:
        return f"{self.path} has no section {self.section!r}."

    @property
    def next_step(self) -> str:
        if self.headings:
            return f"Its sections: {listing(self.headings)}."
        return "It has no headings; use another mode."


@dataclass(eq=False)
class SectionAmbiguous(Conflicting):
    """More than one heading of the note fits."""

    path: str
    section: str
    candidates: tuple[str, ...]
    code = "section_ambiguous"

    @property
    def sentence(self) -> str:
        return f"{self.section!r} fits several sections of {self.path}: {listing(self.candidates)}."

    @property
    def next_step(self) -> str:
        return "Name it by its full path, as listed."


@dataclass(eq=False)
class NoteChanged(Conflicting):
    """The note changed after the caller read it."""

    path: str
    version_token: str
    code = "note_changed"

    @property
    def sentence(self) -> str:
        return f"{self.path} was changed since you read it; nothing was written."

    @property
    def next_step(self) -> str:
        return "Read it again with `get_note` and repeat the edit on what is there."


@dataclass(eq=False)
class StorageFailed(StorageFailure):
    """The operating system refused a write; the old state is in place."""

    path: str
    reason: str
    code = "storage_failed"

    @property
    def sentence(self) -> str:
        return f"Writing {self.path} failed: {self.reason}. The old state is in place."

    @property
    def next_step(self) -> str:
        return "Check free space and rights, then call again."


@dataclass(eq=False)
class LockTimeout(StorageFailure):
    """Another process held the vault's lock for too long."""

    path: str
    seconds: float
    code = "lock_timeout"

    @property
    def sentence(self) -> str:
        return f"Another process has been writing to {self.path} for {self.seconds:g} seconds."

    @property
    def next_step(self) -> str:
        return "Call again in a moment."


@dataclass(eq=False)
class JournalUnreadable(StorageFailure):
    """The history of the vault cannot be read."""

    path: str
    reason: str
    code = "journal_unreadable"

    @property
    def sentence(self) -> str:
        return f"The journal {self.path} cannot be read: {self.reason}."

    @property
    def next_step(self) -> str:
        return "Check its rights; `zib doctor` says what is wrong with it."


@dataclass(eq=False)
class RevisionUnavailable(NotFound):
    """A past state of a note cannot be had from the journal."""

    revision: str
    reason: str
    code = "revision_unavailable"

    @property
    def sentence(self) -> str:
        return f"The state after revision {self.revision!r} cannot be had: {self.reason}."

    @property
    def next_step(self) -> str:
        return "Choose another revision from `zib history`."
