"""Labelled cases are read as they are meant, or refused with what is wrong."""

import re
from pathlib import Path

import pytest
from zibaldone.tools.evaluation.labels import (
    Conflict,
    Labels,
    Question,
    Work,
    load_labels,
    parse_labels,
)
from zibaldone.vault.errors import InvalidArgument

SAMPLE = Path(__file__).parents[2] / "data/sample_labels.toml"
VAULT = Path(__file__).parents[3] / "sample-vault"


def load(folder, text):
    path = folder / "labels.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_labels(path)


def test_cases_are_typed_and_have_their_defaults(tmp_path):
    text = """
    [[questions]]
    query = "a"
    expect = ["x.md"]
    [[conflicts]]
    text = "b"
    [[plans]]
    task = "t"
    steps = ["one"]
    stop_after = [0, 1]
    """
    assert load(tmp_path, text) == Labels(
        questions=(Question("a", ("x.md",)),),
        conflicts=(Conflict("b"),),
        plans=(Work("t", ("one",), (0, 1)),),
    )
    assert load(tmp_path, "") == Labels()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[[question]]", r"no use for 'question'.*Did you mean 'questions'"),
        ("questions = 3", r"headed \[\[questions\]\]"),
        ("[questions]", r"headed \[\[questions\]\]"),
        ("[[questions]]\nquery = 'a'", r"\[\[questions\]\] number 1 has no expect"),
        ("[[questions]]\nquery = 'a'\nexpect = []", "a list of texts"),
        ("[[questions]]\nquery = 'a'\nexpect = 'x.md'", "a list of texts"),
        ("[[questions]]\nquery = 1\nexpect = ['x.md']", "has to be text"),
        ("[[questions]]\nquery = 'a'\nexpect = ['x']\nprojekt = 'b'", "Did you mean 'project'"),
        ("[[writes]]\ntext = 'a'\nexpect = 'new'", "one of written, known, asked, refused"),
        (
            "[[plans]]\ntask = 'a'\nsteps = ['b']\nstop_after = [true]",
            "a list of whole numbers",
        ),
        ("[[", "is not TOML"),
        (b"\xff", "is not TOML"),
    ],
)
def test_what_cannot_be_meant_is_refused(text, problem, tmp_path):
    with pytest.raises(InvalidArgument, match=problem):
        load(tmp_path, text)


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(InvalidArgument, match="cannot be read"):
        load_labels(tmp_path / "none.toml")


def test_the_labels_of_the_sample_vault_name_places_that_are_there():
    labels = load_labels(SAMPLE)
    assert all(getattr(labels, name) for name in Labels.__dataclass_fields__)
    refs = [ref for one in labels.questions for ref in one.expect]
    refs += [one.contradicts for one in labels.conflicts if one.contradicts]
    refs += [one.ref for one in (*labels.updates, *labels.deletions)]
    for path, _, block in (ref.partition("#") for ref in refs):
        text = (VAULT / path).read_text(encoding="utf-8")
        assert re.search(rf" {re.escape(block)}$", text, re.MULTILINE) or not block
    memory = "\n".join(path.read_text("utf-8") for path in VAULT.rglob("agent-memory/*.md"))
    assert all(one.words in memory for one in labels.hidden)


def test_a_table_from_elsewhere_is_parsed_as_well():
    assert parse_labels({"hidden": [{"words": "a", "queries": ["b"]}]}).hidden[0].queries == ("b",)
