"""Agents, the owner's editor, crashes and the owner's commands in any order, in two processes.

After each step the notes, the journal, the index and the answers of both processes agree. What
must be in the notes is kept by the machine itself: one word, which occurs nowhere else, for each
line. So whoever loses a line, brings one back or shows one that is gone is told by its word.
"""

import itertools
import os
import shutil

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule
from two_processes import ITEM, Process, TwoProcesses
from zibaldone.tools import history, review
from zibaldone.tools.purge import purge
from zibaldone.tools.revert import revert
from zibaldone.vault.errors import NoteExists, NoteNotFound, RevisionUnavailable
from zibaldone.vault.replay import replay

PLAN = ("load", "sail", "moor")
STEPS = (
    *("compared", "opened", "appended", "appended durably", "entered", "folder made"),
    *("created", "written", "synced", "renamed", "durable", "moved"),
)
AGENTS = ("planner", "writer", "critic")
CATEGORIES = ("alpha", "beta")
SIDES = st.sampled_from(("here", "there"))
NAMES = st.sampled_from(AGENTS)


@pytest.fixture(scope="module")
def there():
    process = Process()
    yield process
    process.close()


class World(TwoProcesses):
    """What has to be in the notes of a vault that two processes have open."""

    # Agents

    @rule(side=SIDES, agent=NAMES, category=st.sampled_from(CATEGORIES), project=st.booleans())
    def remember(self, side, agent, category, project):
        where = {"project": "boat"} if project else {}
        self.add(side, agent, ("created", "appended"), category=category, **where)

    def add(self, side, agent, outcomes, **more):
        """Remember a new word; it fails only where a note is broken."""
        word, about = self.new(), "project" if "project" in more else "user"
        tool = f"remember_about_{about}"
        failed, data = self.attempt(side, agent, tool, observation=f"{word}.", **more)
        if failed:
            assert data["error"]["code"] == "note_unusable", data
            assert any(self.broken(path) for path in self.notes), data
            return
        self.notes.setdefault(data["path"], []).append(word)
        assert data["outcome"] in outcomes
        assert self.items(data["path"])[word] == data["observationId"]

    @rule(side=SIDES, agent=NAMES)
    def propose(self, side, agent):
        self.add(side, agent, ("pending",), category="alpha", untrusted=True)

    @rule(side=SIDES, agent=NAMES, data=st.data())
    def derive(self, side, agent, data):
        """Remember what rests on another line, and is stale once that changes."""
        if found := self.line(data.draw):
            source = {"derivedFrom": [found[2]]}
            self.add(side, agent, ("created", "appended"), category="beta", **source)

    @rule(side=SIDES, thread=st.sampled_from(("dawn", "dusk")))
    def take_note(self, side, thread):
        word = self.new()
        self.ask(side, "clerk", "take_note", thread=thread, text=f"{word}.")
        self.threads.setdefault(thread, []).append(f"{word}.")

    @rule(
        side=SIDES, step=st.sampled_from(PLAN), how=st.sampled_from(("start", "complete", "fail"))
    )
    def work(self, side, step, how):
        """A step that is done stays so."""
        if not self.plan:
            self.ask(side, "clerk", "create_progress", task="Voyage", steps=PLAN)
            self.plan = dict.fromkeys(PLAN, "open")
        more = {"reason": "fog"} if how == "fail" else {}
        where = {"task": "Voyage", "step": step}
        failed, data = self.attempt(side, "clerk", f"{how}_step", **where, **more)
        if not failed:
            assert self.plan[step] != "done" or data["step"]["state"] == "done"
            self.plan[step] = data["step"]["state"]

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
            failed, told = self.attempt(side, agent, "delete_note", ref=path)
            if failed:
                assert told["error"]["code"] == "owner_only", told
                assert "[status:: unreviewed]" in self.text(path)
                return
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
        if found := self.line(data.draw, hidden=True):
            path, word, _ = found
            new = self.new()
            self.put(path, self.text(path).replace(word, new))
            self.notes[path][self.at(path, word)] = new

    @rule(data=st.data())
    def owner_removes_a_line(self, data):
        if found := self.line(data.draw, hidden=True):
            path, word, _ = found
            lines = self.text(path).splitlines(keepends=True)
            self.put(path, "".join(line for line in lines if word not in line))
            self.notes[path].remove(word)

    @rule(data=st.data())
    def owner_lets_a_line_expire(self, data):
        if found := self.line(data.draw, hidden=True):
            path, word, name = found
            if word not in self.hidden(path):
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

    @rule(data=st.data(), decide=st.sampled_from((review.accept, review.reject)))
    def decide_on_a_proposal(self, data, decide):
        waiting = {ITEM.match(one.line)["word"]: one for one in review.queue(self.here)}
        waiting = {word: one for word, one in waiting.items() if not self.broken(one.path)}
        if not waiting:
            return
        word = data.draw(st.sampled_from(sorted(waiting)))
        one = waiting[word]
        decide(self.here, one.ticket)
        if decide is review.reject:
            self.notes[one.path].remove(word)
            self.gone[self.id_of(one.path), one.observation_id] = word

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
        found = self.line(data.draw, hidden=True)
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
        try:
            told = history.restore(self.here, f"{note}#^{name}", f"v{version}")
        except RevisionUnavailable:
            assert past is None
            return
        assert told.path == path
        now = {each: one for one, each in self.items(path).items()}[name]
        # Where other words of that state were purged, only the tool still finds this line.
        assert now == past or (past is None and now in self.said)
        self.notes[path][self.at(path, word)] = now

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
            now, was = self.text(path), before.get(path, "")
            came = {word for word in self.said if word in now and word not in was}
            lost = {word for word in self.said if word in was and word not in now}
            if not came and not lost:  # A line may have become stale.
                continue
            self.notes[path] = list(self.items(path))
            assert came == {"remember": {new}, "update": {new}, "forget": set()}[kind]
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
        query = " ".join(self.said)
        for side in ("here", "there"):
            hits = self.ask(side, "planner", "search", query=query, limit=100)["results"]
            shown = self.shown()  # A question marks first what has become stale.
            muted = {word for word, (path, _) in shown.items() if self.muted(path)}
            found = {
                word: (hit["path"], hit.get("observationId"))
                for hit in hits
                for word in self.said
                if word in hit["snippet"] and hit["class"] == "agent-memory"
            }
            assert found == shown, side
            others = {word for hit in hits for word in self.said if word in hit["snippet"]}
            assert others - shown.keys() == set(self.docs.values()), side
            assert {h["path"] for h in hits if h.get("muted")} == {shown[w][0] for w in muted}
            told = self.ask(
                side, "planner", "recall", query=query, budgetTokens=20000, maxPerSource=20000
            )
            given = {word for word in self.said if word in told["context"]}
            assert given <= (shown.keys() - muted) | set(self.docs.values()), side
            self.check_versions(hits)
            self.check_versions(told["sources"])

    @invariant()
    def work_goes_on_where_it_is(self):
        for side in ("here", "there"):
            for thread, notes in self.threads.items():
                told = self.ask(side, "clerk", "read_notes", thread=thread)["notes"]
                assert [one["text"] for one in told] == notes
            if self.plan:
                (told,) = self.ask(side, "clerk", "progress", task="Voyage")["plans"]
                assert {one["step"]: one["state"] for one in told["steps"]} == self.plan

    def shown(self):
        """Where the lines stand that are not hidden, by their words: the note, and the id."""
        return {
            word: (path, name)
            for path in self.notes
            for word, name in self.items(path).items()
            if word not in self.hidden(path)
        }

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
