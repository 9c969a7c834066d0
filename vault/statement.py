"""Statements: rules on the memory itself, in a small grammar that docs/rules.md specifies.

    never remember THING …            remember THING … only agent:NAME …
    never recall THING …              recall THING … only agent:NAME …

A THING is `#tag`, `category:NAME`, `project:NAME`, `type:NAME` or `agent:NAME`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from .categories import category_key
from .errors import InvalidArgument
from .paths import fold_name

Moment = Literal["remember", "recall"]

_MOMENTS: Final[dict[str, Moment]] = {"remember": "remember", "recall": "recall"}
_KEYS = ("category", "project", "type", "agent")
_TOKEN = re.compile(r'[^\s":]+:"[^"]*"|\S+')
_TYPES = ("semantic", "episodic", "procedural", "working", "identity")


@dataclass(frozen=True, slots=True)
class Fact:
    """What a statement asks of something that is to be remembered or recalled.

    `category` and `project` are empty where there is none; `tags` are without `#`.
    """

    category: str = ""
    project: str = ""
    type: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """What may not be remembered or recalled: what all `things` are true of.

    `agents` are those that it binds, or all when empty; it does not bind those in `only`. Names
    are folded as `fold_name` does, categories as `category_key`.
    """

    moment: Moment
    category: str = ""
    project: str = ""
    type: str = ""
    tags: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    only: tuple[str, ...] = ()

    def binds(self, agent: str) -> bool:
        """Whether it concerns an agent of this name."""
        name = fold_name(agent)
        return name not in self.only and (not self.agents or name in self.agents)

    def lies_in(self, category: str, project: str) -> bool:
        """Whether something of this category and project can be what is meant."""
        return (not self.category or self.category == category_key(category)) and (
            not self.project or self.project == fold_name(project)
        )

    @property
    def is_of_places(self) -> bool:
        """Whether category and project alone decide."""
        return not self.tags and not self.type

    def meets(self, fact: Fact) -> bool:
        """Whether a fact is what is meant."""
        if not self.lies_in(fact.category, fact.project):
            return False
        if self.type and self.type != fact.type:
            return False
        return all(has_tag(fact.tags, tag) for tag in self.tags)


def has_tag(tags: Iterable[str], wanted: str) -> bool:
    """Whether a tag, or one below it such as `health/teeth`, is among some. `wanted` is folded."""
    folded = (fold_name(tag) for tag in tags)
    return any(tag == wanted or tag.startswith(f"{wanted}/") for tag in folded)


def parse_statement(text: str) -> Statement | None:
    """Return the statement that a rule makes; None when it speaks of something else.

    Raises InvalidArgument when it begins like one and cannot be understood.
    """
    words = _TOKEN.findall(text.strip().rstrip("."))
    never = bool(words) and words[0].lower() == "never"
    moment = _MOMENTS.get(words[never].lower()) if len(words) > never else None
    limited = [word.lower() for word in words].index("only") if _says_only(words) else None
    if moment is None or (not never and limited is None):
        return None
    if never and limited is not None:
        raise InvalidArgument("text", "it says both never and only")
    found = _things(words[1 + never : limited])
    only = _agents(words[limited + 1 :]) if limited is not None else ()
    if limited is not None and found["agent"]:
        raise InvalidArgument("text", "an agent stands behind only, or with never")
    return Statement(
        moment,
        category="".join(map(category_key, found["category"])),
        project="".join(map(fold_name, found["project"])),
        type="".join(found["type"]),
        tags=tuple(map(fold_name, found["tag"])),
        agents=tuple(map(fold_name, found["agent"])),
        only=only,
    )


def _says_only(words: Sequence[str]) -> bool:
    return any(word.lower() == "only" for word in words)


def _things(words: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {key: [] for key in ("tag", *_KEYS)}
    for word in words:
        key, value = _thing(word)
        if key in ("category", "project", "type") and found[key]:
            raise InvalidArgument("text", f"it names two of {key}: one rule for each, please")
        found[key].append(value)
    if not any(found.values()):
        raise InvalidArgument("text", "it does not say what: #tag, category:, project: or type:")
    return found


def _thing(word: str) -> tuple[str, str]:
    if word.startswith("#") and len(word) > 1:
        return "tag", word[1:]
    key, _, value = word.partition(":")
    name = value.strip('"').strip()
    if key.lower() not in _KEYS or not name:
        known = ", ".join(f"{each}:NAME" for each in _KEYS)
        raise InvalidArgument("text", f"{word!r} is none of #tag, {known}")
    if key.lower() == "type" and name.lower() not in _TYPES:
        raise InvalidArgument("text", f"{name!r} is none of the types {', '.join(_TYPES)}")
    return key.lower(), name.lower() if key.lower() == "type" else name


def _agents(words: Sequence[str]) -> tuple[str, ...]:
    things = [_thing(word) for word in words if word.lower() not in ("or", "and")]
    if not things or any(key != "agent" for key, _ in things):
        raise InvalidArgument("text", "behind only stand agents: agent:NAME")
    return tuple(fold_name(name) for _, name in things)
