"""Damage to the files of an index, and processes that open, mend and drop them together."""

import logging
import os
import shutil
import sqlite3
import threading
import time

import pytest
from zibaldone.indexer import engine
from zibaldone.indexer import index as index_module
from zibaldone.vault.errors import LockTimeout, StorageFailed


def gooseberries(notes, count=2):
    for number in range(count):
        notes.write(f"N{number:03}.md", f"gooseberry number{number}\n")


def segment_files(folder):
    return [file for segment in folder.glob("segment-*") for file in segment.iterdir()]


def halve(folder):
    for file in segment_files(folder):
        if file.suffix == ".toc":
            file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def remove_one(folder):
    next(file for file in segment_files(folder) if file.suffix != ".toc").unlink()


def remove_all_but_the_contents(folder):
    for file in segment_files(folder):
        if file.suffix != ".toc":
            file.unlink()


def zero(folder):
    for file in segment_files(folder):
        if file.suffix != ".toc":
            file.write_bytes(bytes(file.stat().st_size))


def remove_segments(folder):
    for segment in folder.glob("segment-*"):
        shutil.rmtree(segment)


def garble_catalog(folder):
    size = (folder / "catalog.db").stat().st_size
    (folder / "catalog.db").write_bytes(b"no database " * (size // 12))


def empty_catalog(folder):
    (folder / "catalog.db").write_bytes(b"")


def garble_pages(folder):
    data = bytearray((folder / "catalog.db").read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    (folder / "catalog.db").write_bytes(data)


def empty_log(folder):
    (folder / "catalog.db-wal").write_bytes(b"")


DAMAGE = [
    halve,
    remove_one,
    remove_all_but_the_contents,
    zero,
    remove_segments,
    garble_catalog,
    garble_pages,
]


@pytest.fixture
def built(notes, open_index, monkeypatch):
    """An index whose words are in a segment."""
    gooseberries(notes)
    monkeypatch.setattr(index_module, "BULK", 1)
    asker = open_index()
    assert len(asker.paths("gooseberry")) == 2
    return asker


@pytest.mark.parametrize("damage", DAMAGE)
def test_ix_03_a_damaged_index_is_built_anew_and_it_is_told(
    built, open_index, index_folder, damage
):
    built.index.close()
    assert segment_files(index_folder())
    damage(index_folder())
    asker = open_index()
    assert sorted(asker.paths("gooseberry")) == ["N000.md", "N001.md"]
    assert asker.state().notice == engine.NOTICE
    assert asker.state().notice == ""


@pytest.mark.parametrize(
    "damage", [halve, remove_one, remove_all_but_the_contents, zero, remove_segments]
)
def test_ix_03_segments_that_are_damaged_while_open_are_noticed(built, index_folder, damage):
    damage(index_folder())
    assert sorted(built.paths("gooseberry")) == ["N000.md", "N001.md"]
    assert built.state().notice == engine.NOTICE


@pytest.mark.parametrize("damage", [garble_catalog, empty_catalog, garble_pages, empty_log])
def test_a_catalog_that_is_overwritten_while_open_gives_no_wrong_answer(
    built, notes, open_index, index_folder, damage
):
    damage(index_folder())
    notes.write("N002.md", "gooseberry again\n")
    found = sorted(built.paths("gooseberry"))
    assert found == ["N000.md", "N001.md", "N002.md"]
    built.index.close()
    assert sorted(open_index().paths("gooseberry")) == found


def test_segments_that_only_look_changed_are_not_built_anew(built, index_folder):
    for file in segment_files(index_folder()):
        os.utime(file)
    assert len(built.paths("gooseberry")) == 2
    assert built.state().notice == ""


def test_what_reads_wrong_again_and_again_is_built_anew(built, monkeypatch):
    """The checksums are right, and it cannot be read all the same."""
    real, calls = index_module.rank, []

    def fail(*arguments):
        calls.append(arguments)
        if len(calls) < engine.ATTEMPTS:
            raise index_module.DamagedIndex("odd")
        return real(*arguments)

    monkeypatch.setattr(index_module, "rank", fail)
    assert len(built.paths("gooseberry")) == 2
    assert built.state().notice == engine.NOTICE


def test_damage_that_does_not_go_away_is_a_typed_failure(built, monkeypatch):
    def fail(*arguments):
        raise index_module.DamagedIndex("odd")

    monkeypatch.setattr(index_module, "rank", fail)
    with pytest.raises(StorageFailed, match="odd"):
        built.paths("gooseberry")


def test_no_handle_is_left_open(built, index_folder, open_files):
    before = len(open_files())
    for damage in (zero, remove_one, garble_catalog, remove_segments):
        damage(index_folder())
        built.paths("gooseberry")
    assert len(open_files()) == before
    built.index.close()
    assert not [name for name in open_files() if "index-" in name]


def test_an_index_that_is_removed_while_open_is_built_anew(built, index_folder):
    shutil.rmtree(index_folder())
    assert len(built.paths("gooseberry")) == 2


def test_two_indexes_mend_the_same_damage_once(built, open_index, index_folder, caplog):
    other = open_index()
    assert len(other.paths("gooseberry")) == 2
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        zero(index_folder())
        barrier = threading.Barrier(2)
        found = []

        def ask(asker):
            barrier.wait()
            found.append(sorted(asker.paths("gooseberry")))

        threads = [threading.Thread(target=ask, args=(each,)) for each in (built, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [["N000.md", "N001.md"]] * 2
    assert caplog.text.count("is damaged and is built anew") == 1


def test_what_another_drops_after_the_look_at_the_files_is_not_taken_for_nothing(
    built, open_index, monkeypatch
):
    other = open_index()
    assert len(other.paths("gooseberry")) == 2
    caught_up = other.index._catch_up

    def dropped_at_once():
        monkeypatch.setattr(other.index, "_catch_up", caught_up)
        caught_up()
        with built.index._parts.catalog.writing() as change:
            built.index._parts.catalog.clear(change)

    monkeypatch.setattr(other.index, "_catch_up", dropped_at_once)
    assert len(other.paths("gooseberry")) == 2


def test_a_merge_by_another_process_is_no_damage(built, open_index, index_folder, monkeypatch):
    monkeypatch.setattr("zibaldone.indexer.upkeep.SEGMENT_LIMIT", 0)
    other = open_index()
    assert len(other.paths("gooseberry")) == 2
    before = {segment.name for segment in index_folder().glob("segment-*")}
    built.index.touched(["N000.md"])
    built.index._parts.upkeep._tidied = -1
    built.index.tidy()
    assert {segment.name for segment in index_folder().glob("segment-*")}.isdisjoint(before)
    assert len(other.paths("gooseberry")) == 2
    assert other.state().notice == ""


def test_a_full_or_locked_disk_is_no_damage(built, index_folder, monkeypatch):
    monkeypatch.setattr("zibaldone.indexer.catalog.BUSY_SECONDS", 0.05)
    built.index.close()
    blocker = sqlite3.connect(index_folder() / "catalog.db", isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    with pytest.raises(LockTimeout):
        built.paths("gooseberry")
    blocker.execute("ROLLBACK")
    blocker.close()
    assert len(built.paths("gooseberry")) == 2
    assert built.state().notice == ""


def test_files_that_another_thread_closes_and_opens_anew_are_no_damage(built, index_folder):
    engine = built.index._engine
    engine.close()
    inode = (index_folder() / "catalog.db").stat().st_ino
    seen = []

    def question():  # Begun before there was an open index, as when a process starts.
        seen.append(engine.open().catalog)
        if len(seen) == 1:
            engine.close()
            engine.open()
        return seen[-1].segments()

    assert engine.soundly(question)
    assert len(seen) == 2
    assert (index_folder() / "catalog.db").stat().st_ino == inode
    assert built.state().notice == ""


def test_a_cache_that_cannot_be_written_is_a_typed_failure(
    notes, open_index, monkeypatch, tmp_path
):
    gooseberries(notes)
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("ZIBALDONE_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(StorageFailed):
        open_index().paths("gooseberry")


def test_a_question_that_fails_by_itself_is_not_asked_again(built):
    asked = []

    def question():
        asked.append(1)
        raise KeyError("mine")

    with pytest.raises(KeyError):
        built.index.ask(question)
    assert asked == [1]


def test_the_index_of_another_version_stays_until_it_is_long_unused(built, open_index, monkeypatch):
    cache = built.index.layout.cache_dir
    old = next(cache.glob("index-*"))
    built.index.close()
    monkeypatch.setattr(engine, "FORMAT", 1_000_000)
    newer = open_index()
    assert len(newer.paths("gooseberry")) == 2
    assert len(list(cache.glob("index-*"))) == 2
    for path in (*old.iterdir(), old):
        os.utime(path, (0, 0))
    monkeypatch.setattr(engine, "FORMAT", 1_000_001)
    assert len(open_index().paths("gooseberry")) == 2
    assert not old.exists()


# Locks


def test_ix_01_a_killed_builder_leaves_no_lock(notes, asker, start):
    gooseberries(notes)
    process = start(
        """
with index._engine.build_lock(0), index._engine._no_other_opens():
    catalog = index._engine._opened(False).catalog
    with catalog.writing():
        print("held", flush=True)
        time.sleep(60)
"""
    )
    assert process.stdout.readline() == "held\n"
    process.kill()
    process.wait()
    assert len(asker.paths("gooseberry")) == 2
    assert asker.index.refresh().behind == 0


def test_ix_01_lock_files_that_lie_around_mean_nothing(notes, asker):
    gooseberries(notes)
    asker.index.refresh()
    for name in ("index.lock", "build.lock"):
        (asker.index.layout.cache_dir / "locks" / name).write_text("")
    notes.write("N002.md", "gooseberry\n")
    assert asker.index.refresh().behind == 0
    assert len(asker.paths("gooseberry")) == 3


def test_ix_01_a_live_builder_is_waited_for_and_not_robbed(notes, asker, start):
    gooseberries(notes, 3)
    process = start(
        """
with index._engine.build_lock(0):
    print("held", flush=True)
    time.sleep(2)
    print("done", flush=True)
"""
    )
    assert process.stdout.readline() == "held\n"
    started = time.monotonic()
    state = asker.index.refresh()
    assert (state.notes, state.behind) == (3, 0)
    assert process.stdout.readline() == "done\n"
    assert time.monotonic() - started > 1
