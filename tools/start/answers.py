"""What `start_session` answers: what was loaded in which order, and what was left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..answers import IndexState, Origin

StartPartName = Literal["personal", "project", "work"]
StartKind = Literal[
    "context-set", "pin", "profile", "index", "changes", "plans", "thread", "rules", "vocabulary"
]


@dataclass(frozen=True, slots=True)
class StartPart:
    """Something that a session starts with: a note or a passage of one, or a list made of many.

    `cut` says that it goes on. `tokens` count its text and the line that says where it is from.
    """

    part: StartPartName
    kind: StartKind
    title: str
    tokens: int
    origin: Origin
    note_id: str | None = None
    path: str | None = None
    date: str | None = None
    cut: bool | None = None


@dataclass(frozen=True, slots=True)
class StartOmitted:
    """What would come next and was left out, and how many tokens of it are not there.

    The first of a part that has no room in its `budget` may be there in part; what stands
    behind it is left out by the `order`. `missing` is a link of a context set to nothing.
    """

    part: StartPartName
    kind: StartKind
    title: str
    reason: Literal["budget", "order", "missing"]
    tokens: int
    note_id: str | None = None
    path: str | None = None


@dataclass(frozen=True, slots=True)
class StartAnswer:
    """What a session starts with. `tokens` counts `context` as it is, envelope included.

    `since` is when this agent's last session started, after which changes are listed.
    """

    context: str
    tokens: int
    budget_tokens: int
    parts: tuple[StartPart, ...]
    omitted: tuple[StartOmitted, ...]
    omitted_more: int
    index: IndexState
    project: str | None = None
    since: str | None = None
