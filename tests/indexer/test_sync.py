"""What of the disk is taken for a note, when it is read again, and how it gets its id."""

import os
import stat
import time
from types import SimpleNamespace

import pytest
from zibaldone.indexer import sync
from zibaldone.indexer.sync import UNTRUSTED, compare, compare_some, entry_of, is_note, prepare
from zibaldone.vault.errors import NoteNotFound
from zibaldone.vault.layout import Entry, open_layout


@pytest.fixture
def layout(notes):
    (notes.root / "zibaldone.toml").write_text('ignore = ["drafts"]\n')
    return open_layout(notes.root)


class Known:
    """A view that knows some rows."""

    def __init__(self, *rows):
        self.numbers = {row.path: number for number, row in enumerate(rows, 1)}
        self._rows = {row.path: row for row in rows}

    def row(self, path):
        return self._rows.get(path)


def known(path, size=1, mtime_ns=2, inode=3, expires=""):
    return SimpleNamespace(path=path, size=size, mtime_ns=mtime_ns, inode=inode, expires=expires)


def test_the_difference_is_what_is_new_other_or_gone():
    entries = [Entry("same.md", 1, 2, 3), Entry("new.md", 1, 2, 3)]
    entries += [Entry("size.md", 9, 2, 3), Entry("time.md", 1, 9, 3), Entry("inode.md", 1, 2, 9)]
    rows = [known(path) for path in ("same.md", "size.md", "time.md", "inode.md", "gone.md")]
    diff = compare(entries, Known(*rows))
    assert [entry.path for entry in diff.changed] == ["new.md", "size.md", "time.md", "inode.md"]
    assert (diff.removed, diff.notes) == (("gone.md",), 5)


def test_a_note_with_something_expired_is_other(monkeypatch):
    monkeypatch.setattr(sync, "today", lambda: "2030-01-02")
    rows = [known("old.md", expires="2030-01-01"), known("last.md", expires="2030-01-02")]
    diff = compare([Entry("old.md", 1, 2, 3), Entry("last.md", 1, 2, 3)], Known(*rows))
    assert [entry.path for entry in diff.changed] == ["old.md"]


def test_some_files_are_compared_alone(notes, layout):
    notes.write("here.md", "x\n")
    view = Known(known("here.md"), known("gone.md"), known("elsewhere.md"))
    diff = compare_some(layout, ["here.md", "gone.md", "never.md"], view)
    assert [entry.path for entry in diff.changed] == ["here.md"]
    assert (diff.removed, diff.notes) == (("gone.md",), 1)


@pytest.mark.parametrize(
    "path",
    [
        "A.txt", "md", ".hidden.md", ".obsidian/A.md", "drafts/A.md", "A.md~", ".A.md.swp",
        "bad\udce9.md",
    ],
)  # fmt: skip
def test_what_is_no_note_by_its_name(layout, path):
    assert not is_note(layout, path)


def test_an_entry_is_what_a_walk_would_see(notes, layout, tmp_path):
    notes.write("a/Read Me.MD", "x\n")
    (entry,) = layout.walk()
    assert entry_of(layout, "a/Read Me.MD") == entry
    (notes.root / "link.md").symlink_to(notes.root / "a/Read Me.MD")
    (notes.root / "b").symlink_to(notes.root / "a")
    (notes.root / "folder.md").mkdir()
    os.mkfifo(notes.root / "pipe.md")
    (tmp_path / "outside.md").write_text("x\n")
    for path in ("link.md", "b/Read Me.MD", "folder.md", "pipe.md", "none.md", "../outside.md"):
        assert entry_of(layout, path) is None, path
    notes.write("drafts/Secret.md", "x\n")
    assert entry_of(layout, "drafts/Secret.md") is None
    assert list(layout.walk()) == [entry]


@pytest.mark.parametrize(
    ("age", "whole", "trusted"),
    [(0.0, False, False), (1.0, False, True), (1.0, True, False), (5.0, True, True)],
)
def test_fresh_times_are_not_trusted(notes, layout, age, whole, trusted):
    """Whole seconds come from file systems that know nothing finer."""
    file = notes.write("A.md", "x\n")
    moment = time.time_ns() - int(age * 1e9)
    moment += -(moment % 10**9) if whole else 1
    os.utime(file, ns=(moment, moment))
    row = prepare(layout, entry_of(layout, "A.md"))[0].row
    assert row.size == (2 if trusted else UNTRUSTED)


def test_bytes_that_are_known_are_not_worked_out_again(notes, layout, monkeypatch):
    file = notes.write("A.md", "words\n")
    row = prepare(layout, entry_of(layout, "A.md"))[0].row
    os.utime(file, ns=(1, 1))
    monkeypatch.setattr(sync, "read_note", None)
    item, documents = prepare(layout, entry_of(layout, "A.md"), row)
    assert (item.known, item.row.mtime_ns, documents) == (True, 1, ())
    assert (item.row.title, item.row.token) == (row.title, row.token)


def test_a_file_that_is_gone_is_not_prepared(layout):
    with pytest.raises(NoteNotFound):
        prepare(layout, Entry("none.md", 1, 2, 3))


def test_a_file_that_may_not_be_read_is_looked_at_again(notes, layout, monkeypatch):
    notes.write("A.md", "x\n")

    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("zibaldone.vault.note._read", refuse)
    row = prepare(layout, entry_of(layout, "A.md"))[0].row
    assert "unreadable" in row.problem
    assert row.size == UNTRUSTED


# Ids


def test_a_long_time_after_it_is_another_note(notes, asker, monkeypatch):
    monkeypatch.setattr("zibaldone.indexer.catalog.RENAME_SECONDS", -10)
    notes.write("Old.md", "words\n")
    notes.write("Other.md", "x\n")
    identity = asker.row("Old.md").id
    (notes.root / "Old.md").unlink()
    assert asker.row("Old.md") is None
    notes.write("New.md", "words\n")
    assert asker.row("New.md").id != identity


def test_many_notes_of_equal_bytes_have_ids_of_their_own(notes, asker):
    for number in range(40):
        notes.write(f"N{number:02}.md", "")
    ids = [asker.row(f"N{number:02}.md").id for number in range(40)]
    assert len(set(ids)) == 40
    (notes.root / "N07.md").rename(notes.root / "Z.md")
    assert len({*ids, asker.row("Z.md").id}) == 40


def test_a_note_that_loses_its_own_id_gets_a_derived_one(notes, asker):
    notes.write("A.md", "---\nid: abcdefgh1234\n---\nwords\n")
    assert asker.row("A.md").id == "abcdefgh1234"
    notes.write("A.md", "words\n")
    derived = asker.row("A.md").id
    assert derived != "abcdefgh1234"
    notes.write("A.md", "---\nid: abcdefgh1234\n---\nwords\n")
    assert asker.row("A.md").id == "abcdefgh1234"


def test_documents_that_stay_the_same_are_kept(notes, asker):
    lines = [f"- Fact {word}. ^fact{number:02}\n" for number, word in enumerate(["tea", "cup"])]
    notes.write("agent-memory/facts.md", "# Facts\n\n" + "".join(lines))
    before = asker.row("agent-memory/facts.md").docs
    notes.write("agent-memory/facts.md", "# Facts\n\n- Fact pot. ^fact99\n" + "".join(lines))
    after = asker.row("agent-memory/facts.md").docs
    assert [doc for doc in after if doc not in before] == [after[1]]
    assert after[2:] == before[1:]
    assert asker.texts("pot") == ["- Fact pot. ^fact99"]


def test_a_mode_without_rights_is_no_gap_in_the_walk(notes, asker):
    """A folder that cannot be listed takes its notes out, and gives them back."""
    notes.write("locked/A.md", "gooseberry\n")
    notes.write("B.md", "gooseberry\n")
    assert len(asker.paths("gooseberry")) == 2
    folder = notes.root / "locked"
    mode = stat.S_IMODE(folder.stat().st_mode)
    folder.chmod(0)
    if os.access(folder, os.R_OK):
        folder.chmod(mode)
        pytest.skip("this user may read everything")
    try:
        assert asker.paths("gooseberry") == ["B.md"]
    finally:
        folder.chmod(mode)
    assert len(asker.paths("gooseberry")) == 2
