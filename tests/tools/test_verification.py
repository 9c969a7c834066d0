"""The owner sees whether the history is whole, what was repaired, and what is to be finished."""

import json

import pytest
from zibaldone.lenses.doctor import examine
from zibaldone.tools.cli import run
from zibaldone.tools.refusals import OwnerOnly
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.vault import Caller, Vault
from zibaldone.tools.verification import verify
from zibaldone.vault.eraser import Eraser
from zibaldone.vault.forgetting import Doomed


@pytest.fixture
def owner(vault_dir):
    with Vault.open(vault_dir) as opened:
        yield opened


@pytest.fixture
def journal(vault_dir):
    """The one file of the journal."""
    return lambda: next(vault_dir.glob(".zibaldone/journal/*/*.jsonl"))


def kinds(vault):
    return [(each.kind, each.path, each.line) for each in examine(vault).findings]


def test_an_empty_vault_and_a_whole_history_are_well(owner, vault_dir, capsys):
    assert verify(owner).records == 0
    remember_about_user(owner, "Sails.")
    seen = verify(owner)
    assert (seen.devices, seen.records) == (1, 1)
    assert (seen.wrong, seen.recovered, seen.unfinished) == ((), (), ())
    assert kinds(owner) == []
    assert run(["journal", "--vault", str(vault_dir)]) == 0
    assert capsys.readouterr().out == "1 record of 1 device, as they were written.\n"


def test_a_changed_record_is_named_by_device_file_and_line(owner, journal, vault_dir, capsys):
    for text in ("Sails.", "Rows.", "Swims."):
        remember_about_user(owner, text)
    lines = journal().read_bytes().splitlines(keepends=True)
    journal().write_bytes(lines[0] + lines[1].replace(b"Rows", b"Runs") + lines[2])
    (wrong,) = verify(owner).wrong
    device, name = journal().parent.name, journal().name
    assert (wrong.device, wrong.file, wrong.line, wrong.kind) == (device, name, 2, "digest")
    assert kinds(owner) == [("journal", f"journal/{device}/{name}", 2)]
    assert run(["journal", "--vault", str(vault_dir)]) == 7
    told = capsys.readouterr().out
    assert f"{device}/{name}:2  The words of the record are not those" in told
    assert "not all as they were written" in told


def test_a_write_that_was_cut_off_is_told_once_it_was_taken_back(owner, vault_dir, journal, capsys):
    agent = owner.with_caller(Caller("planner"))
    made = remember_about_user(agent, "Sails.")
    note = vault_dir / made.path
    before = note.read_bytes()
    remember_about_user(agent, "Rows.")
    note.write_bytes(before)  # As if the machine had stopped between journal and note.
    assert remember_about_user(agent, "Swims.").version == 1
    (recovery,) = verify(owner).recovered
    assert (recovery.path, recovery.agent) == (made.path, "planner")
    assert run(["journal", "--vault", str(vault_dir)]) == 0
    told = capsys.readouterr().out
    assert f"taken back, by planner in {made.path}: the note is as it was before" in told


def test_a_purge_that_was_cut_off_is_told(owner, vault_dir, capsys):
    made = remember_about_user(owner, "Sails.")
    name = f"{made.note_id}-{made.observation_id}"
    Eraser(owner.layout).plan(name, Doomed())
    assert verify(owner).unfinished == (name,)
    assert kinds(owner) == [("purge", None, None)]
    here = ["--vault", str(vault_dir)]
    assert run(["journal", "--json", *here]) == 7
    assert json.loads(capsys.readouterr().out)["unfinished"] == [name]
    run(["journal", *here])
    assert f"Run `zib purge {made.observation_id}`." in capsys.readouterr().out
    assert run(["purge", made.observation_id, "--yes", *here]) == 0
    assert verify(owner).unfinished == ()


def test_it_is_the_owners(owner):
    remember_about_user(owner, "Sails.")
    agent = owner.with_caller(Caller("planner"))
    with pytest.raises(OwnerOnly):
        verify(agent)
    assert kinds(agent) == []
