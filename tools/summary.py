"""What is remembered: categories with their counts and summaries, by memory and project."""

from __future__ import annotations

from collections.abc import Sequence

from ..indexer.catalog import Row
from ..indexer.index import Hit
from ..indexer.passages import today
from .answers import CategoryLine, MemorySummary, ProjectMemory
from .borders import Borders
from .places import known_project
from .plans import unfinished
from .provenance import date_of
from .rules import rules_in
from .search import shown
from .vault import Vault

FIRST_WORDS = 120
"""Characters of a category's first observation that stand for a missing summary."""


def memory_summary(vault: Vault, project: str | None = None) -> MemorySummary:
    """Count what is remembered of the user, and of each project or the given one.

    What no recall would tell is not counted: muted categories, observations that are expired
    or not active and, with `project`, those of the user that are tied to another project.
    Raises `PathRefused` for a project that is no plain name.
    """
    name = known_project(vault.layout, project)
    return vault.index.ask(lambda: _summary(vault, name))


def _summary(vault: Vault, project: str | None) -> MemorySummary:
    borders = Borders(vault, project)
    rows = [row for row in vault.index.rows(borders.scope) if borders.admits_note(row.path)]
    memory = [row for row in rows if row.note_class == "agent-memory" and not row.kind]
    plans = [row for row in rows if row.kind == "progress"]
    ruled = [row for row in rows if row.kind == "rules"]
    lines = {row.path: category_line(row, borders.told(row)) for row in memory}
    if vault.caller.origin != "owner":  # What seems empty may hold what is hidden.
        memory = [row for row in memory if lines[row.path].observations]
    names = sorted({row.project for row in rows if row.project})
    projects = tuple(
        ProjectMemory(
            project=name,
            notes=sum(row.project == name and row.note_class == "user-doc" for row in rows),
            categories=tuple(lines[row.path] for row in memory if row.project == name),
        )
        for name in names
    )
    return MemorySummary(
        user=tuple(lines[row.path] for row in memory if not row.project),
        projects=projects,
        observations=sum(line.observations for line in lines.values()),
        rules=sum(rule.is_live(today()) for row in ruled for rule in rules_in(vault, row)),
        plans=unfinished(vault, plans),
        index=vault.index_state(),
    )


def category_line(row: Row, told: Sequence[Hit]) -> CategoryLine:
    """A category with what may be told of it: its observations, and its summary or first words."""
    facts = [hit for hit in told if hit.passage is not None and hit.passage.is_observation]
    return CategoryLine(
        category=row.category,
        note_id=row.id,
        path=row.path,
        observations=len(facts),
        summary=row.summary or (" ".join(shown(facts[0]).split())[:FIRST_WORDS] if facts else ""),
        modified_at=date_of(row.mtime_ns),
    )
