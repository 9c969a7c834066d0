import dataclasses
import inspect
import json
from importlib import import_module
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from zibaldone.tools import answers
from zibaldone.tools.definition import BY_NAME, REQUIRED, TOOLS, Argument, Tool, tool
from zibaldone.tools.wire import SAFE_INTEGER, camel, output_schema, wire, wire_error
from zibaldone.vault.errors import InvalidArgument, NoteAmbiguous, ZibaldoneError

INDEX = answers.IndexState(fresh=True, notes=3, behind=0)
EACH_TOOL = pytest.mark.parametrize("one", TOOLS, ids=lambda one: one.name)


def arguments() -> list[Any]:
    return [pytest.param(a, id=f"{t.name}-{a.wire}") for t in TOOLS for a in t.arguments]


# The definitions against the functions that do the work


def function_of(one: Tool) -> Any:
    return getattr(import_module(f"zibaldone.tools.{one.module}"), one.name)


@EACH_TOOL
def test_arguments_are_those_of_the_function(one: Tool) -> None:
    """All of them but the counter of tokens, which is a function and so only for Python."""
    _, *parameters = inspect.signature(function_of(one)).parameters.values()
    parameters = [each for each in parameters if each.name != "counter"]
    defined = {a.name: inspect.Parameter.empty if a.required else a.default for a in one.arguments}
    assert defined == {parameter.name: parameter.default for parameter in parameters}


@EACH_TOOL
def test_answer_is_that_of_the_function(one: Tool) -> None:
    assert inspect.signature(function_of(one)).return_annotation == one.answer.__name__


def test_hints_are_honest() -> None:
    reading = {"search", "recall", "get_note", "list_notes", "memory_summary"}
    reading |= {"resume_point", "progress", "read_notes", "consolidate", "start_session"}
    reading |= {"get_rules", "check_rules"}
    assert {one.name for one in TOOLS if one.read_only} == reading
    changing = {"edit_note", "update_memory", "forget", "delete_note", "add_rule"}
    assert {one.name for one in TOOLS if one.destructive} == changing
    assert not any(one.destructive for one in TOOLS if one.read_only)


def test_every_name_of_the_contract_is_there() -> None:
    assert list(BY_NAME) == [
        "remember_about_user",
        "remember_about_project",
        "search",
        "recall",
        "get_note",
        "list_notes",
        "create_note",
        "edit_note",
        "update_memory",
        "forget",
        "delete_note",
        "start_session",
        "memory_summary",
        "create_progress",
        "start_step",
        "complete_step",
        "fail_step",
        "skip_step",
        "resume_point",
        "progress",
        "take_note",
        "read_notes",
        "consolidate",
        "add_rule",
        "get_rules",
        "check_rules",
    ]


# Schemas


@EACH_TOOL
def test_input_schema_pleases_strict_clients(one: Tool) -> None:
    # Case MC-03: type arrays and references make strict clients drop the tool.
    schema = one.input_schema()
    assert schema["additionalProperties"] is False
    assert "$ref" not in json.dumps(schema)
    for described in schema["properties"].values():
        assert isinstance(described["type"], str)
        assert described["description"].strip()
        assert set(described) <= {
            "type", "description", "items", "enum", "minimum", "maximum", "default",
        }  # fmt: skip
    jsonschema.Draft202012Validator.check_schema(schema)


@EACH_TOOL
def test_output_schema_is_valid_and_refers_only_inside(one: Tool) -> None:
    schema = one.output_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    names = {f"#/$defs/{name}" for name in schema.get("$defs", {})}

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            assert node.get("$ref", next(iter(names), None)) in names or "$ref" not in node
            list(map(walk, node.values()))
        elif isinstance(node, list):
            list(map(walk, node))

    walk(schema)


@EACH_TOOL
def test_output_schema_allows_for_the_error(one: Tool) -> None:
    # Clients exist that hold a failed call to the output schema too.
    failed = wire_error(NoteAmbiguous("plan", ("a.md", "b.md")))
    jsonschema.validate(failed, one.output_schema())
    assert failed["error"]["facts"] == {"ref": "plan", "candidates": ["a.md", "b.md"]}


@pytest.mark.parametrize("argument", arguments())
def test_wire_names_are_camel_case(argument: Argument) -> None:
    assert argument.wire.isidentifier()
    assert "_" not in argument.wire
    assert argument.wire[0].islower()


def test_class_is_the_wire_name_of_note_class() -> None:
    assert "class" in BY_NAME["search"].input_schema()["properties"]
    assert tool("search").check({"query": "x", "class": "user-doc"})["note_class"] == "user-doc"


# Checking arguments


def refusal(name: str, given: dict[str, object]) -> InvalidArgument:
    with pytest.raises(InvalidArgument) as caught:
        tool(name).check(given)
    return caught.value


def test_checked_arguments_have_python_names() -> None:
    given = {"query": "tea", "budgetTokens": 800, "maxPerSource": 200}
    wanted = {"query": "tea", "budget_tokens": 800, "max_per_source": 200}
    assert tool("recall").check(given) == wanted


@pytest.mark.parametrize(
    ("unknown", "nearest"),
    [
        ("budget_tokens", "budgetTokens"),
        ("budget-tokens", "budgetTokens"),
        ("budgetTokns", "budgetTokens"),
        ("Query", "query"),
        ("zzz", None),
    ],
)
def test_unknown_argument_names_the_nearest(unknown: str, nearest: str | None) -> None:
    error = refusal("recall", {"query": "x", unknown: 1})
    assert (error.argument, error.nearest) == (unknown, nearest)
    assert "budgetTokens" in str(error)


def test_missing_argument_is_named() -> None:
    assert refusal("search", {}).argument == "query"
    assert refusal("search", {"query": None}).argument == "query"


@pytest.mark.parametrize("value", ["5", True, 5.5, [5], {}, float("nan"), float("inf")])
def test_whole_numbers_are_strict(value: object) -> None:
    assert refusal("search", {"query": "x", "limit": value}).argument == "limit"


@pytest.mark.parametrize(("value", "ok"), [(0, False), (1, True), (100, True), (101, False)])
def test_bounds_are_inclusive(value: int, ok: bool) -> None:
    if ok:
        assert tool("search").check({"query": "x", "limit": value})["limit"] == value
    else:
        assert "from 1 to 100" in str(refusal("search", {"query": "x", "limit": value}))


def test_a_float_that_is_whole_is_a_whole_number() -> None:
    # Some clients have only one kind of number.
    limit = tool("search").check({"query": "x", "limit": 5.0})["limit"]
    assert limit == 5
    assert isinstance(limit, int)


@pytest.mark.parametrize("value", ["tea", [1], [["tea"]], {"tea": 1}, 3])
def test_lists_are_lists_of_texts(value: object) -> None:
    given = {"observation": "x", "tags": value}
    assert refusal("remember_about_user", given).argument == "tags"


@pytest.mark.parametrize("value", [1, True, ["x"], {}])
def test_text_is_text(value: object) -> None:
    assert refusal("search", {"query": value}).argument == "query"


def test_choice_names_the_nearest() -> None:
    error = refusal("edit_note", {"ref": "x", "mode": "findreplace"})
    assert error.nearest == "findReplace"


def test_null_is_absent() -> None:
    assert tool("search").check({"query": "x", "project": None}) == {"query": "x"}


@pytest.mark.parametrize("content", [{}, {"content": None}, {"content": ""}])
def test_edit_without_content_is_left_to_the_tool_as_a_deletion(content: dict[str, object]) -> None:
    # Case ED-05: the words None, null or undefined must not come of it.
    given = {"ref": "Drop.md", "mode": "findReplace", "find": "drop this", **content}
    assert tool("edit_note").check(given).get("content", "") == ""


def test_unknown_tool_names_the_nearest() -> None:
    with pytest.raises(InvalidArgument) as caught:
        tool("get_notes")
    assert caught.value.nearest == "get_note"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(st.sampled_from(TOOLS), st.data())
def test_checking_agrees_with_the_schema(one: Tool, data: st.DataObject) -> None:
    """What the schema refuses, `check` refuses with a typed error, and the other way round."""
    names = st.sampled_from([argument.wire for argument in one.arguments])
    given = data.draw(st.dictionaries(names | st.text(max_size=5), JSON, max_size=5))
    present = {name: value for name, value in given.items() if value is not None}
    valid = jsonschema.Draft202012Validator(one.input_schema()).is_valid(present)
    valid = valid and set(given) <= {argument.wire for argument in one.arguments}
    try:
        one.check(given)
    except InvalidArgument:
        assert not valid
    else:
        assert valid


# The wire form of answers


def test_wire_form_of_a_search() -> None:
    passage = answers.Passage(
        note_id="7k2m9qx4tb1c",
        title="Preferences",
        snippet="Prefers dark themes.",
        path="agent-memory/preferences.md",
        score=3.5,
        note_class="agent-memory",
        tags=("editor",),
        origin="agent",
        version=1,
        modified_at="2026-11-02T10:00:00Z",
        observation_id="m3k9f2",
    )
    assert wire(answers.SearchAnswer((passage,), 1, False, INDEX)) == {
        "results": [
            {
                "noteId": "7k2m9qx4tb1c",
                "title": "Preferences",
                "snippet": "Prefers dark themes.",
                "path": "agent-memory/preferences.md",
                "score": 3.5,
                "class": "agent-memory",
                "tags": ["editor"],
                "origin": "agent",
                "version": 1,
                "modifiedAt": "2026-11-02T10:00:00Z",
                "observationId": "m3k9f2",
            }
        ],
        "total": 1,
        "more": False,
        "index": {"fresh": True, "notes": 3, "behind": 0},
    }


def note_with(frontmatter: dict[str, object], content: str = "") -> answers.NoteAnswer:
    return answers.NoteAnswer(
        note_id="7k2m9qx4tb1c",
        path="Plan.md",
        title="Plan",
        note_class="user-doc",
        content=content,
        truncated=False,
        frontmatter=frontmatter,
        tags=(),
        aliases=(),
        outline=(),
        links=(),
        backlinks=(),
        version_token="0" * 64,
        modified_at="2026-11-02T10:00:00Z",
    )


def test_frontmatter_keeps_the_keys_and_nulls_of_its_owner() -> None:
    written: dict[str, object] = {"due_date": None, "Näh": {"a_b": [1, True]}}
    assert wire(note_with(written))["frontmatter"] == written


def test_what_json_cannot_carry_becomes_text() -> None:
    written = {"a": float("nan"), "b": 2**60, "c": "half \ud800", "d": SAFE_INTEGER}
    assert wire(note_with(dict(written)))["frontmatter"] == {
        "a": "nan",
        "b": str(2**60),
        "c": "half \ufffd",
        "d": SAFE_INTEGER,
    }


@settings(max_examples=40)
@given(st.dictionaries(st.text(max_size=9), JSON, max_size=4), st.text())
def test_any_note_is_valid_json_under_its_schema(
    frontmatter: dict[str, object], content: str
) -> None:
    sent = json.dumps(wire(note_with(frontmatter, content)), allow_nan=False)
    sent.encode("utf-8")
    jsonschema.validate(json.loads(sent), output_schema(answers.NoteAnswer))


def test_camel_case_of_every_field_is_unambiguous() -> None:
    kinds = [kind for kind in vars(answers).values() if dataclasses.is_dataclass(kind)]
    assert len(kinds) > 15
    for kind in kinds:
        names = [
            field.metadata.get("wire", camel(field.name)) for field in dataclasses.fields(kind)
        ]
        assert len(set(names)) == len(names)


def test_errors_have_no_empty_facts() -> None:
    assert wire_error(InvalidArgument("limit", "must be a whole number"))["error"] == {
        "code": "invalid_argument",
        "message": "Argument 'limit': must be a whole number.",
        "nextStep": "Correct it and call again.",
        "facts": {"argument": "limit", "problem": "must be a whole number"},
    }


def test_an_error_without_facts_has_the_same_form() -> None:
    assert wire_error(ZibaldoneError())["error"]["facts"] == {}


def test_required_is_no_value() -> None:
    assert REQUIRED is not None
    assert Argument("x", "string", "y").required
