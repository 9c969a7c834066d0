"""Rules that the owner sets for the work of agents, and checking numbers against them.

An agent may propose a rule; it binds when the owner has accepted it. What binds, only the owner
replaces.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ..indexer.catalog import Row
from ..indexer.passages import today
from ..vault.categories import category_key, check_label
from ..vault.errors import InvalidArgument, NoteNotFound, naming
from ..vault.ids import new_id
from ..vault.memory import (
    Observation,
    append_observation,
    canonical,
    find_observation,
    replace_observation,
)
from ..vault.note import Note, check_size, read_note
from ..vault.revision import Op
from ..vault.rules import (
    LEVELS,
    MEMORY,
    Condition,
    Level,
    Rule,
    new_rules_source,
    rules,
    violated,
    written,
)
from ..vault.source import Source
from ..vault.statement import parse_statement
from .answers import RuleAdded, RuleLine, Rules, RulesChecked, Violation
from .enforcement import rows_told
from .kinds import ask_fresh, places, present, rows_of
from .places import known_project, project_name
from .policy.form import checked_tag
from .refusals import OwnerOnly
from .secrets import refuse_secrets
from .trust import UNREVIEWED, said_by
from .vault import Vault

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def add_rule(
    vault: Vault, name: str, level: Level, text: str, category: str, project: str | None = None
) -> RuleAdded:
    """Add a rule, or put it in the place of the one of that name.

    The owner's binds at once; an agent's waits until the owner accepts it (`pending`). Raises
    `OwnerOnly` when an agent would replace a rule that binds, `InvalidArgument`,
    `CategoryRefused`, `SecretRefused`, `NoteUnusable` and the storage failures; nothing is
    written then.
    """
    wanted = canonical(written(*_checked(name, level, text, category)))
    refuse_secrets(name, text)
    folder = None if project is None else project_name(vault.layout, project)
    path = _path_for(vault, folder, name)
    with vault.store.transaction(path):
        note = present(vault, path)
        answer = _written(vault, path, note, name, wanted)
    vault.index.touched((path,))
    return answer


def get_rules(vault: Vault, category: str | None = None, project: str | None = None) -> Rules:
    """Return the rules that bind: the user's and, with `project`, that project's.

    With `category`, those about it and those about everything. `waiting` counts the proposals, for
    the owner alone. Raises `RuleForbids` for a project of which the caller may recall nothing.
    """
    found = _asked(vault, category, project)
    live = [rule for rule in found if rule.is_live(today())]
    waiting = None
    if vault.caller.origin == "owner":
        waiting = sum(rule.status == UNREVIEWED for rule in found)
    return Rules(tuple(map(line_of, live)), waiting)


def check_rules(
    vault: Vault, category: str, context: Mapping[str, object], project: str | None = None
) -> RulesChecked:
    """Check numbers by their names against the rules of a category.

    A violation is a condition that is false; a name that `context` does not have is none. Rules
    without conditions are told as `advice`. Raises `InvalidArgument` for what is no number.
    """
    numbers = {name: _number(name, value) for name, value in context.items()}
    found = [rule for rule in _asked(vault, category, project) if rule.is_live(today())]
    violations = tuple(
        _violation(rule, one, numbers[one.name])
        for rule in found
        for one in violated(rule, numbers)
    )
    checked = sum(any(one.name in numbers for one in rule.conditions) for rule in found)
    advice = tuple(line_of(rule) for rule in found if not rule.conditions)
    return RulesChecked(not violations, violations, checked, advice)


def line_of(rule: Rule) -> RuleLine:
    """A rule as answers show it."""
    return RuleLine(
        name=rule.name,
        level=rule.level,
        text=rule.text,
        categories=rule.categories,
        path=rule.path,
        line=rule.line,
    )


# Reading


def _violation(rule: Rule, condition: Condition, value: float) -> Violation:
    return Violation(
        name=rule.name,
        level=rule.level,
        text=rule.text,
        condition=condition.text,
        value=value,
        path=rule.path,
        line=rule.line,
    )


def _asked(vault: Vault, category: str | None, project: str | None) -> list[Rule]:
    """The rules of the user and of a project about a category, or all, as on disk now."""
    name = known_project(vault.layout, project)
    key = None if category is None else category_key(check_label(category, ()))
    of = [""] if name is None else ["", name]
    rows = vault.index.ask(lambda: [row for one in of for row in rows_told(vault, "rules", one)])
    told = (rule for row in rows for rule in rules_in(vault, row))
    found = (rule for rule in told if key is None or rule.belongs_to(key))
    return sorted(found, key=lambda rule: (LEVELS.index(rule.level), rule.path, rule.line))


def rules_in(vault: Vault, row: Row) -> Iterator[Rule]:
    """The rules of a note as it is on disk now; those of a muted one bind nobody."""
    try:
        note = read_note(vault.layout, row.path)
    except NoteNotFound:
        return iter(())
    return rules(note) if note.kind == "rules" and not note.muted else iter(())


def _number(name: str, value: object) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise InvalidArgument("context", f"{name!r} is no number, or one that is too large")
    return number


# Writing


def _checked(name: str, level: Level, text: str, category: str) -> tuple[Level, str, str]:
    """Level, text and tag of a rule that is fit to be written."""
    if not NAME.fullmatch(name):
        raise InvalidArgument("name", f"{name!r} is no name: up to 64 of A-Z, a-z, 0-9, _ and -")
    if level not in LEVELS:
        raise InvalidArgument("level", f"{level!r} is not one of {', '.join(LEVELS)}")
    words = " ".join(canonical(text).split())
    if level == "must" and parse_statement(words) is not None:
        if category_key(check_label(category, ())) != MEMORY:
            raise InvalidArgument("category", f"a rule on the memory itself is about {MEMORY!r}")
        return level, words, ""  # A tag behind it would be a part of what it states.
    tag = checked_tag(check_label(category, ()).replace(" ", "-"))
    return level, words, tag


def _path_for(vault: Vault, project: str | None, name: str) -> str:
    """The note that has a rule of this name, else the first note of rules, else a new one's."""
    rows = ask_fresh(vault, lambda: rows_of(vault, "rules", None))
    own = [row for row in rows if (row.project or None) == project]
    having = (row.path for row in own if any(rule.name == name for rule in rules_in(vault, row)))
    known = next(having, None) or next((row.path for row in own), None)
    if known is not None:
        return known
    for path in places(vault, "rules", project, "rules"):
        note = present(vault, path)
        if note is None or note.kind == "rules":
            return path
    raise AssertionError("places never end")


def _written(vault: Vault, path: str, note: Note | None, name: str, text: str) -> RuleAdded:
    """Write one rule into its note; the vault's lock is held."""
    note_id = note.id if note else new_id()
    source = note.source if note else new_rules_source(note_id)
    known = find_observation(note, name)
    fields = _fields(vault)
    try:
        with naming(path):
            if known is None:
                after = append_observation(source, text, id=name, fields=fields)
            else:
                after = _replaced(vault, source, known, text, fields)
    except InvalidArgument as error:
        raise replace(error, argument="name") from error
    check_size(path, after)
    waits = "status" in fields
    if after.data == source.data:
        return RuleAdded("unchanged", name, note_id, path, source.token)
    op: Op = "update" if known else "append" if note else "create"
    act = vault.act(op, note_id, name, quiet=waits)
    expected = note.source.token if note else None
    vault.store.write(path, after.data, expected=expected, act=act)
    outcome = "pending" if waits else "replaced" if known else "added"
    return RuleAdded(outcome, name, note_id, path, after.token)  # type: ignore[arg-type]


def _fields(vault: Vault) -> dict[str, str]:
    """What the line of a rule carries: whose it is, and that it waits unless it is the owner's."""
    own = said_by(vault.caller)
    return own if vault.caller.origin == "owner" else {**own, "status": UNREVIEWED}


def _replaced(
    vault: Vault, source: Source, known: Observation, text: str, fields: Mapping[str, str]
) -> Source:
    if vault.caller.origin != "owner" and known.status != UNREVIEWED:
        raise OwnerOnly(f"replace the rule {known.id!r}, which binds")
    return replace_observation(source, replace(known, fields=dict(fields)), text)
