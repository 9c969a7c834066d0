"""Two machines whose vault folder is synced both ways, as Syncthing and the like do it.

Each has a cache, a clock and a device name of its own. A sync copies what one side has and the
other has not; of a note that both have changed, one version stays and the other becomes a
conflict copy beside it. Journals never conflict, since no device writes into another's.
"""

import itertools
import os
import shutil

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from zibaldone.tools.history import history, restore
from zibaldone.tools.lifecycle import forget, update_memory
from zibaldone.tools.notes import get_note
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.search import search
from zibaldone.tools.vault import Caller, Vault
from zibaldone.vault.replay import replay

YEAR = 365 * 24 * 3600


class Machine:
    """One of the machines: its folder, its cache, and how far its clock is off."""

    def __init__(self, base, name, patch, ahead=0.0):
        self.name, self.root, self.seen = name, base / name / "vault", {}
        self.root.mkdir(parents=True)
        (self.root / "mine.md").write_text("Mine.\n")
        (self.root / "zibaldone.toml").write_text('write_gate = "off"\n')
        patch.setenv("ZIBALDONE_CACHE_DIR", str(base / name / "cache"))
        self.vault = Vault.open(self.root)
        journal = self.vault.store.ledger.journal
        clock = journal._clock
        journal._clock = lambda: clock() + ahead
        self.agent = self.vault.with_caller(Caller(f"agent of {name}"))

    @property
    def journal(self):
        return self.vault.store.ledger.journal

    def files(self):
        """What is synced: notes and the state folder."""
        found = (path for path in self.root.rglob("*") if path.is_file())
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in found}

    def put(self, path, data):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        if data is None:
            (self.root / path).unlink(missing_ok=True)
        else:
            (self.root / path).write_bytes(data)


class Sync:
    """Copies both ways, and knows what both sides had when it last did."""

    def __init__(self, one, other):
        self.sides, self.base, self.conflicts = (one, other), {}, []
        self.numbers = itertools.count(100_000)

    def run(self, winner=0):
        """Sync; where both have changed a file, the version of `winner` keeps the name."""
        mine, theirs = (side.files() for side in self.sides)
        for path in sorted({*mine, *theirs, *self.base}):
            before, here, there = (each.get(path) for each in (self.base, mine, theirs))
            if here == there:
                continue
            if here != before and there != before:
                self.conflict(path, here, there, winner)
            else:
                side, data = (1, here) if there == before else (0, there)
                self.sides[side].put(path, data)
        self.base = self.sides[0].files()
        assert self.base == self.sides[1].files()

    def conflict(self, path, here, there, winner):
        self.conflicts.append(path)
        kept, lost = (here, there) if winner == 0 else (there, here)
        kept, lost = (lost, None) if kept is None else (kept, lost)
        copy = f"{path[:-3]}.sync-conflict-20270131-{next(self.numbers)}-ABCDEFG.md"
        for side in self.sides:
            side.put(path, kept)
            if lost is not None:
                side.put(copy, lost)


@pytest.fixture
def pair(tmp_path, monkeypatch, request):
    ahead = getattr(request, "param", 0.0)
    one = Machine(tmp_path, "desk", monkeypatch)
    other = Machine(tmp_path, "laptop", monkeypatch, ahead)
    yield one, other, Sync(one, other)
    for each in (one, other):
        assert each.journal.verify() == []
        each.vault.close()


def told(machine, ref):
    return [
        (line.op, line.agent, line.version, line.parent)
        for line in history(machine.vault, ref).revisions
    ]


def test_a_history_that_was_made_in_turns_is_one(pair):
    desk, laptop, sync = pair
    made = remember_about_user(desk.agent, "Prefers dark themes.", category="taste")
    sync.run()
    update_memory(laptop.agent, made.observation_id, "Prefers light themes.")
    sync.run()
    note = desk.root / made.path
    note.write_text(note.read_text().replace("light", "sepia"))
    assert search(desk.agent, "sepia themes").results[0].version == 3
    sync.run()
    forget(laptop.agent, made.observation_id)
    sync.run()
    assert restore(desk.vault, made.observation_id).version == 5
    sync.run()
    assert sync.conflicts == []
    assert told(desk, made.observation_id) == told(laptop, made.observation_id)
    assert told(laptop, made.observation_id) == [
        ("create", "agent of desk", 1, None),
        ("update", "agent of laptop", 2, 1),
        ("update", "editor", 3, 2),
        ("forget", "agent of laptop", 4, 3),
        ("restore", "owner", 5, 4),
    ]
    assert search(laptop.agent, "sepia themes").results[0].version == 5


@pytest.mark.parametrize("pair", [YEAR, -YEAR], indirect=True, ids=["ahead", "behind"])
def test_clocks_that_differ_by_a_year_do_not_mix_up_a_history(pair):
    desk, laptop, sync = pair
    made = remember_about_user(desk.agent, "Prefers dark themes.", category="taste")
    sync.run()
    for number, side in enumerate((laptop, desk, laptop, desk, laptop)):
        update_memory(side.agent, made.observation_id, f"Prefers themes number{number}.")
        sync.run()
    for each in (desk, laptop):
        assert [line[2] for line in told(each, made.observation_id)] == [1, 2, 3, 4, 5, 6]
        records = list(each.journal.records(made.note_id))
        assert replay(records) == (each.root / made.path).read_bytes()
    forget(laptop.agent, made.observation_id)
    sync.run()
    assert restore(desk.vault, made.observation_id).version == 8
    assert get_note(desk.vault, made.path).observations[0].text == "Prefers themes number4."


@pytest.mark.parametrize("winner", [0, 1])
def test_notes_that_both_have_changed_leave_a_copy_and_one_journal(pair, winner):
    desk, laptop, sync = pair
    made = remember_about_user(desk.agent, "Prefers dark themes.", category="taste")
    sync.run()
    update_memory(desk.agent, made.observation_id, "Prefers themes of the desk.")
    update_memory(laptop.agent, made.observation_id, "Prefers themes of the laptop.")
    sync.run(winner)
    assert sync.conflicts == [made.path]
    kept = ("desk", "laptop")[winner]
    for each in (desk, laptop):
        assert f"of the {kept}" in (each.root / made.path).read_text()
        hits = search(each.agent, "prefers themes").results
        assert {hit.conflict_copy for hit in hits} == {None, True}
        assert {hit.version for hit in hits if not hit.conflict_copy} == {2}
    ref = f"{made.path}#^{made.observation_id}"
    updated = update_memory((laptop, desk)[winner].agent, ref, "Prefers both themes.")
    sync.run()
    assert updated.version == 3
    assert told(desk, ref) == told(laptop, ref)
    ops = [line[0] for line in told(desk, ref)]
    assert sorted(ops) == ["create", "update", "update", "update"], "nobody undid or edited it"


def test_what_is_done_to_a_conflict_copy_is_no_change_of_its_note(pair):
    desk, laptop, sync = pair
    made = remember_about_user(desk.agent, "Prefers dark themes.", category="taste")
    sync.run()
    update_memory(desk.agent, made.observation_id, "Prefers themes of the desk.")
    update_memory(laptop.agent, made.observation_id, "Prefers themes of the laptop.")
    sync.run()
    [copy] = (path for path in desk.files() if "sync-conflict" in path)
    assert get_note(desk.vault, copy).note_id != made.note_id
    update_memory(desk.agent, f"{copy}#^{made.observation_id}", "Prefers themes of neither.")
    note = desk.root / made.path
    note.write_text(note.read_text().replace("the desk", "sepia"))
    [hit] = (hit for hit in search(desk.agent, "sepia themes").results if not hit.conflict_copy)
    assert (hit.note_id, hit.version) == (made.note_id, 3)


WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "haven")
SIDES = st.sampled_from((0, 1))


def test_they_agree_after_any_changes(tmp_path_factory, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)
    numbers = itertools.count()

    class Pair(RuleBasedStateMachine):
        """Both sides write, offline for as long as they like; a sync joins them."""

        def __init__(self):
            super().__init__()
            self.base = tmp_path_factory.mktemp(f"pair{next(numbers)}")
            sides = (("desk", 0.0), ("laptop", -YEAR))
            self.sides = [Machine(self.base, name, monkeypatch, off) for name, off in sides]
            self.sync = Sync(*self.sides)
            self.count = itertools.count()

        def lines(self, side):
            notes = sorted((side.root / "agent-memory").glob("*.md"))
            for file in notes:
                path = file.relative_to(side.root).as_posix()
                for each in get_note(side.vault, path).observations:
                    if each.observation_id:
                        yield f"{path}#^{each.observation_id}"

        @rule(side=SIDES, word=st.sampled_from(WORDS), category=st.sampled_from(("a", "b")))
        def remember(self, side, word, category):
            text = f"{word}{next(self.count)}."
            remember_about_user(self.sides[side].agent, text, category=category)

        @rule(side=SIDES, data=st.data(), kind=st.sampled_from(("update", "forget", "edit")))
        def change(self, side, data, kind):
            chosen = self.sides[side]
            lines = list(self.lines(chosen))
            if not lines:
                return
            ref = lines[data.draw(st.integers(0, len(lines) - 1))]
            text = f"other{next(self.count)}."
            if kind == "update":
                update_memory(chosen.agent, ref, text)
            elif kind == "forget":
                forget(chosen.agent, ref)
            else:
                path = chosen.root / ref.partition("#")[0]
                path.write_bytes(path.read_bytes().replace(b".", b"!", 1))

        @rule(winner=SIDES)
        def join(self, winner):
            self.sync.run(winner)
            assert all(path.startswith("agent-memory/") for path in self.sync.conflicts)
            for each in self.sides:
                list(self.lines(each))
            self.sync.run(winner)
            one, other = (self.told(each) for each in self.sides)
            assert one == other

        def told(self, side):
            """Every revision, and the version of every line, as one side knows them."""
            records = {record.hash for record in side.journal.records()}
            side.vault.store.ledger.history.catch_up()
            known = side.vault.store.ledger.history
            versions = {ref: known.version(ref.rpartition("^")[2]) for ref in self.lines(side)}
            return records, versions

        @invariant()
        def every_history_leads_to_its_bytes(self):
            for side in self.sides:
                assert side.journal.verify() == []
                for file in sorted((side.root / "agent-memory").glob("*.md")):
                    path = file.relative_to(side.root).as_posix()
                    if "sync-conflict" in path:
                        continue
                    note = get_note(side.vault, path).note_id
                    side.vault.store.settle([(path, note)])
                    records = list(side.journal.records(note))
                    heads = {state.record for state in side.vault.store.ledger.history.states(note)}
                    states = [replay(records, head) for head in heads]
                    assert file.read_bytes() in states, path

        def teardown(self):
            for each in self.sides:
                each.vault.close()
            shutil.rmtree(self.base)

    Pair.TestCase.settings = settings(
        max_examples=max(8, settings.default.max_examples // 6),
        stateful_step_count=20,
        suppress_health_check=list(HealthCheck),
    )
    Pair.TestCase().runTest()
