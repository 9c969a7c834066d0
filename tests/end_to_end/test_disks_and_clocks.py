"""Disks that are full or may not be written, clocks that jump back, lines that a crash has torn.

Whatever the disk refuses, the tools say so and leave everything as it was; reading goes on.
"""

import contextlib
import os
import subprocess
import time

import pytest
from zibaldone.tools.history import history, restore
from zibaldone.tools.lifecycle import forget, update_memory
from zibaldone.tools.notes import create_note, delete_note, edit_note
from zibaldone.tools.recall import recall
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.revert import revert
from zibaldone.tools.search import search
from zibaldone.tools.vault import Caller, Vault
from zibaldone.vault.errors import StorageFailed, StorageFailure
from zibaldone.vault.replay import replay

AGENT = Caller("writer", "i1", "s1", "1.0", "agent")
YEAR = 365 * 24 * 3600
PAGE = 4096


@contextlib.contextmanager
def mounted(folder, size):
    """A small file system at a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no file system can be mounted here: {error}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder):
    """Leave no space on a disk; return the file that takes it."""
    filler = folder / "filler"
    with contextlib.suppress(OSError), filler.open("wb") as file:
        while True:
            file.write(b"z" * PAGE)
            file.flush()
    return filler


def notes(folder):
    found = (path for path in folder.rglob("*.md") if ".zibaldone" not in path.parts)
    return {path.name: path.read_bytes() for path in found}


def attempts(vault, made):
    """Every kind of write."""
    name = made.observation_id
    return {
        "append": lambda: remember_about_user(vault, "Reads at night.", category="taste"),
        "create": lambda: remember_about_user(vault, "Sails on Sundays.", category="sport"),
        "update": lambda: update_memory(vault, name, "Prefers light themes."),
        "forget": lambda: forget(vault, name),
        "edit": lambda: edit_note(vault, made.path, "append", "- A line.\n"),
        "new note": lambda: create_note(vault, "boat", "Log", "first\n"),
        "delete": lambda: delete_note(vault, made.path),
    }


def refused(vault, made, folder):
    """Everything is refused, nothing is changed, and what is there is found all the same."""
    before = notes(folder)
    for name, attempt in attempts(vault, made).items():
        with pytest.raises(StorageFailure):
            attempt()
        assert notes(folder) == before, name
        assert vault.store.leftovers() == ()
    assert search(vault, "dark themes").results[0].observation_id == made.observation_id
    assert "dark themes" in recall(vault, "dark themes").context


def goes_on(vault, made, folder):
    """Once the disk is well again, all of it works, and the history is whole."""
    found = attempts(vault, made)
    for name in ("append", "create", "update", "edit", "new note", "forget", "delete"):
        found[name]()
    journal = vault.store.ledger.journal
    assert journal.verify() == []
    found = {}
    for note in {record.note for record in journal.records()}:
        records = list(journal.records(note))
        found[note] = records[-1].path.rpartition("/")[2], replay(records)
    assert dict(state for state in found.values() if state[1] is not None) == notes(folder)


@pytest.fixture
def opened(vault_dir):
    """Open the vault as an agent, with one fact in it."""
    with contextlib.ExitStack() as stack:

        def open_it():
            (vault_dir / "zibaldone.toml").write_text('write_gate = "off"\n')
            vault = stack.enter_context(Vault.open(vault_dir, caller=AGENT))
            return vault, remember_about_user(vault, "Prefers dark themes.", category="taste")

        yield open_it


def test_a_full_disk_under_the_journal_keeps_the_notes_as_they_are(
    opened, vault_dir, tmp_path, monkeypatch
):
    state = tmp_path / "state"
    monkeypatch.setenv("ZIBALDONE_STATE_DIR", str(state))
    with mounted(state, "256k"):
        vault, made = opened()
        filler = fill(state)
        # What is left of the last page takes a record or two.
        for number in range(20):
            with contextlib.suppress(StorageFailed):
                made = update_memory(vault, made.observation_id, f"Prefers {number} dark themes.")
        refused(vault, made, vault_dir)
        filler.unlink()
        goes_on(vault, made, vault_dir)
        vault.close()


def test_a_full_disk_under_the_notes_is_told_in_the_journal(
    opened, vault_dir, tmp_path, monkeypatch
):
    monkeypatch.setenv("ZIBALDONE_STATE_DIR", str(tmp_path / "state"))
    with mounted(vault_dir, "256k"):
        vault, made = opened()
        filler = fill(vault_dir)
        before = notes(vault_dir)
        for name, attempt in attempts(vault, made).items():
            if name != "delete":  # To leave takes no space.
                with pytest.raises(StorageFailure):
                    attempt()
                assert notes(vault_dir) == before, name
                assert vault.store.leftovers() == ()
        told = [record.op for record in vault.store.ledger.journal.records()]
        assert told.count("undone") == len(told) // 2
        assert history(vault_as_owner(vault), made.observation_id).revisions[-1].op == "undone"
        filler.unlink()
        goes_on(vault, made, vault_dir)
        vault.close()


def vault_as_owner(vault):
    return vault.with_caller(Caller("owner", origin="owner"))


@pytest.mark.parametrize("what", ["journal", "device", "month"])
def test_a_journal_that_cannot_be_written_keeps_the_notes_as_they_are(opened, vault_dir, what):
    vault, made = opened()
    (month,) = (vault_dir / ".zibaldone" / "journal").rglob("*.jsonl")
    place = {"journal": month.parents[1], "device": month.parent, "month": month}[what]
    aside = vault_dir.parent / "aside"
    place.rename(aside)
    if what == "month":
        place.mkdir()
    else:
        place.write_bytes(b"no folder")
    refused(vault, made, vault_dir)
    place.rmdir() if what == "month" else place.unlink()
    aside.rename(place)
    goes_on(vault, made, vault_dir)


def test_a_disk_that_may_only_be_read(opened, vault_dir):
    with mounted(vault_dir, "1m"):
        vault, made = opened()
        remount = ["mount", "-o", "remount,ro", str(vault_dir)]
        subprocess.run(remount, check=True)
        refused(vault, made, vault_dir)
        subprocess.run([*remount[:2], "remount,rw", str(vault_dir)], check=True)
        goes_on(vault, made, vault_dir)
        vault.close()


def test_a_clock_that_jumps_back_by_a_year_turns_no_history_around(opened, vault_dir):
    vault, made = opened()
    owner, journal = vault_as_owner(vault), vault.store.ledger.journal
    update_memory(vault, made.observation_id, "Prefers light themes.")
    journal._clock = lambda: time.time() - YEAR
    update_memory(vault, made.observation_id, "Prefers sepia themes.")
    note = vault_dir / made.path
    note.write_text(note.read_text().replace("sepia", "green"))
    os.utime(note, (time.time() - YEAR,) * 2)
    assert search(vault, "green themes").results[0].version == 4
    forget(vault, made.observation_id)
    assert restore(owner, made.observation_id).version == 6
    lines = history(owner, made.observation_id).revisions
    assert [line.version for line in lines] == [1, 2, 3, 4, 5, 6]
    assert [line.time for line in lines] == sorted(line.time for line in lines)
    assert journal.verify() == []
    # The flood of a client is found by its time, though its clock was wrong.
    remember_about_user(vault, "Nonsense everywhere.", category="taste")
    assert len(revert(owner, "writer", lines[-1].time).reverted) == 1
    assert "green themes" in note.read_text()


@pytest.mark.parametrize(
    "torn",
    [b'{"after":"ab', b"\0" * 512, b'{"v":1}\0\0\n', b"{"],
    ids=["half", "zeros", "end", "one"],
)
def test_a_line_that_a_crash_has_torn_is_cut_off_and_told(vault_dir, torn, caplog):
    with Vault.open(vault_dir, caller=AGENT) as vault:
        made = remember_about_user(vault, "Prefers dark themes.", category="taste")
    (month,) = (vault_dir / ".zibaldone" / "journal").rglob("*.jsonl")
    before = month.read_bytes()
    month.write_bytes(before + torn)
    with Vault.open(vault_dir, caller=AGENT) as vault:
        assert search(vault, "dark themes").results[0].version == 1
        assert vault.store.ledger.journal.verify() == []
        assert update_memory(vault, made.observation_id, "Prefers light themes.").version == 2
        assert vault.store.ledger.journal.verify() == []
    assert "cut a torn line off" in caplog.text
    assert month.read_bytes().startswith(before + b'{"after"')
