"""Muting memory, renaming a category, and giving an id to a line that was written by hand."""

import pytest
from zibaldone.tools import cli
from zibaldone.tools.api import remember_about_user
from zibaldone.tools.history import history, restore
from zibaldone.tools.refusals import NameUnknown, OwnerOnly, SecretRefused
from zibaldone.tools.tending import category_note, mute, name_line, rename_category
from zibaldone.tools.vault import OWNER
from zibaldone.vault.errors import (
    CategoryRefused,
    InvalidArgument,
    NoteChanged,
    NoteNotFound,
    NoteUnusable,
)

TEA = "---\n# mine\nid: aaaaaaaaaaa1\ncategory: Tea\n---\r\n- Green.\r\n- Mint. ^aaaaa1\r\n"
FILES = {"agent-memory/tea.md": TEA, "Note.md": "x\n"}


def test_an_agent_may_do_none_of_it(opened):
    vault = opened(FILES)
    with pytest.raises(OwnerOnly):
        mute(vault, "tea", muted=True)
    with pytest.raises(OwnerOnly):
        name_line(vault, "tea", "Green.", "x")
    with pytest.raises(OwnerOnly):
        rename_category(vault, "tea", "Drinks")


def test_a_note_is_muted_by_one_line_and_unmuted_to_the_byte(opened, on_disk):
    vault = opened(FILES, caller=OWNER)
    token = mute(vault, "tea", muted=True).version_token
    assert on_disk("agent-memory/tea.md") == TEA.replace("Tea\n", "Tea\nmuted: true\n")
    assert mute(vault, "tea", muted=True).version_token == token
    mute(vault, "tea", muted=False)
    assert on_disk("agent-memory/tea.md") == TEA


@pytest.mark.parametrize("line", ["Muted: yes", "muted: on", 'muted: "true"'])
def test_whatever_its_owner_wrote_is_unmuted(opened, on_disk, line):
    text = TEA.replace("category: Tea\n", f"category: Tea\n{line}\n")
    vault = opened({"agent-memory/tea.md": text}, caller=OWNER)
    mute(vault, "tea", muted=False)
    assert on_disk("agent-memory/tea.md") == TEA


def test_only_memory_is_muted(opened):
    vault = opened({**FILES, "agent-memory/odd.md": "---\nx: [\n---\n- a\n"}, caller=OWNER)
    with pytest.raises(NoteNotFound):
        mute(vault, "Note", muted=True)
    with pytest.raises(NoteUnusable) as failure:
        mute(vault, "odd", muted=True)
    assert failure.value.path == "agent-memory/odd.md"


def test_a_line_gets_an_id_and_stays_its_owners(opened, on_disk):
    vault = opened(FILES, caller=OWNER)
    token = mute(vault, "tea", muted=False).version_token
    named = name_line(vault, "tea", "Green.", token)
    wanted = f"- Green. [origin:: owner] ^{named.observation_id}\r\n"
    assert on_disk("agent-memory/tea.md") == TEA.replace("- Green.\r\n", wanted)
    with pytest.raises(NoteChanged):
        name_line(vault, "tea", "Green.", token)
    with pytest.raises(NoteNotFound):
        name_line(vault, "tea", "Mint.", named.version_token)


HEADED = TEA.replace("- Green", "\r\n#  Teas  ##\r\n\r\nOf teas.\r\n- Green")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (TEA, TEA.replace("category: Tea", "category: Hot drinks")),
        (HEADED, HEADED.replace("category: Tea", "category: Hot drinks").replace(
            "#  Teas  ##", "#  Hot drinks  ##")),
        (HEADED.replace("#  Teas", "#  Mine"), HEADED.replace("#  Teas", "#  Mine").replace(
            "category: Tea", "category: Hot drinks")),
        ("---\nCategory: 'Tea' # so\n---\n- Green.\n",
         "---\nCategory: 'Hot drinks' # so\n---\n- Green.\n"),
        ("# Tea\n- Green.\n", "---\ncategory: Hot drinks\n---\n# Hot drinks\n- Green.\n"),
    ],
    ids=["plain", "heading", "other-heading", "key", "bare"],
)  # fmt: skip
def test_a_label_changes_in_frontmatter_and_heading_alone(opened, on_disk, before, after):
    vault = opened({"agent-memory/tea.md": before}, caller=OWNER)
    path = category_note(vault, "teas")
    done = rename_category(vault, path, "  Hot   drinks ")
    assert on_disk("agent-memory/tea.md") == after
    assert done.path == path == category_note(vault, "hot drink")
    assert rename_category(vault, path, "Hot drinks").version_token == done.version_token
    assert on_disk("agent-memory/tea.md") == after


def test_a_rename_is_in_the_history_and_can_be_taken_back(opened, on_disk):
    vault = opened({"agent-memory/tea.md": HEADED}, caller=OWNER)
    done = rename_category(vault, "agent-memory/tea.md", "Drinks")
    first, last = history(vault, done.note_id).revisions
    assert (last.op, last.origin) == ("edit", "owner")
    restore(vault, done.note_id, first.revision)
    assert on_disk("agent-memory/tea.md") == HEADED


def test_the_old_label_is_free_for_a_new_category(opened, on_disk):
    vault = opened({"agent-memory/tea.md": TEA}, caller=OWNER)
    rename_category(vault, "agent-memory/tea.md", "Drinks")
    again = remember_about_user(vault, "Grows camellias.", category="tea")
    assert (again.outcome, again.path) == ("created", "agent-memory/tea-2.md")
    with pytest.raises(CategoryRefused, match=r"agent-memory/tea-2\.md"):
        rename_category(vault, "agent-memory/tea.md", "Teas")
    assert "category: Drinks" in on_disk("agent-memory/tea.md")


@pytest.mark.parametrize(
    ("path", "label", "failure"),
    [
        ("agent-memory/tea.md", "Coffees", CategoryRefused),
        ("agent-memory/tea.md", "a/b", CategoryRefused),
        ("agent-memory/tea.md", " ", CategoryRefused),
        ("agent-memory/tea.md", "ghp_" + "a1B2" * 9, SecretRefused),
        ("agent-memory/rules.md", "Drinks", InvalidArgument),
        ("Note.md", "Drinks", NoteNotFound),
    ],
)
def test_a_label_that_cannot_be_is_refused(opened, on_disk, path, label, failure):
    files = {
        **FILES,
        "agent-memory/coffee.md": "---\ncategory: Coffee\nmuted: true\n---\n- Black.\n",
        "agent-memory/rules.md": "---\nkind: rules\n---\n- must: drink\n",
        "projects/acme/agent-memory/tea.md": "---\ncategory: Drinks\n---\n- No.\n",
    }
    vault = opened(files, caller=OWNER)
    with pytest.raises(failure):
        rename_category(vault, path, label)
    assert {path: on_disk(path) for path in files} == files


def test_a_category_is_found_in_its_own_memory(opened):
    path = "projects/acme/agent-memory/tea.md"
    vault = opened({**FILES, path: "---\ncategory: Tea\n---\n- No.\n"}, caller=OWNER)
    assert category_note(vault, "TEA") == "agent-memory/tea.md"
    assert category_note(vault, "tea", "acme") == path
    with pytest.raises(NameUnknown, match="Tea"):
        category_note(vault, "coffee")


def test_the_command_renames(opened, on_disk, vault_dir, capsys):
    opened(FILES).close()
    assert cli.run(["rename-category", "teas", "Drinks", "--vault", str(vault_dir)]) == 0
    assert capsys.readouterr().out == "Renamed: Drinks (agent-memory/tea.md)\n"
    assert cli.run(["rename-category", "teas", "x", "--vault", str(vault_dir), "--json"]) == 3
    assert "name_unknown" in capsys.readouterr().out
