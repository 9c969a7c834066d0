"""The chart of use over time: an SVG with a bar for each day, drawn on the server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from ..tools.audit import Day

WIDTH, HEIGHT = 720, 120
GAP = 3.0
"""The size of the chart, and the room between two bars."""

LEAST = 3.0
"""The height of a bar for a single question, so that it can be seen."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One day: what was found from the ground up, and above it what was not."""

    day: Day
    x: float
    width: float
    top: float
    found: float
    missed: float


@dataclass(frozen=True, slots=True)
class Chart:
    """What the template draws; `peak` is the number of the highest bar."""

    bars: tuple[Bar, ...]
    peak: int
    asked: int
    missed: int
    first: date
    last: date
    width: int = WIDTH
    height: int = HEIGHT


def chart(days: Sequence[Day]) -> Chart | None:
    """Place a bar for each day; None when nothing was asked."""
    peak = max((one.asked for one in days), default=0)
    if not peak:
        return None
    step = WIDTH / len(days)
    return Chart(
        tuple(_bar(one, number * step, step - GAP, peak) for number, one in enumerate(days)),
        peak,
        sum(one.asked for one in days),
        sum(one.missed for one in days),
        days[0].day,
        days[-1].day,
    )


def _bar(day: Day, x: float, width: float, peak: int) -> Bar:
    whole = max(HEIGHT * day.asked / peak, LEAST) if day.asked else 0.0
    missed = whole * day.missed / day.asked if day.asked else 0.0
    return Bar(day, *(round(one, 1) for one in (x, width, HEIGHT - whole, whole - missed, missed)))
