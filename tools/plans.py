"""Plans that survive a crash: task lists in notes, each step on disk before its call returns.

The note is the plan. The owner may tick, add, rename or reorder steps in an editor, and the next
call goes by what is there then. A plan whose steps are all done or skipped stays as it is, and
one of the same name that is made afterwards gets a note of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from ..indexer.catalog import Row
from ..vault import plan as steps_of
from ..vault.errors import InvalidArgument, NoteNotFound, naming
from ..vault.ids import new_id
from ..vault.memory import canonical
from ..vault.note import Note, check_size, parse_note, read_note
from ..vault.plan import DASH, Step, StepState
from .answers import Plan, PlanOutcome, PlanStep, Progress, ResumePoint, StepChanged
from .enforcement import rows_told
from .kinds import ask_fresh, checked_name, is_called, name_key, places, present
from .places import known_project, project_name
from .refusals import NameUnknown
from .secrets import refuse_secrets
from .vault import Vault

REMARK_LENGTH = 1000
"""Characters of a result or a reason at most."""

MOST_STEPS = 200
LISTED = 50
"""Plans that `progress` lists at most."""

_OUTCOMES: dict[StepState, PlanOutcome] = {
    "started": "started",
    "done": "completed",
    "failed": "failed",
    "skipped": "skipped",
}


@dataclass(frozen=True, slots=True)
class _Open:
    """A plan as it is on disk now. `known` is the id by which the index knows its note."""

    note: Note
    steps: tuple[Step, ...]
    known: str

    @property
    def finished(self) -> bool:
        """Whether no step is left."""
        return all(step.finished for step in self.steps)

    @property
    def id(self) -> str:
        """The id by which its note is known."""
        return self.note.known_as(self.known)

    @property
    def order(self) -> tuple[bool, str, str]:
        """Of plans of one name, the last by this is meant."""
        return not self.finished, str(self.note.properties.get("created", "")), self.note.path


def create_progress(
    vault: Vault, task: str, steps: Sequence[str], project: str | None = None
) -> Plan:
    """Make a plan, or resume the unfinished one of that name as it is.

    Of the steps given, those that a resumed plan does not have are named in `not_added`. Raises
    `InvalidArgument` for a name that cannot be one, `SecretRefused`, `RuleForbids`, `NoteUnusable`
    and the storage failures; nothing is written then.
    """
    name = checked_name("task", task)
    wanted = _checked_steps(steps)
    folder = None if project is None else project_name(vault.layout, project)
    known = [plan for plan in _named(vault, name, folder) if _project(plan) == folder]
    with vault.store.transaction(next(places(vault, "progress", folder, name))):
        for plan in known:
            now = _now(vault, plan.note.path, plan.known)
            if now and not now.finished and is_called(now.note, "progress", name):
                return _resumed(now, wanted)
        made = _made(vault, name, wanted, folder)
    vault.index.touched((made.path,))
    return made


def start_step(vault: Vault, task: str, step: str, project: str | None = None) -> StepChanged:
    """Say that a step is in progress. Raises `NameUnknown`, and `InvalidArgument` for a done one.

    The reason of a step that had failed goes from the note, and stays in its history.
    """
    return _changed(vault, task, step, project, "started", "")


def complete_step(
    vault: Vault, task: str, step: str, result: str = "", project: str | None = None
) -> StepChanged:
    """Say that a step is done, and with which result. One that is done keeps the result it has."""
    return _changed(vault, task, step, project, "done", _checked_remark("result", result))


def fail_step(
    vault: Vault, task: str, step: str, reason: str, project: str | None = None
) -> StepChanged:
    """Say that a step failed, and why; work resumes with it."""
    return _changed(vault, task, step, project, "failed", _checked_remark("reason", reason))


def skip_step(
    vault: Vault, task: str, step: str, reason: str = "", project: str | None = None
) -> StepChanged:
    """Say that a step is not going to be done, and why."""
    return _changed(vault, task, step, project, "skipped", _checked_remark("reason", reason))


def resume_point(vault: Vault, task: str | None = None, project: str | None = None) -> ResumePoint:
    """Return where work goes on: the first step begun or failed, else the first open one.

    Without `task`, in the unfinished plan that was changed last; `others` names the rest. No
    step means that nothing is left. Raises `NameUnknown` for a task that has no plan.
    """
    name = known_project(vault.layout, project)
    if task is not None:
        return _resume_point(_meant(vault, task, name), ())
    rows = ask_fresh(vault, lambda: rows_told(vault, "progress", name))
    found = [plan for plan in _opened(vault, rows) if not plan.finished]
    if not found:
        return ResumePoint(step=None, finished=True)
    times = {row.path: row.mtime_ns for row in rows}
    found.sort(key=lambda plan: (-times[plan.note.path], plan.note.path))
    return _resume_point(found[0], tuple(plan.note.title for plan in found[1:]))


def progress(vault: Vault, task: str | None = None, project: str | None = None) -> Progress:
    """Return how far one plan is, step by step, or how far all are; unfinished ones first.

    Raises `NameUnknown` for a task that has no plan.
    """
    name = known_project(vault.layout, project)
    if task is not None:
        return Progress((_told(_meant(vault, task, name)),), 0)
    rows = ask_fresh(vault, lambda: rows_told(vault, "progress", name))
    found = sorted(_opened(vault, rows), key=lambda plan: (plan.finished, plan.note.path))
    lines = tuple(replace(_told(plan), steps=None) for plan in found[:LISTED])
    return Progress(lines, len(found) - len(lines))


def unfinished(vault: Vault, rows: Sequence[Row]) -> tuple[Plan, ...]:
    """The plans among some notes of which something is left to do, without their steps."""
    found = (plan for plan in _opened(vault, rows) if not plan.finished)
    return tuple(replace(_told(plan), steps=None) for plan in found)


# What is asked


def _checked_steps(steps: Sequence[str]) -> list[str]:
    names = [checked_name("steps", step) for step in steps]
    if not 0 < len(names) <= MOST_STEPS:
        raise InvalidArgument("steps", f"a plan has from 1 to {MOST_STEPS} steps")
    for name in names:
        if DASH in f"{name} ":
            raise InvalidArgument("steps", f"{name!r} holds{DASH}which comes before a result")
    if len(set(map(name_key, names))) < len(names):
        raise InvalidArgument("steps", "two of them have one name")
    return names


def _checked_remark(argument: str, text: str) -> str:
    remark = " ".join(canonical(text).split()) if text.strip() else ""
    if len(remark) > REMARK_LENGTH:
        raise InvalidArgument(argument, f"it is longer than {REMARK_LENGTH} characters")
    refuse_secrets(remark)
    return remark


# Finding


def _named(vault: Vault, task: str, project: str | None) -> list[_Open]:
    """The plans of a name, the one that is meant first."""

    def rows() -> list[Row]:
        every = rows_told(vault, "progress", project)
        return [row for row in every if name_key(row.title) == name_key(task)]

    return sorted(_opened(vault, ask_fresh(vault, rows)), key=lambda plan: plan.order, reverse=True)


def _opened(vault: Vault, rows: Sequence[Row]) -> list[_Open]:
    found = (_now(vault, row.path, row.id) for row in rows)
    return [plan for plan in found if plan is not None]


def _now(vault: Vault, path: str, known: str) -> _Open | None:
    try:
        note = read_note(vault.layout, path)
    except NoteNotFound:
        return None
    return _Open(note, steps_of.steps(note.body), known) if note.kind == "progress" else None


def _project(plan: _Open) -> str | None:
    return plan.note.place.project


def _meant(vault: Vault, task: str, project: str | None) -> _Open:
    found = _named(vault, task, project)
    if not found:
        rows = vault.index.ask(lambda: rows_told(vault, "progress", project))
        raise NameUnknown("plan", task, tuple(sorted({row.title for row in rows})))
    rivals = {_project(plan) for plan in found if plan.finished == found[0].finished}
    if len(rivals) > 1:
        names = ", ".join(sorted(name or "the user's memory" for name in rivals))
        raise InvalidArgument("project", f"there are plans of this name in {names}; name one")
    return found[0]


def _step_called(plan: _Open, step: str) -> Step:
    """The step of a name; of several, the first that is not finished."""
    wanted = name_key(step)
    found = [one for one in plan.steps if name_key(one.name) == wanted]
    if not found:
        names = tuple(one.name for one in plan.steps)
        raise NameUnknown(f"step of {plan.note.title!r}", step, names)
    return next((one for one in found if not one.finished), found[0])


# Writing


def _made(vault: Vault, task: str, steps: Sequence[str], project: str | None) -> Plan:
    """Write a new plan; the vault's lock is held. Another process may have just made it."""
    for path in places(vault, "progress", project, task):
        note = present(vault, path)
        if note is None:
            break
        plan = _Open(note, steps_of.steps(note.body), note.id)
        if is_called(note, "progress", task) and not plan.finished:
            return _resumed(plan, steps)
    note_id, created = new_id(), datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    source = steps_of.new_plan_source(task, steps, note_id, created)
    vault.store.write(path, source.data, expected=None, act=vault.act("create", note_id))
    note = parse_note(vault.layout, path, source.data)
    return replace(_told(_Open(note, steps_of.steps(note.body), note_id)), outcome="created")


def _changed(
    vault: Vault, task: str, step: str, project: str | None, state: StepState, remark: str
) -> StepChanged:
    """Give a step another state in the note as it is now."""
    known = _meant(vault, task, known_project(vault.layout, project))
    path = known.note.path
    with vault.store.transaction(path):
        plan = _now(vault, path, known.known)
        if plan is None:
            raise NameUnknown("plan", task, ())
        found = _step_called(plan, step)
        after = _marked(plan, found, state, remark)
        if after is not plan:
            reason = f"{_OUTCOMES[state]}: {found.name}"
            act = vault.act("edit", plan.id, reason=reason)
            data, expected = after.note.source.data, plan.note.source.token
            vault.store.write(path, data, expected=expected, act=act)
    if after is not plan:
        vault.index.touched((path,))
    return _answer(after, found.line, "unchanged" if after is plan else _OUTCOMES[state])


def _marked(plan: _Open, step: Step, state: StepState, remark: str) -> _Open:
    """The plan with a step in another state; the same one where it is in it already."""
    if step.state == "done":
        if state == "done":
            return plan
        raise InvalidArgument("step", f"{step.name!r} is done: {step.remark or 'without a result'}")
    # What the owner wrote behind a step stays; a reason is gone with the failure.
    kept = step.remark if step.state in ("open", "started") else ""
    if step.state == state and remark in ("", step.remark):
        return plan
    wanted = DASH.join(filter(None, [kept, remark]))
    with naming(plan.note.path):
        source = steps_of.mark(plan.note.source, step, state, wanted)
        check_size(plan.note.path, source)
    if source.data == plan.note.source.data:
        return plan
    note = replace(plan.note, source=source)
    return replace(plan, note=note, steps=steps_of.steps(source.body_text))


# Answering


def _told(plan: _Open) -> Plan:
    note, next_step = plan.note, steps_of.resume(plan.steps)
    return Plan(
        task=note.title,
        percent=steps_of.percent(plan.steps),
        finished=plan.finished,
        next=_shown(next_step) if next_step else None,
        note_id=plan.id,
        path=note.path,
        version_token=note.source.token,
        project=note.place.project,
        steps=tuple(map(_shown, plan.steps)),
    )


def _resumed(plan: _Open, wanted: Sequence[str]) -> Plan:
    known = {name_key(step.name) for step in plan.steps}
    missing = tuple(name for name in wanted if name_key(name) not in known)
    return replace(_told(plan), outcome="resumed", not_added=missing or None)


def _shown(step: Step) -> PlanStep:
    return PlanStep(step.name, step.state, step.remark or None)


def _answer(plan: _Open, line: int, outcome: PlanOutcome) -> StepChanged:
    step = next(one for one in plan.steps if one.line == line)
    told = _told(plan)
    return StepChanged(
        outcome=outcome,
        task=told.task,
        step=_shown(step),
        percent=told.percent,
        finished=told.finished,
        next=told.next,
        note_id=told.note_id,
        path=told.path,
        version_token=told.version_token,
    )


def _resume_point(plan: _Open, others: tuple[str, ...]) -> ResumePoint:
    told = _told(plan)
    return ResumePoint(
        step=told.next,
        finished=told.finished,
        task=told.task,
        percent=told.percent,
        note_id=told.note_id,
        path=told.path,
        project=told.project,
        others=others or None,
    )
