"""What editors, synchronisers and file systems do to a watched vault, and what the index makes
of it. Ids are those of known failures of tools of this kind.

Full looks are put off in these tests unless one is about them: they would hide a lost change.
"""

import errno
import sqlite3
import sys
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from watchdog.events import (
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
)
from zibaldone.indexer import keeper as keeping
from zibaldone.indexer.index import BULK
from zibaldone.indexer.watcher import Watcher, _Handler
from zibaldone.tools.notes import get_note, list_notes
from zibaldone.tools.search import search
from zibaldone.tools.vault import Vault
from zibaldone.vault.errors import VaultEmptied

SECONDS = 10
NEVER = 600.0


def until(check, seconds=SECONDS):
    """Wait until `check` holds; say whether it came to hold."""
    end = time.monotonic() + seconds
    while not check():
        if time.monotonic() >= end:
            return False
        time.sleep(0.02)
    return True


def found(vault, query):
    """The paths of the notes that answer a query, in order."""
    return sorted({hit.path for hit in search(vault, query).results})


def indexed(vault):
    """The paths that the index holds, without asking a question, which would catch up."""
    return {path for path in set(vault.index._view.numbers) if vault.index.row(path)}


def token(vault, path):
    """The hash of what is indexed of a path, without asking a question."""
    row = vault.index.row(path)
    return row.token if row else None


def watcher(vault):
    return vault._keeper._watcher


def deliver(vault, *events):
    """Hand events to the vault's handler, as an observer would."""
    handler = _Handler(vault.layout, vault._keeper._hint)
    for event in events:
        handler.dispatch(event)


def write(root, files):
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")


@pytest.fixture(autouse=True)
def no_full_looks(monkeypatch):
    monkeypatch.setattr(keeping, "FULL_LOOK", NEVER)


@pytest.fixture
def open_watched(vault_dir):
    """Fill the vault and open it watched; ready when it is returned."""
    with ExitStack() as stack:

        def open_vault(files, root=vault_dir):
            write(root, files)
            vault = stack.enter_context(Vault.open(root, watch=True))
            assert vault.index.ready.wait(SECONDS)
            return vault

        yield open_vault


@pytest.fixture
def silent(monkeypatch):
    """An observer that runs and never tells of anything."""
    monkeypatch.setattr(Watcher, "start", lambda self: None)
    monkeypatch.setattr(Watcher, "alive", lambda self: True)


# What editors do when they save


def test_fw_01_a_save_that_swaps_the_file_keeps_the_note(open_watched, vault_dir):
    vault = open_watched({"Edited.md": "before\n", "Other.md": "other\n"})
    note, backup = vault_dir / "Edited.md", vault_dir / "Edited.md~"
    note.rename(backup)
    note.write_text("after\n")
    backup.unlink()
    assert until(lambda: found(vault, "after") == ["Edited.md"])
    assert found(vault, "before") == []
    note.unlink()
    assert until(lambda: indexed(vault) == {"Other.md"})
    assert found(vault, "after") == []


def test_fw_01_a_delete_event_alone_is_no_proof_that_a_note_is_gone(
    silent, open_watched, vault_dir
):
    vault = open_watched({"Edited.md": "before\n", "Other.md": "other\n"})
    note = vault_dir / "Edited.md"
    note.write_text("after\n")
    deliver(vault, FileDeletedEvent(str(note)))
    assert until(lambda: found(vault, "after") == ["Edited.md"])
    assert found(vault, "before") == []
    note.unlink()
    deliver(vault, FileDeletedEvent(str(note)))
    assert until(lambda: indexed(vault) == {"Other.md"})


def test_fw_03_backups_swap_files_and_probes_are_no_notes(open_watched, vault_dir, caplog):
    vault = open_watched({"Readme.md": "v1\n", "Other.md": "see [[Readme]]\n"})
    before = get_note(vault, "Readme")
    (vault_dir / ".Readme.md.swp").write_bytes(b"b0VIM swapfile")
    (vault_dir / "4913").write_text("probe")
    (vault_dir / "4913").unlink()
    (vault_dir / "Readme.md").rename(vault_dir / "Readme.md~")
    time.sleep(0.1)
    (vault_dir / "Readme.md").write_text("v2 marmalade\n")
    assert until(lambda: found(vault, "marmalade") == ["Readme.md"])
    assert indexed(vault) == {"Readme.md", "Other.md"}
    (vault_dir / "Readme.md~").unlink()
    (vault_dir / ".Readme.md.swp").unlink()
    write(vault_dir, {"Last.md": "last\n"})
    assert until(lambda: found(vault, "last") == ["Last.md"])
    after = get_note(vault, "Readme")
    assert after.note_id == before.note_id
    assert [link.path for link in after.backlinks] == ["Other.md"]
    assert indexed(vault) == {"Readme.md", "Other.md", "Last.md"}
    assert [record.getMessage() for record in caplog.records] == []


def test_fw_05_a_note_that_is_being_edited_is_never_written(open_watched, vault_dir):
    vault = open_watched({"Open.md": "---\nupdated: 2030-01-01\n---\ntyping\n"})
    note = vault_dir / "Open.md"
    for turn in range(10):
        text = f"---\nupdated: 2030-01-01\n---\ntyping word{turn}\n"
        note.write_text(text)
        saved = note.stat()
        time.sleep(0.1)
        now = note.stat()
        assert (now.st_mtime_ns, now.st_ino) == (saved.st_mtime_ns, saved.st_ino)
    assert until(lambda: found(vault, "word9") == ["Open.md"])
    assert note.read_text() == text
    assert note.stat().st_mtime_ns == saved.st_mtime_ns
    assert [entry.name for entry in vault_dir.iterdir()] == ["Open.md"]


def test_fw_06_a_change_of_the_properties_alone_is_a_change(open_watched, vault_dir):
    vault = open_watched({"Props.md": "---\ntags: [one]\n---\nsame body\n"})
    assert found(vault, "twofold") == []
    write(vault_dir, {"Props.md": "---\ntags: [one, twofold]\n---\nsame body\n"})
    assert until(lambda: found(vault, "twofold") == ["Props.md"])
    assert [note.tags for note in list_notes(vault).notes] == [("one", "twofold")]
    assert [note.path for note in list_notes(vault, tag="twofold").notes] == ["Props.md"]


def test_fw_10_a_burst_is_followed_while_it_lasts_and_to_its_end(open_watched, vault_dir):
    vault = open_watched({"Busy.md": "zero\n"})
    tokens = {token(vault, "Busy.md")}
    start = time.monotonic()
    turn = 0
    while time.monotonic() - start < 3:
        turn += 1
        write(vault_dir, {"Busy.md": f"tick{turn}\n"})
        time.sleep(0.05)
        tokens.add(token(vault, "Busy.md"))
    assert len(tokens) > 1, "the index stood still for as long as someone was typing"
    last = get_note(vault, "Busy").version_token
    assert until(lambda: token(vault, "Busy.md") == last)
    assert [hit.snippet for hit in search(vault, f"tick{turn}").results] == [f"tick{turn}"]
    assert found(vault, "zero") == []


# What file systems and observers do


def test_fw_08_with_the_watcher_off_each_search_looks(open_watched, vault_dir):
    write(vault_dir, {"zibaldone.toml": 'watch = "off"\n'})
    vault = open_watched({"Share.md": "one\n"})
    assert watcher(vault)._observer is None
    write(vault_dir, {"Share.md": "another\n"})
    assert found(vault, "another") == ["Share.md"]
    assert found(vault, "one") == []


def test_fw_08_polling_finds_by_itself(open_watched, vault_dir):
    write(vault_dir, {"zibaldone.toml": 'watch = "polling"\npoll_seconds = 0.3\n'})
    vault = open_watched({"Share.md": "one\n"})
    before = token(vault, "Share.md")
    write(vault_dir, {"Share.md": "another\n"})
    assert until(lambda: token(vault, "Share.md") != before)
    assert found(vault, "another") == ["Share.md"]


def test_fw_08_an_observer_that_never_fires_is_made_up_for(
    silent, open_watched, vault_dir, monkeypatch
):
    monkeypatch.setattr(keeping, "FULL_LOOK", 0.3)
    vault = open_watched({"Share.md": "one\n"})
    write(vault_dir, {"Share.md": "another\n"})
    assert until(lambda: found(vault, "another") == ["Share.md"])


def test_fw_08_full_looks_go_on_while_another_note_is_busy(
    silent, open_watched, vault_dir, monkeypatch
):
    monkeypatch.setattr(keeping, "FULL_LOOK", 0.5)
    vault = open_watched({"Share.md": "one\n", "Busy.md": "busy\n"})
    write(vault_dir, {"Share.md": "another\n"})
    before = token(vault, "Share.md")

    def changed_meanwhile():
        deliver(vault, FileModifiedEvent(str(vault_dir / "Busy.md")))
        return token(vault, "Share.md") != before

    assert until(changed_meanwhile), "events of one note kept the others from being looked at"


def test_fw_08_without_watches_to_be_had_the_index_is_kept_by_looking(
    open_watched, vault_dir, monkeypatch
):
    def refuse(self):
        raise OSError(errno.ENOSPC, "inotify watch limit reached")

    monkeypatch.setattr(Watcher, "start", refuse)
    vault = open_watched({"Share.md": "one\n"})
    assert until(lambda: found(vault, "one") == ["Share.md"])
    write(vault_dir, {"Share.md": "another\n"})
    assert until(lambda: found(vault, "another") == ["Share.md"])


def test_fw_11_a_dead_observer_is_started_again(open_watched, vault_dir, monkeypatch):
    vault = open_watched({f"{name}.md": "old\n" for name in "ABC"})
    observer = watcher(vault)._observer
    observer.stop()
    observer.join(SECONDS)
    assert not watcher(vault).alive()
    write(vault_dir, {f"{name}.md": "changed\n" for name in "ABC"})
    monkeypatch.setattr(keeping, "FULL_LOOK", 0.3)
    vault._keeper._wake.set()
    assert until(lambda: found(vault, "changed") == ["A.md", "B.md", "C.md"])
    assert until(watcher(vault).alive)
    assert watcher(vault)._observer is not observer
    monkeypatch.setattr(keeping, "FULL_LOOK", NEVER)
    write(vault_dir, {"A.md": "again\n"})
    assert until(lambda: found(vault, "again") == ["A.md"])


def test_fw_11_lost_events_are_made_up_for_by_a_full_look(silent, open_watched, vault_dir):
    vault = open_watched({f"{name}.md": "old\n" for name in "ABC"})
    write(vault_dir, {f"{name}.md": "changed\n" for name in "ABC"})
    vault._keeper._hint(None)
    assert until(lambda: found(vault, "changed") == ["A.md", "B.md", "C.md"])


def test_fw_13_folders_that_are_moved_in_or_made_in_one_go(open_watched, vault_dir, tmp_path):
    vault = open_watched({"First.md": "first\n"})
    write(tmp_path, {f"outside/deep/{n}.md": f"walnut {n}\n" for n in range(20)})
    (tmp_path / "outside").rename(vault_dir / "inside")
    write(vault_dir, {"x/y/z/N.md": "walnut too\n"})
    moved = {f"inside/deep/{n}.md" for n in range(20)}
    assert until(lambda: indexed(vault) == {"First.md", "x/y/z/N.md", *moved})
    assert search(vault, "walnut").total == 21
    write(vault_dir, {"inside/deep/3.md": "pecan\n"})
    assert until(lambda: found(vault, "pecan") == ["inside/deep/3.md"])


def test_a_change_of_hundreds_of_notes_at_once_comes_to_an_end(silent, open_watched, vault_dir):
    vault = open_watched({"First.md": "first\n"})
    names = [f"{n}.md" for n in range(BULK + 20)]
    write(vault_dir, dict.fromkeys(names, "walnut\n"))
    deliver(vault, *(FileCreatedEvent(str(vault_dir / name)) for name in names))
    assert until(lambda: search(vault, "walnut").total == len(names))
    assert until(lambda: search(vault, "walnut").index.fresh), "it is behind for ever"


# Names


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_fw_15_a_rename_that_changes_only_letter_case(silent, open_watched, vault_dir, order):
    vault = open_watched({"Setup Guide.md": "word: quince\n", "Other.md": "see [[Setup Guide]]\n"})
    known = get_note(vault, "Setup Guide").note_id
    old, new = vault_dir / "Setup Guide.md", vault_dir / "Setup guide.md"
    old.rename(new)
    events = (FileDeletedEvent(str(old)), FileCreatedEvent(str(new)))
    deliver(vault, *(events[at] for at in order))
    assert until(lambda: indexed(vault) == {"Setup guide.md", "Other.md"})
    assert found(vault, "quince") == ["Setup guide.md"]
    note = get_note(vault, "Setup Guide")
    assert (note.path, note.note_id) == ("Setup guide.md", known)
    assert "word: quince" in note.content
    assert [link.path for link in get_note(vault, "Other").links] == ["Setup guide.md"]
    assert [link.path for link in note.backlinks] == ["Other.md"]


def test_fw_16_a_vault_below_a_hidden_folder(open_watched, tmp_path):
    root = tmp_path / ".hidden" / "vault"
    files = {"A.md": "alpha\n", ".obsidian/app.md": "alpha\n", ".trash/Old.md": "alpha\n"}
    vault = open_watched(files, root)
    assert found(vault, "alpha") == ["A.md"]
    write(root, {".trash/Old.md": "beta\n", ".obsidian/app.md": "beta\n", "A.md": "beta\n"})
    assert until(lambda: found(vault, "beta") == ["A.md"])
    assert indexed(vault) == {"A.md"}


def test_fw_18_a_move_that_never_was_is_settled_by_the_disk(silent, open_watched, vault_dir):
    vault = open_watched({"A.md": "apple\n", "Linker.md": "see [[A]]\n"})
    linker = vault_dir / "Linker.md"
    before = (linker.read_bytes(), linker.stat().st_mtime_ns)
    (vault_dir / "A.md").unlink()
    write(vault_dir, {"Z.md": "zinc\n"})
    deliver(vault, FileMovedEvent(str(vault_dir / "A.md"), str(vault_dir / "Z.md")))
    assert until(lambda: found(vault, "zinc") == ["Z.md"])
    assert until(lambda: indexed(vault) == {"Z.md", "Linker.md"})
    assert found(vault, "apple") == []
    assert (linker.read_bytes(), linker.stat().st_mtime_ns) == before
    assert [link.missing for link in get_note(vault, "Linker").links] == ["note"]


# The thread itself


@pytest.mark.parametrize(
    "failure",
    [
        RuntimeError("set changed size during iteration"),
        OSError(errno.EIO, "input/output error"),
        sqlite3.OperationalError("database is locked"),
        sqlite3.DatabaseError("database disk image is malformed"),
    ],
    ids=lambda failure: type(failure).__name__,
)
def test_a_turn_that_fails_is_made_up_for(silent, open_watched, vault_dir, monkeypatch, failure):
    monkeypatch.setattr(keeping, "PAUSE", 0.1)
    vault = open_watched({"A.md": "apple\n"})
    looks = []
    look = vault.index.look

    def fail_once(**how):
        looks.append(1)
        if len(looks) == 1:
            raise failure
        look(**how)

    monkeypatch.setattr(vault.index, "look", fail_once)
    write(vault_dir, {"A.md": "pear\n"})
    vault._keeper._hint(None)
    assert until(lambda: found(vault, "pear") == ["A.md"])
    assert until(lambda: len(looks) > 1)
    assert vault._keeper._thread.is_alive()


def test_an_index_that_could_not_be_built_does_not_say_that_it_is_fresh(
    silent, vault_dir, monkeypatch
):
    def fail(self, **how):
        raise OSError(errno.EIO, "input/output error")

    monkeypatch.setattr("zibaldone.indexer.index.PATIENCE", 0.05)
    monkeypatch.setattr("zibaldone.indexer.index.Index.look", fail)
    write(vault_dir, {"A.md": "apple\n"})
    with Vault.open(vault_dir, watch=True) as vault:
        time.sleep(0.2)
        answer = search(vault, "apple")
    assert (answer.results, answer.index.fresh) == ((), False)


def emptied(vault):
    try:
        search(vault, "anything")
    except VaultEmptied:
        return True
    return False


def test_notes_that_come_back_are_found_again(silent, open_watched, vault_dir, monkeypatch):
    monkeypatch.setattr(keeping, "PAUSE", 0.1)
    vault = open_watched({"A.md": "apple\n"})
    (vault_dir / "A.md").unlink()
    vault._keeper._hint(None)
    assert until(lambda: emptied(vault))
    write(vault_dir, {"A.md": "apple\n"})
    assert until(lambda: not emptied(vault)), "a failure that has passed is still reported"
    assert found(vault, "apple") == ["A.md"]


def test_a_vault_that_was_unmounted_is_watched_again(
    open_watched, vault_dir, tmp_path, monkeypatch, caplog
):
    monkeypatch.setattr(keeping, "PAUSE", 0.05)
    monkeypatch.setattr(keeping, "FULL_LOOK", 0.3)
    vault = open_watched({"A.md": "apple\n"})
    assert until(watcher(vault).alive)
    vault_dir.rename(tmp_path / "away")
    assert until(lambda: not watcher(vault).alive())
    assert until(lambda: "There is no vault" in caplog.text)
    time.sleep(0.5)
    assert caplog.text.count("There is no vault") == 1, "one failure is told of once"
    write(vault_dir, {"A.md": "apricot\n"})
    assert until(watcher(vault).alive)
    assert until(lambda: found(vault, "apricot") == ["A.md"])
    monkeypatch.setattr(keeping, "FULL_LOOK", NEVER)
    write(vault_dir, {"A.md": "pear\n"})
    assert until(lambda: found(vault, "pear") == ["A.md"])


def inotify_descriptors():
    count = 0
    for link in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # The descriptor of this listing itself.
            count += "inotify" in str(link.readlink())
    return count


def test_close_ends_all_threads_soon(open_watched, vault_dir):
    before = set(threading.enumerate())
    vault = open_watched({"A.md": "apple\n"})
    assert set(threading.enumerate()) - before
    start = time.monotonic()
    vault.close()
    assert time.monotonic() - start < 5
    assert until(lambda: not set(threading.enumerate()) - before, 1)


@pytest.mark.skipif(sys.platform != "linux", reason="counts Linux's inotify descriptors")
def test_opening_and_closing_leaves_no_descriptors_behind(vault_dir):
    write(vault_dir, {"A.md": "apple\n"})
    before = inotify_descriptors()
    for _ in range(10):
        with Vault.open(vault_dir, watch=True) as vault:
            assert vault.index.ready.wait(SECONDS)
            assert inotify_descriptors() > before
    assert until(lambda: inotify_descriptors() == before, 2)


@pytest.mark.skipif(sys.platform != "linux", reason="counts Linux's inotify descriptors")
def test_an_observer_that_died_leaves_no_emitters_behind(open_watched):
    vault = open_watched({"A.md": "apple\n"})
    before = inotify_descriptors()
    observer = watcher(vault)._observer
    emitters = list(observer.emitters)
    observer._stopped_event.set()  # As when its loop ended by an exception.
    observer.event_queue.put(observer.stop_event)
    assert until(lambda: not observer.is_alive())
    assert all(emitter.is_alive() for emitter in emitters)
    vault._keeper._wake.set()
    assert until(watcher(vault).alive)
    assert until(lambda: not any(emitter.is_alive() for emitter in emitters))
    assert until(lambda: inotify_descriptors() == before)
