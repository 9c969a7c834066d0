"""Whose words a passage is and since when: as the journal tells, for documents too."""

import os
import re
import shutil

import pytest
from zibaldone.tools.history import restore
from zibaldone.tools.lifecycle import update_memory
from zibaldone.tools.notes import create_note, delete_note, edit_note
from zibaldone.tools.purge import redact
from zibaldone.tools.recall import recall
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.search import search
from zibaldone.tools.start.session import start_session
from zibaldone.tools.vault import Vault

DOC = "projects/boat/Harbour.md"
HERS = "# Harbour\n\n## Log\n\nThe harbour log is kept by hand in the blue book.\n"
ITS = "## Tide\n\nThe harbour gate opens two hours before the high tide.\n"


def origins(vault, query="harbour"):
    """Where it stands -> whose words it is, the same in search and recall."""
    found = search(vault, query).results
    recalled = recall(vault, query)
    assert {one.origin for one in recalled.sources} <= {one.origin for one in found}
    return {one.heading: one.origin for one in found}


@pytest.fixture
def written(fill, planner):
    """A document of the owner's to which an agent has added a section."""
    fill({DOC: HERS})
    edit_note(planner, DOC, "append", f"\n{ITS}")
    return planner


def test_law_7_a_note_that_an_agent_made_is_the_agents(planner, vault_dir):
    path = create_note(planner, "boat", "Harbour", HERS).path
    assert set(origins(planner).values()) == {"agent"}
    assert f"{path} · Harbour · " in recall(planner, "harbour").context
    assert " · agent\n" in recall(planner, "harbour").context.splitlines(keepends=True)[1]
    file = vault_dir / path
    file.write_text(file.read_text() + "\n## Hers\n\nThe harbour master has the only key.\n")
    assert origins(planner) == {"Harbour": "agent", "Log": "agent", "Hers": "owner"}


def test_law_7_a_section_that_an_agent_wrote_in_a_document_is_the_agents(written):
    assert origins(written) == {"Harbour": "owner", "Log": "owner", "Tide": "agent"}
    answer = recall(written, "harbour")
    assert [one.origin for one in answer.sources] == ["owner", "agent"]
    assert answer.context.splitlines()[1].endswith(" · agent"), "the note is not all the owner's"


def test_law_7_a_change_by_an_agent_makes_a_section_the_agents(written, vault_dir):
    edit_note(written, DOC, "findReplace", "not kept", find="kept")
    assert origins(written)["Log"] == "agent"
    file = vault_dir / DOC
    file.write_text(file.read_text().replace("is not kept by hand", "is still kept by her hand"))
    assert origins(written)["Log"] == "owner"


def test_law_7_holds_after_the_cache_is_deleted_and_on_a_new_start(written, vault_dir):
    before = origins(written)
    shutil.rmtree(os.environ["ZIBALDONE_CACHE_DIR"])
    with Vault.open(vault_dir, caller=written.caller) as fresh:
        assert origins(fresh) == before == {"Harbour": "owner", "Log": "owner", "Tide": "agent"}


def test_law_7_a_note_that_the_owner_brings_back_is_still_the_agents(owner, planner):
    made = create_note(planner, "boat", "Harbour", HERS)
    delete_note(owner, made.path)
    restore(owner, made.note_id)
    assert set(origins(planner).values()) == {"agent"}


@pytest.mark.parametrize("id_line", ["", "id: abcdefghjkmn\n"])
def test_law_7_a_note_whose_owner_changed_its_id_is_still_the_agents(planner, vault_dir, id_line):
    made = create_note(planner, "boat", "Harbour", HERS)
    file = vault_dir / made.path
    file.write_text(file.read_text().replace(f"id: {made.note_id}\n", id_line) + ITS)
    assert origins(planner) == {"Harbour": "agent", "Log": "agent", "Tide": "owner"}


def test_law_7_a_redaction_makes_no_words_of_an_agent_the_owners(owner, written):
    edit_note(written, DOC, "append", "\nThe harbour gate code is quincunx.\n", section="Tide")
    edit_note(written, DOC, "findReplace", find="\nThe harbour gate code is quincunx.\n")
    ref = search(written, "harbour").results[0].note_id
    redact(owner, DOC, owner.history().told_of(ref)[-2].hash)
    assert any(record.redacted for record in owner.history().told_of(ref))
    assert origins(written)["Tide"] == "agent"


def test_law_7_a_session_starts_with_a_note_of_an_agents_as_the_agents(planner, vault_dir):
    file = vault_dir / create_note(planner, "boat", "Harbour", HERS, tags=["sea"]).path
    file.write_text(file.read_text().replace("sea", "always-load"))
    answer = start_session(planner, "boat")
    (pinned,) = (one for one in answer.parts if one.title == "Harbour")
    assert pinned.origin == "agent"
    assert re.search(r"· Harbour · [0-9-]{10} · agent\n", answer.context)


def test_prose_of_a_memory_note_has_an_origin_too(opened):
    vault = opened({"agent-memory/a.md": "# A\n\nQuince words by hand.\n\n- quince jelly ^q1\n"})
    edit_note(vault, "agent-memory/a.md", "findReplace", "Plum", find="Quince")
    (found,) = (one for one in search(vault, "plum").results if not one.observation_id)
    assert found.origin == "agent"
    assert "\nPlum words by hand. · agent\n" in recall(vault, "plum words").context


def test_an_observation_has_the_date_of_its_words(planner, vault_dir):
    first = remember_about_user(planner, "Rows on the harbour at dawn.", category="habits")
    file = vault_dir / first.path
    history = planner.history()
    time = history.observation(first.observation_id).time[:19] + "Z"
    file.write_text(file.read_text() + "- Sails in the harbour in May.\n")
    os.utime(file, (4_000_000_000, 4_000_000_000))
    dates = {one.snippet[:4]: one.modified_at for one in search(planner, "harbour").results}
    assert dates == {"Rows": time, "Sail": "2096-10-02T07:06:40Z"}
    answer = recall(planner, "harbour")
    assert {one.date for one in answer.sources} == {time, "2096-10-02T07:06:40Z"}
    lines = answer.context.splitlines()
    assert lines[1].endswith(" · habits · 2096-10-02")
    assert lines[2] == (
        f"- Rows on the harbour at dawn. ^{first.observation_id} · agent · {time[:10]}"
    )
    assert lines[3] == "- Sails in the harbour in May. · owner"
    update_memory(planner, first.observation_id, "Rows on the harbour at noon.")
    last = planner.history().observation(first.observation_id)
    (hit,) = (one for one in search(planner, "rows").results)
    assert (hit.version, hit.modified_at) == (2, f"{last.time[:19]}Z")


def test_what_the_journal_hears_of_late_is_as_old_as_its_note(opened, vault_dir):
    vault = opened({"agent-memory/a.md": "---\nid: a23456789012\n---\n- quince jelly ^q1x2y3\n"})
    os.utime(vault_dir / "agent-memory/a.md", (1_600_000_000, 1_600_000_000))
    remember_about_user(vault, "Walks a lot.", category="A")
    os.utime(vault_dir / "agent-memory/a.md", (1_600_000_000, 1_600_000_000))
    (hit,) = search(vault, "quince").results
    assert hit.modified_at == "2020-09-13T12:26:40Z"
