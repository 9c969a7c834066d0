"""Rules: notes of kind `rules`, one item each, such as `- must: discount <= 0.20 #pricing ^max`.

The word before the colon is the level, tags at the end are the categories, the block id is the
name. Whatever reads `name op number` in the text is a condition. docs/rules.md specifies it.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from . import frontmatter
from .categories import category_key
from .errors import InvalidArgument
from .memory import ACTIVE, Observation, observations
from .note import Note
from .source import Source
from .statement import parse_statement

Level = Literal["must", "should", "avoid", "prefer"]

MEMORY: Final = "memory"
"""The category of rules on the memory itself, whose tags say what they are about."""

LEVELS: Final[tuple[Level, ...]] = get_args(Level)

_OPERATORS: Final[dict[str, Callable[[float, float], bool]]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
# A number that goes on, as in 1,000 or 20%, is none that could be compared.
_CONDITION = re.compile(
    r"(?<![\w.])([^\W\d][\w.]{0,63})[ \t]*(<=|>=|==|!=|<|>)[ \t]*([-+]?\d{1,18}(?:\.\d{1,18})?)"
    r"(?![.,]?\d|\w|%)"
)
_LEVEL = re.compile(rf"[ \t]*({'|'.join(LEVELS)})[ \t]*:[ \t]*", re.IGNORECASE)
_TAGS_AT_END = re.compile(r"(?:(?:^|[ \t]+)#[^\s#]+)+[ \t]*$")


@dataclass(frozen=True, slots=True)
class Condition:
    """A comparison in the text of a rule: `discount <= 0.20`."""

    name: str
    op: str
    number: float
    text: str

    def holds(self, value: float) -> bool:
        """Whether it is true of a value."""
        return _OPERATORS[self.op](value, self.number)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `text` is without level and categories, `statement` without the level alone.

    `name` is empty for a line that the owner wrote without a block id; `line` counts from 1 in
    the file. `project` is that of the note, to which the rule is bound.
    """

    name: str
    level: Level
    text: str
    statement: str
    categories: tuple[str, ...]
    conditions: tuple[Condition, ...]
    origin: str
    status: str
    expires: str
    path: str
    line: int
    project: str | None

    @property
    def called(self) -> str:
        """What it is called: its name, else its line."""
        return self.name or f"line {self.line}"

    def belongs_to(self, category: str) -> bool:
        """Whether it is about a category, given as `category_key`; one without any is about all."""
        if not self.categories:
            return True
        keys = (key for tag in self.categories for key in _keys(tag))
        return category in keys

    def is_live(self, day: str) -> bool:
        """Whether it binds on a day: it is accepted, and not expired by then."""
        return self.status in ACTIVE and not (self.expires and self.expires < day)


def rules(note: Note) -> Iterator[Rule]:
    """Yield the rules of a note in their order; items without a level are none."""
    first = note.source.first_line
    for one in observations(note):
        rule = _rule(note, one, one.line + first)
        if rule is not None:
            yield rule


def _rule(note: Note, one: Observation, line: int) -> Rule | None:
    level = _LEVEL.match(one.text)
    if level is None:
        return None
    statement = one.text[level.end() :]
    binding = next(known for known in LEVELS if known == level[1].lower())
    on_memory = binding == "must" and _is_statement(statement)
    text = statement if on_memory else _TAGS_AT_END.sub("", statement)
    return Rule(
        name=one.id,
        level=binding,
        text=text,
        statement=statement,
        categories=(MEMORY,) if on_memory else one.tags,
        conditions=conditions(text),
        origin=one.origin,
        status=one.status,
        expires=one.expires,
        path=note.path,
        line=line,
        project=note.place.project,
    )


def _is_statement(text: str) -> bool:
    try:
        return parse_statement(text) is not None
    except InvalidArgument:
        return False


def _keys(tag: str) -> Iterator[str]:
    """The categories of a tag: `pricing/eu` belongs to `pricing` too."""
    parts = tag.split("/")
    return (category_key(" ".join(parts[:end])) for end in range(1, len(parts) + 1))


def conditions(text: str) -> tuple[Condition, ...]:
    """The conditions in a text, in their order."""
    return tuple(
        Condition(found[1], found[2], float(found[3]), found[0])
        for found in _CONDITION.finditer(text)
    )


def violated(rule: Rule, context: Mapping[str, float]) -> Iterator[Condition]:
    """Yield the conditions of a rule that are false; those whose name is missing are not."""
    for condition in rule.conditions:
        value = context.get(condition.name)
        if value is not None and not condition.holds(value):
            yield condition


def written(level: Level, text: str, tag: str) -> str:
    """The text of an item for a rule; without a tag when it needs none."""
    return f"{level}: {text} #{tag}" if tag else f"{level}: {text}"


def new_rules_source(id: str) -> Source:  # noqa: A002
    """A note of rules that has none yet."""
    lines = ["---", f"id: {frontmatter.quote(id)}", "kind: rules", "---", "# Rules", ""]
    return Source.from_text("\n".join(lines))
