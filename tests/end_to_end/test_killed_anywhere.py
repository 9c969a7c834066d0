"""`kill -9` between any two system calls of a write: the old state or the new one, never a mix.

A child makes one write and is stopped before each system call, as a debugger does it. At every
call before which the disk looks otherwise than before the last one, another child is killed. Where
this is not allowed, children die at the steps that the store itself marks, which are tried anyway.
"""

import contextlib
import ctypes
import os
import shutil
import signal
import sys

import pytest
from hypothesis import settings
from zibaldone.tools.history import restore
from zibaldone.tools.lifecycle import forget, update_memory
from zibaldone.tools.notes import delete_note
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.search import search
from zibaldone.tools.vault import Caller, Vault
from zibaldone.vault import files, store
from zibaldone.vault.errors import NoteNotFound
from zibaldone.vault.replay import replay

AGENT = Caller("writer", "i1", "s1", "1.0", "agent")
TRACE_ME, NEXT_CALL, SET_OPTIONS = 0, 24, 0x4200
MARK_CALLS, DIE_WITH_US = 1, 0x100000
NOT_ALLOWED = 77


def forked(act, prepare):
    """Start a child that opens the vault, prepares and acts; its exit code 0 says it is done."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        os.fsync = lambda _: None
        with contextlib.ExitStack() as stack:
            ready = act(stack)
            code = NOT_ALLOWED if prepare() else 1
            if code == 1:
                ready()
                code = 0
            os._exit(code)
    finally:
        os._exit(code)


class Traced:
    """Children that are stopped before each of their system calls."""

    def __init__(self):
        self._libc = ctypes.CDLL(None, use_errno=True)

    def _ask(self, *request):
        return self._libc.ptrace(*(ctypes.c_long(each) for each in request))

    def _prepare(self):
        if self._ask(TRACE_ME, 0, 0, 0):
            return True
        os.kill(os.getpid(), signal.SIGSTOP)
        return False

    def run(self, act, look, kill_at=0):
        """Let a child act; return whether it came to the end. `look` sees the number of a call."""
        child = forked(act, self._prepare)
        status = os.waitpid(child, 0)[1]
        if not os.WIFSTOPPED(status):
            pytest.skip("this system does not let a process trace its child")
        self._ask(SET_OPTIONS, child, 0, MARK_CALLS | DIE_WITH_US)
        calls, passed_on, enters = 0, 0, True
        while True:
            self._ask(NEXT_CALL, child, 0, passed_on)
            status = os.waitpid(child, 0)[1]
            if not os.WIFSTOPPED(status):
                return os.waitstatus_to_exitcode(status) == 0
            passed_on = 0
            if os.WSTOPSIG(status) != signal.SIGTRAP | 0x80:
                passed_on = os.WSTOPSIG(status)
                continue
            calls += enters
            if enters:
                look(calls)
                if calls == kill_at:
                    os.kill(child, signal.SIGKILL)
            enters = not enters


class Stepped:
    """Children that come to the steps that store and journal mark."""

    def run(self, act, look, kill_at=0):
        reader, writer = os.pipe()

        def prepare():
            count = iter(range(1, 1000))

            def step(_):
                number = next(count)
                os.write(writer, b"x")
                if number == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)

            store._step = files.step = step

        child = forked(act, prepare)
        os.close(writer)
        status = os.waitpid(child, 0)[1]
        with os.fdopen(reader, "rb") as told:
            steps = len(told.read())
        for number in range(1, steps + 1):
            look(number)
        return os.waitstatus_to_exitcode(status) == 0


class World:
    """A vault and its cache in one folder, as they were before the write."""

    def __init__(self, base, monkeypatch):
        self.base, self.root = base / "world", base / "world" / "vault"
        self.kept = base / "kept"
        self.root.mkdir(parents=True)
        (self.root / "mine.md").write_text("Mine.\n")
        (self.root / "zibaldone.toml").write_text('write_gate = "off"\n')
        monkeypatch.setenv("ZIBALDONE_CACHE_DIR", str(self.base / "cache"))
        with Vault.open(self.root, caller=AGENT) as vault:
            taste = remember_about_user(vault, "Xoldx stays.", category="taste")
            self.line = f"{taste.path}#^{taste.observation_id}"
            gone = remember_about_user(vault, "Xgonex comes.", category="taste")
            self.gone = f"{taste.note_id}#^{gone.observation_id}"
            forget(vault, self.gone)
            food = remember_about_user(vault, "Xtrashx lies there.", category="food")
            self.trashed, self.path = food.note_id, taste.path
            delete_note(vault, food.path)
        self.before = self.notes()
        shutil.copytree(self.base, self.kept)

    def reset(self):
        shutil.rmtree(self.base)
        shutil.copytree(self.kept, self.base)

    def notes(self):
        """The bytes of every note."""
        found = {path.relative_to(self.root).as_posix(): path for path in self.root.rglob("*.md")}
        return {path: file.read_bytes() for path, file in found.items() if path[0] != "."}

    def words(self):
        """The words that are in notes."""
        text = b"".join(self.notes().values()).decode()
        return {word for word in ("Xoldx", "Xnewx", "Xgonex", "Xtrashx") if word in text}

    def looks(self):
        """What a change of the folders would show in."""
        for folder, _, names in os.walk(self.base):
            for name in names:
                with contextlib.suppress(FileNotFoundError):
                    found = os.lstat(f"{folder}/{name}")
                    yield folder, name, found.st_size, found.st_mtime_ns, found.st_ino


# What is done, the words that are in notes afterwards, and the operation that tells of it.
WRITES = {
    "create": (
        lambda world, vault: remember_about_user(vault, "Xnewx.", category="fresh"),
        {"Xoldx", "Xnewx"},
        "create",
    ),
    "append": (
        lambda world, vault: remember_about_user(vault, "Xnewx.", category="taste"),
        {"Xoldx", "Xnewx"},
        "append",
    ),
    "update": (
        lambda world, vault: update_memory(vault, world.line, "Xnewx."),
        {"Xnewx"},
        "update",
    ),
    "forget": (lambda world, vault: forget(vault, world.line), set(), "forget"),
    "delete": (lambda world, vault: delete_note(vault, world.path), set(), "delete"),
    "restore a line": (
        lambda world, vault: restore(vault, world.gone),
        {"Xoldx", "Xgonex"},
        "restore",
    ),
    "restore a note": (
        lambda world, vault: restore(vault, world.trashed),
        {"Xoldx", "Xtrashx"},
        "restore",
    ),
}


@pytest.fixture
def world(tmp_path, monkeypatch):
    return World(tmp_path, monkeypatch)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
@pytest.mark.parametrize("way", ["system calls", "steps"])
@pytest.mark.parametrize("name", WRITES)
def test_the_state_is_the_old_or_the_new_one(world, way, name):
    if way == "system calls" and sys.platform != "linux":
        pytest.skip("system calls are traced as Linux does it")
    write, after, op = WRITES[name]
    runner = Traced() if way == "system calls" else Stepped()
    owner = name.startswith("restore")

    def act(stack):
        vault = stack.enter_context(Vault.open(world.root))
        asked = vault if owner else vault.with_caller(AGENT)
        search(asked, "Xoldx")
        return lambda: write(world, asked)

    points, seen = [], set()

    def look(number):
        state = frozenset(world.looks())
        if state not in seen or way == "steps":
            points.append(number)
        seen.add(state)

    assert runner.run(act, look)
    assert world.words() == after
    quick = settings.default.max_examples < 50 and way == "system calls"
    outcomes = set()
    for number in points[:: 3 if quick else 1]:
        world.reset()
        done = runner.run(act, lambda _: None, kill_at=number)
        outcomes.add(check(world, after, op, acknowledged=done))
    assert outcomes == {"old", "new"}


def check(world, after, op, *, acknowledged):
    """Nothing is mixed, the next start goes on from there, and the journal says what was done."""
    notes, words = world.notes(), world.words()
    is_old = notes == world.before
    assert is_old or words == after
    assert not (acknowledged and is_old)
    with Vault.open(world.root, caller=AGENT) as vault:
        found = {
            hit.snippet.split()[0].strip(".")
            for hit in search(vault, "Xoldx Xnewx Xgonex Xtrashx").results
        }
        assert found == words
        later = remember_about_user(vault, "Later.", category="later")
        assert later.outcome == "created"
        assert {path: data for path, data in world.notes().items() if path != later.path} == notes
        journal = vault.store.ledger.journal
        assert journal.verify() == []
        told = [record for record in journal.records() if record.note != later.note_id]
        undone = {record.of for record in told if record.op == "undone"}
        lasting = [
            record.op for record in told if record.op != "undone" and record.hash not in undone
        ]
        assert lasting == [
            "create",
            "append",
            "forget",
            "create",
            "delete",
            *([] if is_old else [op]),
        ]
        assert all("did not reach it" in each.reason for each in told if each.op == "undone")
        for note in {record.note for record in told}:
            records = [record for record in told if record.note == note]
            assert replay(records) == notes.get(records[-1].path)
        vault.store.sweep()
        assert vault.store.leftovers() == ()
        with contextlib.suppress(NoteNotFound):
            update_memory(vault, world.line, "Goes on.")
        assert journal.verify() == []
    return "old" if is_old else "new"
