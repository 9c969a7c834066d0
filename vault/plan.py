"""Plans: notes of kind `progress`, whose steps are the items of a task list.

The box of an item tells the state of a step, and what stands behind ` — ` the result or the
reason: `- [x] ingest — 100 rows`. An edit changes the box and those words of one line and no
other byte, and is read again before it is handed out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from . import frontmatter
from .errors import InvalidArgument, NoteUnusable
from .escape import decode, encode
from .markdown import Item, parse
from .source import Source, readable

__all__ = ["DASH", "Step", "StepState", "mark", "new_plan_source", "percent", "resume", "steps"]

StepState = Literal["open", "started", "done", "failed", "skipped"]

DASH: Final = " — "
"""What stands between a step and its result."""

_STATES: Final[dict[str, StepState]] = {
    "/": "started",
    "x": "done",
    "X": "done",
    "!": "failed",
    "-": "skipped",
}
_BOXES: Final[dict[StepState, str]] = {
    "open": " ",
    "started": "/",
    "done": "x",
    "failed": "!",
    "skipped": "-",
}
_BOX = re.compile(r"[ \t]++\[([^\[\]\r\n])\][ \t]++")
_LINE = re.compile(r"[^\r\n]*+")
# Fields and a block id that the owner may have put behind a step.
_TAIL = re.compile(r"(?:[ \t]++(?:\[[\w-]++[ \t]*+::[^\[\]]*+\]|\^[\w-]++))*+[ \t]*+$", re.ASCII)
_UNSAFE = "the change would not read back as that step and leave the rest as it is"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a plan; `remark` is its result or why it failed or was skipped, or empty.

    `line` is counted from 0 in the body. `box` is the offset of the mark in the box, `start`
    and `end` span the remark in the body, dash included.
    """

    name: str
    state: StepState
    remark: str
    line: int
    box: int
    start: int
    end: int

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""
        return self.state in ("done", "skipped")


def steps(body: str) -> tuple[Step, ...]:
    """The steps in a body: every top-level list item with a box. An unknown mark means open."""
    return tuple(_steps(readable(body)))


def _steps(body: str) -> Iterator[Step]:
    for item in parse(body).items:
        step = _step(body, item)
        if step is not None and step.name:
            yield step


def _step(body: str, item: Item) -> Step | None:
    box = _BOX.match(body, item.start + len(item.marker), item.end)
    line = _LINE.match(body, box.end(), item.end) if box else None
    if box is None or line is None:
        return None
    tail = _TAIL.search(line[0])
    text = line[0][: tail.start()] if tail else line[0]
    name, dash, remark = text.partition(DASH)
    start = line.start() + len(name.rstrip(" \t"))
    return Step(
        name=decode(name.strip(" \t")),
        state=_STATES.get(box[1], "open"),
        remark=decode(remark.strip(" \t")) if dash else "",
        line=item.line,
        box=box.start(1),
        start=start,
        end=line.start() + len(text),
    )


def resume(plan: Sequence[Step]) -> Step | None:
    """Where work goes on: the first step in progress or failed, else the first open one."""
    begun = (step for step in plan if step.state in ("started", "failed"))
    return next(begun, None) or next((step for step in plan if step.state == "open"), None)


def percent(plan: Sequence[Step]) -> int:
    """How much of a plan is finished, rounded down; 100 for a plan without steps."""
    return 100 * sum(step.finished for step in plan) // len(plan) if plan else 100


def mark(source: Source, step: Step, state: StepState, remark: str = "") -> Source:
    """Give a step another state and remark.

    Raises NoteUnusable, with an empty path, when the source does not hold the step, or when
    another part would change.
    """
    before = steps(source.body_text)
    if step not in before:
        raise NoteUnusable("", "the step is not where it was read")
    if (step.state, step.remark) == (state, remark):
        return source
    written = f"{DASH}{encode(remark)}" if remark else ""
    base = source.body
    edited = source.splice(base + step.start, base + step.end, written)
    edited = edited.splice(base + step.box, base + step.box + 1, _BOXES[state])
    wanted = [_told(replace(step, state=state, remark=remark) if one == step else one)
              for one in before]  # fmt: skip
    if [_told(one) for one in steps(edited.body_text)] != wanted:
        raise NoteUnusable("", _UNSAFE)
    return edited


def _told(step: Step) -> tuple[object, ...]:
    return step.name, step.state, step.remark, step.line


def new_plan_source(task: str, names: Sequence[str], id: str, created: str) -> Source:  # noqa: A002
    """A plan with all steps open. Raises InvalidArgument for a step that would not read back."""
    keys = {"id": id, "kind": "progress", "title": task, "created": created}
    head = [f"{key}: {frontmatter.quote(value)}" for key, value in keys.items()]
    listed = [f"- [ ] {encode(name)}" for name in names]
    lines = ["---", *head, "---", f"# {encode(task)}", "", *listed, ""]
    source = Source.from_text("\n".join(lines))
    written = [step.name for step in steps(source.body_text)]
    for name, read in zip(names, [*written, *[""] * len(names)], strict=False):
        if name != read:
            raise InvalidArgument("steps", f"{name!r} cannot be a step; it reads as {read!r}")
    return source
