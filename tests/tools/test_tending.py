"""Muting memory, and giving an id to a line that was written by hand."""

import pytest
from zibaldone.tools.refusals import OwnerOnly
from zibaldone.tools.tending import mute, name_line
from zibaldone.tools.vault import OWNER
from zibaldone.vault.errors import NoteChanged, NoteNotFound, NoteUnusable

TEA = "---\n# mine\nid: aaaaaaaaaaa1\ncategory: Tea\n---\r\n- Green.\r\n- Mint. ^aaaaa1\r\n"
FILES = {"agent-memory/tea.md": TEA, "Note.md": "x\n"}


def test_an_agent_may_do_neither(opened):
    vault = opened(FILES)
    with pytest.raises(OwnerOnly):
        mute(vault, "tea", muted=True)
    with pytest.raises(OwnerOnly):
        name_line(vault, "tea", "Green.", "x")


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
