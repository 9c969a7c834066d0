"""What is shown is what the file holds, or nothing."""

import os

import pytest
from zibaldone.indexer import texts as texts_module
from zibaldone.indexer.sync import UNTRUSTED, entry_of, prepare
from zibaldone.indexer.texts import Texts, read_bytes
from zibaldone.vault.layout import open_layout
from zibaldone.vault.note import MAX_BYTES


@pytest.fixture
def layout(vault_dir):
    return open_layout(vault_dir)


@pytest.fixture
def row_of(layout):
    return lambda path: prepare(layout, entry_of(layout, path))[0].row


@pytest.fixture
def reads(monkeypatch):
    """Counts how often a file is read."""
    counted = []

    def counting(file):
        counted.append(file)
        return read_bytes(file)

    monkeypatch.setattr(texts_module, "read_bytes", counting)
    return counted


def test_a_text_is_read_once_while_its_file_looks_the_same(notes, layout, row_of, reads):
    notes.write("A.md", "before\n")
    row, texts = row_of("A.md"), Texts(layout)
    assert [texts.of(row), texts.of(row)] == ["before\n"] * 2
    assert len(reads) == 1


def test_a_file_with_other_times_is_read_again_and_may_be_the_same(notes, layout, row_of, reads):
    notes.write("A.md", "before\n")
    row, texts = row_of("A.md"), Texts(layout)
    texts.of(row)
    os.utime(notes.root / "A.md")
    assert texts.of(row) == "before\n"
    assert len(reads) == 2


def test_a_row_whose_times_are_not_trusted_is_read_each_time(notes, layout, row_of, reads):
    notes.write("A.md", "before\n")
    row, texts = row_of("A.md")._replace(size=UNTRUSTED), Texts(layout)
    assert [texts.of(row), texts.of(row)] == ["before\n"] * 2
    assert len(reads) == 2


def test_another_text_is_not_shown(notes, layout, row_of):
    notes.write("A.md", "before\n")
    row, texts = row_of("A.md"), Texts(layout)
    texts.of(row)
    notes.write("A.md", "after\n", old=False)
    assert texts.of(row) is None
    (notes.root / "A.md").unlink()
    assert texts.of(row) is None


def test_what_took_the_place_of_a_note_is_not_read(notes, layout, row_of, tmp_path):
    """A pipe would block, and a symlink may lead anywhere."""
    notes.write("A.md", "before\n")
    row, texts = row_of("A.md"), Texts(layout)
    file = notes.root / "A.md"
    file.unlink()
    os.mkfifo(file)
    assert texts.of(row) is None
    file.unlink()
    (tmp_path / "outside.md").write_text("before\n")
    file.symlink_to(tmp_path / "outside.md")
    assert texts.of(row) is None
    file.unlink()
    file.mkdir()
    assert texts.of(row) is None


@pytest.mark.parametrize(
    "data",
    [b"---\ntitle: Big\n---\n" + b"x" * MAX_BYTES, b"---\ntitle: B\n---\n" + bytes(range(256)) * 9],
    ids=["too large", "binary"],
)
def test_a_note_of_which_only_the_head_is_taken_is_known_again(notes, layout, row_of, data):
    notes.write("A.md", data)
    row = row_of("A.md")
    assert row.problem
    assert Texts(layout).of(row) == data[: data.rindex(b"---\n") + 4].decode()
    notes.write("A.md", b"short\n")
    assert Texts(layout).of(row) is None


def test_no_more_is_kept_than_is_allowed(notes, layout, row_of, reads, monkeypatch):
    monkeypatch.setattr(texts_module, "CHARACTERS_KEPT", 25)
    rows = []
    for name in "ABC":
        notes.write(f"{name}.md", f"{name} twelve...")
        rows.append(row_of(f"{name}.md"))
    texts = Texts(layout)
    for row in (*rows, rows[2], rows[1], rows[0]):
        texts.of(row)
    assert [file[-4:] for file in reads] == ["A.md", "B.md", "C.md", "A.md"]
