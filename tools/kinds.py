"""Memory notes that are no category: plans, threads and rules, each kind with a place of its own.

Categories lie flat in the folder of memory. Plans and threads come and go, so they have folders
beside them; what a note is, its `kind` says, wherever in that memory its owner moves it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, Literal, TypeVar

from ..indexer.catalog import Row
from ..indexer.view import Scope
from ..vault.categories import file_name
from ..vault.errors import InvalidArgument, NoteNotFound, NoteUnusable
from ..vault.memory import canonical
from ..vault.note import CONTEXT_SET, Note, read_note
from ..vault.paths import NOTE_ENDING, fold_name
from .places import memory_folder, new_note
from .refusals import OwnerOnly
from .secrets import refuse_secrets
from .vault import Vault

Kind = Literal["rules", "progress", "thread"]

FOLDERS: Final[dict[Kind, str]] = {"progress": "plans", "thread": "threads"}
"""The folder in a memory in which new notes of a kind are made."""

OWNERS: Final[dict[str, str]] = {
    "rules": "change or take out rules",
    CONTEXT_SET: "say what is loaded at the start of a session",
}
"""The kinds of notes that agents change by no edit, and what that would be."""

NAME_LENGTH = 200
"""Characters of a name at most."""

_Found = TypeVar("_Found")


def name_key(name: str) -> str:
    """What two spellings of one name have in common: case and blanks do not matter."""
    return " ".join(fold_name(name).split())


def checked_name(argument: str, text: str) -> str:
    """Return the name of a plan, a step or a thread, on one line; `argument` is what gave it.

    Raises `InvalidArgument` for one that is too long, `SecretRefused` and `ObservationRefused`.
    """
    name = " ".join(canonical(text).split())
    if len(name) > NAME_LENGTH:
        raise InvalidArgument(argument, f"a name is no longer than {NAME_LENGTH} characters")
    refuse_secrets(name)
    return name


def is_called(note: Note, kind: Kind, name: str) -> bool:
    """Whether a note is the one of a kind and name."""
    return note.kind == kind and name_key(note.title) == name_key(name)


def is_told(vault: Vault, row: Row | None) -> bool:
    """Whether the caller may know of a note. What is in a thread is for that thread alone."""
    return row is None or row.kind != "thread" or vault.caller.origin == "owner"


def refuse_agents(vault: Vault, kind: str) -> None:
    """Raise `OwnerOnly` when an agent is about to change a note that is the owner's to change."""
    if kind in OWNERS and vault.caller.origin != "owner":
        raise OwnerOnly(OWNERS[kind])


def rows_of(vault: Vault, kind: Kind, project: str | None) -> list[Row]:
    """The notes of a kind in one project, or in all memory; inside a question only."""
    rows = vault.index.rows(Scope(project=project, kind=kind, muted=False))
    return [row for row in rows if not row.conflict_copy]


def ask_fresh(vault: Vault, question: Callable[[], _Found]) -> _Found:
    """Answer a question; when nothing is found, after a look for notes that just came."""
    found = vault.index.ask(question)
    if not found and vault.index.watched:
        vault.index.look()
        found = vault.index.ask(question)
    return found


def places(vault: Vault, kind: Kind, project: str | None, name: str) -> Iterator[str]:
    """The paths that a note of this name may have, in the order in which they are taken."""
    parts = [memory_folder(vault.layout, project), FOLDERS.get(kind, ""), file_name(name)]
    path = "/".join(filter(None, parts))
    yield new_note(vault.layout, path, "agent-memory")
    number = 2
    while True:
        other = f"{path.removesuffix(NOTE_ENDING)}-{number}{NOTE_ENDING}"
        yield new_note(vault.layout, other, "agent-memory")
        number += 1


def present(vault: Vault, path: str) -> Note | None:
    """The note at a path as it is now. Raises `NoteUnusable` for one that cannot be changed."""
    try:
        note = read_note(vault.layout, path)
    except NoteNotFound:
        return None
    if note.problem is not None and note.problem.kind not in ("encoding", "conflict-copy"):
        raise NoteUnusable(path, note.problem.detail)
    return note
