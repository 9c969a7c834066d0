"""Measure how workers that are killed go on with their plan.

    python bench/resume.py              50 runs, some minutes
    python bench/resume.py --runs 5

In each run a worker does the 35 steps of a plan, and notes for its thread what it decided at each.
It is killed (`kill -9`) at step 18 and at two other steps, at random moments, and each time another
one goes on. Ends with 1 unless each went on at the right step, no finished step was done again, and
no note is missing.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from report import columns
from setting import use_cache
from zibaldone.tools.plans import complete_step, create_progress, resume_point, start_step
from zibaldone.tools.threads import read_notes, take_note
from zibaldone.tools.vault import Caller, Vault

TASK, THREAD, FATAL = "Long haul", "haul", 18
STEPS = tuple(f"step {number}" for number in range(1, 36))
PLAN = "agent-memory/plans/long-haul.md"
WORKER = Caller("worker")
LONGEST = 0.05
"""Seconds from the beginning of a step to the death of its worker, at most."""

_STEP = re.compile(r"- \[(.)\] (step \d+)")


@dataclass(slots=True)
class Tally:
    """What was seen in all runs."""

    runs: int = 0
    kills: int = 0
    resumed_rightly: int = 0
    repeated_steps: int = 0
    notes: int = 0
    lost_notes: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether nothing was wrong."""
        wrong = self.repeated_steps or self.lost_notes
        return self.resumed_rightly == self.kills and not wrong

    def __str__(self) -> str:
        heads = ("runs", "kills", "resumed rightly", "repeated steps", "notes", "lost notes")
        return columns([heads, tuple(map(str, astuple(self)))])


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, report, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=50, metavar="N")
    parser.add_argument("--seed", type=int, default=FATAL, metavar="N")
    options = parser.parse_args(arguments)
    dice, tally = random.Random(options.seed), Tally()
    for _ in range(options.runs):
        with tempfile.TemporaryDirectory(prefix="zib-resume-") as work:
            use_cache(Path(work) / "cache")
            _run(Path(work), dice, tally)
    print(tally)
    return 0 if tally.is_whole else 1


def _run(work: Path, dice: random.Random, tally: Tally) -> None:
    vault, log = work / "vault", work / "log"
    vault.mkdir()
    log.touch()
    expected = []
    before, after = dice.randrange(1, FATAL), dice.randrange(FATAL + 1, len(STEPS) + 1)
    for number in (before, FATAL, after):
        worker = _start(vault, log)
        while ["begun", STEPS[number - 1]] not in _told(log):
            time.sleep(0.001)
        time.sleep(dice.uniform(0, LONGEST))
        os.kill(worker, signal.SIGKILL)
        os.waitpid(worker, 0)
        expected.append(_next(vault, _told(log)))
    _, status = os.waitpid(_start(vault, log), 0)
    if status:
        raise RuntimeError("a worker has failed")
    told = _told(log)
    resumed = [step for what, step in told if what == "resumed"]
    tally.runs += 1
    tally.kills += len(expected)
    tally.resumed_rightly += sum(map(str.__eq__, expected, resumed[1:]))
    tally.repeated_steps += _repeated(told)
    noted = {step for what, step in told if what == "noted"}
    tally.notes += len(noted)
    tally.lost_notes += len(noted - _noted(vault))


def _start(vault: Path, log: Path) -> int:
    """Start a worker as a process of its own; its number."""
    sys.stdout.flush()
    worker = os.fork()
    if not worker:
        code = 1
        try:
            _work(vault, log)
            code = 0
        finally:
            os._exit(code)
    return worker


def _work(folder: Path, log: Path) -> None:
    with Vault.open(folder, caller=WORKER) as vault, log.open("a", buffering=1) as told:
        create_progress(vault, TASK, STEPS)
        step = resume_point(vault, TASK).step
        print("resumed", step.step if step else "", file=told)
        while step is not None:
            start_step(vault, TASK, step.step)
            print("begun", step.step, file=told)
            take_note(vault, THREAD, f"Takes the quay at {step.step}", "decision")
            print("noted", step.step, file=told)
            after = complete_step(vault, TASK, step.step, "by hand").next
            print("done", step.step, file=told)
            step = after


def _told(log: Path) -> list[list[str]]:
    """What the workers have told of themselves: events and steps."""
    return [line.split(" ", 1) for line in log.read_text("utf-8").splitlines()]


def _next(vault: Path, told: Sequence[Sequence[str]]) -> str:
    """The step at which to go on, as the note on disk has it; none when what was done is not."""
    states = {step: box for box, step in _STEP.findall((vault / PLAN).read_text("utf-8"))}
    done = {step for what, step in told if what == "done"}
    if any(states[step] != "x" for step in done):
        return "a finished step is lost"
    begun = (step for step, box in states.items() if box == "/")
    still = (step for step, box in states.items() if box == " ")
    return next(begun, next(still, ""))


def _repeated(told: Sequence[Sequence[str]]) -> int:
    """How many steps were begun again after they had been done."""
    done, repeated = set[str](), 0
    for what, step in told:
        repeated += what == "begun" and step in done
        if what == "done":
            done.add(step)
    return repeated


def _noted(folder: Path) -> set[str]:
    """The steps of which the thread has its note."""
    with Vault.open(folder, caller=WORKER) as vault:
        notes = read_notes(vault, THREAD, "decision").notes
    return {one.text.removeprefix("Takes the quay at ") for one in notes}


if __name__ == "__main__":
    sys.exit(main())
