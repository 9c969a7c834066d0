"""Several processes with one vault and one cache: at once, and killed at any moment."""

import random
import time

import pytest
from zibaldone.indexer import index as index_module
from zibaldone.indexer.view import Scope

WORDS = ["anchor", "basil", "candle", "dolphin", "ember", "fjord", "ginger", "harbour"]


def test_eight_processes_write_and_search_at_once(notes, start, open_index):
    """Each finds in its next question what it, or another one, has written."""
    for number in range(30):
        notes.write(f"old/N{number}.md", f"common number{number}\n")
    processes = [
        start(
            """
word, rounds = sys.argv[2], int(sys.argv[3])
for turn in range(rounds):
    path = f"{word}.md"
    store.update(path, lambda old: (old or b"") + f"- common {word} turn\\n".encode())
    index.touched([path])
    assert paths(word) == [path], paths(word)
    texts = index.ask(lambda: [hit.text for hit in index.find(word, Scope(), 50).hits])
    assert "".join(texts).count(word) == turn + 1, texts
    assert index.ask(lambda: index.find("common", Scope(), 1).notes) >= 31
    if turn % 3 == 0:
        index.tidy()
index.close()
print("good", flush=True)
""",
            word,
            6,
        )
        for word in WORDS
    ]
    for process in processes:
        out, error = process.communicate(timeout=240)
        assert (out, process.returncode) == ("good\n", 0), error
    asker = open_index()
    assert asker.find("common").notes == 38
    for word in WORDS:
        assert asker.paths(word) == [f"{word}.md"]
        assert "".join(asker.texts(word)).count(word) == 6


BUSY = """
sync.NOTES_AT_ONCE, index_module.BULK, index_module.BATCHES = 3, 5, (7, 11)
upkeep.PENDING_LIMIT, upkeep.SEGMENT_LIMIT = 6, 2
print("begin", flush=True)
for turn in range(1000):
    name = f"busy/{turn % 17}.md"
    store.update(name, lambda old: f"busy turn{turn} common\\n\\n# More\\n\\nbusy\\n".encode())
    index.touched([name])
    index.tidy()
    if turn % 10 == 9:
        index.refresh(rebuild=turn % 20 == 19)
"""


@pytest.mark.slow
def test_ix_01_a_process_killed_at_any_moment_leaves_a_good_index(notes, start, open_index):
    """Builds, flushes and merges are under way all the time; each is hit sooner or later."""
    for number in range(40):
        notes.write(f"N{number}.md", f"common {WORDS[number % 8]} number{number}\n")
    chance = random.Random(3)
    for _ in range(8):
        process = start(BUSY)
        assert process.stdout.readline() == "begin\n"
        time.sleep(chance.uniform(0.05, 1.2))
        assert process.poll() is None, process.communicate()[1]
        process.kill()
        process.wait()
        asker = open_index()
        busy = {f"busy/{file.name}" for file in (notes.root / "busy").glob("*.md")}
        for word in WORDS:
            found = asker.paths(word)
            assert sorted(found) == sorted(f"N{n}.md" for n in range(40) if WORDS[n % 8] == word)
        assert set(asker.paths("busy")) == busy
        assert asker.find("common").notes == 40 + len(busy)
        state = asker.state()
        assert (state.behind, state.notice) == (0, "")
        asker.index.tidy()
        asker.index.close()


STEPS = [
    "write_segment",
    "merge_segments",
    "add_segment",
    "drop_segments",
    "drop_pending",
    "rmtree",
]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_ix_01_a_process_killed_at_a_step_leaves_a_good_index(notes, start, open_index, step, when):
    for number in range(12):
        notes.write(f"N{number}.md", f"common number{number}\n")
    process = start(
        """
import shutil, signal
from zibaldone.indexer.catalog import Catalog
step, when = sys.argv[2:]

def mortal(call):
    def called(*arguments, **options):
        if when == "after":
            call(*arguments, **options)
        os.kill(os.getpid(), signal.SIGKILL)
    return called

for home in (sync, upkeep, Catalog, shutil):
    if step in vars(home):
        setattr(home, step, mortal(getattr(home, step)))
index_module.BULK, index_module.BATCHES = 5, (4, 4)
upkeep.PENDING_LIMIT, upkeep.SEGMENT_LIMIT = 2, 1
(layout.cache_dir / "locks").mkdir(parents=True, exist_ok=True)
index._engine.open()
(index._engine.folder / "segment-left").mkdir()
index.refresh()
for number in range(12):
    store.update(f"N{number}.md", lambda old: old + b"more common words\\n")
    index.touched([f"N{number}.md"])
    index.tidy()
print("survived")
""",
        step,
        when,
    )
    out, error = process.communicate(timeout=60)
    assert (out, process.returncode) == ("", -9), error
    asker = open_index()
    assert asker.find("common").notes == 12
    assert all(asker.paths(f"number{n}")[0] == f"N{n}.md" for n in range(12))
    assert (asker.state().behind, asker.state().notice) == (0, "")
    asker.index.refresh()
    asker.index._parts.upkeep._tidied = -1
    asker.index.tidy()
    folder = asker.index._engine.folder
    listed = {name for name, _ in asker.index._parts.catalog.segments().values()}
    assert {segment.name for segment in folder.glob("segment-*")} == listed


def test_what_one_process_brings_in_another_need_not_read(notes, asker, start, monkeypatch):
    for number in range(10):
        notes.write(f"N{number}.md", f"gooseberry number{number}\n")
    process = start("index.refresh(); print(len(paths('gooseberry')))")
    assert process.communicate(timeout=60)[0] == "10\n"

    def never(*arguments):
        raise AssertionError("a note was read again")

    monkeypatch.setattr("zibaldone.indexer.sync.prepare", never)
    assert len(asker.paths("gooseberry")) == 10


def test_a_question_during_the_build_of_another_process_is_answered_in_part(
    notes, asker, start, monkeypatch
):
    monkeypatch.setattr(index_module, "PATIENCE", 0.2)
    monkeypatch.setattr(index_module, "BULK", 5)
    for number in range(60):
        notes.write(f"N{number:02}.md", "gooseberry\n")
    process = start(
        """
prepare = sync.prepare
def slow(*arguments):
    time.sleep(0.1)
    return prepare(*arguments)
sync.prepare = slow
index_module.BULK, index_module.BATCHES = 5, (10, 10)
with index._engine.build_lock(0):
    print("begin", flush=True)
    index._bring_in_batches(index._compare())
print("built", flush=True)
"""
    )
    assert process.stdout.readline() == "begin\n"

    def in_part():
        found = asker.index.find("gooseberry", Scope(), 5)
        return found.notes, asker.index.freshness().behind

    seen = []
    while process.poll() is None:
        started = time.monotonic()
        seen.append(asker.index.ask(in_part))
        assert time.monotonic() - started < 2
    assert process.communicate()[0] == "built\n"
    assert any(0 < notes < 60 and behind > 0 for notes, behind in seen), seen
    assert all(behind > 0 or notes == 60 for notes, behind in seen), seen
    assert asker.find("gooseberry").notes == 60
    assert asker.state().behind == 0


def test_writes_of_a_building_process_let_others_write(notes, asker, start):
    """`remember` in one process waits for no build of another one."""
    for number in range(400):
        notes.write(f"N{number:03}.md", f"# Title {number}\n\n" + "gooseberry words here\n" * 20)
    process = start("print('begin', flush=True); index.refresh(); print('built', flush=True)")
    assert process.stdout.readline() == "begin\n"
    longest = 0.0
    while process.poll() is None:
        notes.write("agent-memory/mine.md", f"- Fact at {time.monotonic()}.\n", old=False)
        started = time.monotonic()
        asker.index.touched(["agent-memory/mine.md"])
        longest = max(longest, time.monotonic() - started)
        time.sleep(0.01)
    assert process.communicate()[0] == "built\n"
    assert longest < 1
    assert asker.find("gooseberry").notes == 400
