"""The form with fixed categories: `preference`, `rule`, `learning`, `decision` and `context`.

Each is a category of memory, so that its notes are those of every other door; a rule goes to the
notes of rules, and waits for the owner before it binds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal, get_args

from ...vault.categories import category_key
from ...vault.errors import InvalidArgument
from ...vault.memory import canonical, normal_form
from ...vault.paths import fingerprint
from ...vault.rules import LEVELS, MEMORY, Level
from ...vault.statement import parse_statement
from ..places import known_project
from ..policy.form import checked_tag
from ..rules import add_rule, get_rules
from ..trust import lowered
from ..vault import Vault
from .memories import Kept, Memories, Mode, Wanted, kept, newest, teller
from .names import declared

Category = Literal["preference", "rule", "learning", "decision", "context"]

LABELS: Final[Mapping[str, str]] = {
    "preference": "Preferences",
    "learning": "Learnings",
    "decision": "Decisions",
    "context": "Context",
}
"""The label of the note of each category; a rule has notes of its own."""

DEFAULT_LEVEL: Level = "should"
ANY_RULE = "general"
"""What a rule is about that is given no tag."""

_BY_KEY: Final[Mapping[str, str]] = {category_key(name): name for name in get_args(Category)}
_LEVEL = re.compile(rf"({'|'.join(LEVELS)})\s*:\s*(?=\S)", re.IGNORECASE)
_WORD = re.compile(r"[a-z0-9]+")


def remember(
    category: Category,
    content: str,
    tags: Sequence[str] = (),
    project: str | None = None,
    *,
    untrusted: bool = False,
    idempotency_key: str | None = None,
    receipt: str | None = None,
    verdict: str | None = None,
) -> Kept:
    """Remember one fact in a category, about the user or about a project.

    A rule may begin with its level, as in `must: …`; else it is a `should`. It is about its first
    tag, and waits for the owner (`pending`). Everything else passes the write policy as with
    `remember_about_user`. Raises `MemoryUndeclared`, `InvalidArgument` for another category, and
    what `remember_about_user` and `add_rule` raise; nothing is written then.
    """
    vault = declared()
    if _checked(category) == "rule":
        writer = vault.with_caller(lowered(vault.caller)) if untrusted else vault
        return _remember_rule(writer, content, tags, project)
    answer = teller(vault, project)(
        content,
        LABELS[category],
        tags=tags,
        untrusted=untrusted,
        idempotency_key=idempotency_key,
        receipt=receipt,
        verdict=verdict,
    )
    return kept(answer, category, project)


def recall(
    category: Category | None = None,
    tags: Sequence[str] = (),
    search: str = "",
    mode: Mode = "all",
    limit: int = 20,
    from_agent: str | None = None,
    project: str | None = None,
) -> Memories:
    """Return memories, the newest first: those of a category, or of all.

    With `mode` `all`, all of the tags and all words of `search` have to be in a memory, with `any`
    one of the tags and one of the words. `from_agent` is `own`, the name of an agent, or `*` for
    all. With `project`, only those of that project. Raises `MemoryUndeclared`, `InvalidArgument`,
    `PathRefused` and `RuleForbids`.
    """
    vault = declared()
    known = None if category is None else _checked(category)
    wanted = Wanted(
        project=known_project(vault.layout, project),
        category=LABELS.get(known) if known else None,
        kind=None if known is None else "rules" if known == "rule" else "",
        tags=tuple(map(checked_tag, tags)),
        words=search,
        mode=mode,
        from_agent=from_agent,
    )
    found = newest(vault, wanted, limit)
    memories = (replace(one, category=_named(one.category)) for one in found.memories)
    return replace(found, memories=tuple(memories))


def _named(label: str) -> str:
    """What this form calls a category; one that it does not have keeps its label."""
    return _BY_KEY.get(category_key(label), label)


def _checked(category: str) -> str:
    if category not in get_args(Category):
        known = ", ".join(get_args(Category))
        raise InvalidArgument("category", f"{category!r} is not one of {known}")
    return category


def _remember_rule(vault: Vault, content: str, tags: Sequence[str], project: str | None) -> Kept:
    """Propose a rule; one that binds already is `skipped`."""
    words = " ".join(canonical(content).split())
    stated = _LEVEL.match(words)
    level = next((one for one in LEVELS if stated and stated[1].lower() == one), DEFAULT_LEVEL)
    text = words[stated.end() :] if stated else words
    first, *others = [checked_tag(tag) for tag in tags] or [_about(level, text)]
    name = rule_name(words)
    known = (one for one in get_rules(vault, project=project).rules if one.name == name)
    if bound := next(known, None):
        return Kept("skipped", name, "rule", bound.path, project)
    told = " ".join([text, *(f"#{tag}" for tag in others)])
    added = add_rule(vault, name, level, told, first, project)
    return Kept("pending", name, "rule", added.path, project, added.note_id)


def _about(level: Level, text: str) -> str:
    on_memory = level == "must" and parse_statement(text) is not None
    return MEMORY if on_memory else ANY_RULE


def rule_name(words: str) -> str:
    """The name of a rule: its first words, and a fingerprint of all of them."""
    form = normal_form(words)
    return "-".join([*_WORD.findall(form)[:4], fingerprint(form)])[-64:].lstrip("-")
