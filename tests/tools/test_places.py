"""Where notes may be made: the tools choose class, folder and space, never an argument."""

import pytest
from zibaldone.tools.places import known_project, memory_folder, new_note, project_name
from zibaldone.vault.errors import PathRefused, StorageFailed
from zibaldone.vault.layout import open_layout


@pytest.fixture
def layout(vault_dir):
    for folder in (
        "projects/boat",
        "projects/Acme Inc.",
        "projects/.git",
        "projects/Café",
        "notes",
    ):
        (vault_dir / folder).mkdir(parents=True)
    (vault_dir / "projects/plan.md").write_text("a file, no project\n")
    (vault_dir / "zibaldone.toml").write_text('ignore = ["drafts"]\n')
    return open_layout(vault_dir)


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("boat", "boat"),
        (" Boat ", "boat"),
        ("acme inc.", "Acme Inc."),
        ("CAFE\u0301", "Café"),
        ("\uff42oat", "boat"),
        ("New one", "New one"),
        ("plan.md", "plan.md"),
    ],
)
def test_a_project_is_spelt_as_on_disk(layout, label, name):
    assert project_name(layout, label) == known_project(layout, label) == name
    assert memory_folder(layout, name) == f"projects/{name}/agent-memory"


def test_no_project_is_the_user(layout):
    assert known_project(layout, None) is None
    assert memory_folder(layout, None) == "agent-memory"


@pytest.mark.parametrize(
    "label",
    [
        *("", " ", ".", "..", "a/b", "/a", "a\\b", ".git", ".hidden", "x.", "nul", "a\0"),
        *("agent-memory", "Agent-Memory", "x" * 300, "\ud800", "%2e%2e", "C:\\x", "a\u200bb"),
    ],
)
def test_what_is_no_plain_name_is_no_project(layout, label):
    with pytest.raises(PathRefused):
        project_name(layout, label)


def test_new_notes_have_their_place(layout):
    assert new_note(layout, "projects/boat/Plan.md", "user-doc") == "projects/boat/Plan.md"
    assert new_note(layout, "agent-memory/food.md", "agent-memory") == "agent-memory/food.md"


@pytest.mark.parametrize(
    ("path", "note_class", "reason"),
    [
        ("projects/boat/drafts/a.md", "user-doc", "ignored"),
        ("projects/boat/agent-memory/a.md", "user-doc", "memory"),
        ("notes/a.md", "agent-memory", "no memory"),
        ("projects/boat/../a.md", "user-doc", "dots"),
        (".obsidian/a.md", "user-doc", "hidden"),
        ("Projects/boat/a.md", "user-doc", "look-alike"),
        ("agent_memory/a.md", "agent-memory", "no memory"),
    ],
)
def test_a_place_that_is_not_for_it_is_refused(layout, path, note_class, reason):
    with pytest.raises(PathRefused, match=reason):
        new_note(layout, path, note_class)


def test_a_folder_that_cannot_be_listed_is_a_typed_failure(layout, monkeypatch):
    def refused(folder, name):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("zibaldone.vault.layout.twin", refused)
    monkeypatch.setattr("zibaldone.tools.places.twin", refused)
    with pytest.raises(StorageFailed, match="Permission denied"):
        new_note(layout, "projects/boat/a.md", "user-doc")
    assert project_name(layout, "boat") == "boat"
