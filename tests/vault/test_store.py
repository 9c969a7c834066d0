import contextlib
import errno
import os
import re
import stat
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from zibaldone.vault import store
from zibaldone.vault.errors import (
    JournalUnreadable,
    NoteChanged,
    NoteExists,
    NoteNotFound,
    NoteUnusable,
    PathRefused,
    SettingsInvalid,
    StorageFailed,
    VaultNotFound,
)
from zibaldone.vault.ids import derived_id
from zibaldone.vault.layout import Layout, open_layout
from zibaldone.vault.replay import replay
from zibaldone.vault.settings import Settings
from zibaldone.vault.source import token_of
from zibaldone.vault.store import KEY_FILE, Store, make_cache, signing_key


@pytest.fixture
def vault(vault_dir):
    return Store(open_layout(vault_dir))


@pytest.fixture
def at_step(monkeypatch):
    """Call an action once, when a write comes to a step."""

    def arrange(wanted, action):
        waiting = [action]

        def step(name):
            if name == wanted and waiting:
                waiting.pop()()

        monkeypatch.setattr(store, "_step", step)

    return arrange


JOURNAL_FILE = re.compile(
    r"(\.zibaldone/)?journal(/[a-z0-9]{12}(/\d{4}-\d\d\.jsonl)?)?|\.zibaldone"
)


def files(folder):
    """All files but the months of a journal, which have tests of their own."""
    return [path for path in everything(folder) if not (folder / path).is_dir()]


def everything(folder):
    """All files and folders but those of a journal."""
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*"))
    return sorted(path for path in found if not JOURNAL_FILE.fullmatch(path))


def append(line):
    return lambda data: (data or b"") + line


# Reading and writing


def test_reading_gives_the_bytes_and_changes_nothing(vault, vault_dir, tmp_path):
    data = b"\xef\xbb\xbf---\r\n\xff\r\n"
    (vault_dir / "a.md").write_bytes(data)
    before = [(p, p.stat().st_mtime_ns) for p in sorted(tmp_path.rglob("*"))]
    assert vault.read("a.md") == data
    assert [(p, p.stat().st_mtime_ns) for p in sorted(tmp_path.rglob("*"))] == before


@pytest.mark.parametrize("path", ["gone.md", "gone/a.md", "a.md/b.md", "x" * 300 + ".md"])
def test_reading_what_is_not_there(vault, vault_dir, path):
    (vault_dir / "a.md").touch()
    with pytest.raises(NoteNotFound):
        vault.read(path)


def test_reading_a_pipe_or_a_folder_does_not_wait(vault, vault_dir):
    os.mkfifo(vault_dir / "pipe.md")
    (vault_dir / "folder.md").mkdir()
    for path in ("pipe.md", "folder.md"):
        with pytest.raises(NoteUnusable):
            vault.read(path)
        with pytest.raises(NoteUnusable):
            vault.write(path, b"x", expected=token_of(b""))


def test_a_write_makes_the_folders_it_needs_and_tells_the_token(vault, vault_dir):
    token = vault.write("projects/boat/agent-memory/decisions.md", b"one\n", expected=None)
    assert token == token_of(b"one\n")
    assert files(vault_dir) == ["projects/boat/agent-memory/decisions.md"]
    again = vault.write("projects/boat/agent-memory/decisions.md", b"two\n", expected=token)
    assert vault.read("projects/boat/agent-memory/decisions.md") == b"two\n"
    assert again == token_of(b"two\n")


def test_a_stale_token_is_a_conflict_that_tells_the_new_one(vault, vault_dir):
    token = vault.write("a.md", b"old", expected=None)
    (vault_dir / "a.md").write_bytes(b"by an editor")
    with pytest.raises(NoteChanged) as caught:
        vault.write("a.md", b"new", expected=token)
    assert caught.value.version_token == token_of(b"by an editor")
    assert vault.read("a.md") == b"by an editor"


@pytest.mark.parametrize("path", ["a.md", "folder/a.md"])
def test_a_file_that_was_removed_is_a_conflict_and_does_not_come_back(vault, vault_dir, path):
    with pytest.raises(NoteChanged) as caught:
        vault.write(path, b"new", expected=token_of(b"old"))
    assert caught.value.version_token == ""
    assert files(vault_dir) == []
    assert list(vault_dir.iterdir()) == []


@pytest.mark.parametrize(
    ("there", "new"),
    [
        ("Plan.md", "Plan.md"),
        ("Plan.md", "plan.md"),
        ("Café.md", unicodedata.normalize("NFD", "café.md")),
        (unicodedata.normalize("NFD", "Café.md"), "Café.md"),
    ],
)
def test_a_new_file_takes_no_name_that_is_taken_in_any_case_or_form(vault, vault_dir, there, new):
    (vault_dir / there).write_bytes(b"mine")
    named = Store(open_layout(vault_dir), identify=lambda path: f"id of {path}")
    with pytest.raises(NoteExists) as caught:
        named.write(new, b"theirs", expected=None)
    assert caught.value.path == there
    assert caught.value.note_id == f"id of {there}"
    if there != new:
        with pytest.raises(NoteExists):
            named.update(new, append(b"theirs"))
    assert (vault_dir / there).read_bytes() == b"mine"
    assert files(vault_dir) == [there]


def test_equal_bytes_write_nothing(vault, vault_dir):
    token = vault.write("a.md", b"same", expected=None)
    before = (vault_dir / "a.md").stat()
    assert vault.write("a.md", b"same", expected=token) == token
    assert vault.update("a.md", lambda data: data) == (token, False)
    after = (vault_dir / "a.md").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_an_update_tells_whether_it_wrote(vault):
    assert vault.update("a.md", append(b"1")) == (token_of(b"1"), True)
    assert vault.update("a.md", append(b"2")) == (token_of(b"12"), True)
    assert vault.update("b.md", lambda data: b"" if data is None else b"x")[1] is True
    assert vault.read("b.md") == b""


def test_a_change_that_raises_leaves_everything_as_it_was(vault, vault_dir):
    def fail(data):
        raise ValueError("no")

    for path in ("new/a.md", "a.md"):
        with pytest.raises(ValueError, match="no"):
            vault.update(path, fail)
    assert list(vault_dir.iterdir()) == []
    vault.update("a.md", append(b"1"))


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_the_mode_of_a_file_is_kept(vault, vault_dir, mode):
    (vault_dir / "a.md").write_bytes(b"old")
    (vault_dir / "a.md").chmod(mode)
    vault.update("a.md", append(b"+"))
    assert stat.S_IMODE((vault_dir / "a.md").stat().st_mode) == mode


def test_a_new_file_has_the_mode_that_the_umask_gives(vault, vault_dir):
    before = os.umask(0o027)
    try:
        vault.write("a.md", b"", expected=None)
    finally:
        os.umask(before)
    assert stat.S_IMODE((vault_dir / "a.md").stat().st_mode) == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
def test_the_owner_of_a_file_is_kept(vault, vault_dir):
    (vault_dir / "a.md").write_bytes(b"old")
    os.chown(vault_dir / "a.md", 12345, 23456)
    vault.update("a.md", append(b"+"))
    found = (vault_dir / "a.md").stat()
    assert (found.st_uid, found.st_gid) == (12345, 23456)


@pytest.mark.skipif(sys.platform != "linux", reason="extended attributes are asked for on Linux")
def test_the_extended_attributes_of_a_file_are_kept(vault, vault_dir):
    (vault_dir / "a.md").write_bytes(b"old")
    try:
        os.setxattr(vault_dir / "a.md", "user.xdg.tags", b"boat")
    except OSError as error:
        pytest.skip(f"no extended attributes here: {error.strerror}")
    vault.update("a.md", append(b"+"))
    assert os.getxattr(vault_dir / "a.md", "user.xdg.tags") == b"boat"


# Editors, who do not know of the lock


def test_sy_03_an_edit_by_an_editor_in_the_middle_of_an_update_is_kept(vault, vault_dir, at_step):
    vault.write("a.md", b"old\n", expected=None)
    at_step("synced", lambda: (vault_dir / "a.md").write_bytes(b"newer\n"))
    token, changed = vault.update("a.md", append(b"- appended\n"))
    assert changed
    assert vault.read("a.md") == b"newer\n- appended\n"
    assert token == token_of(b"newer\n- appended\n")
    assert files(vault_dir) == ["a.md"]


def test_an_editor_in_the_middle_of_a_write_is_a_conflict(vault, vault_dir, at_step):
    token = vault.write("a.md", b"old\n", expected=None)
    at_step("compared", lambda: (vault_dir / "a.md").write_bytes(b"newer\n"))
    with pytest.raises(NoteChanged):
        vault.write("a.md", b"mine\n", expected=token)
    at_step("synced", (vault_dir / "a.md").unlink)
    with pytest.raises(NoteChanged):
        vault.write("a.md", b"mine\n", expected=token_of(b"newer\n"))
    assert files(vault_dir) == []


def test_a_file_that_appears_in_the_middle_of_a_write_is_not_overwritten(vault, vault_dir, at_step):
    at_step("synced", lambda: (vault_dir / "a.md").write_bytes(b"by an editor\n"))
    with pytest.raises(NoteExists):
        vault.write("a.md", b"mine\n", expected=None)
    assert vault.read("a.md") == b"by an editor\n"
    (vault_dir / "a.md").unlink()
    at_step("synced", lambda: (vault_dir / "a.md").write_bytes(b"by an editor\n"))
    vault.update("a.md", append(b"- mine\n"))
    assert vault.read("a.md") == b"by an editor\n- mine\n"


def test_a_touch_or_a_save_of_the_same_text_is_no_conflict(vault, vault_dir, at_step):
    token = vault.write("a.md", b"old\n", expected=None)

    def save_again():
        (vault_dir / "b.md").write_bytes(b"old\n")
        (vault_dir / "b.md").rename(vault_dir / "a.md")

    at_step("synced", save_again)
    vault.write("a.md", b"new\n", expected=token)
    assert vault.read("a.md") == b"new\n"


def test_an_editor_that_never_rests_ends_in_a_conflict(vault, vault_dir, monkeypatch):
    vault.write("a.md", b"0", expected=None)
    numbers = iter(range(1, 1000))

    def step(name):
        if name == "synced":
            (vault_dir / "a.md").write_bytes(f"{next(numbers)}".encode())

    monkeypatch.setattr(store, "_step", step)
    with pytest.raises(NoteChanged):
        vault.update("a.md", append(b"mine"))
    assert b"mine" not in vault.read("a.md")
    assert next(numbers) < 20


# Containment


@pytest.mark.parametrize(
    "path",
    [
        "../out.md",
        "a/../../out.md",
        "..\\out.md",
        "%2e%2e/out.md",
        ".",
        "..",
        "",
        "a\0.md",
        "/tmp/out.md",
        "C:\\notes\\idea.md",
    ],
)
def test_sc_01_nothing_outside_is_read_or_written(vault, vault_dir, tmp_path, path):
    (tmp_path / "out.md").write_bytes(b"out")
    token = token_of(b"out")
    for attempt in (
        lambda: vault.read(path),
        lambda: vault.write(path, b"x", expected=None),
        lambda: vault.write(path, b"x", expected=token),
        lambda: vault.update(path, append(b"x")),
        lambda: vault.trash(path, "id"),
        lambda: vault.transaction(path).__enter__(),
    ):
        with pytest.raises(PathRefused):
            attempt()
    assert files(tmp_path) == ["out.md"]


@pytest.mark.parametrize(
    "path", ["notes\\idea.md", ".obsidian/a.md", ".a.md", "con.md", "a?/b.md "]
)
def test_mc_06_new_files_get_no_odd_or_hidden_names(vault, vault_dir, path):
    with pytest.raises(PathRefused):
        vault.write(path, b"x", expected=None)
    assert list(vault_dir.iterdir()) == []


def test_sc_05_symlinks_that_lead_out_are_neither_read_nor_written(vault, vault_dir, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_bytes(b"secret")
    (vault_dir / "a.md").symlink_to(outside / "a.md")
    (vault_dir / "dir").symlink_to(outside)
    (vault_dir / "dangling.md").symlink_to(outside / "new.md")
    for path in ("a.md", "dir/a.md", "dir/new.md", "dangling.md"):
        for attempt in (
            lambda path=path: vault.read(path),
            lambda path=path: vault.write(path, b"x", expected=None),
            lambda path=path: vault.write(path, b"x", expected=token_of(b"secret")),
            lambda path=path: vault.trash(path, "id"),
        ):
            with pytest.raises(PathRefused):
                attempt()
    assert files(outside) == ["a.md"]
    assert (outside / "a.md").read_bytes() == b"secret"


def test_sc_05_a_symlink_inside_the_vault_is_written_through_and_stays(vault, vault_dir):
    (vault_dir / "real.md").write_bytes(b"r")
    (vault_dir / "link.md").symlink_to("real.md")
    vault.update("link.md", append(b"+"))
    assert (vault_dir / "link.md").is_symlink()
    assert (vault_dir / "real.md").read_bytes() == b"r+"


def test_a_folder_exchanged_for_a_symlink_after_the_check_leads_nowhere(
    vault, vault_dir, tmp_path, monkeypatch
):
    (vault_dir / "notes").mkdir()
    (vault_dir / "notes" / "a.md").write_bytes(b"in")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.md").write_bytes(b"secret")
    checked = Store._folder_of

    def exchange_first(self, real, *, create=False):
        if not (vault_dir / "notes").is_symlink():
            (vault_dir / "notes").rename(tmp_path / "aside")
            (vault_dir / "notes").symlink_to(tmp_path / "outside")
        return checked(self, real, create=create)

    monkeypatch.setattr(Store, "_folder_of", exchange_first)
    for attempt in (
        lambda: vault.read("notes/a.md"),
        lambda: vault.write("notes/a.md", b"x", expected=token_of(b"secret")),
        lambda: vault.write("notes/b.md", b"x", expected=None),
        lambda: vault.trash("notes/a.md", "id"),
    ):
        if (vault_dir / "notes").is_symlink():
            (vault_dir / "notes").unlink()
            (tmp_path / "aside").rename(vault_dir / "notes")
        with pytest.raises((PathRefused, NoteNotFound)):
            attempt()
    assert (tmp_path / "outside" / "a.md").read_bytes() == b"secret"
    assert files(tmp_path / "outside") == ["a.md"]


def test_a_file_exchanged_for_a_symlink_after_the_check_is_not_followed(
    vault, vault_dir, tmp_path, monkeypatch
):
    (tmp_path / "secret.md").write_bytes(b"secret")
    (vault_dir / "a.md").symlink_to(tmp_path / "secret.md")
    monkeypatch.setattr(Layout, "absolute", lambda self, path: self.root / path)
    with pytest.raises((PathRefused, NoteUnusable)):
        vault.read("a.md")
    with pytest.raises(PathRefused):
        vault.write("a.md", b"x", expected=token_of(b"secret"))
    assert (tmp_path / "secret.md").read_bytes() == b"secret"


# Trash


def test_trash_keeps_the_note_under_its_id_and_path(vault, vault_dir):
    vault.write("projects/boat/Log.md", b"one", expected=None)
    assert vault.trash("projects/boat/Log.md", "abc") == ".zibaldone/trash/abc/projects/boat/Log.md"
    vault.write("projects/boat/Log.md", b"two", expected=None)
    second = vault.trash("projects/boat/Log.md", "abc")
    assert second == ".zibaldone/trash/abc/projects/boat/Log (2).md"
    assert (vault_dir / second).read_bytes() == b"two"
    assert files(vault_dir) == [second, ".zibaldone/trash/abc/projects/boat/Log.md"]
    with pytest.raises(NoteNotFound):
        vault.trash("projects/boat/Log.md", "abc")
    with pytest.raises(NoteNotFound):
        vault.trash("nowhere/Log.md", "abc")


@pytest.mark.parametrize("note_id", ["", "..", "../x", "a/b", "a\0"])
def test_sc_01_no_id_leads_out_of_the_trash(vault, vault_dir, note_id):
    vault.write("a.md", b"one", expected=None)
    with pytest.raises(PathRefused):
        vault.trash("a.md", note_id)
    assert files(vault_dir) == ["a.md"]


def test_the_trash_follows_the_state_folder(vault_dir, tmp_path, monkeypatch):
    monkeypatch.setenv("ZIBALDONE_STATE_DIR", str(tmp_path / "deep" / "state"))
    vault = Store(open_layout(vault_dir))
    vault.write("a.md", b"one", expected=None)
    kept = vault.trash("a.md", "abc")
    assert kept == str(tmp_path / "deep" / "state" / "trash" / "abc" / "a.md")
    assert Path(kept).read_bytes() == b"one"
    assert files(vault_dir) == []


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="no second file system to move to")
def test_a_trash_on_another_disk_gets_a_copy_before_the_note_goes(vault_dir, monkeypatch, at_step):
    state = Path("/dev/shm") / f"zib-test-{os.getpid()}"
    monkeypatch.setenv("ZIBALDONE_STATE_DIR", str(state))
    vault = Store(open_layout(vault_dir))
    (vault_dir / "a.md").write_bytes(b"one")
    (vault_dir / "a.md").chmod(0o640)
    if vault_dir.stat().st_dev == state.parent.stat().st_dev:
        pytest.skip("the temporary folder is on the same file system")
    seen = []
    at_step("copied", lambda: seen.extend([*files(vault_dir), *files(state)]))
    try:
        kept = Path(vault.trash("a.md", "abc"))
        assert seen == ["a.md", "trash/abc/a.md"]
        assert kept.read_bytes() == b"one"
        assert stat.S_IMODE(kept.stat().st_mode) == 0o640
        assert files(vault_dir) == []
    finally:
        for path in sorted(state.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        state.rmdir()


def test_a_state_folder_that_is_a_symlink_is_not_followed(vault, vault_dir, tmp_path):
    (vault_dir / "a.md").write_bytes(b"one")
    (tmp_path / "elsewhere").mkdir()
    (vault_dir / ".zibaldone").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PathRefused):
        vault.trash("a.md", "abc")
    with pytest.raises(JournalUnreadable):
        vault.write("a.md", b"two", expected=token_of(b"one"))
    assert vault.read("a.md") == b"one"
    assert files(tmp_path / "elsewhere") == []


def test_temporary_files_of_the_living_are_left_alone(vault, vault_dir):
    mine = vault_dir / f".{os.getpid()}-abc.zib-tmp"
    mine.touch()
    (vault_dir / ".odd.zib-tmp").touch()
    (vault_dir / f".{10**30}-abc.zib-tmp").touch()
    assert vault.sweep() == ()
    os.utime(mine, (time.time() - 4000,) * 2)
    assert vault.sweep() == (mine.name,)
    assert not mine.exists()


# Disks that refuse


@contextlib.contextmanager
def mounted(folder, options):
    folder.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no file system can be mounted here: {error}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_leaves_the_old_state_and_no_temporary_file(vault_dir):
    with mounted(vault_dir, "size=1m"):
        vault = Store(open_layout(vault_dir))
        token = vault.write("a.md", b"x" * 30_000, expected=None)
        (vault_dir / "filler").write_bytes(b"z" * 600_000)
        for attempt in (
            # In the journal there is room for it, beside it there is none.
            lambda: vault.write("a.md", b"y" * 200_000, expected=token),
            lambda: vault.write("a.md", b"y" * 200_000, expected=token),
            lambda: vault.update("a.md", append(b"y" * 300_000)),
            lambda: vault.write("new/folder/b.md", b"y" * 400_000, expected=None),
        ):
            with pytest.raises(StorageFailed, match=os.strerror(errno.ENOSPC)):
                attempt()
            assert vault.read("a.md") == b"x" * 30_000
            assert everything(vault_dir) == ["a.md", "filler"]
            assert vault.ledger.journal.verify() == []
        assert vault.probe() is None
        (vault_dir / "filler").unlink()
        vault.write("a.md", b"small", expected=token)
        told = [record.op for record in vault.ledger.journal.records()]
        assert told == ["create", "edit", "undone", "edit"]
        (vault_dir / "rest").write_bytes(b"z" * (os.statvfs(vault_dir).f_bavail * 4096))
        assert "space" in vault.probe()


def test_a_read_only_disk_is_told(vault_dir):
    with mounted(vault_dir, "size=64k"):
        vault = Store(open_layout(vault_dir))
        token = vault.write("a.md", b"old", expected=None)
        subprocess.run(["mount", "-o", "remount,ro", str(vault_dir)], check=True)
        for attempt in (
            lambda: vault.write("a.md", b"new", expected=token),
            lambda: vault.update("a.md", append(b"new")),
            lambda: vault.write("b.md", b"new", expected=None),
            lambda: vault.write("new/b.md", b"new", expected=None),
            lambda: vault.trash("a.md", "abc"),
        ):
            with pytest.raises(StorageFailed, match=os.strerror(errno.EROFS)):
                attempt()
        assert vault.read("a.md") == b"old"
        assert files(vault_dir) == ["a.md"]
        assert str(vault_dir) in vault.probe()


@pytest.mark.skipif(os.geteuid() == 0, reason="rights do not bind root; see the read-only disk")
def test_a_read_only_folder_is_told(vault, vault_dir):
    token = vault.write("a.md", b"old", expected=None)
    vault_dir.chmod(0o555)
    try:
        with pytest.raises(StorageFailed):
            vault.write("a.md", b"new", expected=token)
        assert vault.read("a.md") == b"old"
        assert files(vault_dir) == ["a.md"]
        assert vault.probe() is not None
    finally:
        vault_dir.chmod(0o755)


@pytest.mark.parametrize("call", ["fsync", "rename", "fchmod"])
def test_any_call_that_fails_leaves_the_old_state(vault, vault_dir, monkeypatch, call):
    token = vault.write("a.md", b"old", expected=None)

    def fail(*args, **kwargs):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(StorageFailed, match="Input/output"):
        vault.write("a.md", b"new", expected=token)
    if call != "fchmod":
        with pytest.raises(StorageFailed):
            vault.write("b/c/d.md", b"new", expected=None)
    monkeypatch.undo()
    assert vault.read("a.md") == b"old"
    assert everything(vault_dir) == ["a.md"]


def test_law_4_a_replacement_that_the_disk_does_not_confirm_is_undone(
    vault, vault_dir, monkeypatch
):
    token = vault.write("a.md", b"old", expected=None)
    (vault_dir / "a.md").chmod(0o640)
    real = os.fsync

    def fail(descriptor):
        if os.path.realpath(f"/proc/self/fd/{descriptor}") == str(vault_dir.resolve()):
            raise OSError(errno.EIO, "Input/output error")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fail)
    for path, expected in (("a.md", token), ("b.md", None)):
        with pytest.raises(StorageFailed, match="Input/output"):
            vault.write(path, b"new", expected=expected)
    monkeypatch.undo()
    assert vault.read("a.md") == b"old"
    assert (vault_dir / "a.md").stat().st_mode & 0o777 == 0o640
    assert everything(vault_dir) == ["a.md"]
    assert vault.write("a.md", b"new", expected=token)
    assert vault.ledger.journal.verify() == []


def test_a_vault_that_was_unmounted_is_not_made_anew(vault, vault_dir):
    token = vault.write("a.md", b"old", expected=None)
    vault_dir.rename(vault_dir.with_name("aside"))
    for attempt in (
        lambda: vault.read("a.md"),
        lambda: vault.write("a.md", b"new", expected=token),
        lambda: vault.write("b/c.md", b"new", expected=None),
        lambda: vault.update("a.md", append(b"new")),
        lambda: vault.trash("a.md", "abc"),
    ):
        with pytest.raises(VaultNotFound):
            attempt()
    assert not vault_dir.exists()


def test_a_writable_vault_is_said_to_be_one(vault):
    assert vault.probe() is None


# The cache


def test_the_cache_is_for_its_user_alone(vault_dir):
    layout = open_layout(vault_dir)
    layout.cache_dir.mkdir(parents=True, mode=0o755)
    layout.cache_dir.chmod(0o755)
    assert make_cache(layout) == layout.cache_dir
    folder = make_cache(layout, "index", "segments")
    assert folder == layout.cache_dir / "index" / "segments"
    for each in (folder, folder.parent, layout.cache_dir):
        assert stat.S_IMODE(each.stat().st_mode) == 0o700


def test_a_cache_that_came_to_lie_in_the_vault_is_refused(vault_dir):
    layout = open_layout(vault_dir)
    layout.cache_dir.parent.mkdir(exist_ok=True)
    (vault_dir / "planted").mkdir()
    layout.cache_dir.symlink_to(vault_dir / "planted")
    with pytest.raises(SettingsInvalid):
        make_cache(layout)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a folder away")
def test_a_cache_of_another_user_is_refused(vault_dir):
    layout = open_layout(vault_dir)
    layout.cache_dir.mkdir(parents=True)
    os.chown(layout.cache_dir, 12345, 12345)
    with pytest.raises(StorageFailed, match="another user"):
        make_cache(layout)


def test_the_key_of_a_vault_is_made_once_and_for_its_user_alone(vault_dir):
    layout = open_layout(vault_dir)
    key = signing_key(layout)
    assert len(key) == 32
    assert signing_key(layout) == key
    (path,) = layout.cache_dir.iterdir()
    assert path.name == KEY_FILE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_bytes(b"short")
    with pytest.raises(StorageFailed, match="remove it"):
        signing_key(layout)


def test_a_cache_that_cannot_be_made_is_told(vault_dir, tmp_path):
    (tmp_path / "file").touch()
    layout = Layout(vault_dir, Settings(), vault_dir / ".zibaldone", tmp_path / "file" / "cache")
    with pytest.raises(StorageFailed):
        Store(layout).write("a.md", b"x", expected=None)
    assert list(vault_dir.iterdir()) == []


# All of it, in any order

PATHS = st.sampled_from(["a.md", "b.md", "agent-memory/c.md", "projects/x/agent-memory/d.md"])
BYTES = st.binary(max_size=20)


@pytest.fixture(scope="module")
def machine_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("machine")


def test_a_store_agrees_with_a_dictionary(machine_folder):
    runs = iter(range(10_000))

    class Machine(RuleBasedStateMachine):
        """Files and what the caller has read of them; an editor changes the files as well."""

        def __init__(self):
            super().__init__()
            root = machine_folder / str(next(runs))
            root.mkdir()
            cache = machine_folder / f"cache-{root.name}" / "vault"
            layout = Layout(root, Settings(), root / ".zibaldone", cache)
            self.root, self.store = root, Store(layout)
            self.files, self.seen, self.trashed = {}, {}, []

        @rule(path=PATHS)
        def read(self, path):
            try:
                data = self.store.read(path)
            except NoteNotFound:
                data = None
            assert data == self.files.get(path)
            self.seen[path] = None if data is None else token_of(data)

        @rule(path=PATHS, data=BYTES)
        def write(self, path, data):
            expected, there = self.seen.get(path), self.files.get(path)
            if expected == (None if there is None else token_of(there)):
                self.seen[path] = self.store.write(path, data, expected=expected)
                assert self.seen[path] == token_of(data)
                self.files[path] = data
                return
            with pytest.raises(NoteExists if expected is None else NoteChanged):
                self.store.write(path, data, expected=expected)

        @rule(path=PATHS, data=BYTES)
        def update(self, path, data):
            there = self.files.get(path)
            self.files[path] = (there or b"") + data
            changed = there != self.files[path]
            result = self.store.update(path, append(data))
            assert result == (token_of(self.files[path]), changed)

        @rule(path=PATHS, data=BYTES)
        def edit(self, path, data):
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_bytes(data)
            self.files[path] = data

        @rule(path=PATHS)
        def remove(self, path):
            (self.root / path).unlink(missing_ok=True)
            self.files.pop(path, None)

        @rule(path=PATHS)
        def trash(self, path):
            if path in self.files:
                trashed = self.store.trash(path, derived_id(path))
                self.trashed.append((trashed, self.files.pop(path)))
                return
            with pytest.raises(NoteNotFound):
                self.store.trash(path, derived_id(path))

        @invariant()
        def agrees(self):
            expected = self.files | dict(self.trashed)
            found = {path: (self.root / path).read_bytes() for path in files(self.root)}
            assert found == expected

        def teardown(self):
            """What was written through the store is the end of a note's history; it is whole."""
            for path, data in self.files.items():
                self.store.settle([(path, derived_id(path))])
                records = list(self.store.ledger.journal.records(derived_id(path)))
                assert not records or replay(records) == data
            assert self.store.ledger.journal.verify() == []
            self.store.ledger.close()

    Machine.TestCase.settings = settings(max_examples=20, stateful_step_count=25)
    Machine.TestCase().runTest()
