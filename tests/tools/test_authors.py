"""Narrowing a search or a recall to what one agent wrote."""

import pytest
from zibaldone.tools.definition import BY_NAME
from zibaldone.tools.lifecycle import update_memory
from zibaldone.tools.recall import recall
from zibaldone.tools.remember import remember_about_project, remember_about_user
from zibaldone.tools.search import search
from zibaldone.tools.vault import OWNER, Caller
from zibaldone.vault.errors import InvalidArgument

PLANNER, WRITER = Caller("planner"), Caller("Studio Writer")


@pytest.fixture
def planner(opened):
    """A vault in which two agents, the owner and an editor wrote of canaries."""
    notes = {"agent-memory/birds.md": "- By hand a canary.\n", "notes/canary.md": "A canary.\n"}
    vault = opened(notes, caller=PLANNER)
    remember_about_user(vault, "Canary seeds are bought in May.", category="birds")
    other = vault.with_caller(WRITER)
    remember_about_user(other, "The canary sings at night.", category="birds")
    remember_about_project(other, "aviary", "A canary needs a second cage.")
    remember_about_user(vault.with_caller(OWNER), "My canary is yellow.", category="birds")
    return vault


def seen(vault, name):
    """The words by an agent, as search and recall agree on them."""
    answer = search(vault, "canary", from_agent=name)
    context = recall(vault, "canary", from_agent=name, depth=2).context
    words = {hit.snippet for hit in answer.results}
    assert answer.total == len({hit.path for hit in answer.results})
    assert all(each in context for each in words)
    assert len(recall(vault, "canary", from_agent=name).sources) == len(answer.results)
    return {each.rpartition("canary")[2] or each for each in map(str.lower, words)}


def test_own_and_others_are_told_apart(planner):
    assert seen(planner, "own") == {" seeds are bought in may."}
    assert seen(planner, "Studio Writer") == {" sings at night.", " needs a second cage."}
    assert seen(planner.with_caller(WRITER), " own ") == seen(planner, "Studio Writer")
    assert seen(planner, "owner") == {" is yellow."}
    assert seen(planner, "nobody") == set()


def test_everyone_is_the_same_as_not_narrowing(planner):
    assert search(planner, "canary", from_agent="*") == search(planner, "canary")
    assert len(search(planner, "canary").results) == 6


def test_what_others_correct_stays_with_who_wrote_it_first(planner):
    (mine,) = search(planner, "canary", from_agent="own").results
    update_memory(planner.with_caller(WRITER), mine.observation_id, "Canary seeds come in June.")
    assert seen(planner, "own") == {" seeds come in june."}


def test_narrowing_goes_together_with_a_project(planner):
    found = search(planner, "canary", project="aviary", from_agent="Studio Writer").results
    assert [hit.project for hit in found] == ["aviary"]
    assert search(planner, "canary", project="aviary", from_agent="own").results == ()


def test_the_wire_says_from_and_a_blank_name_is_refused(planner):
    for name in ("search", "recall"):
        assert "from" in BY_NAME[name].input_schema()["properties"]
        with pytest.raises(InvalidArgument, match="'from': it is blank"):
            BY_NAME[name].run(planner, {"query": "canary", "from": " "})
