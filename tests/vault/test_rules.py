"""The lines of a rules note: level, text, categories, conditions, and what of them is false."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zibaldone.vault.layout import open_layout
from zibaldone.vault.note import parse_note
from zibaldone.vault.rules import conditions, rules, violated


@pytest.fixture
def read(vault_dir):
    layout = open_layout(vault_dir)

    def read_rules(body, path="agent-memory/rules.md"):
        text = f"---\nkind: rules\n---\n{body}"
        return list(rules(parse_note(layout, path, text.encode())))

    return read_rules


def told(text):
    return [(one.name, one.op, one.number) for one in conditions(text)]


def test_a_rule_is_read_from_its_line(read):
    (rule,) = read("# Rules\n\n- must: discount <= 0.20 #pricing #eu/spain ^max_discount\n")
    assert (rule.name, rule.level, rule.text) == ("max_discount", "must", "discount <= 0.20")
    assert rule.statement == "discount <= 0.20 #pricing #eu/spain"
    assert (rule.categories, rule.line, rule.project) == (("pricing", "eu/spain"), 6, None)
    assert (rule.origin, rule.status) == ("agent", "")


def test_what_the_owner_writes_by_hand_is_a_rule_too(read):
    body = (
        "* Prefer : short reports\n* no level\n* mustard: fine\n"
        "* avoid: mail at night [status:: unreviewed] [expires:: 2027-01-31]\n"
    )
    found = read(body, "projects/boat/agent-memory/r.md")
    assert [(one.level, one.text, one.name, one.origin) for one in found] == [
        ("prefer", "short reports", "", "owner"),
        ("avoid", "mail at night", "", "owner"),
    ]
    assert [one.is_live("2027-01-01") for one in found] == [True, False]
    assert found[0].project == "boat"


def test_a_rule_binds_until_its_last_day(read):
    (rule,) = read("- must: x [expires:: 2027-01-31]\n")
    assert rule.is_live("2027-01-31")
    assert not rule.is_live("2027-02-01")


def test_a_tag_is_a_category_and_a_rule_without_one_is_about_all(read):
    tagged, bare = read("- must: a #coding-styles #eu/spain\n- must: b\n")
    found = ("coding style", "eu", "eu spain", "spain")
    assert [tagged.belongs_to(key) for key in found] == [True, True, True, False]
    assert bare.belongs_to("anything")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("discount <= 0.20", [("discount", "<=", 0.2)]),
        ("keep 2<x and x<10.", [("x", "<", 10.0)]),
        ("a.b == -3, größe>=+4; n_1!=5", [("a.b", "==", -3), ("größe", ">=", 4), ("n_1", "!=", 5)]),
        ("price < 1,000", []),
        ("discount <= 20%", []),
        ("x <= 3kg and y <= 3.4.5 and z = 4 and w => 5", []),
        ("no condition at all", []),
    ],
)
def test_conditions_are_a_name_an_operator_and_a_number(text, found):
    assert told(text) == found


@given(st.sampled_from(["<=", ">=", "<", ">", "==", "!="]), st.integers(-9, 9), st.integers(-9, 9))
def test_a_condition_is_what_it_says(op, number, value):
    (condition,) = conditions(f"load {op} {number}")
    assert condition.holds(value) is eval(f"{value} {op} {number}")


def test_a_violation_is_a_condition_that_is_false_and_a_missing_name_is_none(read):
    (rule,) = read("- should: 0 and a <= 1 and b > 2 and c == 3\n")
    assert [one.text for one in violated(rule, {"a": 1, "b": 2})] == ["b > 2"]
    assert list(violated(rule, {})) == []


@given(st.text(alphabet="x <>=!.0123456789%,", max_size=200))
def test_any_text_is_read_quickly(text):
    assert len(conditions(text)) <= len(text)
