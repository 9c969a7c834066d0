"""The grammar of rules on the memory itself, and what a statement is true of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zibaldone.vault.errors import InvalidArgument
from zibaldone.vault.statement import Fact, Statement, parse_statement

HEALTH = Fact("Habits", "", "semantic", ("walking", "Health/Teeth"))


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("never remember #health", Statement("remember", tags=("health",))),
        ("Never RECALL #Health #work.", Statement("recall", tags=("health", "work"))),
        (
            "recall project:Acme only agent:Planner",
            Statement("recall", project="acme", only=("planner",)),
        ),
        (
            'remember category:"Coding styles" type:Episodic only agent:a or agent:"b c"',
            Statement("remember", "coding style", type="episodic", only=("a", "b c")),
        ),
        ("never recall #a agent:x agent:y", Statement("recall", tags=("a",), agents=("x", "y"))),
    ],
)
def test_statements(text, statement):
    assert parse_statement(text) == statement


@pytest.mark.parametrize(
    "text",
    ["", "discount <= 0.20", "never", "never mind", "recall what she said", "remember #health",
     "memory: never remember #health", "only agent:x"],
)  # fmt: skip
def test_other_rules_state_nothing_about_the_memory(text):
    assert parse_statement(text) is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("never remember passwords", "'passwords' is none of #tag, category:NAME"),
        ("never recall", "does not say what"),
        ("never recall #", "'#' is none of"),
        ("never recall tag:health", "'tag:health' is none of"),
        ('never recall project:""', "is none of"),
        ("never recall type:secret", "none of the types semantic"),
        ("never recall project:a project:b", "two of project"),
        ("never recall #a only agent:x", "both never and only"),
        ("recall only agent:x", "does not say what"),
        ("recall #a only", "stand agents"),
        ("recall #a only project:x", "stand agents"),
        ("recall #a agent:y only agent:x", "behind only, or with never"),
    ],
)
def test_what_begins_like_a_statement_and_is_none_says_why(text, problem):
    with pytest.raises(InvalidArgument, match=problem):
        parse_statement(text)


@pytest.mark.parametrize(
    ("text", "meets"),
    [
        ("never recall #health", True),
        ("never recall #health/teeth #walking", True),
        ("never recall #health/ears", False),
        ("never recall #heal", False),
        ("never recall category:habit", True),
        ("never recall category:habits #work", False),
        ("never recall type:semantic", True),
        ("never recall type:working", False),
        ("never recall project:acme", False),
    ],
)
def test_all_that_is_named_has_to_be_true(text, meets):
    assert parse_statement(text).meets(HEALTH) is meets


def test_a_statement_of_a_project_is_about_that_project():
    statement = parse_statement("never recall project:acme #health")
    assert statement.meets(Fact("", "ACME", "semantic", ("health",)))
    assert not statement.meets(HEALTH)
    assert not statement.is_of_places
    assert parse_statement("never recall project:acme category:b").is_of_places


def test_whom_a_statement_binds():
    only = parse_statement("recall #a only agent:Planner")
    assert (only.binds("planner"), only.binds("writer")) == (False, True)
    some = parse_statement("never recall #a agent:writer")
    assert (some.binds("planner"), some.binds("WRITER")) == (False, True)
    assert parse_statement("never recall #a").binds("anyone")


@given(st.text(alphabet='never remb#call:"only agt\t', max_size=80))
def test_any_text_is_read_or_refused(text):
    try:
        found = parse_statement(text)
    except InvalidArgument:
        return
    assert found is None or found.moment in ("remember", "recall")
