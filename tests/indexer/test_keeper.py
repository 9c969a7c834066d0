"""What questions rely on while a keeper builds and watches in the background."""

import threading
import time

import pytest
from zibaldone.indexer import index as index_module
from zibaldone.indexer import keeper as keeper_module
from zibaldone.indexer import sync
from zibaldone.indexer.keeper import Keeper
from zibaldone.indexer.view import Scope
from zibaldone.indexer.watcher import Watcher


@pytest.fixture
def kept(open_index, monkeypatch):
    """Opens an index with a keeper that is stopped afterwards; its watcher settles at once."""
    monkeypatch.setattr(keeper_module, "SETTLING", 0.0)
    keepers = []

    def open_one():
        asker = open_index()
        asker.keeper = Keeper(asker.index)
        keepers.append(asker.keeper)
        asker.keeper.start()
        return asker

    yield open_one
    for keeper in keepers:
        keeper.stop()


def in_part(asker, text):
    """How many notes are found, and how many are told to be missing, in one question."""
    return asker.index.ask(
        lambda: (asker.index.find(text, Scope(), 5).notes, asker.index.freshness().behind)
    )


@pytest.mark.slow
def test_mc_05_twenty_thousand_notes_are_built_while_questions_are_answered(notes, kept):
    for number in range(20_000):
        folder = notes.root / f"f{number % 100:02}"
        if number < 100:
            folder.mkdir()
        (folder / f"n{number}.md").write_text(f"gooseberry number{number}\n")
    asker, seen, longest = kept(), [], 0.0
    end = time.monotonic() + 12
    while time.monotonic() < end and (not seen or seen[-1][1]):
        started = time.monotonic()
        seen.append(in_part(asker, "gooseberry"))
        longest = max(longest, time.monotonic() - started)
        notes.write("agent-memory/mine.md", f"- Fact {started}.\n", old=False)
        started = time.monotonic()
        asker.index.touched(["agent-memory/mine.md"])
        longest = max(longest, time.monotonic() - started)
        time.sleep(0.05)
    assert longest < 2
    assert all(behind for _, behind in seen[:-1])
    assert all(found + behind >= 20_000 for found, behind in seen if behind > 1)
    assert any(0 < found < 20_000 and behind for found, behind in seen)
    started = time.monotonic()
    asker.keeper.stop()
    assert time.monotonic() - started < 8, "the thread is waited for, the build is not"


def test_a_build_that_was_stopped_goes_on_at_the_next_start(notes, kept, monkeypatch):
    monkeypatch.setattr(index_module, "BULK", 5)
    monkeypatch.setattr(index_module, "BATCHES", (10, 10))
    monkeypatch.setattr(index_module, "PATIENCE", 0.1)
    for number in range(60):
        notes.write(f"N{number:02}.md", "gooseberry\n")
    begun, go_on = threading.Event(), threading.Event()
    prepare, prepared = sync.prepare, []

    def counted(layout, entry, known):
        prepared.append(entry.path)
        if len(prepared) == 25:
            begun.set()
            go_on.wait(10)
        return prepare(layout, entry, known)

    monkeypatch.setattr(sync, "prepare", counted)
    first = kept()
    assert begun.wait(10)
    assert in_part(first, "gooseberry") == (20, 40)
    first.index.interrupt()
    go_on.set()
    first.keeper.stop()
    first.index.close()
    assert len(prepared) == 25
    second = kept()
    assert second.index.ready.wait(10)
    assert in_part(second, "gooseberry") == (60, 0)
    assert len(prepared) == 60
    third = kept()
    assert third.index.ready.wait(10)
    assert in_part(third, "gooseberry") == (60, 0)
    assert len(prepared) == 60


def test_a_note_that_was_just_found_is_looked_at_before_the_watcher_tells(notes, kept, monkeypatch):
    monkeypatch.setattr(Watcher, "start", lambda self: None)
    monkeypatch.setattr(Watcher, "alive", lambda self: True)
    notes.write("agent-memory/birds.md", "- Saw a heron.\n")
    notes.write("Other.md", "other\n")
    asker = kept()
    assert asker.index.ready.wait(10)
    assert asker.paths("heron") == ["agent-memory/birds.md"]
    notes.write("agent-memory/birds.md", "- Saw a heron.\n- Saw a curlew.\n")
    assert asker.paths("curlew") == ["agent-memory/birds.md"]


@pytest.fixture
def deaf(monkeypatch):
    """A watcher that has been started, and does not hear yet."""
    started = []
    monkeypatch.setattr(Watcher, "start", lambda self: started.append(self))
    monkeypatch.setattr(Watcher, "alive", lambda self: self in started)


def test_a_change_right_after_the_start_is_found_by_the_next_question(
    notes, kept, deaf, monkeypatch
):
    monkeypatch.setattr(keeper_module, "SETTLING", 60.0)
    notes.write("Other.md", "other\n")
    asker = kept()
    assert asker.index.ready.wait(10)
    notes.write("far/B.md", "banana\n")
    assert asker.paths("banana") == ["far/B.md"]
    assert not asker.keeper.watching()


def test_a_change_while_the_watcher_settles_is_looked_for_when_it_has(
    notes, kept, deaf, monkeypatch, wait_for
):
    monkeypatch.setattr(keeper_module, "SETTLING", 0.5)
    monkeypatch.setattr(keeper_module, "BEHIND_LOOK", 0.1)
    notes.write("Other.md", "other\n")
    asker = kept()
    assert asker.index.ready.wait(10)
    notes.write("far/B.md", "banana\n")
    wait_for(asker.keeper.watching)
    monkeypatch.setattr(asker.index, "_look", None)  # The question itself looks at nothing.
    assert asker.paths("banana") == ["far/B.md"]


def test_without_a_live_watcher_each_question_looks_itself(notes, kept, monkeypatch, wait_for):
    notes.write("A.md", "apple\n")
    asker = kept()
    wait_for(asker.keeper.watching)
    monkeypatch.setattr(Watcher, "alive", lambda self: False)
    notes.write("B.md", "banana\n")
    assert asker.paths("banana") == ["B.md"]


def test_a_question_leaves_a_build_to_the_keeper(notes, kept, monkeypatch, wait_for):
    """Many new notes, and no watcher to tell of them."""
    monkeypatch.setattr(index_module, "BULK", 5)
    notes.write("A.md", "apple\n")
    asker = kept()
    wait_for(asker.keeper.watching)
    monkeypatch.setattr(Watcher, "alive", lambda self: False)
    for number in range(8):
        notes.write(f"N{number}.md", "gooseberry\n")
    threads = []
    prepare = sync.prepare

    def noted(*arguments):
        threads.append(threading.current_thread())
        return prepare(*arguments)

    monkeypatch.setattr(sync, "prepare", noted)
    assert in_part(asker, "gooseberry")[1] > 0
    wait_for(lambda: in_part(asker, "gooseberry") == (8, 0))
    assert set(threads) == {asker.keeper._thread}


def test_another_process_that_began_anew_is_not_taken_for_an_empty_vault(
    notes, kept, open_index, wait_for, monkeypatch
):
    for number in range(8):
        notes.write(f"N{number}.md", "gooseberry\n")
    asker, other = kept(), open_index()
    wait_for(asker.keeper.watching)
    assert in_part(asker, "gooseberry") == (8, 0)
    other.index._engine.open()
    with other.index._parts.catalog.writing() as change:
        other.index._parts.catalog.clear(change)
    assert in_part(asker, "gooseberry") == (8, 0)
    monkeypatch.setattr(index_module, "BULK", 5)
    with other.index._parts.catalog.writing() as change:
        other.index._parts.catalog.clear(change)
    found, behind = in_part(asker, "gooseberry")
    assert found + behind >= 8
    wait_for(lambda: in_part(asker, "gooseberry") == (8, 0))


def test_a_new_day_is_noticed_by_a_watched_index(notes, kept, wait_for, monkeypatch):
    notes.write("agent-memory/food.md", "- Likes plums. [expires:: 2030-01-01] ^abcdef\n")
    notes.write("Other.md", "other\n")
    asker = kept()
    wait_for(asker.keeper.watching)
    assert asker.find("plums").notes == 1
    for module in (index_module, sync):
        monkeypatch.setattr(module, "today", lambda: "2030-01-02")
    assert asker.find("plums").notes == 0


def test_full_looks_take_a_small_share_of_the_time(notes, open_index):
    keeper = Keeper(open_index().index)
    keeper._index.look_seconds = 0.5
    assert keeper._interval(deaf=False) == 0.5 * keeper_module.LOOK_SHARE
    keeper._index.look_seconds = 0.001
    assert keeper._interval(deaf=False) == keeper_module.FULL_LOOK
    keeper._index.look_seconds = 2.0
    assert keeper._interval(deaf=True) == 2.0 * keeper_module.POLL_SHARE
