"""The figures of a run: rows beside their aims, as a table to read and as data to keep."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from clocks import Series, percentile

Unit = Literal["ms", "s", "notes/s", "MB", "KB"]
Verdict = Literal["", "yes", "by CPU", "NO"]


@dataclass(frozen=True, slots=True)
class Aim:
    """What a row should reach, in its own unit: at most, or at least."""

    p50: float
    p95: float | None = None
    at_least: bool = False

    def met(self, p50: float | None, p95: float | None) -> bool:
        """Say whether two figures reach the aim; one that is not there does not count."""
        if self.at_least:
            return p50 is not None and p50 >= self.p50
        return (p50 is not None and p50 <= self.p50) and (
            self.p95 is None or p95 is None or p95 <= self.p95
        )

    def __str__(self) -> str:
        sign = "≥" if self.at_least else "≤"
        return f"{sign} {self.p50:g}" + (f" / {self.p95:g}" if self.p95 else "")


AIMS = {
    "cold index": Aim(400, at_least=True),
    "search": Aim(5, 20),
    "recall, depth 2": Aim(15, 50),
    "remember, acknowledged": Aim(25, 80),
    "start of zib mcp to the first search": Aim(0.8),
    "memory of the server": Aim(250),
    "explorer: tree": Aim(50),
    "explorer: feed": Aim(50),
    "explorer: note": Aim(50),
    "explorer: memory": Aim(50),
    "explorer: search": Aim(50),
    "explorer: audit": Aim(50),
    "explorer: weight of a page": Aim(150, 150),
}

ROWS = (
    "cold index",
    "memory of the cold index",
    "zib index, nothing changed",
    "zib index, one changed file",
    "search",
    "search, asked again",
    "recall, depth 0",
    "recall, depth 1",
    "recall, depth 2",
    "get_note",
    "remember, acknowledged",
    "remember, found by another process",
    "edit_note",
    "create_note",
    "start of zib mcp to initialize",
    "start of zib mcp to the list of tools",
    "start of zib mcp to the first search",
    "an editor's change, found by the server",
    "search, over the pipe",
    "recall, depth 2, over the pipe",
    "memory of the server",
    "explorer: tree",
    "explorer: feed",
    "explorer: note",
    "explorer: memory",
    "explorer: search",
    "explorer: audit",
    "explorer: blind spots",
    "explorer: context",
    "explorer: weight of a page",
)
"""What every run measures, in this order."""


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. `p50` is the only value where there is no `p95`; ratios are of CPU time."""

    what: str
    notes: int
    unit: Unit
    p50: float
    p95: float | None = None
    cpu_p50: float | None = None
    cpu_p95: float | None = None
    to_files: float | None = None
    to_fts: float | None = None

    @property
    def aim(self) -> Aim | None:
        """What this row should reach."""
        return AIMS.get(self.what)

    @property
    def verdict(self) -> Verdict:
        """Whether the aim is met: by the clock on the wall, or only by CPU time."""
        if self.aim is None:
            return ""
        if self.aim.met(self.p50, self.p95):
            return "yes"
        return "by CPU" if self.aim.met(self.cpu_p50, self.cpu_p95) else "NO"


def timed(
    what: str,
    notes: int,
    series: Series,
    files: Series | None = None,
    fts: Series | None = None,
) -> Row:
    """Return the row of a series of short steps, in ms, beside those of files and FTS5."""
    return Row(
        what,
        notes,
        "ms",
        1000 * percentile(series.wall, 0.5),
        1000 * percentile(series.wall, 0.95),
        1000 * percentile(series.cpu, 0.5),
        1000 * percentile(series.cpu, 0.95),
        ratio(series, files),
        ratio(series, fts),
    )


def ratio(series: Series, other: Series | None) -> float | None:
    """Return how many times the CPU time of another series this one takes."""
    if other is None:
        return None
    return percentile(series.cpu, 0.5) / max(percentile(other.cpu, 0.5), 1e-7)


def missing(rows: Iterable[Row]) -> list[str]:
    """Return what a run should have measured and has not."""
    measured = {row.what for row in rows}
    return [what for what in ROWS if what not in measured]


def missed(rows: Iterable[Row]) -> list[Row]:
    """Return the rows whose aim is not met, by neither clock."""
    return [row for row in rows if row.verdict == "NO"]


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a table for people, in the order in which they were measured."""
    heads = ("what", "notes", "unit", "p50", "p95", "CPU p50", "CPU p95", "aim", "met")
    lines = [(*heads, "× files", "× FTS5"), *map(_cells, rows)]
    return columns(lines)


def _cells(row: Row) -> tuple[str, ...]:
    times = (row.p50, row.p95, row.cpu_p50, row.cpu_p95)
    return (
        row.what,
        f"{row.notes:,}",
        row.unit,
        *map(_number, times),
        str(row.aim or ""),
        row.verdict,
        _number(row.to_files),
        _number(row.to_fts),
    )


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def columns(lines: Sequence[Sequence[str]]) -> str:
    """Lay out lines of cells in columns: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    laid = (
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
    first, *others = laid
    return "\n".join((first, "-" * len(first), *others))


def data(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return the rows as JSON data."""
    return [
        {**asdict(row), "aim": str(row.aim) if row.aim else None, "met": row.verdict or None}
        for row in rows
    ]
