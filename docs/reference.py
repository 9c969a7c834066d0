"""The reference of the tools, docs/tools.md, written from their definitions.

python docs/reference.py > docs/tools.md
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

from zibaldone.tools import answers
from zibaldone.tools.commands import option_names
from zibaldone.tools.definition import TOOLS, Argument, Tool
from zibaldone.tools.start.answers import StartAnswer, StartPart
from zibaldone.tools.wire import Json, wire, wire_error
from zibaldone.vault.errors import TextNotUnique

_HEAD = """\
# Tools

<!-- Written by `python docs/reference.py`; a test compares it with the code. -->

An agent calls these tools over MCP; the command line has each under the same name with dashes.
Arguments are a closed object: an unknown name is an error that names the nearest known one, and
null means the same as leaving the argument out. Every answer is structured content, with a short
text beside it; a field that does not apply is left out. The text of `recall` and of
`start_session` is exactly its `context`.
"""

_TAIL = """\
## Errors

A failed call is a result with `isError`, not a failure of the protocol. Its text says what
happened and what to do next; its structured content has the same for programs:

```json
{error}
```

`code` is stable. On the command line the same goes to stderr, or with `--json` to stdout, and each
kind has its [exit code](cli.md#exit-codes).
"""

_INDEX = answers.IndexState(fresh=True, notes=42, behind=0)
_TOKEN = "9f2c4e…"
_DAY = "2026-11-02T09:14:00Z"


def reference() -> str:
    """Return docs/tools.md."""
    contents = "\n".join(f"- [`{one.name}`](#{one.name}): {one.short}" for one in TOOLS)
    sections = "\n".join("\n".join(_section(one)) for one in TOOLS)
    tail = _TAIL.replace("{error}", _pretty(_an_error()))
    return f"{_HEAD}\n{contents}\n\n{sections}\n{tail}"


def _section(one: Tool) -> Iterator[str]:
    arguments, answer = EXAMPLES[one.name]
    one.check(arguments)
    yield f"## {one.name}\n\n{one.description}\n"
    yield f"{_hints(one)}\n"
    yield "| argument | type | default | meaning |\n| --- | --- | --- | --- |"
    yield from (_row(argument) for argument in one.arguments)
    yield f"\nA call:\n\n```json\n{_pretty({'name': one.name, 'arguments': arguments})}\n```\n"
    yield f"On the command line:\n\n```sh\n{_shell(one, arguments)}\n```\n"
    yield f"Its answer:\n\n```json\n{_pretty(wire(answer))}\n```\n"


def _hints(one: Tool) -> str:
    if one.read_only:
        return "Hints: read-only."
    destructive = "destructive" if one.destructive else "not destructive"
    return f"Hints: writes; {destructive}; {'idempotent' if one.idempotent else 'not idempotent'}."


def _row(argument: Argument) -> str:
    kind = "list of strings" if argument.kind == "array" else argument.kind
    choices = f" One of {', '.join(f'`{one}`' for one in argument.choices)}."
    meaning = argument.description + (choices if argument.choices else "")
    bounds = f" {argument.bounds}" if argument.bounds else ""
    return f"| `{argument.wire}` | {kind}{bounds} | {_default(argument)} | {meaning} |"


def _default(argument: Argument) -> str:
    if argument.required:
        return "required"
    return f"`{argument.default}`" if argument.default else ""


def _shell(one: Tool, arguments: Mapping[str, Any]) -> str:
    words = ["zib", one.name.replace("_", "-")]
    for argument in one.arguments:
        if argument.wire not in arguments:
            continue
        value = arguments[argument.wire]
        if isinstance(value, dict):
            value = [f"{name}={number}" for name, number in value.items()]
        values = value if isinstance(value, list) else [value]
        option = [] if argument == one.subject else [option_names(argument)[0]]
        words += [word for each in values for word in [*option, str(each)]]
    return shlex.join(words)


def _pretty(data: Json) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2)


def _an_error() -> Json:
    return wire_error(TextNotUnique("agent-memory/preferences.md", 2, (8, 12)))


_PASSAGE = answers.Passage(
    note_id="7k2m9qx4tb1c",
    observation_id="m3k9f2",
    title="Preferences",
    snippet="Prefers dark themes in every editor.",
    path="agent-memory/preferences.md",
    score=7.42,
    note_class="agent-memory",
    category="Preferences",
    tags=(),
    origin="agent",
    version=1,
    modified_at=_DAY,
)

_RULE = answers.RuleLine(
    name="max_discount",
    level="must",
    text="discount <= 0.20",
    categories=("pricing",),
    path="agent-memory/rules.md",
    line=7,
)
_THREAD = "agent-memory/threads/berth-load.md"
_PLAN = "agent-memory/plans/load-the-berths.md"


def _step_changed(
    outcome: answers.PlanOutcome,
    step: answers.PlanStep,
    percent: int,
    following: str = "open",
) -> answers.StepChanged:
    """The answer of a tool that changes a step; the same step comes next, unless it is finished."""
    next_name = {"ingest": "validate"}.get(step.step, "publish")
    return answers.StepChanged(
        outcome=outcome,
        task="Load the berths",
        step=step,
        percent=percent,
        finished=False,
        next=answers.PlanStep(next_name, "open") if following == "open" else step,
        note_id="d5w1r8ks3m6q",
        path=_PLAN,
        version_token=_TOKEN,
    )


EXAMPLES: Final[Mapping[str, tuple[dict[str, Any], object]]] = {
    "start_session": (
        {"project": "harbour"},
        StartAnswer(
            context="<recalled 70249651>\n"
            "[1] agent-memory/preferences.md · Preferences · 2026-11-02\n"
            "- Prefers dark themes in every editor. ^m3k9f2 · agent\n"
            "[2] Rules that bind\n"
            "- must: discount <= 0.20 #pricing (agent-memory/rules.md:7 max_discount)\n"
            "</recalled 70249651>",
            tokens=118,
            budget_tokens=5000,
            parts=(
                StartPart(
                    part="personal",
                    kind="pin",
                    title="Preferences",
                    tokens=46,
                    origin="agent",
                    note_id="7k2m9qx4tb1c",
                    path="agent-memory/preferences.md",
                    date=_DAY,
                ),
                StartPart("work", "rules", "Rules that bind", tokens=42, origin="system"),
            ),
            omitted=(),
            omitted_more=0,
            index=_INDEX,
            project="harbour",
            since="2026-11-01T17:30:00.000Z",
        ),
    ),
    "remember_about_user": (
        {"observation": "Prefers dark themes in every editor.", "category": "preferences"},
        answers.Remembered(
            outcome="appended",
            note_id="7k2m9qx4tb1c",
            observation_id="m3k9f2",
            version=1,
            version_token=_TOKEN,
            path="agent-memory/preferences.md",
            category="Preferences",
            summary_updated=False,
        ),
    ),
    "remember_about_project": (
        {
            "project": "harbour",
            "observation": "Deploys happen on Tuesdays; see [[Release plan]].",
            "category": "decisions",
            "tags": ["deploy"],
        },
        answers.Remembered(
            outcome="skipped",
            note_id="p4x8c2mn7r3d",
            observation_id="q81xz0",
            version=1,
            version_token=_TOKEN,
            path="projects/harbour/agent-memory/decisions.md",
            category="Decisions",
            summary_updated=False,
            similar=(
                answers.Similar(
                    note_id="p4x8c2mn7r3d",
                    observation_id="q81xz0",
                    path="projects/harbour/agent-memory/decisions.md",
                    text="Deploys happen on Tuesdays; see [[Release plan]].",
                    score=1.0,
                    kind="same",
                    version=1,
                    origin="agent",
                ),
            ),
        ),
    ),
    "search": (
        {"query": "dark theme", "limit": 5},
        answers.SearchAnswer((_PASSAGE,), total=1, more=False, index=_INDEX),
    ),
    "recall": (
        {"query": "how does she like her editor", "budgetTokens": 800, "depth": 1},
        answers.RecallAnswer(
            context=(
                "<recalled 70249651>\n"
                "[1] agent-memory/preferences.md · Preferences · 2026-11-02\n"
                "- Prefers dark themes in every editor. ^m3k9f2 · agent\n"
                "</recalled 70249651>"
            ),
            tokens=71,
            budget_tokens=800,
            sources=(
                answers.Source(
                    note_id="7k2m9qx4tb1c",
                    observation_id="m3k9f2",
                    path="agent-memory/preferences.md",
                    title="Preferences",
                    hop=0,
                    tokens=44,
                    origin="agent",
                    date="2026-11-02",
                    version=1,
                ),
            ),
            omitted=(),
            omitted_more=0,
            index=_INDEX,
        ),
    ),
    "get_note": (
        {"ref": "Preferences"},
        answers.NoteAnswer(
            note_id="7k2m9qx4tb1c",
            path="agent-memory/preferences.md",
            title="Preferences",
            note_class="agent-memory",
            category="Preferences",
            content="# Preferences\n\n- Prefers dark themes in every editor. ^m3k9f2\n",
            truncated=False,
            frontmatter={"id": "7k2m9qx4tb1c", "category": "Preferences"},
            tags=(),
            aliases=(),
            outline=(answers.Heading(level=1, text="Preferences", line=5),),
            links=(),
            backlinks=(),
            observations=(
                answers.ObservationOut(
                    text="Prefers dark themes in every editor.",
                    line=7,
                    origin="agent",
                    type="semantic",
                    version=1,
                    observation_id="m3k9f2",
                ),
            ),
            version_token=_TOKEN,
            modified_at=_DAY,
        ),
    ),
    "list_notes": (
        {"project": "harbour", "limit": 1},
        answers.NoteList(
            notes=(
                answers.NoteLine(
                    note_id="r9d3k7w2hs5f",
                    path="projects/harbour/Release plan.md",
                    title="Release plan",
                    tags=("deploy",),
                    modified_at=_DAY,
                    project="harbour",
                ),
            ),
            total=6,
            index=_INDEX,
            next_cursor="projects/harbour/Release plan.md",
        ),
    ),
    "create_note": (
        {"project": "harbour", "title": "Berth survey", "body": "# Berth survey\n\nFirst look.\n"},
        answers.Created(
            outcome="created",
            note_id="v6t1m8qb4z9k",
            path="projects/harbour/Berth survey.md",
            title="Berth survey",
            version_token=_TOKEN,
        ),
    ),
    "edit_note": (
        {
            "ref": "Preferences",
            "mode": "findReplace",
            "find": "dark themes",
            "content": "light themes",
        },
        answers.Edited(
            outcome="edited",
            note_id="7k2m9qx4tb1c",
            path="agent-memory/preferences.md",
            version_token=_TOKEN,
            diff=(
                "@@ -7 +7 @@\n"
                "-- Prefers dark themes in every editor. ^m3k9f2\n"
                "+- Prefers light themes in every editor. ^m3k9f2"
            ),
        ),
    ),
    "update_memory": (
        {
            "ref": "m3k9f2",
            "observation": "Prefers light themes in every editor.",
            "reason": "She said so.",
        },
        answers.Updated(
            outcome="updated",
            note_id="7k2m9qx4tb1c",
            observation_id="m3k9f2",
            version=2,
            receipt="m3k9f2@v2",
            path="agent-memory/preferences.md",
            version_token=_TOKEN,
            diff="Prefers [-dark-]{+light+} themes in every editor.",
        ),
    ),
    "forget": (
        {"ref": "m3k9f2"},
        answers.Forgotten(
            outcome="forgotten",
            note_id="7k2m9qx4tb1c",
            observation_id="m3k9f2",
            version=3,
            receipt="m3k9f2@v3",
            path="agent-memory/preferences.md",
            version_token=_TOKEN,
        ),
    ),
    "delete_note": (
        {"ref": "projects/harbour/Berth survey.md"},
        answers.Deleted(
            outcome="deleted",
            note_id="v6t1m8qb4z9k",
            path="projects/harbour/Berth survey.md",
            trash_path=".zibaldone/trash/v6t1m8qb4z9k/projects/harbour/Berth survey.md",
            backlinks=0,
        ),
    ),
    "memory_summary": (
        {},
        answers.MemorySummary(
            user=(
                answers.CategoryLine(
                    category="Preferences",
                    note_id="7k2m9qx4tb1c",
                    path="agent-memory/preferences.md",
                    observations=3,
                    summary="How she likes editors, reports and commit messages",
                    modified_at=_DAY,
                ),
            ),
            projects=(answers.ProjectMemory(project="harbour", notes=6, categories=()),),
            observations=3,
            rules=1,
            plans=(),
            index=_INDEX,
        ),
    ),
    "create_progress": (
        {"task": "Load the berths", "steps": ["ingest", "validate", "publish"]},
        answers.Plan(
            outcome="created",
            task="Load the berths",
            percent=0,
            finished=False,
            next=answers.PlanStep("ingest", "open"),
            note_id="d5w1r8ks3m6q",
            path=_PLAN,
            version_token=_TOKEN,
            steps=tuple(
                answers.PlanStep(name, "open") for name in ("ingest", "validate", "publish")
            ),
        ),
    ),
    "start_step": (
        {"task": "Load the berths", "step": "validate"},
        _step_changed("started", answers.PlanStep("validate", "started"), 33, "started"),
    ),
    "complete_step": (
        {"task": "Load the berths", "step": "ingest", "result": "100 rows"},
        _step_changed("completed", answers.PlanStep("ingest", "done", "100 rows"), 33),
    ),
    "fail_step": (
        {"task": "Load the berths", "step": "validate", "reason": "Row 7 has no berth."},
        _step_changed(
            "failed", answers.PlanStep("validate", "failed", "Row 7 has no berth."), 33, "failed"
        ),
    ),
    "skip_step": (
        {"task": "Load the berths", "step": "validate", "reason": "The source is checked."},
        _step_changed(
            "skipped", answers.PlanStep("validate", "skipped", "The source is checked."), 66
        ),
    ),
    "resume_point": (
        {},
        answers.ResumePoint(
            step=answers.PlanStep("validate", "failed", "Row 7 has no berth."),
            finished=False,
            task="Load the berths",
            percent=33,
            note_id="d5w1r8ks3m6q",
            path=_PLAN,
        ),
    ),
    "progress": (
        {"task": "Load the berths"},
        answers.Progress(
            plans=(
                answers.Plan(
                    task="Load the berths",
                    percent=33,
                    finished=False,
                    next=answers.PlanStep("validate", "started"),
                    note_id="d5w1r8ks3m6q",
                    path=_PLAN,
                    version_token=_TOKEN,
                    steps=(
                        answers.PlanStep("ingest", "done", "100 rows"),
                        answers.PlanStep("validate", "started"),
                        answers.PlanStep("publish", "open"),
                    ),
                ),
            ),
            more=0,
        ),
    ),
    "take_note": (
        {"thread": "berth-load", "text": "Row 7 has no berth; left out.", "kind": "decision"},
        answers.ThreadNoted(
            outcome="noted",
            thread="berth-load",
            observation_id="h2v7ka",
            note_id="t8y3nd6vq2x1",
            path=_THREAD,
            version_token=_TOKEN,
        ),
    ),
    "read_notes": (
        {"thread": "berth-load"},
        answers.ThreadNotes(
            thread="berth-load",
            notes=(
                answers.ThreadNote("decision", "Row 7 has no berth; left out.", "h2v7ka"),
                answers.ThreadNote("pending", "Ask the harbour master about row 7.", "n4c9wb"),
            ),
            more=0,
            note_id="t8y3nd6vq2x1",
            path=_THREAD,
            expires="2026-11-16",
        ),
    ),
    "consolidate": (
        {"thread": "berth-load"},
        answers.Consolidation(
            thread="berth-load",
            candidates=(
                answers.MemoryCandidate(
                    text="Row 7 has no berth; left out.",
                    kind="decision",
                    type="semantic",
                    sources=("h2v7ka",),
                    similar=(),
                ),
            ),
            known=0,
        ),
    ),
    "add_rule": (
        {
            "name": "max_discount",
            "level": "must",
            "text": "discount <= 0.20",
            "category": "pricing",
        },
        answers.RuleAdded(
            outcome="pending",
            name="max_discount",
            note_id="w4k9zt2ba7m8",
            path="agent-memory/rules.md",
            version_token=_TOKEN,
        ),
    ),
    "get_rules": ({"category": "pricing"}, answers.Rules((_RULE,), waiting=1)),
    "check_rules": (
        {"category": "pricing", "context": {"discount": 0.25}},
        answers.RulesChecked(
            ok=False,
            violations=(
                answers.Violation(
                    name="max_discount",
                    level="must",
                    text="discount <= 0.20",
                    condition="discount <= 0.20",
                    value=0.25,
                    path="agent-memory/rules.md",
                    line=7,
                ),
            ),
            checked=1,
            advice=(),
        ),
    ),
}


if __name__ == "__main__":
    sys.stdout.write(reference())
