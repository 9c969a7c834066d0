"""Agents, the owner's editor, crashes and the owner's commands in any order, in two processes.

After each step the notes, the journal, the index and the answers of both processes agree. What
must be in the notes is kept by the machine itself: one word, which occurs nowhere else, for each
line. So whoever loses a line, brings one back or shows one that is gone is told by its word.
"""

import itertools
import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from zibaldone.tools import history
from zibaldone.tools.mcp_server import call
from zibaldone.tools.purge import purge
from zibaldone.tools.revert import revert
from zibaldone.tools.vault import OWNER, Caller, Vault
from zibaldone.vault.errors import NoteExists, NoteNotFound, RevisionUnavailable
from zibaldone.vault.replay import replay

STEPS = (
    *("compared", "opened", "appended", "appended durably", "entered", "folder made"),
    *("created", "written", "synced", "renamed", "durable", "moved"),
)
AGENTS = ("planner", "writer", "critic")
CATEGORIES = ("alpha", "beta")
SIDES = st.sampled_from(("here", "there"))
NAMES = st.sampled_from(AGENTS)
ITEM = re.compile(r"- (?P<word>X[a-z]+x)\b(?P<rest>.*?)(?:\^(?P<id>\w+))?\s*")

# The second process: it does what it is told on its standard input, and can die in the middle.
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


@pytest.fixture(scope="module")
def there():
    process = Process()
    yield process
    process.close()


def words():
    """Words that share no stem with each other."""
    syllables = ("ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "ru")
    for number in itertools.count(10):
        yield "X" + "".join(syllables[int(digit)] for digit in str(number)) + "x"


class World(RuleBasedStateMachine):
    """A vault, two processes that have it open, and what has to be in its notes."""

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

    def items(self, path):
        """The lines of a memory note: word, and id or None."""
        found = map(ITEM.fullmatch, self.text(path).removeprefix("\ufeff").splitlines())
        return {one["word"]: one["id"] for one in found if one}

    def expired(self, path):
        lines = self.text(path).splitlines()
        return {ITEM.fullmatch(line)["word"] for line in lines if "2000-01-01" in line}

    def muted(self, path):
        return "muted: true" in self.text(path)

    def broken(self, path):
        return "broken: [" in self.text(path)

    def memory(self, draw, *, usable=False):
        """A memory note, as hypothesis chooses."""
        paths = [path for path in self.notes if not (usable and self.broken(path))]
        return draw(st.sampled_from(sorted(paths))) if paths else None

    def line(self, draw, *, usable=False):
        """The path, word and id of a line that has an id."""
        lines = [
            (path, word, name)
            for path in self.notes
            if not (usable and self.broken(path))
            for word, name in self.items(path).items()
            if name
        ]
        return draw(st.sampled_from(sorted(lines))) if lines else None

    def at(self, path, word):
        return self.notes[path].index(word)

    # Agents

    @rule(side=SIDES, agent=NAMES, category=st.sampled_from(CATEGORIES), project=st.booleans())
    def remember(self, side, agent, category, project):
        tool, more = self.remembering(project)
        word = self.new()
        failed, data = self.attempt(
            side, agent, tool, observation=f"{word}.", category=category, **more
        )
        if failed:
            assert data["error"]["code"] == "note_unusable", data
            assert any(self.broken(path) for path in self.notes), data
            return
        self.notes.setdefault(data["path"], []).append(word)
        assert data["outcome"] in ("created", "appended")
        assert self.items(data["path"])[word] == data["observationId"]

    @staticmethod
    def remembering(project):
        if project:
            return "remember_about_project", {"project": "boat"}
        return "remember_about_user", {}

    @rule(side=SIDES, agent=NAMES, data=st.data())
    def update(self, side, agent, data):
        if found := self.line(data.draw):
            path, word, name = found
            new = self.new()
            told = self.ask(
                side, agent, "update_memory", ref=f"{path}#^{name}", observation=f"{new}."
            )
            assert told["outcome"] == "updated"
            self.notes[path][self.at(path, word)] = new

    @rule(side=SIDES, agent=NAMES, data=st.data())
    def forget(self, side, agent, data):
        if found := self.line(data.draw):
            path, word, name = found
            told = self.ask(side, agent, "forget", ref=f"{path}#^{name}")
            self.notes[path].remove(word)
            self.gone[told["noteId"], name] = word

    @rule(side=SIDES, agent=NAMES, data=st.data())
    def edit(self, side, agent, data):
        if found := self.line(data.draw):
            path, word, _ = found
            new = self.new()
            self.ask(side, agent, "edit_note", ref=path, mode="findReplace", find=word, content=new)
            self.notes[path][self.at(path, word)] = new

    @rule(side=SIDES, agent=NAMES)
    def create(self, side, agent):
        word = self.new()
        made = self.ask(side, agent, "create_note", project="boat", title=f"T{word}", body=word)
        self.docs[made["path"]] = word

    @rule(side=SIDES, agent=NAMES, data=st.data())
    def delete(self, side, agent, data):
        path = data.draw(st.sampled_from(sorted({*self.notes, *self.docs} - {"keep.md"}) or [""]))
        if path:
            told = self.ask(side, agent, "delete_note", ref=path)
            kept = self.notes.pop(path, None), self.docs.pop(path, None)
            self.trash[told["noteId"]] = (path, *kept)

    # The owner in an editor

    @rule(data=st.data(), end=st.booleans())
    def owner_adds_a_line(self, data, end):
        if path := self.memory(data.draw):
            word, text = self.new(), self.text(path)
            feed = "\r\n" if "\r\n" in text else "\n"
            gap = "" if text.endswith("\n") else feed
            self.put(path, f"{text}{gap}- {word}{feed if end else ''}")
            self.notes[path].append(word)

    @rule(data=st.data())
    def owner_changes_a_word(self, data):
        if found := self.line(data.draw):
            path, word, _ = found
            new = self.new()
            self.put(path, self.text(path).replace(word, new))
            self.notes[path][self.at(path, word)] = new

    @rule(data=st.data())
    def owner_removes_a_line(self, data):
        if found := self.line(data.draw):
            path, word, _ = found
            lines = self.text(path).splitlines(keepends=True)
            self.put(path, "".join(line for line in lines if word not in line))
            self.notes[path].remove(word)

    @rule(data=st.data())
    def owner_lets_a_line_expire(self, data):
        if found := self.line(data.draw):
            path, word, name = found
            if word not in self.expired(path):
                mark = f"[expires:: 2000-01-01] ^{name}"
                self.put(path, self.text(path).replace(f"^{name}", mark))

    @rule(data=st.data(), number=st.integers(1, 3))
    def owner_renames(self, data, number):
        if path := self.memory(data.draw):
            new = f"{path.rpartition('/')[0]}/renamed-{number}.md"
            if not (self.root / new).exists():
                (self.root / path).rename(self.root / new)
                self.notes[new] = self.notes.pop(path)

    @rule(data=st.data())
    def owner_breaks_the_frontmatter_or_mends_it(self, data):
        if path := self.memory(data.draw):
            self.toggle(path, "broken: [")

    @rule(data=st.data())
    def owner_mutes(self, data):
        if path := self.memory(data.draw):
            self.toggle(path, "muted: true")

    def toggle(self, path, line):
        """Put a line into the frontmatter, or take it out when it is there."""
        text = self.text(path)
        feed = "\r\n" if "\r\n" in text else "\n"
        if line + feed in text:
            self.put(path, text.replace(line + feed, ""))
        else:
            self.put(path, text.replace(f"---{feed}", f"---{feed}{line}{feed}", 1))

    @rule(data=st.data())
    def owner_changes_the_line_ends(self, data):
        if path := self.memory(data.draw):
            text = self.text(path)
            plain = text.replace("\r\n", "\n")
            self.put(path, plain.replace("\n", "\r\n") if plain == text else plain)

    @rule(data=st.data())
    def owner_toggles_a_byte_order_mark(self, data):
        if path := self.memory(data.draw):
            text = self.text(path)
            bare = text.removeprefix("\ufeff")
            self.put(path, f"\ufeff{text}" if bare == text else bare)

    @rule(data=st.data())
    def owner_removes_a_note(self, data):
        if path := self.memory(data.draw):
            (self.root / path).unlink()
            del self.notes[path]

    # The owner's commands

    @precondition(lambda self: self.gone)
    @rule(data=st.data())
    def restore_what_was_forgotten(self, data):
        note, name = data.draw(st.sampled_from(sorted(self.gone, key=self.gone.get)))
        try:
            told = history.restore(self.here, f"{note}#^{name}")
        except (NoteNotFound, RevisionUnavailable):
            assert note not in {self.id_of(path) for path in self.notes}
            return
        self.bring_back(told.path, name, self.gone.pop((note, name)))

    def bring_back(self, path, name, word):
        there = {each: found for found, each in self.items(path).items()}
        assert there[name] == word
        if word not in self.notes[path]:
            self.notes[path].append(word)

    @rule(data=st.data())
    def restore_a_version(self, data):
        found = self.line(data.draw)
        if not found:
            return
        path, word, name = found
        note = self.id_of(path)
        known = {
            line.version: line.op
            for line in history.history(self.here, f"{note}#^{name}").revisions
        }
        version = data.draw(st.sampled_from(sorted(known)))
        past = self.word_in(note, name, version)
        if past is None:
            with pytest.raises(RevisionUnavailable):
                history.restore(self.here, f"{note}#^{name}", f"v{version}")
            return
        told = history.restore(self.here, f"{note}#^{name}", f"v{version}")
        assert told.path == path
        self.notes[path][self.at(path, word)] = past
        assert {each: one for one, each in self.items(path).items()}[name] == past

    def word_in(self, note, name, version):
        """The word of a line at one of its versions, as the bytes in the journal have it."""
        records = list(self.here.store.ledger.journal.records(note))
        (record,) = (
            each
            for each in records
            if any((one.observation, one.version) == (name, version) for one in each.touched)
        )
        try:
            text = (replay(records, record.hash) or b"").decode()
        except RevisionUnavailable:  # Words of that state were purged.
            return None
        found = (ITEM.fullmatch(line) for line in text.removeprefix("\ufeff").splitlines())
        return next((one["word"] for one in found if one and one["id"] == name), None)

    @precondition(lambda self: self.trash)
    @rule(data=st.data())
    def restore_from_the_trash(self, data):
        by_path = sorted(self.trash, key=lambda each: str(self.trash[each]))
        note = data.draw(st.sampled_from(by_path))
        path, lines, word = self.trash[note]
        if (self.root / path).exists():
            with pytest.raises(NoteExists):
                history.restore(self.here, note)
            return
        assert history.restore(self.here, note).path == path
        del self.trash[note]
        if lines is not None:
            self.notes[path] = lines
        else:
            self.docs[path] = word

    @rule(agent=NAMES)
    def revert(self, agent):
        """Only lines that the agent was the last to make, change or delete are changed."""
        before, ends = self.lines(), self.last_hands()
        deleted = {note for note, hand in ends.items() if note in self.trash and hand == agent}
        revert(self.here, agent, "2000-01-01")
        paths = {self.id_of(path): path for path in self.memory_on_disk()}
        for note in self.notes_by_id.keys() - paths.keys():
            path = self.notes_by_id[note]
            assert ends[note] == agent or not self.notes[path]
            self.trash[note] = (path, [], None)
        came = paths.keys() - self.notes_by_id.keys()
        assert came <= deleted
        for note in came:
            del self.trash[note]
        self.notes = {path: list(self.items(path)) for path in paths.values()}
        now = self.lines()
        for line, word in before.items():
            assert now.get(line) == word or ends[line] == agent, line
        assert {note for note, _ in now.keys() - before.keys()} <= came | {
            note for note, name in self.gone if ends.get((note, name)) == agent
        }
        self.gone = {line: word for line, word in self.gone.items() if line not in now}

    def lines(self):
        """Every line with an id: note and id, and its word. Keeps the ids of the notes."""
        self.notes_by_id = {self.id_of(path): path for path in self.notes}
        return {
            (note, name): word
            for note, path in self.notes_by_id.items()
            for word, name in self.items(path).items()
            if name
        }

    def last_hands(self):
        """Who was the last to change each line and each note; what was undone does not count."""
        records = [each for each in self.records() if each.actor.origin != "system"]
        undone = {each.of for each in self.records() if each.op == "undone"}
        hands = {}
        for record in records:
            if record.hash not in undone:
                hands[record.note] = record.actor.agent
                for each in record.touched:
                    hands[record.note, each.observation] = record.actor.agent
        return hands

    @rule(data=st.data())
    def purge(self, data):
        """No byte of a word is left, whatever the word has been through."""
        lines = {word: line for line, word in (self.lines() | self.gone).items()}
        if not lines:
            return
        word = data.draw(st.sampled_from(sorted(lines)))
        note, name = lines[word]
        path = self.notes_by_id.get(note)
        if path is None or self.broken(path):
            return
        purge(self.here, f"{note}#^{name}")
        self.gone.pop((note, name), None)
        if word in self.notes[path]:
            self.notes[path].remove(word)
        self.said.remove(word)
        for folder in (self.root, self.cache):
            for file in folder.rglob("*"):
                if file.is_file():
                    held = file.read_bytes().lower()
                    assert word.lower().encode() not in held, file

    # Accidents

    @rule(step=st.sampled_from(STEPS), agent=NAMES, data=st.data())
    def crash(self, step, agent, data):
        """A process is killed in the middle of a write: it is there whole or not at all."""
        kind = data.draw(st.sampled_from(("remember", "update", "forget", "delete")))
        found, new = self.line(data.draw), self.new()
        before = {path: self.text(path) for path in self.notes}
        if kind == "remember":
            tool, arguments = "remember_about_user", {"observation": f"{new}.", "category": "alpha"}
        elif not found:
            return
        elif kind == "update":
            ref = f"{found[0]}#^{found[2]}"
            tool, arguments = "update_memory", {"ref": ref, "observation": f"{new}."}
        elif kind == "forget":
            tool, arguments = "forget", {"ref": f"{found[0]}#^{found[2]}"}
        else:
            tool, arguments = "delete_note", {"ref": found[0]}
            note = self.id_of(found[0])
        self.process.do("crash", str(self.root), step, agent, tool, arguments)
        if kind == "delete" and not (self.root / found[0]).exists():
            self.trash[note] = (found[0], self.notes.pop(found[0]), None)
            before.pop(found[0])
        for path in self.memory_on_disk():
            now = self.text(path)
            if now == before.get(path):
                continue
            self.notes[path] = list(self.items(path))
            expected = {"remember": {new}, "update": {new}, "forget": set()}[kind]
            was = before.get(path, "")
            assert {word for word in self.said if word in now and word not in was} == expected
            lost = {word for word in self.said if word in was and word not in now}
            assert lost == (set() if kind == "remember" else {found[1]})
            if kind == "forget":
                self.gone[self.id_of(path), found[2]] = found[1]

    @rule()
    def start_again(self):
        self.close()
        self.open()

    @rule()
    def the_cache_is_lost(self):
        self.close()
        shutil.rmtree(self.cache)
        self.open()

    @rule()
    def the_history_is_read_anew(self):
        for file in self.cache.rglob("history.db"):
            file.unlink()

    # What has to hold

    def memory_on_disk(self):
        files = sorted(self.root.rglob("*.md"))
        paths = [file.relative_to(self.root).as_posix() for file in files]
        return [p for p in paths if "agent-memory/" in p and not p.startswith(".")]

    def id_of(self, path):
        return self.ask("here", "owner", "get_note", ref=path)["noteId"]

    def records(self):
        return self.here.store.ledger.journal.records()

    @invariant()
    def nothing_is_lost_on_disk(self):
        assert self.memory_on_disk() == sorted(self.notes)
        for path, lines in self.notes.items():
            assert list(self.items(path)) == lines, path
            assert len(set(self.items(path).values()) - {None}) == len(
                [name for name in self.items(path).values() if name]
            )

    @invariant()
    def both_processes_answer_from_the_files(self):
        shown = {
            word: (path, name)
            for path in self.notes
            for word, name in self.items(path).items()
            if word not in self.expired(path)
        }
        hidden = {word for word, (path, _) in shown.items() if self.muted(path)}
        query = " ".join(self.said)
        for side in ("here", "there"):
            hits = self.ask(side, "planner", "search", query=query, limit=100)["results"]
            found = {
                word: (hit["path"], hit.get("observationId"))
                for hit in hits
                for word in self.said
                if word in hit["snippet"] and hit["class"] == "agent-memory"
            }
            assert found == shown, side
            others = {word for hit in hits for word in self.said if word in hit["snippet"]}
            assert others - shown.keys() == set(self.docs.values()), side
            assert {h["path"] for h in hits if h.get("muted")} == {shown[w][0] for w in hidden}
            told = self.ask(
                side, "planner", "recall", query=query, budgetTokens=20000, maxPerSource=20000
            )
            given = {word for word in self.said if word in told["context"]}
            assert given <= (shown.keys() - hidden) | set(self.docs.values()), side
            self.check_versions(hits)
            self.check_versions(told["sources"])

    def check_versions(self, hits):
        self.here.store.ledger.history.catch_up()
        for hit in hits:
            if name := hit.get("observationId"):
                made = self.here.store.ledger.history.versions(name, hit["noteId"])
                assert hit["version"] == max(1, len(made)), (hit, made)
                assert [one.version for one in made] == list(range(1, len(made) + 1))
                assert [one.parent for one in made] == [None, *range(1, len(made))][: len(made)]

    @invariant()
    def the_journal_leads_to_the_bytes_on_disk(self):
        store = self.here.store
        assert store.ledger.journal.verify() == []
        for path in [*self.notes, *self.docs]:
            note = self.id_of(path)
            store.settle([(path, note)])
            records = list(store.ledger.journal.records(note))
            if records:
                assert replay(records) == (self.root / path).read_bytes(), path
        told = {each.note_id for each in history.trash(self.here)}
        assert told == set(self.trash)


def test_they_agree_in_any_order(tmp_path_factory, there, monkeypatch):
    base = tmp_path_factory.mktemp("worlds")
    monkeypatch.setattr(os, "fsync", lambda _: None)
    monkeypatch.setenv("ZIBALDONE_CACHE_DIR", "")

    class Machine(World):
        folders = (base / str(number) for number in itertools.count())
        process = there

    Machine.TestCase.settings = settings(
        max_examples=max(6, settings.default.max_examples // 8),
        stateful_step_count=25,
        suppress_health_check=list(HealthCheck),
    )
    Machine.TestCase().runTest()
