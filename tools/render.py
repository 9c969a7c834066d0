"""Answers as short readable text: plain for agents and pipes, in colours for a terminal.

Each answer is a stream of pieces, a text with the role it plays. What a role looks like is the
terminal's matter (`STYLES`); without colours the same words are left.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import singledispatch
from typing import Final, Literal

from .answers import (
    CategoryLine,
    Consolidation,
    Created,
    Deleted,
    Edited,
    Forgotten,
    IndexState,
    MemorySummary,
    NoteAnswer,
    NoteList,
    Passage,
    Plan,
    PlanStep,
    Progress,
    RecallAnswer,
    Remembered,
    ResumePoint,
    RuleAdded,
    RuleLine,
    Rules,
    RulesChecked,
    SearchAnswer,
    StepChanged,
    ThreadNoted,
    ThreadNotes,
    Updated,
)
from .start.answers import StartAnswer

Role = Literal["text", "title", "path", "faint", "good", "warning", "added", "removed"]
Piece = tuple[str, Role]

STYLES: Final[Mapping[Role, str]] = {
    "text": "",
    "title": "bold",
    "path": "cyan",
    "faint": "bright_black",
    "good": "green",
    "warning": "yellow",
    "added": "green",
    "removed": "red",
}

NAME_LENGTH = 100
"""Characters of a client's name, version or instance that are kept."""

_CONTROL = re.compile(r"\r(?=\n)|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def plain(answer: object) -> str:
    """Return an answer as text. That of a recall, or a start, is exactly its `context`."""
    if isinstance(answer, RecallAnswer | StartAnswer) and answer.context:
        return answer.context
    return "".join(text for text, _ in pieces(answer)).rstrip("\n")


def harmless(text: str) -> str:
    """Return text without control characters, which could steer the terminal it is shown in."""
    return _CONTROL.sub(lambda found: "" if found[0] == "\r" else "\ufffd", text)


def one_line(text: str) -> str:
    """Return what someone says of itself as one short line, which can forge no other.

    Blanks are joined, what cannot be seen gives way to U+FFFD, and the rest after
    `NAME_LENGTH` characters is left out.
    """
    words = " ".join(text[: 10 * NAME_LENGTH].split())
    line = "".join("\ufffd" if unicodedata.category(each)[0] == "C" else each for each in words)
    return line if len(line) <= NAME_LENGTH else f"{line[: NAME_LENGTH - 1]}…"


def counted(number: int, word: str) -> str:
    """Return a number with what it counts, in the singular for one."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


@singledispatch
def pieces(answer: object) -> Iterator[Piece]:
    """Yield what is to be read of an answer, line ends included."""
    raise TypeError(f"nothing renders {type(answer).__name__}")


@pieces.register
def _remembered(answer: Remembered) -> Iterator[Piece]:
    said = {
        "created": ("Remembered, in a new note: ", "good"),
        "appended": ("Remembered: ", "good"),
        "skipped": ("Already known, nothing written: ", "warning"),
        "needs_verdict": ("Nothing written yet; judge what is similar: ", "warning"),
        "pending": ("Waits for the owner's review: ", "warning"),
    }
    yield said[answer.outcome]  # type: ignore[misc]
    block = f"#^{answer.observation_id}" if answer.observation_id else ""
    yield f"{answer.path}{block}\n", "path"
    version = answer.version if answer.version and answer.version > 1 else None
    yield from _ids(
        category=answer.category,
        noteId=answer.note_id,
        version=f"{version}" if version else None,
        versionToken=answer.version_token,
        receipt=answer.receipt,
    )
    if answer.summary_updated:
        yield "The summary of the category was updated.\n", "text"
    for near in answer.similar:
        place = f"{near.path}#^{near.observation_id}" if near.observation_id else near.path
        yield f"{near.kind.capitalize()} ({near.score:.2f}): ", "warning"
        yield f"{near.text} ", "text"
        yield f"{place}\n", "path"
    if answer.outcome == "needs_verdict":
        yield (
            "Call again with the same arguments, this receipt, and a verdict: new, same or "
            "supersedes:<id>.\n",
            "text",
        )


@pieces.register
def _search(answer: SearchAnswer) -> Iterator[Piece]:
    if not answer.results:
        yield "Nothing found.\n", "warning"
    for number, passage in enumerate(answer.results, 1):
        yield from _passage(number, passage)
    if answer.more:
        shown = counted(len(answer.results), "result")
        yield f"{shown} shown of {answer.total} notes found.\n", "faint"
    yield from _closing(answer.hint, answer.index)


def _passage(number: int, passage: Passage) -> Iterator[Piece]:
    yield f"{number}. ", "faint"
    yield passage.title, "title"
    if passage.heading and passage.heading != passage.title:
        yield f" › {passage.heading}", "title"
    yield f"  {passage.path}\n", "path"
    yield f"   {passage.snippet}\n", "text"
    marks = {"muted": passage.muted, "conflict copy": passage.conflict_copy}
    yield from _ids(
        "   ",
        noteId=passage.note_id,
        observationId=passage.observation_id,
        **{"class": passage.note_class},
        origin=passage.origin,
        modified=passage.modified_at,
        score=f"{passage.score:g}",
        note=", ".join(name for name, present in marks.items() if present) or None,
    )


@pieces.register
def _recall(answer: RecallAnswer) -> Iterator[Piece]:
    if not answer.context:
        yield "Nothing is known about that.\n", "warning"
    else:
        yield f"{answer.context}\n\n", "text"
    yield f"{answer.tokens} of {answer.budget_tokens} tokens", "faint"
    yield f", from {counted(len(answer.sources), 'source')}\n", "faint"
    for source in answer.sources:
        via = f", linked from {source.via}" if source.via else ""
        yield f"  {source.path}", "path"
        yield f"  {source.tokens} tokens, {source.origin}, {source.date}{via}\n", "faint"
    left = len(answer.omitted) + answer.omitted_more
    if left:
        yield f"{left} left out", "faint"
        shown = ", ".join(f"{one.title} ({one.reason})" for one in answer.omitted[:5])
        yield f": {shown}\n" if shown else "\n", "faint"
    yield from _closing(answer.hint, answer.index)


@pieces.register
def _start(answer: StartAnswer) -> Iterator[Piece]:
    if not answer.context:
        yield "There is nothing to start with yet.\n", "warning"
    else:
        yield f"{answer.context}\n\n", "text"
    yield f"{answer.tokens} of {answer.budget_tokens} tokens\n", "faint"
    for part in answer.parts:
        yield f"  {part.part}: {part.title}", "text"
        yield f"  {part.path}" if part.path else "", "path"
        yield f"  {part.tokens} tokens{', cut' if part.cut else ''}\n", "faint"
    for left in answer.omitted:
        yield f"  left out ({left.reason}): {left.title}", "warning"
        yield f"  {left.tokens} tokens\n", "faint"
    if answer.omitted_more:
        yield f"  and {answer.omitted_more} more left out\n", "warning"
    yield from _closing(None, answer.index)


@pieces.register
def _note(answer: NoteAnswer) -> Iterator[Piece]:
    yield answer.title, "title"
    yield f"  {answer.path}\n", "path"
    yield from _ids(
        noteId=answer.note_id,
        **{"class": answer.note_class},
        modified=answer.modified_at,
        versionToken=answer.version_token,
    )
    if answer.problem:
        yield f"Problem: {answer.problem}\n", "warning"
    yield f"\n{answer.content}", "text"
    yield "" if answer.content.endswith("\n") else "\n", "text"
    if answer.truncated:
        yield "… the note is longer; this is its beginning.\n", "warning"
    broken = [link.target for link in answer.links if link.missing]
    if answer.backlinks:
        yield "\nLinked from: ", "faint"
        yield ", ".join(link.path for link in answer.backlinks) + "\n", "path"
    if broken:
        yield f"\nLinks that lead nowhere: {', '.join(broken)}\n", "warning"


@pieces.register
def _notes(answer: NoteList) -> Iterator[Piece]:
    if not answer.notes:
        yield "No notes.\n", "warning"
    for note in answer.notes:
        yield note.path, "path"
        yield f"  {note.title}", "text"
        yield f"  {note.note_id}", "faint"
        yield f"  {note.modified_at}", "faint"
        yield f"  {' '.join(f'#{tag}' for tag in note.tags)}" if note.tags else "", "faint"
        yield f"  {note.problem}" if note.problem else "", "warning"
        yield "\n", "text"
    if answer.next_cursor:
        yield f"{len(answer.notes)} of {answer.total}; next page: cursor ", "faint"
        yield f"{answer.next_cursor}\n", "faint"
    yield from _closing(None, answer.index)


@pieces.register
def _created(answer: Created) -> Iterator[Piece]:
    yield "Created: ", "good"
    yield f"{answer.path}\n", "path"
    yield from _ids(noteId=answer.note_id, versionToken=answer.version_token)


@pieces.register
def _edited(answer: Edited) -> Iterator[Piece]:
    if answer.outcome == "unchanged":
        yield "Unchanged, nothing written: ", "warning"
    else:
        yield "Edited: ", "good"
    yield f"{answer.path}\n", "path"
    yield from _ids(noteId=answer.note_id, versionToken=answer.version_token)
    for line in (answer.diff or "").splitlines():
        role: Role = {"+": "added", "-": "removed", "@": "faint"}.get(line[:1], "text")  # type: ignore[assignment]
        yield f"{line}\n", role


@pieces.register
def _updated(answer: Updated) -> Iterator[Piece]:
    if answer.outcome == "unchanged":
        yield "Unchanged, nothing written: ", "warning"
    else:
        yield "Updated: ", "good"
    yield f"{answer.path}#^{answer.observation_id}\n", "path"
    yield from _ids(receipt=answer.receipt, versionToken=answer.version_token)
    if answer.diff:
        yield f"{answer.diff}\n", "text"


@pieces.register
def _forgotten(answer: Forgotten) -> Iterator[Piece]:
    yield "Forgotten: ", "good"
    yield f"{answer.path}#^{answer.observation_id}\n", "path"
    yield from _ids(receipt=answer.receipt, versionToken=answer.version_token)


@pieces.register
def _deleted(answer: Deleted) -> Iterator[Piece]:
    yield "Moved to the trash: ", "good"
    yield f"{answer.path}", "path"
    yield f" is now {answer.trash_path}\n", "faint"
    if answer.backlinks:
        yield f"Links in {counted(answer.backlinks, 'note')} now lead nowhere.\n", "warning"


@pieces.register
def _summary(answer: MemorySummary) -> Iterator[Piece]:
    if answer.user:
        yield "The user\n", "title"
        yield from _categories(answer.user)
    for project in answer.projects:
        yield f"{project.project}", "title"
        yield f"  {counted(project.notes, 'note')}\n", "faint"
        yield from _categories(project.categories)
    yield f"{counted(answer.observations, 'observation')} in all\n", "faint"
    if answer.rules:
        yield f"Rules that bind: {answer.rules}\n", "faint"
    for plan in answer.plans:
        yield "Unfinished plan: ", "warning"
        yield from _plan(plan)
    yield from _closing(None, answer.index)


def _categories(lines: Iterable[CategoryLine]) -> Iterator[Piece]:
    for line in lines:
        yield f"  {line.category}", "text"
        yield f"  {line.observations}", "good"
        yield f"  {line.summary}" if line.summary else "", "text"
        yield f"  {line.path}\n", "path"


@pieces.register
def _thread_noted(answer: ThreadNoted) -> Iterator[Piece]:
    if answer.outcome == "unchanged":
        yield "Noted before, nothing written: ", "warning"
    else:
        yield "Noted: ", "good"
    yield f"{answer.path}#^{answer.observation_id}\n", "path"


@pieces.register
def _thread_notes(answer: ThreadNotes) -> Iterator[Piece]:
    if not answer.notes:
        yield "This thread has no notes.\n", "warning"
    if answer.more:
        yield f"{answer.more} earlier notes are left out.\n", "faint"
    for note in answer.notes:
        yield f"{note.kind}: ", "faint"
        yield f"{note.text}\n", "text"
    if answer.path:
        yield f"{answer.path}", "path"
        yield f"  kept until {answer.expires}\n" if answer.expires else "\n", "faint"


@pieces.register
def _consolidation(answer: Consolidation) -> Iterator[Piece]:
    if not answer.candidates:
        yield "There is nothing in this thread to remember.\n", "warning"
    for candidate in answer.candidates:
        yield f"{candidate.kind} ({candidate.type}): ", "faint"
        yield f"{candidate.text}\n", "text"
        yield f"  from {', '.join(candidate.sources) or 'a line without an id'}\n", "faint"
        for known in candidate.similar:
            yield f"  {known.kind}: {known.text} ", "warning"
            yield f"{known.ref}\n", "path"
    if answer.known:
        yield f"{answer.known} more are remembered already.\n", "faint"


@pieces.register
def _rule_added(answer: RuleAdded) -> Iterator[Piece]:
    said = {
        "added": ("Added: ", "good"),
        "replaced": ("Replaced: ", "good"),
        "pending": ("Waits for the owner to accept it: ", "warning"),
        "unchanged": ("Unchanged, nothing written: ", "warning"),
    }
    yield said[answer.outcome]  # type: ignore[misc]
    yield f"{answer.path}#^{answer.name}\n", "path"


@pieces.register
def _rules(answer: Rules) -> Iterator[Piece]:
    if not answer.rules:
        yield "No rule binds here.\n", "warning"
    for rule in answer.rules:
        yield from _rule(rule)
    if answer.waiting:
        yield f"{answer.waiting} more wait for the owner to accept them.\n", "faint"


@pieces.register
def _rules_checked(answer: RulesChecked) -> Iterator[Piece]:
    for one in answer.violations:
        yield f"{one.level}: {one.text}", "warning"
        yield f"  false with {one.value:g}: {one.condition}  ", "text"
        yield f"{one.path}:{one.line} {one.name}\n", "path"
    if answer.ok:
        yield f"No violation in {counted(answer.checked, 'rule')}.\n", "good"
    for rule in answer.advice:
        yield from _rule(rule)


def _rule(rule: RuleLine) -> Iterator[Piece]:
    yield f"{rule.level}: ", "title"
    yield f"{rule.text}  ", "text"
    yield f"{''.join(f'#{tag} ' for tag in rule.categories)}", "faint"
    yield f"{rule.path}:{rule.line} {rule.name}\n", "path"


_BOXES: Final[Mapping[str, str]] = {
    "open": "[ ]",
    "started": "[/]",
    "done": "[x]",
    "failed": "[!]",
    "skipped": "[-]",
}


@pieces.register
def _plan(answer: Plan) -> Iterator[Piece]:
    said = {"created": "New plan: ", "resumed": "Resumed: "}
    yield said.get(answer.outcome or "", ""), "good"
    yield answer.task, "title"
    yield f"  {answer.percent}%", "good"
    yield f"  {answer.path}\n", "path"
    for step in answer.steps or ():
        yield from _step(step)
    if answer.next and answer.steps is None:
        yield from _next(answer.next)
    if answer.not_added:
        yield f"Not in this plan, and not added: {', '.join(answer.not_added)}\n", "warning"


@pieces.register
def _progress(answer: Progress) -> Iterator[Piece]:
    if not answer.plans:
        yield "There is no plan.\n", "warning"
    for plan in answer.plans:
        yield from _plan(plan)
    if answer.more:
        yield f"{answer.more} more plans are not listed.\n", "faint"


@pieces.register
def _step_changed(answer: StepChanged) -> Iterator[Piece]:
    if answer.outcome == "unchanged":
        yield "Unchanged, nothing written:\n", "warning"
    yield from _step(answer.step)
    yield f"{answer.task}: {answer.percent}%", "good"
    yield f"  {answer.path}\n", "path"
    yield from _next(answer.next)


@pieces.register
def _resume_point(answer: ResumePoint) -> Iterator[Piece]:
    if answer.task:
        yield answer.task, "title"
        yield f"  {answer.percent}%", "good"
        yield f"  {answer.path}\n", "path"
    yield from _next(answer.step)
    if answer.others:
        yield f"Also unfinished: {', '.join(answer.others)}\n", "faint"


def _step(step: PlanStep) -> Iterator[Piece]:
    yield f"  {_BOXES[step.state]} ", "warning" if step.state == "failed" else "faint"
    yield f"{step.step}", "text"
    yield f" — {step.remark}\n" if step.remark else "\n", "text"


def _next(step: PlanStep | None) -> Iterator[Piece]:
    if step is None:
        yield "Nothing is left to do.\n", "good"
        return
    yield "  next: ", "faint"
    yield f"{step.step} ({step.state})\n", "text"


def _ids(indent: str = "", **facts: str | None) -> Iterator[Piece]:
    present = "  ".join(f"{name} {value}" for name, value in facts.items() if value)
    yield f"{indent}{present}\n", "faint"


def _closing(hint: str | None, index: IndexState) -> Iterator[Piece]:
    if hint:
        yield f"{hint}\n", "warning"
    if index.note:
        yield f"{index.note}\n", "warning"
    elif not index.fresh:
        yield (
            f"The index is behind by {counted(index.behind, 'note')}, so this may be incomplete.\n",
            "warning",
        )
