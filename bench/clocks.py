"""Clocks: wall and CPU time of steps, percentiles, memory, and how busy the machine is."""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

MB = 1024 * 1024


@dataclass(slots=True)
class Series:
    """Times of one kind of step, in seconds: by the wall clock, and by the CPU of this thread."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        """Time one step."""
        cpu, wall = time.thread_time(), time.perf_counter()
        yield
        self.wall.append(time.perf_counter() - wall)
        self.cpu.append(time.thread_time() - cpu)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which a share of all lies (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


@dataclass(frozen=True, slots=True)
class Yardstick:
    """How long a fixed loop took, in seconds. Wall over CPU tells how busy the machine was."""

    wall: float
    cpu: float


def yardstick() -> Yardstick:
    """Run a fixed loop of Python."""
    series = Series()
    with series.step():
        total = 0
        for number in range(600_000):
            total += number & 7
    return Yardstick(series.wall[0], series.cpu[0])


def middle(found: Sequence[Yardstick]) -> Yardstick:
    """Return the medians of several yardsticks."""
    return Yardstick(
        statistics.median(one.wall for one in found), statistics.median(one.cpu for one in found)
    )


@dataclass(frozen=True, slots=True)
class Ran:
    """What a process took: seconds, and its peak of memory in MB."""

    wall: float
    cpu: float
    peak_mb: float
    output: str
    told: str


def run(command: Sequence[str], *, on_terminal: bool = False) -> Ran:
    """Run a command to its end. `told` is what it wrote to stderr, a terminal if asked for."""
    ours, theirs = os.openpty() if on_terminal else os.pipe()
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    told = _read_all(ours)
    assert process.stdout is not None
    output = process.stdout.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.stdout.close()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command} ended with {process.returncode}: {told}")
    return Ran(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, output, told)


def _read_all(descriptor: int) -> str:
    parts = []
    # The last reader of a terminal gets an error for its end (EIO on Linux).
    with contextlib.suppress(OSError):
        while part := os.read(descriptor, 65536):
            parts.append(part)
    os.close(descriptor)
    return b"".join(parts).decode(errors="replace")


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory of a process that runs, in MB: now, and at its peak."""

    now: float
    peak: float


def memory_of(pid: int) -> Memory:
    """Return the resident memory of a process. Linux only."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    values = dict(line.split(":", 1) for line in status.splitlines())
    return Memory(*(int(values[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM")))


def cpu_of(pid: int) -> float:
    """Return the seconds of CPU that the threads of a process have had. Linux only."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            total += int((task / "schedstat").read_text(encoding="ascii").split()[0])
    return total / 1e9
