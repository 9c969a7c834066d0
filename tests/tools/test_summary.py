"""The summary: what is remembered at all, by memory and category; nothing hidden counts."""

import pytest
from zibaldone.tools.summary import FIRST_WORDS, memory_summary
from zibaldone.tools.vault import OWNER
from zibaldone.vault.errors import PathRefused

NOTES = {
    "agent-memory/food.md": "---\ncategory: Food\nsummary: What she eats\n---\n- a ^a1\n- b ^b1\n",
    "agent-memory/habits.md": f"- walks {'far ' * 60}\n  and back\n",
    "agent-memory/muted.md": "---\nmuted: true\n---\n- zanzibar\n",
    "agent-memory/food.sync-conflict-20300102-030405-ABCDEFG.md": "- zanzibar\n",
    "agent-memory/mixed.md": "- shown\n- gone [expires:: 2020-01-01]\n- no [status:: unreviewed]\n",
    "agent-memory/empty.md": "# Empty\n\nProse alone.\n",
    "projects/boat/plan.md": "a\n",
    "projects/boat/agent-memory/plans.md": "- keel\n",
    "projects/river/agent-memory/plans.md": "- bed\n- bank\n",
    "note.md": "a\n",
}


def test_counts_summaries_and_projects(opened):
    vault = opened(NOTES)
    summary = memory_summary(vault)
    user = {line.category: line for line in summary.user}
    assert {name: line.observations for name, line in user.items()} == {
        "Food": 2,
        "habits": 1,
        "mixed": 1,
    }
    assert user["Food"].summary == "What she eats"
    assert user["habits"].summary.startswith("walks far far")
    assert len(user["habits"].summary) == FIRST_WORDS
    assert user["mixed"].summary == "shown"
    assert user["Food"].path == "agent-memory/food.md"
    assert [(one.project, one.notes, len(one.categories)) for one in summary.projects] == [
        ("boat", 1, 1),
        ("river", 0, 1),
    ]
    assert summary.observations == 4 + 1 + 2
    assert "zanzibar" not in repr(summary)
    assert summary.index.fresh


def test_law_9_what_holds_hidden_lines_alone_is_shown_to_its_owner_only(opened):
    waiting = "---\ncategory: Later\nsummary: zanzibar\n---\n- no [status:: unreviewed]\n"
    vault = opened({**NOTES, "agent-memory/later.md": waiting})
    assert "zanzibar" not in repr(memory_summary(vault))
    seen = {
        line.category: line.observations for line in memory_summary(vault.with_caller(OWNER)).user
    }
    assert (seen["Later"], seen["Empty"]) == (0, 0)


def test_one_project_alone(opened):
    vault = opened(NOTES)
    summary = memory_summary(vault, project="Boat")
    assert [one.project for one in summary.projects] == ["boat"]
    assert summary.observations == 5
    assert memory_summary(vault, project="nowhere").projects == ()


def test_an_empty_vault(opened):
    summary = memory_summary(opened())
    assert (summary.user, summary.projects, summary.observations) == ((), (), 0)


@pytest.mark.parametrize("project", ["..", "", "a/b", "../x"])
def test_sc_01_a_project_that_is_a_path_is_refused(opened, project):
    with pytest.raises(PathRefused):
        memory_summary(opened(), project=project)
