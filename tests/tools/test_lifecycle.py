"""The life of an observation: versions, corrections, forgetting, and what the journal keeps."""

import pytest
from zibaldone.tools.lifecycle import forget, update_memory
from zibaldone.tools.notes import delete_note, edit_note, get_note
from zibaldone.tools.recall import recall
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.search import search
from zibaldone.tools.vault import Caller, Vault
from zibaldone.vault.errors import InvalidArgument, NoteAmbiguous, NoteNotFound, NoteUnusable

PLANNER = Caller("planner", "i1", "s1", "1.0", "agent")
WRITER = Caller("writer", "i2", "s2", "2.0", "agent")


@pytest.fixture
def vault(vault_dir):
    with Vault.open(vault_dir, caller=PLANNER) as opened:
        yield opened
        assert opened.store.ledger.journal.verify() == []


def told(vault):
    return [
        (record.op, record.actor.agent, each.observation, each.version, each.parent)
        for record in vault.store.ledger.journal.records()
        for each in record.touched
    ]


def shown(vault, query):
    """What an agent is shown: (observation, version) by search and by recall, and the words."""
    hits = search(vault, query).results
    found = recall(vault, query)
    assert {each.observation_id for each in hits} == {s.observation_id for s in found.sources}
    assert {each.version for each in hits} == {each.version for each in found.sources}
    return [(each.observation_id, each.version) for each in hits], found.context


def test_the_walk_of_one_observation(vault, vault_dir):
    made = remember_about_user(vault, "Prefers dark themes.", category="preferences")
    other = vault.with_caller(WRITER)
    found, context = shown(other, "themes")
    assert found == [(made.observation_id, 1)]
    assert f"^{made.observation_id}" in context

    note = vault_dir / made.path
    note.write_text(note.read_text().replace("dark", "light"))
    found, context = shown(vault, "themes")
    assert found == [(made.observation_id, 2)]
    assert "light" in context

    updated = update_memory(other, made.observation_id, "Prefers sepia themes.", reason="asked")
    assert (updated.outcome, updated.version) == ("updated", 3)
    assert updated.receipt == f"{made.observation_id}@v3"
    assert updated.diff == "Prefers [-light-]{+sepia+} themes."
    found, context = shown(vault, "themes")
    assert found == [(made.observation_id, 3)]
    assert "sepia" in context
    assert "light" not in context
    assert get_note(vault, made.path).observations[0].version == 3

    gone = forget(vault, made.observation_id)
    assert gone.receipt == f"{made.observation_id}@v4"
    assert shown(vault, "themes")[0] == shown(other, "themes")[0] == []
    assert told(vault) == [
        ("create", "planner", made.observation_id, 1, None),
        ("external", "editor", made.observation_id, 2, 1),
        ("update", "writer", made.observation_id, 3, 2),
        ("forget", "planner", made.observation_id, 4, 3),
    ]


def test_an_update_keeps_the_fields_but_the_words_become_the_callers(vault, vault_dir):
    (vault_dir / "agent-memory").mkdir()
    line = "- Owns a boat. [type:: episodic] [origin:: owner] [expires:: 2099-01-31] ^m3k9f2\n"
    (vault_dir / "agent-memory" / "things.md").write_text(f"# Things\n\n{line}")
    update_memory(vault, "things#^m3k9f2", "Owns two boats.")
    assert (
        (vault_dir / "agent-memory" / "things.md")
        .read_text()
        .endswith("- Owns two boats. [type:: episodic] [expires:: 2099-01-31] ^m3k9f2\n")
    )
    owner = vault.with_caller(Caller("owner", origin="owner"))
    update_memory(owner, "m3k9f2", "Owns three boats.")
    assert get_note(vault, "things").observations[0].origin == "owner"


def test_equal_words_change_nothing(vault):
    made = remember_about_user(vault, "Prefers dark themes.")
    again = update_memory(vault, made.observation_id, "Prefers dark themes.")
    assert (again.outcome, again.version, again.diff) == ("unchanged", 1, None)
    assert len(told(vault)) == 1


def test_a_citation_of_an_earlier_version_is_refused(vault):
    made = remember_about_user(vault, "Prefers dark themes.")
    first = f"{made.observation_id}@v1"
    update_memory(vault, first, "Prefers light themes.")
    for cited in (first, f"{made.observation_id}@v{'9' * 5000}"):
        for use in (lambda ref: update_memory(vault, ref, "x"), lambda ref: forget(vault, ref)):
            with pytest.raises(InvalidArgument, match="which is 2"):
                use(cited)


@pytest.mark.parametrize("ref", ["zzzzzz", "", "^", "general#^zzzzzz", "nowhere#^m3k9f2"])
def test_what_is_not_there_cannot_be_changed(vault, ref):
    remember_about_user(vault, "Prefers dark themes.")
    for attempt in (lambda: update_memory(vault, ref, "x"), lambda: forget(vault, ref)):
        with pytest.raises(NoteNotFound):
            attempt()


def test_a_part_of_a_note_that_is_no_observation_is_refused(vault, vault_dir):
    made = remember_about_user(vault, "Prefers dark themes.")
    with pytest.raises(InvalidArgument, match="observation"):
        forget(vault, f"{made.path}#General")
    (vault_dir / "mine.md").write_text("- A line of mine. ^mine00\n")
    with pytest.raises(NoteNotFound):
        forget(vault, "mine#^mine00")


def test_one_id_in_two_notes_has_to_be_told_with_its_note(vault, vault_dir):
    made = remember_about_user(vault, "Prefers dark themes.", category="a")
    (vault_dir / "agent-memory" / "b.md").write_text(f"- Another. ^{made.observation_id}\n")
    with pytest.raises(NoteAmbiguous):
        forget(vault, made.observation_id)
    forget(vault, f"a#^{made.observation_id}")
    assert "Another" in (vault_dir / "agent-memory" / "b.md").read_text()


def test_edits_and_deletions_name_who_made_them(vault):
    made = remember_about_user(vault, "Prefers dark themes.")
    other = vault.with_caller(WRITER)
    edit_note(other, made.path, "findReplace", "light", find="dark")
    delete_note(other, made.path)
    assert told(vault)[1:] == [
        ("edit", "writer", made.observation_id, 2, 1),
        ("delete", "writer", made.observation_id, 3, 2),
    ]


def test_a_journal_that_cannot_be_written_does_not_keep_anyone_from_reading(vault, vault_dir):
    made = remember_about_user(vault, "Prefers dark themes.")
    journal = vault_dir / ".zibaldone" / "journal"
    journal.rename(vault_dir / ".zibaldone" / "aside")
    journal.symlink_to(vault_dir / ".zibaldone" / "aside")
    found, _ = shown(vault, "themes")
    assert found == [(made.observation_id, 1)]
    journal.unlink()
    (vault_dir / ".zibaldone" / "aside").rename(journal)


def test_a_note_without_an_id_is_known_by_one_id_through_a_rename_and_an_update(vault, vault_dir):
    file = vault_dir / "agent-memory" / "tea.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text("# Tea\n\n- Likes green tea. ^tea123\n", "utf-8")
    known = get_note(vault, "agent-memory/tea.md").note_id
    file.rename(file.with_name("drinks.md"))
    updated = update_memory(vault, "tea123", "Likes black tea.")
    assert updated.note_id == known == get_note(vault, "agent-memory/drinks.md").note_id
    assert update_memory(vault, "tea123", "Likes white tea.").version == updated.version + 1


def test_a_note_that_would_grow_too_large_to_be_read_is_left_as_it_is(
    vault, vault_dir, monkeypatch
):
    made = remember_about_user(vault, "Likes green tea.", "tea")
    file = vault_dir / made.path
    before = file.read_bytes()
    monkeypatch.setattr("zibaldone.vault.note.MAX_BYTES", len(before) + 8)
    with pytest.raises(NoteUnusable, match=r"tea\.md cannot be used: it would be larger"):
        update_memory(vault, made.observation_id, "Likes green tea with fresh mint.")
    assert file.read_bytes() == before
    assert forget(vault, made.observation_id).outcome == "forgotten"
