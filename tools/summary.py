"""What is remembered: categories with their counts and summaries, by memory and project."""

from __future__ import annotations

from ..indexer.catalog import Row
from ..indexer.view import Scope
from .answers import CategoryLine, MemorySummary, ProjectMemory
from .search import date_of, known_project, shown
from .vault import Vault

FIRST_WORDS = 120
"""Characters of a category's first observation that stand for a missing summary."""


def memory_summary(vault: Vault, project: str | None = None) -> MemorySummary:
    """Count what is remembered of the user, and of each project or the given one.

    Muted categories, and observations that are expired or not active, are not counted.
    """
    return vault.index.ask(lambda: _summary(vault, project))


def _summary(vault: Vault, project: str | None) -> MemorySummary:
    scope = Scope(project=known_project(vault, project), user_memory=True, muted=False)
    rows = vault.index.rows(scope)
    memory = [row for row in rows if row.note_class == "agent-memory" and not row.conflict_copy]
    lines = {row.path: _line(vault, row) for row in memory}
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
        index=vault.index_state(),
    )


def _line(vault: Vault, row: Row) -> CategoryLine:
    hits = vault.index.parts(row)
    facts = [hit for hit in hits if hit.passage is not None and hit.passage.is_observation]
    return CategoryLine(
        category=row.category,
        note_id=row.id,
        path=row.path,
        observations=len(facts),
        summary=row.summary or (" ".join(shown(facts[0]).split())[:FIRST_WORDS] if facts else ""),
        modified_at=date_of(row.mtime_ns),
    )
