"""The labelled cases of an evaluation, as a TOML file gives them: a list of tables for each kind.

A place is named as everywhere: a path, or `path#^id` for one observation.
"""

from __future__ import annotations

import dataclasses
import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from ...vault.errors import InvalidArgument, reason_of

MAX_BYTES: Final = 4 * 1024 * 1024

Wanted = Literal["written", "known", "asked", "refused"]


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the places that answer it."""

    query: str
    expect: tuple[str, ...]
    project: str | None = None


@dataclass(frozen=True, slots=True)
class Write:
    """A fact that an agent would remember, and what should become of it."""

    text: str
    expect: Wanted
    category: str = "general"
    project: str | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    """A fact that contradicts the observation at a place, or none where that is empty."""

    text: str
    contradicts: str = ""
    category: str = "general"
    project: str | None = None


@dataclass(frozen=True, slots=True)
class Update:
    """New words for an observation, and a question that it answers."""

    ref: str
    text: str
    query: str
    project: str | None = None


@dataclass(frozen=True, slots=True)
class Deletion:
    """An observation to be forgotten, and a question that it answers."""

    ref: str
    query: str


@dataclass(frozen=True, slots=True)
class Hidden:
    """Words that no agent may be given, and questions that come close to them."""

    words: str
    queries: tuple[str, ...]
    project: str | None = None


@dataclass(frozen=True, slots=True)
class Work:
    """A plan, and after how many of its steps the work on it breaks off."""

    task: str
    steps: tuple[str, ...]
    stop_after: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Labels:
    """All cases of one file; a kind of which there are none is not measured."""

    questions: tuple[Question, ...] = ()
    writes: tuple[Write, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    updates: tuple[Update, ...] = ()
    deletions: tuple[Deletion, ...] = ()
    hidden: tuple[Hidden, ...] = ()
    plans: tuple[Work, ...] = ()


def load_labels(path: str | Path) -> Labels:
    """Return the cases in a file. Raises `InvalidArgument` when it cannot be read or used."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise InvalidArgument("LABELS", f"{path} is larger than {MAX_BYTES} bytes")
        return parse_labels(tomllib.loads(data.decode("utf-8-sig")))
    except OSError as error:
        raise InvalidArgument("LABELS", f"{path} cannot be read: {reason_of(error)}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidArgument("LABELS", f"{path} is not TOML: {error}") from error


def parse_labels(table: Mapping[str, object]) -> Labels:
    """Return the cases in a parsed file. Raises `InvalidArgument` for anything unknown."""
    kinds = {name: get_args(hint)[0] for name, hint in get_type_hints(Labels).items()}
    _check_names("the file", table, kinds)
    found: dict[str, Any] = {}
    for name, cases in table.items():
        if not isinstance(cases, list) or not all(isinstance(each, dict) for each in cases):
            raise InvalidArgument("LABELS", f"{name} has to be tables, each headed [[{name}]]")
        found[name] = tuple(
            _case(f"[[{name}]] number {number}", kinds[name], each)
            for number, each in enumerate(cases, 1)
        )
    return Labels(**found)


def _case(where: str, kind: type, table: Mapping[str, object]) -> object:
    hints = get_type_hints(kind)
    _check_names(where, table, hints)
    for field in dataclasses.fields(kind):
        if field.default is dataclasses.MISSING and field.name not in table:
            raise InvalidArgument("LABELS", f"{where} has no {field.name}")
    return kind(**{name: _value(where, name, hints[name], value) for name, value in table.items()})


def _check_names(where: str, table: Mapping[str, object], known: Mapping[str, object]) -> None:
    for name in table:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1, 0.0)[0]
            raise InvalidArgument("LABELS", f"{where} has no use for {name!r}", near)


def _value(where: str, name: str, hint: Any, value: object) -> object:
    if get_origin(hint) is tuple:
        kind = get_args(hint)[0]
        if isinstance(value, list) and value and all(type(each) is kind for each in value):
            return tuple(value)
        told = "texts" if kind is str else "whole numbers"
        raise InvalidArgument("LABELS", f"{name} of {where} has to be a list of {told}")
    if get_origin(hint) is Literal and value not in get_args(hint):
        known = ", ".join(get_args(hint))
        raise InvalidArgument("LABELS", f"{name} of {where} has to be one of {known}")
    if not isinstance(value, str):
        raise InvalidArgument("LABELS", f"{name} of {where} has to be text")
    return value
