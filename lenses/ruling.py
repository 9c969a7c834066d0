"""Agents → Rules: the rules of the vault, and what each of them has stopped."""

from __future__ import annotations

from itertools import groupby

from ..tools.rulebook import RuleEntry, rulebook
from .visit import Page, Visit, address_of, memory_rows, through_the_lens


def rules_page(visit: Visit) -> Page:
    """Show each rule with what it stopped. Raises `NoteNotFound` while the lens is closed."""
    through_the_lens(visit)
    rows = visit.vault.index.ask(lambda: {row.path: row for row in memory_rows(visit.vault)})
    groups: list[tuple[str, str, list[RuleEntry]]] = []
    for path, rules in groupby(rulebook(visit.vault), key=lambda rule: rule.path):
        row = rows.get(path)
        title = (row.category or row.title) if row else path
        groups.append((title, address_of(row) if row else "/m", list(rules)))
    return Page("rules.html", {"groups": groups, "live": "*"})
