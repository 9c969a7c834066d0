"""Events of agents' work, in whatever shape, and what of them is worth remembering."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zibaldone.tools.events import (
    TYPES,
    AgentEvent,
    CommandCompleted,
    DecisionMade,
    EventCandidate,
    FileEdited,
    Message,
    SuiteFinished,
    UserCorrection,
    normalize_agent_event,
    to_memory_candidate,
)
from zibaldone.tools.refusals import EventUnknown
from zibaldone.tools.remember import remember_about_project, remember_about_user

TOKEN = "ghp_" + "a1B2c3D4" * 5
SHAPES = [
    (
        {"type": "command_completed", "command": "make test", "exit_code": 2, "duration_ms": 1250},
        CommandCompleted("make test", 2, 1.25),
    ),
    ({"event": "command.finished", "cmd": ["git", "push"]}, CommandCompleted("git push")),
    (
        {
            "hook_event_name": "PostToolUse",
            "session_id": "s1",
            "tool_name": "Bash",
            "tool_input": {"command": "ls -l", "description": "List"},
            "tool_response": {"stdout": "canary", "stderr": "canary", "interrupted": False},
        },
        CommandCompleted("ls -l"),
    ),
    (
        {
            "hook_event_name": "AfterTool",
            "tool_name": "run_shell_command",
            "tool_input": {"command": "pwd"},
            "tool_response": {"exitCode": 0, "llmContent": "canary"},
        },
        CommandCompleted("pwd", 0),
    ),
    (
        {
            "hook_event_name": "afterShellExecution",
            "command": "npm test",
            "output": "canary",
            "duration": 2500,
        },
        CommandCompleted("npm test", None, 2.5),
    ),
    (
        {
            "type": "item.completed",
            "item": {
                "type": "command_execution",
                "command": "bash -lc ls",
                "aggregated_output": "canary",
                "exit_code": 0,
                "status": "completed",
            },
        },
        CommandCompleted("bash -lc ls", 0),
    ),
    (
        {
            "type": "test_result",
            "passed": 120,
            "failed": 2,
            "command": "pytest",
            "output": "canary",
        },
        SuiteFinished(120, 2, None, "pytest"),
    ),
    (
        {"type": "tests", "summary": {"passed": 3, "failures": 0, "skipped": 1}, "seconds": 4},
        SuiteFinished(3, 0, 1, "", 4.0),
    ),
    (
        {
            "hook_event_name": "PostToolUse",
            "tool_name": "Edit",
            "tool_input": {
                "file_path": "src/a.py",
                "old_string": "canary\n",
                "new_string": "b\nc\n",
            },
        },
        FileEdited(("src/a.py",), 2, 1),
    ),
    (
        {
            "type": "item.completed",
            "item": {
                "type": "file_change",
                "changes": [{"path": "a.py", "kind": "update"}, {"path": "b.py", "kind": "add"}],
            },
        },
        FileEdited(("a.py", "b.py")),
    ),
    (
        {
            "hook_event_name": "afterFileEdit",
            "file_path": "a.py",
            "edits": [{"new_string": "canary"}],
        },
        FileEdited(("a.py",)),
    ),
    ({"type": "file_edited", "files": ["a.py", "b.py"]}, FileEdited(("a.py", "b.py"))),
    (
        {"type": "decision", "decision": "Use SQLite", "rationale": "It is one file"},
        DecisionMade("Use SQLite", "It is one file"),
    ),
    ({"type": "decision", "payload": {"text": "Use SQLite"}}, DecisionMade("Use SQLite")),
    (
        {"type": "user_correction", "text": "Dates are ISO", "original": "Dates are American"},
        UserCorrection("Dates are ISO", "Dates are American"),
    ),
    (
        {"type": "message", "role": "assistant", "content": "Done\nnow"},
        Message("Done now", "assistant"),
    ),
    (
        {
            "type": "assistant",
            "message": {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "All is done."},
                    {"type": "tool_result", "content": "canary", "text": "canary"},
                ],
            },
        },
        Message("All is done.", "assistant"),
    ),
    ({"hook_event_name": "UserPromptSubmit", "prompt": "Do it"}, Message("Do it", "user")),
    ({"type": "agent-turn-complete", "last-assistant-message": "Ok"}, Message("Ok", "assistant")),
]


def event(given, source="test", agent="tester"):
    return normalize_agent_event(given, source, agent)


def candidate(given):
    return to_memory_candidate(event(given))


@pytest.mark.parametrize(("shape", "happening"), SHAPES)
def test_the_common_shapes_are_one_event_without_raw_output(shape, happening):
    found = event(shape)
    assert found.happening == happening
    assert (found.source, found.agent, found.struck) == ("test", "tester", ())
    assert "canary" not in f"{found}{to_memory_candidate(found)}"


def test_every_type_has_a_shape():
    assert len({type(happening) for _, happening in SHAPES}) == len(TYPES) == 6


def test_who_when_and_where_are_told():
    given = {"type": "decision", "text": "Use SQLite", "agent": "planner", "project": "acme"}
    found = event({**given, "session_id": "s1", "timestamp": "2026-11-08T10:15:40+01:00"})
    assert found == AgentEvent(
        DecisionMade("Use SQLite"), "test", "planner", "acme", "s1", "2026-11-08T09:15:40Z"
    )


@pytest.mark.parametrize(
    ("given", "time"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1_794_000_000_000, "2026-11-06T21:20:00Z"),
        ("2026-11-08", "2026-11-08T00:00:00Z"),
        ("yesterday", None),
        (1e300, None),
        (float("nan"), None),
        (True, None),
        (["2026"], None),
    ],
)
def test_a_time_is_in_utc_or_is_left_out(given, time):
    assert event({"type": "decision", "text": "x", "time": given}).time == time


@pytest.mark.parametrize(
    "shape",
    [
        None,
        "command_completed",
        [],
        {},
        {"type": None},
        {"type": "dance"},
        {"type": 7, "command": "ls"},
        {"type": "command_completed"},
        {"type": "command_completed", "command": {"a": 1}},
        {"type": "test_result", "passed": "many"},
        {"type": "file_edited"},
        {"type": "decision", "text": "   "},
        {"type": "user_correction"},
        {"type": "message", "content": 3},
        {"type": "assistant", "message": {"content": [{"type": "tool_use", "input": {}}]}},
        {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}},
        {"hook_event_name": "PostToolUse", "tool_name": "Read", "tool_input": {"file_path": "a"}},
        {"hook_event_name": "PostToolUse", "tool_name": "Bash"},
        {"type": "item.started", "item": {"type": "command_execution", "command": "ls"}},
    ],
)
def test_another_shape_is_a_typed_error(shape):
    with pytest.raises(EventUnknown) as refused:
        event(shape)
    assert refused.value.sentence and refused.value.next_step


def test_an_unknown_type_names_those_that_are_known():
    with pytest.raises(EventUnknown, match=r"'dance' is not known.*command_completed, test_result"):
        event({"type": "dance"})


SECRETS = [
    (
        {"type": "command", "command": f"curl -H 'Authorization: Bearer {TOKEN}' https://x"},
        "curl …",
    ),
    ({"type": "command", "command": f"TOKEN={TOKEN} make"}, ""),
    ({"type": "command", "command": f"{TOKEN}"}, ""),
    ({"type": "command", "command": "x" * 190 + f" {TOKEN}"}, ""),
]


@pytest.mark.parametrize(("shape", "left"), SECRETS)
def test_of_a_command_with_a_secret_only_its_program_is_kept(shape, left):
    found = event(shape)
    assert found.happening == CommandCompleted(left)
    assert found.struck and TOKEN[:30] not in repr((found, to_memory_candidate(found)))


@pytest.mark.parametrize(
    "shape",
    [
        {"type": "decision", "text": f"The token is {TOKEN}"},
        {"type": "correction", "text": f"No, it is {TOKEN}"},
        {"type": "message", "text": TOKEN},
        {"type": "file_edited", "path": f"{TOKEN}.txt"},
    ],
)
def test_a_text_with_a_secret_is_left_out_and_is_no_candidate(shape):
    found = event(shape)
    assert found.struck == ("a GitHub token",)
    assert TOKEN not in repr(found)
    assert to_memory_candidate(found) is None


def test_the_beginning_of_a_long_secret_is_not_kept():
    claims = base64.urlsafe_b64encode(json.dumps({"sub": "ann" * 400}).encode()).decode()
    token = f"eyJhbGciOiJIUzI1NiJ9.{claims.rstrip('=')}.{'c2lnbmF0dXJl' * 4}"
    assert event({"type": "command", "command": f"curl {token} x"}).happening.command == "curl …"
    assert event({"type": "decision", "text": f"Use {token} now"}).happening.text == ""


def test_a_secret_beside_the_text_leaves_the_text():
    found = event({"type": "decision", "text": "Rotate it", "reason": f"{TOKEN} leaked"})
    assert found.happening == DecisionMade("Rotate it")
    assert to_memory_candidate(found).content == "Rotate it"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            {"type": "command", "command": "make test", "exit_code": 1, "seconds": 12.3456},
            EventCandidate(
                'Ran "make test": exit code 1, 12.35 s.',
                "episodic",
                "activity",
                None,
                ("command",),
                "low",
            ),
        ),
        (
            {"type": "tests", "passed": 9, "failed": 1, "seconds": 2, "command": "pytest"},
            EventCandidate(
                'Tests of "pytest": 9 passed, 1 failed, 2 s.',
                "episodic",
                "activity",
                None,
                ("tests",),
                "normal",
            ),
        ),
        (
            {"type": "file_edited", "path": "a.py", "added": 3, "removed": 1, "project": "acme"},
            EventCandidate(
                "Edited a.py: 3 lines added, 1 removed.",
                "episodic",
                "activity",
                "acme",
                ("edit",),
                "low",
            ),
        ),
        (
            {
                "type": "decision",
                "text": "Use SQLite",
                "reason": "it is one file",
                "project": "acme",
            },
            EventCandidate("Use SQLite (because it is one file)", "semantic", "decisions", "acme"),
        ),
        (
            {"type": "correction", "text": "Dates are ISO"},
            EventCandidate("Dates are ISO", "semantic", "preferences", value="high"),
        ),
        ({"type": "message", "text": "hello"}, None),
    ],
)
def test_what_is_worth_remembering(given, expected):
    assert candidate(given) == expected


def test_a_candidate_passes_the_write_policy_like_any_other_fact(opened, on_disk):
    agent = opened()
    told = candidate(
        {"type": "decision", "text": "- # Use [type:: identity] ^abc", "project": "acme"}
    )
    assert told.path == "projects/acme/decisions"
    kept = remember_about_project(agent, told.project, told.content, told.category)
    assert on_disk(kept.path).count("\n- ") == 1
    right = candidate({"type": "correction", "text": "Deploys happen on Thursday at noon."})
    remember_about_user(agent, "Deploys happen on Tuesday at noon.", category=right.category)
    held = remember_about_user(agent, right.content, category=right.category)
    assert held.outcome == "needs_verdict"


def test_many_files_are_counted():
    told = candidate({"type": "edit", "files": [{"path": f"{number}.py"} for number in range(30)]})
    assert told.content == "Edited 0.py, 1.py, 2.py, 3.py and 16 more."


def test_two_texts_of_the_widest_letters_are_still_one_fact(opened):
    long = "\U00010348" * 3000
    told = candidate({"type": "decision", "text": long, "reason": long})
    assert remember_about_user(opened(), told.content).outcome == "created"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
NAMES = st.sampled_from(sorted({name for shape, _ in SHAPES for name in shape} | {"item", "data"}))
KINDS = st.sampled_from([*TYPES, "PostToolUse", "item.completed", "afterShellExecution"])


@given(shape=st.dictionaries(NAMES, JSON, max_size=6), kind=KINDS)
def test_any_object_is_an_event_of_plain_lines_or_a_typed_error(shape, kind):
    try:
        found = event({**shape, "type": kind})
    except EventUnknown:
        return
    told = to_memory_candidate(found)
    if told is not None:
        assert "\n" not in told.content and told.content.encode()
