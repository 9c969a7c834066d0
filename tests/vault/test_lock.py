import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from zibaldone.vault import lock
from zibaldone.vault.errors import LockTimeout, NoteNotFound
from zibaldone.vault.ids import derived_id
from zibaldone.vault.layout import open_layout
from zibaldone.vault.replay import replay
from zibaldone.vault.store import Store, make_cache


@pytest.fixture
def vault(vault_dir):
    return Store(open_layout(vault_dir))


def files(folder):
    """All files but those of the journal, of which `check_history` says what is in them."""
    found = (p.relative_to(folder).as_posix() for p in folder.rglob("*") if not p.is_dir())
    return sorted(path for path in found if not path.startswith(".zibaldone/journal/"))


def check_history(vault, path="agent-memory/a.md"):
    """The journal is whole, and it ends in the bytes that the note has. Return its operations."""
    journal = vault.ledger.journal
    records = list(journal.records(derived_id(path)))
    assert journal.verify() == []
    assert (replay(records) or b"") == (vault.read(path) if records[-1].after else b"")
    return [record.op for record in records]


def append(line):
    return lambda data: (data or b"") + line


# Threads


def test_a_transaction_makes_several_steps_one_and_nests(vault, vault_dir):
    other = Store(open_layout(vault_dir))
    with vault.transaction("a.md"), other.transaction("b.md"):
        token = vault.write("a.md", b"1", expected=None)
        other.write("a.md", b"2", expected=token)
    assert vault.read("a.md") == b"2"


def test_mm_03_twenty_threads_lose_nothing(vault, vault_dir):
    stores = [vault, Store(open_layout(vault_dir))]

    def work(number):
        for turn in range(5):
            line = f"- {number}.{turn}\n".encode()
            yield stores[number % 2].update("agent-memory/a.md", append(line))[1]

    with ThreadPoolExecutor(20) as pool:
        results = pool.map(lambda number: list(work(number)), range(20))
        assert list(results) == [[True] * 5] * 20
    lines = vault.read("agent-memory/a.md").decode().split("\n")[:-1]
    assert sorted(lines) == sorted(f"- {n}.{t}" for n in range(20) for t in range(5))
    assert files(vault_dir) == ["agent-memory/a.md"]


def test_a_thread_that_waits_too_long_is_told(vault, monkeypatch):
    monkeypatch.setattr(lock, "LOCK_SECONDS", 0.1)
    caught = []

    def work():
        try:
            vault.update("a.md", append(b"x"))
        except LockTimeout as error:
            caught.append(error)

    with vault.transaction("a.md"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert len(caught) == 1
    vault.update("a.md", append(b"x"))


# Processes

PRELUDE = """
import os, signal, sys
from zibaldone.vault import files, store
from zibaldone.vault.layout import open_layout
vault = store.Store(open_layout(sys.argv[1]))
def say(word):
    os.write(1, f"{word}\\n".encode())
"""


@contextlib.contextmanager
def child(vault_dir, script, *arguments, **environment):
    process = subprocess.Popen(
        [sys.executable, "-c", PRELUDE + script, str(vault_dir), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **environment},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


HOLD = "with vault.transaction('a.md'):\n    say('held')\n    sys.stdin.readline()\n"


@pytest.mark.parametrize("cache", ["shared", "its own"])
def test_ix_01_a_live_lock_is_waited_for_and_a_killed_ones_is_free(
    vault, vault_dir, tmp_path, monkeypatch, cache
):
    environment = {} if cache == "shared" else {"ZIBALDONE_CACHE_DIR": str(tmp_path / "cache2")}
    with child(vault_dir, HOLD, **environment) as process:
        assert process.stdout.readline() == b"held\n"
        monkeypatch.setattr(lock, "LOCK_SECONDS", 0.2)
        with pytest.raises(LockTimeout) as caught:
            vault.write("a.md", b"x", expected=None)
        assert str(vault_dir) in caught.value.sentence
        assert files(vault_dir) == []
        monkeypatch.undo()
        process.kill()
        process.wait()
        start = time.monotonic()
        vault.write("a.md", b"x", expected=None)
        assert time.monotonic() - start < 2


def test_ix_01_a_lock_file_that_was_left_over_does_not_block(vault, vault_dir):
    folder = make_cache(open_layout(vault_dir), "locks")
    (folder / lock.LOCK_FILE).touch()
    vault.write("a.md", b"x", expected=None)


APPEND = """
for turn in range(50):
    line = f"- {sys.argv[2]}.{turn}\\n".encode()
    token, changed = vault.update("agent-memory/a.md", lambda data: (data or b"") + line)
    assert changed
"""


@pytest.mark.slow
def test_eight_processes_with_fifty_writes_each_lose_nothing(vault, vault_dir):
    with contextlib.ExitStack() as stack:
        workers = [stack.enter_context(child(vault_dir, APPEND, n)) for n in range(8)]
        assert [worker.wait(timeout=120) for worker in workers] == [0] * 8
    lines = vault.read("agent-memory/a.md").decode().split("\n")
    assert lines.pop() == ""
    assert len(lines) == 400
    assert set(lines) == {f"- {n}.{t}" for n in range(8) for t in range(50)}
    assert files(vault_dir) == ["agent-memory/a.md"]
    assert check_history(vault) == ["create", *["edit"] * 399]


# kill -9

WRITE = """
number = int(sys.argv[2])
while True:
    number += 1
    text = f"{number:08}\\n".encode() * 4000
    vault.update("agent-memory/a.md", lambda data: text)
    say(number)
"""
# The same, dying by its own hand when it comes to a step for the nth time.
WRITE_AND_DIE = (
    """
left = int(sys.argv[4])
def step(name):
    global left
    left -= name == sys.argv[3]
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
store._step = files.step = step
"""
    + WRITE
)


def check_after_kill(vault, vault_dir, acknowledged):
    """The file is whole, holds what was acknowledged or one write more, and can be written."""
    start = time.monotonic()
    with vault.transaction("agent-memory/a.md"):
        assert time.monotonic() - start < 1
    try:
        lines = set(vault.read("agent-memory/a.md").split(b"\n"))
    except NoteNotFound:
        assert acknowledged == 0
        return 0
    assert len(lines) == 2
    number = int(max(lines))
    assert number in {acknowledged, acknowledged + 1}
    assert len(vault.read("agent-memory/a.md")) == 9 * 4000
    return number


@pytest.mark.slow
def test_killed_at_random_moments_nothing_acknowledged_is_lost(vault, vault_dir):
    number, chance = 0, random.Random(2024)
    for _ in range(25):
        with child(vault_dir, WRITE, number) as process:
            acknowledged = int(process.stdout.readline())
            time.sleep(chance.random() * 0.08)
            process.kill()
            rest = process.stdout.read().split()
            acknowledged = int(rest[-1]) if rest else acknowledged
        number = check_after_kill(vault, vault_dir, acknowledged)
    assert number > 25
    vault.update("agent-memory/a.md", lambda data: data + b"\n")
    assert set(check_history(vault)) <= {"create", "edit", "undone"}
    assert set(vault.leftovers()) == {f for f in files(vault_dir) if f.endswith(".zib-tmp")}
    vault.sweep()
    assert files(vault_dir) == ["agent-memory/a.md"]


BETWEEN = ["appended", "appended durably", "entered", "created", "written", "synced"]
"""Steps at which the journal is ahead of the note."""
AFTER = ["renamed", "durable"]
STEPS = ["compared", "opened", *BETWEEN, *AFTER]


@pytest.mark.parametrize(
    ("step", "turn"),
    [("folder made", 1), *((step, turn) for step in STEPS for turn in (1, 2, 3))],
)
def test_killed_at_each_step_the_file_is_the_old_or_the_new_one(vault, vault_dir, step, turn):
    with child(vault_dir, WRITE_AND_DIE, 0, step, turn) as process:
        acknowledged = len(process.stdout.read().split())
        assert process.wait() == -signal.SIGKILL
    assert acknowledged == turn - 1
    number = check_after_kill(vault, vault_dir, acknowledged)
    assert number == acknowledged + (step in AFTER)
    swept = vault.sweep()
    assert len(swept) == (step in {"created", "written", "synced"})
    assert [f for f in files(vault_dir) if f.endswith(".zib-tmp")] == []
    vault.update("agent-memory/a.md", lambda data: b"goes on")
    made = ["create", "edit", "edit"][:turn]
    reached = made if step in {*BETWEEN, *AFTER} else made[:-1]
    undone = ["undone"] if step in BETWEEN else []
    assert check_history(vault) == [*reached, *undone, "edit" if number else "create"]


TRASH_AND_DIE = """
from zibaldone.vault.ids import derived_id
from zibaldone.vault.ledger import SYSTEM, Act
def step(name):
    if name == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)
store._step = step
vault.trash("a.md", "abc", Act("delete", derived_id("a.md"), SYSTEM))
"""


@pytest.mark.parametrize("step", ["folder made", "entered", "moved"])
def test_killed_while_it_is_trashed_a_note_is_here_or_there(vault, vault_dir, step):
    vault.write("a.md", b"one", expected=None)
    with child(vault_dir, TRASH_AND_DIE, step) as process:
        assert process.wait() == -signal.SIGKILL
    (place,) = files(vault_dir)
    assert (vault_dir / place).read_bytes() == b"one"
    assert place == (".zibaldone/trash/abc/a.md" if step == "moved" else "a.md")
    vault.update("b.md", lambda data: b"goes on")
    told = [record.op for record in vault.ledger.journal.records(derived_id("a.md"))]
    assert told == ["create", *{"entered": ["delete", "undone"], "moved": ["delete"]}.get(step, [])]
    assert vault.ledger.journal.verify() == []
