"""What the measurements of one vault share: where it lies, its questions, and what went wrong."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from clocks import Yardstick, yardstick


@dataclass(slots=True)
class Setting:
    """One vault of `count` notes under measurement, in the folder `work`.

    A `scale` below 1 takes fewer samples. `failures` are what was wrong, not what was slow.
    """

    work: Path
    count: int
    queries: list[dict[str, str]]
    scale: float = 1.0
    yardsticks: dict[str, Yardstick] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    @property
    def vault(self) -> Path:
        """The folder of the notes."""
        return self.work / "vault"

    @property
    def cache(self) -> Path:
        """The folder of the index."""
        return self.work / "cache"

    def samples(self, number: int) -> int:
        """How many samples to take of what is usually sampled `number` times."""
        return max(3, int(number * self.scale))

    def questions(self, number: int, skip: int = 0) -> list[dict[str, str]]:
        """Some of the known-item questions."""
        wanted = self.samples(number)
        return [self.queries[(skip + at) % len(self.queries)] for at in range(wanted)]

    def measuring(self, step: str) -> None:
        """Take the yardstick before a step."""
        self.yardsticks[f"{self.count} {step}"] = yardstick()

    def require(self, fact: bool, failure: str) -> None:
        """Note a failure when something does not hold."""
        if not fact and failure not in self.failures:
            self.failures.append(failure)


def use_cache(folder: Path) -> None:
    """Let the index of this process and of its children lie in a folder."""
    os.environ["ZIBALDONE_CACHE_DIR"] = str(folder)
