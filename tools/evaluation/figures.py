"""A figure of an evaluation: what it is called, what came out, and which cases count against it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

Better = Literal["higher", "lower"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure from 0 to 1, over so many cases; None where there was nothing to measure."""

    name: str
    value: float | None
    cases: int
    wrong: tuple[str, ...] = ()
    better: Better = "higher"


@dataclass(slots=True)
class Tally:
    """Counts what is right of what was looked at, and remembers what is not."""

    right: float = 0.0
    cases: int = 0
    wrong: list[str] = field(default_factory=list)

    def count(self, share: float, what: str) -> None:
        """Count one case, of which a share is right; `what` names it where not all is."""
        self.right += share
        self.cases += 1
        if share < 1 and what not in self.wrong:
            self.wrong.append(what)

    def figure(self, name: str) -> Figure:
        """The mean share, as a figure."""
        value = round(self.right / self.cases, 4) if self.cases else None
        return Figure(name, value, self.cases, tuple(self.wrong))

    def rate(self, name: str) -> Figure:
        """The share that is wrong, as a figure that is better the lower it is."""
        value = round(1 - self.right / self.cases, 4) if self.cases else None
        return Figure(name, value, self.cases, tuple(self.wrong), "lower")


def tallied(cases: Iterable[tuple[float, str]]) -> Tally:
    """Count cases, each with the share of it that is right."""
    tally = Tally()
    for share, what in cases:
        tally.count(share, what)
    return tally
