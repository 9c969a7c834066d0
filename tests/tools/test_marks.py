"""The owner's marks: what pins a note and in which order, and that no agent sets a mark."""

import math

import pytest
from zibaldone.indexer.view import Scope
from zibaldone.tools.lifecycle import forget, update_memory
from zibaldone.tools.marks import pinned, place_of
from zibaldone.tools.notes import create_note, delete_note, edit_note
from zibaldone.tools.refusals import OwnerOnly
from zibaldone.tools.remember import remember_about_project, remember_about_user
from zibaldone.tools.vault import OWNER

PREFERENCES = "---\nid: aaaaaaaaaaaa\n---\n# Preferences\n\n- Likes tea. ^aaaaaa\n"
SET = "---\nkind: context-set\n---\n# Morning\n\n- [[preferences]] ^bbbbbb\n"
NOTES = {
    "agent-memory/preferences.md": PREFERENCES,
    "agent-memory/morning.md": SET,
    "projects/acme/Plan.md": "# Plan\n\nPinned. #always-load\n",
    "projects/acme/Set.md": "---\nkind: context-set\n---\n[[Plan]]\n",
}


@pytest.mark.parametrize(
    ("tags", "place"),
    [
        ([], None),
        (["always-loaded", "never/always-load"], None),
        (["Always-Load"], math.inf),
        (["always-load/x"], math.inf),
        (["#always-load/7", "always-load"], 7),
        (["always-load/10", "always-load/2"], 2),
        (["always-load/" + "9" * 5000, "always-load/2"], 2),
        (["always-load/" + "9" * 5000], math.inf),
    ],
)
def test_what_pins_and_at_which_place(tags, place):
    assert place_of(tags) == place


def test_pins_have_an_order_that_their_owner_decides(opened):
    files = {f"{name}.md": f"---\ntags: [{tag}]\n---\nText.\n" for name, tag in [
        ("A", "always-load"), ("B", "always-load/10"), ("C", "always-load/2"), ("D", "other"),
        ("E", "always-load"), ("F", "always-load/2"),
    ]}  # fmt: skip
    files["agent-memory/p.md"] = "---\nkind: progress\n---\n- [ ] go #always-load\n"
    vault = opened(files)
    rows = vault.index.ask(lambda: vault.index.rows(Scope()))
    assert [row.title for row in pinned(rows)] == ["C", "F", "B", "A", "E"]


@pytest.mark.parametrize(
    "act",
    [
        lambda vault: remember_about_user(vault, "Likes jam.", tags=["always-load"]),
        lambda vault: remember_about_user(vault, "Likes jam. #Always-Load/1"),
        lambda vault: remember_about_project(vault, "acme", "Is big.", tags=["#always-load/3"]),
        lambda vault: create_note(vault, "acme", "New", "Text.", tags=["always-load"]),
        lambda vault: create_note(vault, "acme", "New", "Text. #always-load"),
        lambda vault: edit_note(vault, "preferences", "append", "- New. #always-load"),
        lambda vault: edit_note(vault, "Plan", "findReplace", "", find="#always-load"),
        lambda vault: edit_note(
            vault, "Plan", "findReplace", "#always-load/1", find="#always-load"
        ),
        lambda vault: update_memory(vault, "aaaaaa", "Likes tea. #always-load"),
        lambda vault: edit_note(vault, "morning", "append", "- [[Plan]]"),
        lambda vault: edit_note(vault, "projects/acme/Set.md", "append", "[[preferences]]"),
        lambda vault: update_memory(vault, "bbbbbb", "[[Plan]]"),
        lambda vault: forget(vault, "bbbbbb"),
        lambda vault: delete_note(vault, "morning"),
        lambda vault: delete_note(vault, "projects/acme/Set.md"),
        lambda vault: delete_note(vault, "projects/acme/Plan.md"),
    ],
)
def test_no_agent_sets_or_takes_away_a_mark(opened, vault_dir, act):
    vault = opened(NOTES)
    with pytest.raises(OwnerOnly) as refused:
        act(vault)
    assert refused.value.next_step
    for path, text in NOTES.items():
        assert (vault_dir / path).read_text() == text
    assert not (vault_dir / "projects/acme/New.md").exists()


def test_frontmatter_in_the_text_of_an_agent_is_no_mark(opened):
    vault = opened({"Plain.md": "Text.\n", "agent-memory/preferences.md": PREFERENCES})
    block = "---\nkind: context-set\nmuted: true\ntags: [always-load]\n---\n"
    for ref, mode in [("Plain", "prepend"), ("Plain", "replace"), ("preferences", "prepend")]:
        try:
            edit_note(vault, ref, mode, block)
        except OwnerOnly:
            continue
        rows = vault.index.ask(lambda: vault.index.rows(Scope()))
        assert not any(row.kind or row.muted for row in rows)
        assert not pinned(rows)


def test_an_agent_edits_around_a_pin_and_its_owner_as_he_likes(opened, on_disk):
    vault = opened(NOTES)
    edit_note(vault, "Plan", "append", "More.")
    owner = vault.with_caller(OWNER)
    edit_note(owner, "morning", "append", "- [[Plan]]")
    remember_about_user(owner, "Likes jam.", tags=["always-load"])
    assert on_disk("projects/acme/Plan.md").endswith("#always-load\nMore.\n")
    assert "- [[Plan]]" in on_disk("agent-memory/morning.md")
