"""Lines and files that are written whole, or not at all."""

import errno
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zibaldone.vault import files
from zibaldone.vault.files import (
    BLOCK,
    add_line,
    append_line,
    cut_torn_line,
    last_line,
    opened_file,
    opened_folder,
    replace_file,
    torn,
)


@pytest.fixture
def folder(tmp_path):
    with opened_folder(tmp_path) as descriptor:
        yield descriptor


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def refusing(name, code, *, after=0):
    """A call of the system that fails after so many calls."""
    real, calls = getattr(os, name), []

    def call(*arguments, **named):
        calls.append(1)
        if len(calls) > after:
            raise OSError(code, os.strerror(code))
        return real(*arguments, **named)

    return call


def test_lines_are_appended(folder, tmp_path):
    append_line(folder, "a", b"1\n")
    append_line(folder, "a", b"2\n")
    assert (tmp_path / "a").read_bytes() == b"1\n2\n"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600


def test_each_line_is_synced_and_a_new_file_with_its_folder(folder, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", synced.append)
    append_line(folder, "a", b"1\n")
    assert len(synced) == 2
    assert folder in synced
    append_line(folder, "a", b"2\n")
    assert len(synced) == 3


def test_a_line_is_written_whole_though_the_system_writes_bit_by_bit(folder, tmp_path, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:3]))
    append_line(folder, "a", b"a long line\n")
    assert (tmp_path / "a").read_bytes() == b"a long line\n"


@pytest.mark.parametrize("name", ["write", "fsync"])
def test_a_line_that_cannot_be_written_leaves_the_file_as_it_was(
    folder, tmp_path, monkeypatch, name
):
    append_line(folder, "a", b"1\n")
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:3]))
    monkeypatch.setattr(os, name, refusing(name, errno.ENOSPC, after=int(name == "write")))
    with pytest.raises(OSError, match="space"):
        append_line(folder, "a", b"another\n")
    assert (tmp_path / "a").read_bytes() == b"1\n"


@given(
    st.lists(st.sampled_from([b"\n", b"ab\n", b"x" * BLOCK + b"\n", b"y" * 40_000 + b"\n"])),
    st.sampled_from([b"", b"torn", b"z" * BLOCK]),
)
def test_lines_are_read_from_the_end(tmp_path_factory, lines, rest):
    path = tmp_path_factory.mktemp("tail") / "a"
    path.write_bytes(b"".join(lines) + rest)
    with opened_folder(path.parent) as folder, opened_file(folder, "a") as file:
        found, end = [], path.stat().st_size
        while end:
            end, line = last_line(file, end)
            found.append(line)
    assert found[::-1] == lines + ([rest] if rest else [])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"1\n2\n", b"1\n2\n"),
        (b"1\n2", b"1\n"),
        (b"1", b""),
        (b"", b""),
        (b"1\n2\0\0\n", b"1\n"),
        (b"1\n\0\0\0", b"1\n"),
    ],
)
def test_a_torn_line_is_cut_off(folder, tmp_path, before, after):
    (tmp_path / "a").write_bytes(before)
    assert cut_torn_line(folder, "a") == (before != after)
    assert (tmp_path / "a").read_bytes() == after


def test_what_is_torn():
    assert torn(b"{}")
    assert torn(b"{\0}\n")
    assert not torn(b"not json\n")


def test_a_replacement_keeps_the_mode_and_leaves_nothing(folder, tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o640)
    replace_file(folder, "a", [b"1\n", b"2\n"])
    assert path.read_bytes() == b"1\n2\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("name", ["fsync", "rename"])
def test_a_replacement_that_fails_leaves_the_old_file(folder, tmp_path, monkeypatch, name):
    (tmp_path / "a").write_bytes(b"old")
    monkeypatch.setattr(os, name, refusing(name, errno.EIO))
    with pytest.raises(OSError, match="error"):
        replace_file(folder, "a", [b"new"])
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


def test_a_new_file_is_for_its_owner_only(folder, tmp_path):
    replace_file(folder, "new", [b"1\n"])
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600


def test_folders_are_made_for_their_owner_only(tmp_path):
    with opened_folder(tmp_path, ("a", "b"), create=True) as folder:
        append_line(folder, "c", b"1\n")
    assert (tmp_path / "a/b/c").read_bytes() == b"1\n"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o700


def test_folders_are_not_made_unasked(tmp_path):
    with pytest.raises(FileNotFoundError), opened_folder(tmp_path, ("a",)):
        pass


def test_no_symlink_is_followed(folder, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a").write_bytes(b"1\n")
    (tmp_path / "folder").symlink_to(outside)
    (tmp_path / "file").symlink_to(outside / "a")
    with pytest.raises(NotADirectoryError), opened_folder(tmp_path, ("folder",), create=True):
        pass
    with pytest.raises(OSError, match="symbolic"):
        append_line(folder, "file", b"2\n")
    assert (outside / "a").read_bytes() == b"1\n"


def test_a_pipe_is_no_file(folder, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="regular"), opened_file(folder, "pipe"):
        pass


def test_descriptors_are_closed(tmp_path):
    before = len(names(Path("/proc/self/fd")))
    with opened_folder(tmp_path, ("a",), create=True) as folder:
        append_line(folder, "b", b"1\n")
        replace_file(folder, "b", [b"2\n"])
        cut_torn_line(folder, "b")
    assert len(names(Path("/proc/self/fd"))) == before


def test_steps_are_marked_in_their_order(folder, monkeypatch):
    steps = []
    monkeypatch.setattr(files, "step", steps.append)
    append_line(folder, "a", b"1\n")
    replace_file(folder, "a", [b"1\n", b"2"])
    cut_torn_line(folder, "a")
    assert steps == [
        *("opened", "appended", "appended durably"),
        *("replacement written", "replaced"),
        "cut",
    ]


def test_a_line_is_added_behind_a_torn_one_and_to_a_file_that_is_there_now(
    folder, tmp_path, monkeypatch
):
    add_line(folder, "a", b"1\n")
    add_line(folder, "a", b"2\n")
    (tmp_path / "a").write_bytes(b"1\n2")
    add_line(folder, "a", b"3\n")
    assert (tmp_path / "a").read_bytes() == b"1\n2\n3\n"

    real, moves = os.write, [lambda: replace_file(folder, "a", [b"4\n"]), (tmp_path / "a").unlink]

    def write(descriptor, data):
        if bytes(data) == b"5\n" and moves:
            moves.pop(0)()
        return real(descriptor, data)

    monkeypatch.setattr(os, "write", write)
    add_line(folder, "a", b"5\n")
    assert (tmp_path / "a").read_bytes() == b"5\n"
    assert moves == []
