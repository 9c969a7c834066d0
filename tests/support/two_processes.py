"""A vault that two processes have open: this one, and one that can die in the middle."""

import itertools
import json
import os
import re
import shutil
import subprocess
import sys

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine
from zibaldone.tools.mcp_server import call
from zibaldone.tools.vault import OWNER, Caller, Vault

ASIDE = re.compile("/(plans|threads)/")
HIDDEN = re.compile(r"2000-01-01|\[status::")
ITEM = re.compile(r"- (?P<word>X[a-z]+x)\b(?P<rest>.*?)(?:\^(?P<id>\w+))?\s*")

THERE = r"""
import json, os, signal, sys
from dataclasses import asdict
from zibaldone.tools.mcp_server import call
from zibaldone.tools.vault import Caller, Vault
from zibaldone.vault import files, store

os.fsync = lambda _: None
vault = None

def die_at(wanted):
    def step(name):
        if name == wanted:
            os.kill(os.getpid(), signal.SIGKILL)
    store._step = files.step = step

for line in sys.stdin:
    what, *rest = json.loads(line)
    answer = None
    if what in ("open", "close", "crash") and vault is not None:
        vault.close()
        vault = None
    if what == "open":
        (folder, os.environ["ZIBALDONE_CACHE_DIR"]) = rest
        vault = Vault.open(folder)
    elif what == "crash":
        folder, step, agent, tool, arguments = rest
        child = os.fork()
        if not child:
            die_at(step)
            with Vault.open(folder) as opened:
                call(lambda: opened, Caller(agent), tool, arguments)
            os._exit(0)
        answer = os.WIFSIGNALED(os.waitpid(child, 0)[1])
        vault = Vault.open(folder)
    elif what == "call":
        agent, tool, arguments = rest
        outcome = call(lambda: vault, Caller(agent), tool, arguments)
        answer = [outcome.failed, outcome.data]
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
"""


class Process:
    """The second process; one serves all runs, each with a vault of its own."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-c", THERE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def do(self, *what):
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, "the second process has ended"
        return json.loads(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()


def words():
    """Words that share no stem with each other."""
    syllables = ("ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "ru")
    for number in itertools.count(10):
        yield "X" + "".join(syllables[int(digit)] for digit in str(number)) + "x"


class TwoProcesses(RuleBasedStateMachine):
    """A vault, the processes, and what is in its notes, read by nothing of ours."""

    folders = None
    process = None

    def __init__(self):
        super().__init__()
        base = next(self.folders)
        self.root, self.cache = base / "vault", base / "cache"
        self.root.mkdir(parents=True)
        os.environ["ZIBALDONE_CACHE_DIR"] = str(self.cache)
        (self.root / "keep.md").write_text("Xkeepx\n")
        (self.root / "zibaldone.toml").write_text('write_gate = "off"\n')
        self.words, self.said = words(), ["Xkeepx"]
        self.notes, self.docs = {}, {"keep.md": "Xkeepx"}
        self.gone, self.trash = {}, {}
        self.threads, self.plan = {}, {}
        self.open()

    def open(self):
        self.here = Vault.open(self.root, caller=OWNER)
        self.process.do("open", str(self.root), str(self.cache))

    def close(self):
        self.here.close()
        self.process.do("close")

    def teardown(self):
        self.close()
        shutil.rmtree(self.root.parent)

    # Speaking

    def new(self):
        self.said.append(next(self.words))
        return self.said[-1]

    def ask(self, side, agent, tool, **arguments):
        """Call a tool in one of the processes; it has to succeed."""
        failed, data = self.attempt(side, agent, tool, **arguments)
        assert not failed, data
        return data

    def attempt(self, side, agent, tool, **arguments):
        if side == "there":
            return self.process.do("call", agent, tool, arguments)
        outcome = call(lambda: self.here, Caller(agent), tool, arguments)
        return outcome.failed, json.loads(json.dumps(outcome.data))

    # What is on disk, read by nothing of ours

    def text(self, path):
        return (self.root / path).read_bytes().decode()

    def put(self, path, text):
        (self.root / path).write_bytes(text.encode())

    def memory_on_disk(self):
        files = sorted(self.root.rglob("*.md"))
        paths = [file.relative_to(self.root).as_posix() for file in files]
        kept = (p for p in paths if "agent-memory/" in p and not p.startswith("."))
        return [p for p in kept if not ASIDE.search(p)]

    def items(self, path):
        """The lines of a memory note: word, and id or None."""
        found = map(ITEM.fullmatch, self.text(path).removeprefix("\ufeff").splitlines())
        return {one["word"]: one["id"] for one in found if one}

    def hidden(self, path):
        """The words of lines that have expired, wait for a review, or are stale."""
        found = map(ITEM.fullmatch, self.text(path).removeprefix("\ufeff").splitlines())
        return {one["word"] for one in found if one and HIDDEN.search(one["rest"])}

    def muted(self, path):
        return "muted: true" in self.text(path)

    def broken(self, path):
        return "broken: [" in self.text(path)

    def memory(self, draw, *, usable=False):
        """A memory note, as hypothesis chooses."""
        paths = [path for path in self.notes if not (usable and self.broken(path))]
        return draw(st.sampled_from(sorted(paths))) if paths else None

    def line(self, draw, *, usable=False, hidden=False):
        """The path, word and id of a line that has an id; one of all when `hidden` ones will do."""
        lines = [
            (path, word, name)
            for path in self.notes
            if not (usable and self.broken(path))
            for word, name in self.items(path).items()
            if name and (hidden or word not in self.hidden(path))
        ]
        return draw(st.sampled_from(sorted(lines))) if lines else None

    def at(self, path, word):
        return self.notes[path].index(word)
