"""What the tools answer: one frozen shape per answer, the same at every door.

Field names are Python's; `wire` in a field's metadata, else camelCase, is its name on the MCP
wire and in `--json`. `None` means that the field does not apply and is left out there.
Dates are ISO 8601 in UTC.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ..vault.plan import StepState
from ..vault.rules import Level
from ..vault.thread import NoteKind

NoteClass = Literal["user-doc", "agent-memory"]
Origin = Literal["owner", "agent", "untrusted", "system"]
MemoryType = Literal["semantic", "episodic", "procedural", "working", "identity"]
Reason = Literal["budget", "maxPerSource", "duplicate", "limit"]


@dataclass(frozen=True, slots=True)
class IndexState:
    """How far the index is: `behind` notes have changed on disk and are not in it yet."""

    fresh: bool
    notes: int
    behind: int
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Similar:
    """A memory that says nearly the same, or the opposite, with its score from 0 to 1.

    `observation_id` is missing for a line that the owner added by hand and nobody has named yet.
    """

    note_id: str
    observation_id: str | None
    path: str
    text: str
    score: float
    kind: Literal["same", "reworded", "contradicting", "related"]
    version: int
    origin: Origin
    muted: bool | None = None


@dataclass(frozen=True, slots=True)
class Remembered:
    """The answer of `remember_about_user` and `remember_about_project`.

    With `needs_verdict` nothing was written: `receipt` goes back with a verdict on `similar`, and
    there is no observation yet, nor a note if the category is new. With `pending` the fact waits
    for the owner's review, and nothing finds it before that.
    """

    outcome: Literal["created", "appended", "skipped", "needs_verdict", "pending"]
    path: str
    category: str
    summary_updated: bool
    similar: tuple[Similar, ...] = ()
    note_id: str | None = None
    observation_id: str | None = None
    version: int | None = None
    version_token: str | None = None
    receipt: str | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """One hit of a search: an observation, or a section of a user-doc.

    `type` is missing where it is the default, `semantic`; `modified_at` is when the observation
    was last written, else when its note was.
    """

    note_id: str
    title: str
    snippet: str
    path: str
    score: float
    note_class: NoteClass = field(metadata={"wire": "class"})
    tags: tuple[str, ...]
    origin: Origin
    version: int
    modified_at: str
    observation_id: str | None = None
    heading: str | None = None
    category: str | None = None
    project: str | None = None
    type: MemoryType | None = None
    muted: bool | None = None
    conflict_copy: bool | None = None


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """Ranked passages, best first, of `total` notes that fit; `more` says that the list was cut."""

    results: tuple[Passage, ...]
    total: int
    more: bool
    index: IndexState
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """Where a part of a recalled bundle comes from; `hop` 0 is a hit, 1 to 3 a neighbour.

    `cut` says that the text, or the note behind it, goes on. `tokens` are those of the text;
    citations and envelope come on top. `date` is when the observation was last written, else when
    its note was; `type` is missing where it is the default, `semantic`.
    """

    note_id: str
    path: str
    title: str
    hop: int
    tokens: int
    origin: Origin
    date: str
    version: int
    observation_id: str | None = None
    via: str | None = None
    type: MemoryType | None = None
    cut: bool | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two facts in a bundle that contradict each other, as far as their words tell.

    Each is named by the path of its note and, if it has one, its id: `path#^id`. The stronger one
    is of more authority, or else newer. `reason` says how: they say the `opposite`, only one
    has a `negation`, or there is another `number`, or other `wording`, in the same place.
    """

    stronger: str
    weaker: str
    reason: Literal["opposite", "negation", "number", "wording"]


@dataclass(frozen=True, slots=True)
class Omitted:
    """A note that fits the question and was left out, why, and how many tokens it would take."""

    note_id: str
    title: str
    reason: Reason
    tokens: int


@dataclass(frozen=True, slots=True)
class RecallAnswer:
    """One bundle within a budget. `tokens` counts `context` as it is, envelope included."""

    context: str
    tokens: int
    budget_tokens: int
    sources: tuple[Source, ...]
    omitted: tuple[Omitted, ...]
    omitted_more: int
    index: IndexState
    conflicts: tuple[Conflict, ...] = ()
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a note; `line` counts from 1."""

    level: int
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class LinkOut:
    """A link of a note. `path` is missing when no note answers to it; `missing` says what is."""

    target: str
    kind: Literal["wikilink", "embed", "markdown"]
    line: int
    path: str | None = None
    anchor: str | None = None
    alias: str | None = None
    missing: Literal["note", "heading", "block"] | None = None


@dataclass(frozen=True, slots=True)
class Backlink:
    """A note that links here."""

    note_id: str
    path: str
    title: str


@dataclass(frozen=True, slots=True)
class ObservationOut:
    """One observation of a memory note; hand-added lines have no id yet. `line` counts from 1."""

    text: str
    line: int
    origin: Origin
    type: MemoryType
    version: int
    observation_id: str | None = None
    status: str | None = None
    expires: str | None = None
    derived_from: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class NoteAnswer:
    """A note as it is on disk now. `content` is cut at 100,000 characters, and says so.

    Of links, headings and the like 500 are listed; `not_listed` counts the others by field.
    """

    note_id: str
    path: str
    title: str
    note_class: NoteClass = field(metadata={"wire": "class"})
    content: str
    truncated: bool
    frontmatter: Mapping[str, object]
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    outline: tuple[Heading, ...]
    links: tuple[LinkOut, ...]
    backlinks: tuple[Backlink, ...]
    version_token: str
    modified_at: str
    observations: tuple[ObservationOut, ...] | None = None
    category: str | None = None
    project: str | None = None
    section: str | None = None
    problem: str | None = None
    not_listed: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class NoteLine:
    """One line of a list of notes."""

    note_id: str
    path: str
    title: str
    tags: tuple[str, ...]
    modified_at: str
    project: str | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class NoteList:
    """A page of user-docs, by path; `next_cursor` continues it, `total` counts all pages."""

    notes: tuple[NoteLine, ...]
    total: int
    index: IndexState
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Created:
    """The answer of `create_note`."""

    outcome: Literal["created"]
    note_id: str
    path: str
    title: str
    version_token: str


@dataclass(frozen=True, slots=True)
class Edited:
    """The answer of `edit_note`; `diff` is a unified diff of what changed."""

    outcome: Literal["edited", "unchanged"]
    note_id: str
    path: str
    version_token: str
    diff: str | None = None


@dataclass(frozen=True, slots=True)
class Deleted:
    """The answer of `delete_note`; `backlinks` counts the notes whose links now lead nowhere."""

    outcome: Literal["deleted"]
    note_id: str
    path: str
    trash_path: str
    backlinks: int


@dataclass(frozen=True, slots=True)
class Updated:
    """The answer of `update_memory`; `receipt` cites the version, `diff` is one of words."""

    outcome: Literal["updated", "unchanged"]
    note_id: str
    observation_id: str
    version: int
    receipt: str
    path: str
    version_token: str
    diff: str | None = None


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The answer of `forget`; `receipt` cites what was forgotten, for the owner to restore."""

    outcome: Literal["forgotten"]
    note_id: str
    observation_id: str
    version: int
    receipt: str
    path: str
    version_token: str


@dataclass(frozen=True, slots=True)
class CategoryLine:
    """One category of memory with the number of its active observations."""

    category: str
    note_id: str
    path: str
    observations: int
    summary: str
    modified_at: str


@dataclass(frozen=True, slots=True)
class ProjectMemory:
    """The memory of one project."""

    project: str
    notes: int
    categories: tuple[CategoryLine, ...]


@dataclass(frozen=True, slots=True)
class MemorySummary:
    """What is remembered: the user's categories, then each project's;
    how many rules bind, and the unfinished plans.
    """

    user: tuple[CategoryLine, ...]
    projects: tuple[ProjectMemory, ...]
    observations: int
    rules: int
    plans: tuple[Plan, ...]
    index: IndexState


# Plans

PlanOutcome = Literal["started", "completed", "failed", "skipped", "unchanged"]


@dataclass(frozen=True, slots=True)
class PlanStep:
    """A step of a plan; `remark` is its result, or why it failed or was skipped."""

    step: str
    state: StepState
    remark: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan as it is on disk now. `next` is where work goes on; `percent` is of its steps.

    `not_added` names steps that were asked for and that the resumed plan does not have.
    """

    task: str
    percent: int
    finished: bool
    note_id: str
    path: str
    version_token: str
    outcome: Literal["created", "resumed"] | None = None
    next: PlanStep | None = None
    project: str | None = None
    steps: tuple[PlanStep, ...] | None = None
    not_added: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class StepChanged:
    """The answer of the tools that change a step: the step now, and where work goes on."""

    outcome: PlanOutcome
    task: str
    step: PlanStep
    percent: int
    finished: bool
    note_id: str
    path: str
    version_token: str
    next: PlanStep | None = None


@dataclass(frozen=True, slots=True)
class ResumePoint:
    """Where work goes on; without a `step`, nothing is left. `others` are unfinished plans too."""

    step: PlanStep | None
    finished: bool
    task: str | None = None
    percent: int | None = None
    note_id: str | None = None
    path: str | None = None
    project: str | None = None
    others: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far plans are: one with its steps, or all of them without; `more` are not listed."""

    plans: tuple[Plan, ...]
    more: int


# Threads


@dataclass(frozen=True, slots=True)
class ThreadNoted:
    """The answer of `take_note`; `unchanged` when the thread has these words already."""

    outcome: Literal["noted", "unchanged"]
    thread: str
    observation_id: str
    note_id: str
    path: str
    version_token: str


@dataclass(frozen=True, slots=True)
class ThreadNote:
    """One note of a thread; lines that the owner added by hand have no id."""

    kind: NoteKind
    text: str
    observation_id: str | None = None


@dataclass(frozen=True, slots=True)
class ThreadNotes:
    """What a thread noted, oldest first; `more` earlier notes are left out.

    `expires` is the last day on which it can be read, unless it goes on.
    """

    thread: str
    notes: tuple[ThreadNote, ...]
    more: int
    note_id: str | None = None
    path: str | None = None
    expires: str | None = None


@dataclass(frozen=True, slots=True)
class KnownMemory:
    """A memory that says what a candidate says, or the opposite; `ref` names it."""

    ref: str
    text: str
    kind: Literal["same", "reworded", "contradicting"]


@dataclass(frozen=True, slots=True)
class MemoryCandidate:
    """What may be worth remembering; `sources` are for `derived_from`."""

    text: str
    kind: NoteKind
    type: MemoryType
    sources: tuple[str, ...]
    similar: tuple[KnownMemory, ...]


@dataclass(frozen=True, slots=True)
class Consolidation:
    """What of a thread may be worth remembering; `known` counts what memory says already."""

    thread: str
    candidates: tuple[MemoryCandidate, ...]
    known: int


# Rules


@dataclass(frozen=True, slots=True)
class RuleAdded:
    """The answer of `add_rule`; a `pending` rule binds when the owner has accepted it."""

    outcome: Literal["added", "replaced", "pending", "unchanged"]
    name: str
    note_id: str
    path: str
    version_token: str


@dataclass(frozen=True, slots=True)
class RuleLine:
    """One rule, and where it stands. `name` is empty where the owner gave it none."""

    name: str
    level: Level
    text: str
    categories: tuple[str, ...]
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules that bind, the strictest first.

    `waiting` rules have not been accepted yet; only their owner is told how many.
    """

    rules: tuple[RuleLine, ...]
    waiting: int | None = None


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule with a condition that is false of the given value."""

    name: str
    level: Level
    text: str
    condition: str
    value: float
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class RulesChecked:
    """What came of a check: `checked` rules had a condition to compare, `advice` has none."""

    ok: bool
    violations: tuple[Violation, ...]
    checked: int
    advice: tuple[RuleLine, ...]
