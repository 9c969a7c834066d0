"""What happens in an agent's work, as typed events, and what of it may be worth remembering.

The programs around agents tell of it in shapes of their own: `{type, …}`, an item in an envelope,
or a hook with `tool_name`, `tool_input` and `tool_response`. Of all of them is kept what was done
and how it ended. What a command printed is never read, and a text that holds a secret is left out.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, Literal

from .answers import MemoryType
from .refusals import EventUnknown
from .secrets import BEYOND, find_early_secret, find_secret

TEXT_LENGTH = 500
NAME_LENGTH = 200
"""Characters of a text, and of a command, a path or a name, that are kept; two texts fit a fact."""

FILES = 20
NAMED = 4
"""Edited files that are kept, and that a candidate names, at most."""


@dataclass(frozen=True, slots=True)
class CommandCompleted:
    """A command that has ended. It is empty when it held a secret; what it printed is not kept."""

    command: str
    exit_code: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class SuiteFinished:
    """The counts of a run of tests."""

    passed: int | None = None
    failed: int | None = None
    skipped: int | None = None
    command: str = ""
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class FileEdited:
    """Files that were written, and how many lines came and went, where that is told."""

    paths: tuple[str, ...]
    added: int | None = None
    removed: int | None = None


@dataclass(frozen=True, slots=True)
class DecisionMade:
    """Something that was decided, and why."""

    text: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class UserCorrection:
    """What the user says is right, and what of the agent's it takes the place of."""

    text: str
    instead_of: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """Something that was said, by the user unless told otherwise."""

    text: str
    role: Literal["user", "assistant", "system"] = "user"


Happening = CommandCompleted | SuiteFinished | FileEdited | DecisionMade | UserCorrection | Message


@dataclass(frozen=True, slots=True)
class AgentEvent:
    """One event: what happened, in whose work, and which program told of it.

    `time` is ISO 8601 in UTC. `struck` names the kinds of secrets for which texts were left out.
    """

    happening: Happening
    source: str
    agent: str
    project: str | None = None
    session: str = ""
    time: str | None = None
    struck: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EventCandidate:
    """What may be worth remembering of an event, as `adapters.general.remember` takes it."""

    content: str
    memory_type: MemoryType
    category: str
    project: str | None = None
    tags: tuple[str, ...] = ()
    value: Literal["high", "normal", "low"] = "normal"

    @property
    def path(self) -> str:
        """The place of memory in which it belongs."""
        about = "user" if self.project is None else f"projects/{self.project}"
        return f"{about}/{self.category}"


def normalize_agent_event(event: object, source: str, default_agent: str) -> AgentEvent:
    """Return an event of an agent's work in one form, whichever program told of it.

    `source` names that program; `default_agent` is the agent where the event names none. Raises
    `EventUnknown` for a shape that is not known, or that lacks what such an event is about.
    """
    if not isinstance(event, Mapping):
        raise EventUnknown("it is no object of names with values", TYPES)
    fields = _Fields(event)
    kind, told = _unwrapped(fields)
    agent = fields.text("agent", "agent_name", "agentName", limit=NAME_LENGTH)
    return AgentEvent(
        happening=_READERS[kind](told),
        source=source,
        agent=agent or default_agent,
        project=fields.text("project", limit=NAME_LENGTH) or None,
        session=fields.text("session", "session_id", "sessionId", limit=NAME_LENGTH),
        time=_time(fields.first("time", "timestamp", "ts", "created_at", "createdAt")),
        struck=tuple(dict.fromkeys(fields.struck)),
    )


def to_memory_candidate(event: AgentEvent) -> EventCandidate | None:
    """Return what may be worth remembering of an event; None where that is nothing.

    What happened once is `episodic`. A decision is a fact of its project, and a correction by the
    user a preference of high value. A message alone is nothing to remember, nor is a text that
    was left out. Nothing is written: a candidate passes the write policy when it is remembered.
    """
    project = event.project
    match event.happening:
        case DecisionMade(text, reason) if text:
            content = f"{text} (because {reason})" if reason else text
            return EventCandidate(content, "semantic", "decisions", project)
        case UserCorrection(text, instead_of) if text:
            content = f"{text} (and not: {instead_of})" if instead_of else text
            return EventCandidate(content, "semantic", "preferences", project, value="high")
        case CommandCompleted(command, code, seconds) if command:
            content = f'Ran "{command}"{_ending(code, seconds)}.'
            return EventCandidate(content, "episodic", "activity", project, ("command",), "low")
        case SuiteFinished() as result:
            value: Literal["normal", "low"] = "normal" if result.failed else "low"
            told = _tests(result)
            return EventCandidate(told, "episodic", "activity", project, ("tests",), value)
        case FileEdited(paths, added, removed) if paths:
            content = f"Edited {_listed(paths)}{_lines(added, removed)}."
            return EventCandidate(content, "episodic", "activity", project, ("edit",), "low")
    return None


def _ending(code: int | None, seconds: float | None) -> str:
    told = [] if code is None else [f"exit code {code}"]
    told += [] if seconds is None else [f"{round(seconds, 2):g} s"]
    return f": {', '.join(told)}" if told else ""


def _tests(result: SuiteFinished) -> str:
    counts = {"passed": result.passed, "failed": result.failed, "skipped": result.skipped}
    told = ", ".join(f"{count} {name}" for name, count in counts.items() if count is not None)
    command = f' of "{result.command}"' if result.command else ""
    return f"Tests{command}: {told}{_ending(None, result.seconds).replace(': ', ', ')}."


def _listed(paths: tuple[str, ...]) -> str:
    more = len(paths) - NAMED
    return ", ".join(paths[:NAMED]) + (f" and {more} more" if more > 0 else "")


def _lines(added: int | None, removed: int | None) -> str:
    told = [] if added is None else [f"{added} lines added"]
    told += [] if removed is None else [f"{removed} removed"]
    return f": {', '.join(told)}" if told else ""


# Reading


class _Fields:
    """The fields of an event under any of their names; `struck` are the secrets left out."""

    def __init__(self, given: Mapping[object, object], struck: list[str] | None = None) -> None:
        self._given = given
        self.struck: list[str] = [] if struck is None else struck

    def first(self, *names: str) -> object:
        """The first of these fields that is there."""
        found = (self._given.get(name) for name in names)
        return next((each for each in found if each is not None), None)

    def inner(self, *names: str) -> _Fields | None:
        """The first of these fields that is an object."""
        found = (self._given.get(name) for name in names)
        objects = (each for each in found if isinstance(each, Mapping))
        return next((_Fields(each, self.struck) for each in objects), None)

    def listed(self, *names: str) -> list[_Fields]:
        """The objects in the first of these fields, at most `FILES`; a text is taken for a path."""
        value = self.first(*names)
        several = value[:FILES] if isinstance(value, list | tuple) else ()
        objects: list[object] = [{"path": one} if isinstance(one, str) else one for one in several]
        return [_Fields(each, self.struck) for each in objects if isinstance(each, Mapping)]

    def joined(self, other: _Fields) -> _Fields:
        """These fields, and those of another where these have none."""
        return _Fields({**other._given, **self._given}, self.struck)

    def text(self, *names: str, limit: int = TEXT_LENGTH) -> str:
        """A field on one line, cut to size; empty when it is no text or holds a secret."""
        value = self.first(*names)
        return self.plain(value, limit) if isinstance(value, str) else ""

    def plain(self, value: str, limit: int) -> str:
        """A text on one line, cut to size; empty when it holds a secret."""
        if kind := find_early_secret(value, limit):
            self.struck.append(kind)
            return ""
        line = " ".join(_UNPRINTABLE.sub(" ", value[: limit + BEYOND]).split())
        return line if len(line) <= limit else f"{line[: limit - 1]}…"

    def command(self, *names: str) -> str:
        """A command, which may be a list of words; of one with a secret, its program alone."""
        value = self.first(*names)
        if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
            value = " ".join(value)
        if not isinstance(value, str) or not value.strip():
            return ""
        program = PurePosixPath(value.split(maxsplit=1)[0]).name
        plain = self.plain(value, NAME_LENGTH)
        if plain or not _PROGRAM.fullmatch(program) or find_secret(program):
            return plain
        return f"{program} …"

    def count(self, *names: str) -> int | None:
        """A field that is a whole number."""
        value = self.number(*names)
        return int(value) if value is not None and value.is_integer() else None

    def number(self, *names: str) -> float | None:
        """A field that is a number of a sensible size."""
        value = self.first(*names)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return float(value) if abs(value) < _LARGEST else None

    def seconds(self) -> float | None:
        """How long something took."""
        thousandths = self.number("duration_ms", "durationMs", "elapsed_ms")
        if thousandths is not None:
            return thousandths / 1000
        return self.number("seconds", "duration_seconds", "duration_s", "duration", "elapsed")


_LARGEST = 1e12
_UNPRINTABLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff]"
)
_PROGRAM = re.compile(r"[A-Za-z][\w.+-]{0,30}")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def _command(fields: _Fields) -> CommandCompleted:
    command = fields.command("command", "cmd", "command_line")
    if not command and not fields.struck:
        raise EventUnknown("it tells of a command and does not have it")
    code = fields.count("exit_code", "exitCode", "returncode", "return_code")
    return CommandCompleted(command, code, fields.seconds())


def _test(fields: _Fields) -> SuiteFinished:
    told = fields.inner("counts", "summary", "results") or fields
    passed = told.count("passed", "passes", "ok")
    failed = told.count("failed", "failures", "fails")
    skipped = told.count("skipped", "pending")
    if passed is None and failed is None:
        raise EventUnknown("it tells of tests and has no count of passed or failed ones")
    command = fields.command("command", "cmd", "suite", "name")
    return SuiteFinished(passed, failed, skipped, command, fields.seconds())


def _edit(fields: _Fields) -> FileEdited:
    names = ("file_path", "filePath", "path", "file", "filename", "notebook_path")
    places = [fields, *fields.listed("changes", "files", "paths")]
    found = (each.text(*names, limit=NAME_LENGTH) for each in places)
    paths = tuple(dict.fromkeys(path for path in found if path))
    if not paths and not fields.struck:
        raise EventUnknown("it tells of an edit and names no file")
    old, new = (fields.first(f"{which}_string") for which in ("old", "new"))
    if isinstance(old, str) and isinstance(new, str):
        return FileEdited(paths, len(new.splitlines()), len(old.splitlines()))
    added = fields.count("lines_added", "linesAdded", "added", "additions")
    return FileEdited(
        paths, added, fields.count("lines_removed", "linesRemoved", "removed", "deletions")
    )


def _decision(fields: _Fields) -> DecisionMade:
    text = fields.text("decision", "text", "content", "summary", "title")
    reason = fields.text("reason", "rationale", "why", "because")
    return DecisionMade(_stated(fields, text, "decision"), reason)


def _correction(fields: _Fields) -> UserCorrection:
    text = fields.text("correction", "correct", "text", "content", "message", "prompt")
    wrong = fields.text("wrong", "instead_of", "insteadOf", "original", "was")
    return UserCorrection(_stated(fields, text, "correction"), wrong)


def _message(fields: _Fields) -> Message:
    text = fields.text("text", "content", "message", "prompt", "last-assistant-message")
    blocks = (each for each in fields.listed("content") if each.first("type") == "text")
    text = text or fields.plain(" ".join(each.text("text") for each in blocks), TEXT_LENGTH)
    role = fields.first("role", "author", "sender")
    known: Literal["user", "assistant", "system"] = "user"
    if role in ("assistant", "agent", "model"):
        known = "assistant"
    elif role == "system":
        known = "system"
    return Message(_stated(fields, text, "message"), known)


def _reply(fields: _Fields) -> Message:
    return Message(_message(fields).text, "assistant")


def _stated(fields: _Fields, text: str, what: str) -> str:
    if not text and not fields.struck:
        raise EventUnknown(f"it tells of a {what} and has no text")
    return text


# Which shape it is

_READERS: Final[Mapping[str, Callable[[_Fields], Happening]]] = {
    "command_completed": _command,
    "test_result": _test,
    "file_edited": _edit,
    "decision": _decision,
    "user_correction": _correction,
    "message": _message,
    "reply": _reply,
}
TYPES: Final = tuple(kind for kind in _READERS if kind != "reply")
"""The types of events, as `{type, …}` names them."""

_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "command_completed": (
        "command", "command_finished", "command_executed", "command_execution", "shell", "bash",
        "run_shell_command", "local_shell", "after_shell_execution", "exec_command_end",
        "run_in_terminal", "execute_command", "powershell",
    ),
    "test_result": ("test", "tests", "test_results", "test_run", "tests_completed"),
    "file_edited": (
        "edit", "write", "multi_edit", "notebook_edit", "file_edit", "file_write", "file_written",
        "file_change", "file_changed", "after_file_edit", "write_file", "edit_file", "replace",
        "apply_patch", "patch", "str_replace", "create_file",
    ),
    "decision": ("decision_made", "decided"),
    "user_correction": ("correction", "user_corrected", "feedback_correction"),
    "message": ("user_message", "user_prompt_submit", "before_submit_prompt", "prompt", "user"),
    "reply": ("assistant_message", "agent_message", "agent_turn_complete", "assistant"),
}  # fmt: skip
_KINDS: Final[Mapping[str, str]] = {
    **{name: kind for kind, names in _NAMES.items() for name in names},
    **{kind: kind for kind in TYPES},
}
_HOOKS_OF_TOOLS = ("", "post_tool_use", "after_tool", "tool_result", "tool_completed")
_UNFINISHED = re.compile(r"(?:^|_)(?:start|started|updated|begin|delta|in_progress)$")
_TYPE = ("hook_event_name", "hookEventName", "type", "event_type", "eventType", "event", "kind")


def _unwrapped(fields: _Fields) -> tuple[str, _Fields]:
    """The type of an event and the fields that belong to it, out of whichever envelope."""
    named = _called(fields.first(*_TYPE))
    if named in _HOOKS_OF_TOOLS and fields.first("tool_name", "toolName") is not None:
        return _of_tool(fields)
    item = fields.inner("item", "payload", "data", "msg", "message") or fields
    known = _KINDS.get(_called(item.first("item_type", *_TYPE))) or _KINDS.get(named)
    if known is None or _UNFINISHED.search(named):
        raise EventUnknown(f"its type {named!r} is not known" if named else "it has no type", TYPES)
    if named == "after_shell_execution":  # That of Cursor, which counts in milliseconds.
        item = _Fields({"duration_ms": fields.number("duration")}, fields.struck).joined(item)
    return known, item


def _of_tool(fields: _Fields) -> tuple[str, _Fields]:
    """What a tool has done: its input is what it was about, its response how that ended."""
    tool = _called(fields.first("tool_name", "toolName"))
    kind, given = _KINDS.get(tool), fields.inner("tool_input", "toolInput", "input", "arguments")
    if kind not in ("command_completed", "file_edited") or given is None:
        raise EventUnknown(f"what the tool {tool!r} does is nothing to keep", TYPES)
    response = fields.inner("tool_response", "toolResponse", "response", "output", "result")
    return kind, given.joined(response) if response else given


def _called(name: object) -> str:
    """A name in small letters with `_` between its words, whatever its spelling; '' for none."""
    if not isinstance(name, str):
        return ""
    return "_".join(word.lower() for word in _WORD.findall(name[:NAME_LENGTH]))


def _time(value: object) -> str | None:
    """A moment in UTC, from ISO 8601 or from seconds or milliseconds since 1970."""
    try:
        if isinstance(value, str):
            moment = dt.datetime.fromisoformat(value[:40])
            moment = moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            moment = dt.datetime.fromtimestamp(value / 1000 if value > 1e11 else value, dt.UTC)
        else:
            return None
        return moment.astimezone(dt.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return None
