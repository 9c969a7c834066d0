"""The general form: a content, a path that says where it belongs, and a type of memory.

A path is a label and never a file: `user/<category>` is about the user, `projects/<project>` and
`projects/<project>/<category>` are about a project. Without a category it is `general`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, get_args

from ...vault.categories import check_label
from ...vault.errors import InvalidArgument, PathRefused
from ...vault.paths import NOTE_ENDING, contained
from ..answers import MemoryType, RecallAnswer
from ..places import known_project
from ..recall import recall as recalled
from .memories import Kept, Memories, Wanted, kept, ranked, teller
from .names import declared

GENERAL: Final = "general"
FORMS: Final = "a path is user/<category>, projects/<project> or projects/<project>/<category>"


@dataclass(frozen=True, slots=True)
class Place:
    """What a path names: the user or a project, and a category or all of them."""

    project: str | None
    category: str | None


def remember(
    content: str,
    path: str = f"user/{GENERAL}",
    memory_type: MemoryType = "semantic",
    *,
    tags: Sequence[str] = (),
    derived_from: Sequence[str] = (),
    expires: str | None = None,
    untrusted: bool = False,
    idempotency_key: str | None = None,
    receipt: str | None = None,
    verdict: str | None = None,
) -> Kept:
    """Remember one fact; it passes the write policy as with `remember_about_user`.

    Raises `MemoryUndeclared`, `PathRefused` and `CategoryRefused` for a path that names no place,
    and what `remember_about_user` raises; nothing is written then.
    """
    vault, place = declared(), place_of(path)
    category = place.category or GENERAL
    if memory_type not in get_args(MemoryType):
        known = ", ".join(get_args(MemoryType))
        raise InvalidArgument("memory_type", f"{memory_type!r} is not one of {known}")
    answer = teller(vault, place.project)(
        content,
        category,
        type=memory_type,
        tags=tags,
        derived_from=derived_from,
        expires=expires,
        untrusted=untrusted,
        idempotency_key=idempotency_key,
        receipt=receipt,
        verdict=verdict,
    )
    return kept(answer, answer.category, place.project)


def recall(query: str, path: str | None = None, budget_tokens: int = 4000) -> RecallAnswer:
    """Return one bundle for a question, within a budget, as the tool `recall` does.

    A `path` narrows it to a project, and what of the user's memory is tied to no other. Raises
    `MemoryUndeclared`, `PathRefused` for another path, and what `recall` raises.
    """
    vault, place = declared(), place_of(path) if path is not None else Place(None, None)
    if path is not None and (place.project is None or place.category is not None):
        raise PathRefused(path, "recall is narrowed to projects/<project>, and search to others")
    return recalled(vault, query, place.project, budget_tokens)


def search(
    query: str, path: str | None = None, memory_type: MemoryType | None = None, limit: int = 20
) -> Memories:
    """Return the single memories that answer `query` best, in a place and of a type if given.

    Raises `MemoryUndeclared`, `PathRefused`, `CategoryRefused`, `InvalidArgument` and
    `RuleForbids`.
    """
    vault, place = declared(), place_of(path) if path is not None else Place(None, None)
    wanted = Wanted(
        project=known_project(vault.layout, place.project),
        personal=path is not None and place.project is None,
        category=place.category,
        kind="",
        type=memory_type,
        words=query,
    )
    return ranked(vault, wanted, limit)


def place_of(path: str) -> Place:
    """Return what a path names. Raises `PathRefused` and `CategoryRefused`."""
    match contained(path.strip()).parts:
        case [axis] if axis.casefold() == "user":
            return Place(None, None)
        case [axis, category] if axis.casefold() == "user":
            return Place(None, _label(path, category))
        case [axis, project] if axis.casefold() == "projects":
            return Place(project, None)
        case [axis, project, category] if axis.casefold() == "projects":
            return Place(project, _label(path, category))
    raise PathRefused(path, FORMS)


def _label(path: str, category: str) -> str:
    if category.casefold().endswith(NOTE_ENDING):
        raise PathRefused(path, f"it names a file; {FORMS}")
    return check_label(category, ())
