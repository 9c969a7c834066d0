"""What is measured by changing the copy: writes, conflicts, updates, deletions, broken-off work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from ...vault.errors import Refused, ZibaldoneError
from ...vault.ids import new_id
from ...vault.layout import Layout
from ...vault.memory import find_observation
from ...vault.note import read_note
from ..answers import Remembered
from ..lifecycle import forget, locate, update_memory
from ..notes import get_note
from ..plans import complete_step, create_progress, progress, resume_point, start_step
from ..purge import purge
from ..recall import recall
from ..remember import remember_about_project, remember_about_user
from ..search import search
from ..vault import OWNER, Caller, Vault
from .figures import Figure, Tally, tallied
from .labels import Conflict, Deletion, Update, Wanted, Work, Write
from .reading import BUDGET

_BECAME: Final[dict[str, Wanted]] = {
    "created": "written",
    "appended": "written",
    "pending": "written",
    "skipped": "known",
    "needs_verdict": "asked",
}


def writing(vault: Vault, writes: Sequence[Write]) -> tuple[Figure, Figure]:
    """Whether what is written is new, and whether what is new is written."""
    precision, whole = Tally(), Tally()
    for one in writes:
        became = _became(vault, one)
        told = f"{one.text} ({became} and not {one.expect})"
        if became == "written":
            precision.count(float(one.expect == "written"), told)
        if one.expect == "written":
            whole.count(float(became == "written"), told)
    return precision.figure("write precision"), whole.figure("write recall")


def _became(vault: Vault, one: Write) -> Wanted:
    try:
        return _BECAME[_tried(vault, one.text, one.category, one.project).outcome]
    except Refused:
        return "refused"


def _tried(vault: Vault, text: str, category: str, project: str | None) -> Remembered:
    """Remember a fact as an agent, and take it out again, so that each case stands for itself."""
    if project is None:
        answer = remember_about_user(vault, text, category)
    else:
        answer = remember_about_project(vault, project, text, category)
    if _BECAME[answer.outcome] == "written":
        forget(vault.with_caller(OWNER), f"{answer.path}#^{answer.observation_id}")
    return answer


def conflicts(vault: Vault, cases: Sequence[Conflict]) -> Figure:
    """Whether what contradicts a memory is told to do so, and nothing else is."""
    judged = ((float(_is_judged(vault, one)), one.text) for one in cases)
    return tallied(judged).figure("conflict accuracy")


def _is_judged(vault: Vault, one: Conflict) -> bool:
    try:
        similar = _tried(vault, one.text, one.category, one.project).similar
    except Refused:
        return False
    against = (each for each in similar if each.kind == "contradicting")
    named = {f"{each.path}#^{each.observation_id}" for each in against}
    return one.contradicts in named if one.contradicts else not named


def overrides(vault: Vault, cases: Sequence[Update]) -> Figure:
    """Whether, after a fact was updated, the new words are recalled and the old ones are not."""
    return tallied(_overridden(vault, one) for one in cases).figure("stale-override rate")


def _overridden(vault: Vault, one: Update) -> tuple[float, str]:
    try:
        old = _words(vault, one.ref)
        update_memory(vault, one.ref, one.text)
    except ZibaldoneError as failure:
        return 0.0, f"{one.query}: {failure}"
    context = recall(vault, one.query, one.project, BUDGET).context
    return float(one.text in context and old not in context), one.query


def _words(vault: Vault, ref: str) -> str:
    """What an observation says, as it stands in its note."""
    place = vault.index.ask(lambda: locate(vault, ref))
    item = find_observation(read_note(vault.layout, place.row.path), place.observation)
    return item.text if item else ""


def deletions(vault: Vault, cases: Sequence[Deletion]) -> Figure:
    """In how many places the words of a fact are gone, after it was forgotten and then purged."""
    places = (case for one in cases for case in _gone(vault, one))
    return tallied(places).figure("deletion propagation")


def _gone(vault: Vault, one: Deletion) -> Iterator[tuple[float, str]]:
    try:
        words = _words(vault, one.ref)
        forgotten = forget(vault, one.ref)
    except ZibaldoneError as failure:
        yield 0.0, f"{one.ref}: {failure}"
        return
    shown = (
        ("search", " ".join(hit.snippet for hit in search(vault, one.query, limit=100).results)),
        ("recall", recall(vault, one.query, budget_tokens=BUDGET).context),
        ("get_note", get_note(vault, forgotten.path).content),
    )
    for tool, text in shown:
        yield float(words not in text), f"{one.ref}: still in {tool}"
    try:
        purge(vault.with_caller(OWNER), f"{forgotten.path}#^{forgotten.observation_id}")
    except ZibaldoneError as failure:
        yield 0.0, f"{one.ref}: {failure}"
        return
    holding = [path.name for path in _files(vault.layout) if words.encode() in path.read_bytes()]
    yield float(not holding), f"{one.ref}: still in the files {', '.join(holding)}"


def _files(layout: Layout) -> Iterator[Path]:
    for folder in (layout.root, layout.cache_dir):
        yield from (path for path in folder.rglob("*") if path.is_file())


def resumes(layout: Layout, caller: Caller, cases: Sequence[Work]) -> Figure:
    """Whether work that broke off goes on at the right step, with what was finished before.

    Each time the vault is left as it is and opened again with an empty cache.
    """
    stops = [(one, after) for one in cases for after in one.stop_after]
    tried = (
        (float(_resumes(layout, caller, one, after)), f"{one.task}, after {after} steps")
        for one, after in stops
    )
    return tallied(tried).figure("resume correctness")


def _resumes(layout: Layout, caller: Caller, one: Work, after: int) -> bool:
    done, left = one.steps[:after], one.steps[after:]
    task = f"{one.task} {new_id()}"
    with Vault.of(layout, caller) as vault:
        create_progress(vault, task, one.steps)
        for step in done:
            start_step(vault, task, step)
            complete_step(vault, task, step, "done")
        if left:
            start_step(vault, task, left[0])
    with Vault.of(replace(layout, cache_dir=layout.cache_dir.with_name(new_id())), caller) as vault:
        point = resume_point(vault, task)
        (plan,) = progress(vault, task).plans
    finished = tuple(step.step for step in plan.steps or () if step.state == "done")
    going_on = point.step.step if point.step else None
    return finished == done and going_on == (left[0] if left else None)
