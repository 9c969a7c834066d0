"""Whatever an editor and two indexes do to a vault, each finds exactly what the files hold."""

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from zibaldone.indexer import index as index_module
from zibaldone.indexer import upkeep as upkeep_module
from zibaldone.indexer.index import Index
from zibaldone.indexer.view import Scope
from zibaldone.vault.layout import open_layout
from zibaldone.vault.store import Store

WORDS = ("anchor", "basil", "candle", "dolphin", "ember", "fjord")
NAMES = ("A.md", "b/B.md", "b/C.md", "agent-memory/d.md")

names = st.sampled_from(NAMES)
words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True)
either = st.integers(0, 1)


def text_of(some):
    return "".join(f"- Likes {word}.\n\n" for word in some)


class Changes(RuleBasedStateMachine):
    """`files` is what the vault holds; a note of its own keeps the vault from being empty."""

    def __init__(self):
        super().__init__()
        self.root = Path(tempfile.mkdtemp())
        self.limits = index_module.BULK, upkeep_module.PENDING_LIMIT, upkeep_module.SEGMENT_LIMIT
        index_module.BULK, upkeep_module.PENDING_LIMIT, upkeep_module.SEGMENT_LIMIT = 3, 4, 2
        self.layout = open_layout(self.root)
        self.store = Store(self.layout)
        self.indexes = [Index(self.layout), Index(self.layout)]
        self.files = {}
        (self.root / "Always.md").write_text("always\n")

    def teardown(self):
        for index in self.indexes:
            index.close()
        index_module.BULK, upkeep_module.PENDING_LIMIT, upkeep_module.SEGMENT_LIMIT = self.limits
        shutil.rmtree(self.layout.cache_dir, ignore_errors=True)
        shutil.rmtree(self.root)

    @rule(name=names, some=words)
    def editor_writes_in_place(self, name, some):
        (self.root / name).parent.mkdir(exist_ok=True)
        (self.root / name).write_text(text_of(some))
        self.files[name] = set(some)

    @rule(name=names, some=words)
    def editor_replaces(self, name, some):
        (self.root / name).parent.mkdir(exist_ok=True)
        (self.root / ".swap").write_text(text_of(some))
        os.replace(self.root / ".swap", self.root / name)  # noqa: PTH105 - as editors do
        self.files[name] = set(some)

    @rule(name=names, new=names)
    def editor_renames(self, name, new):
        if name in self.files and name != new:
            (self.root / new).parent.mkdir(exist_ok=True)
            (self.root / name).rename(self.root / new)
            self.files[new] = self.files.pop(name)

    @rule(name=names)
    def editor_deletes(self, name):
        if name in self.files:
            (self.root / name).unlink()
            del self.files[name]

    @rule(which=either, name=names, word=st.sampled_from(WORDS))
    def tool_appends(self, which, name, word):
        self.store.update(name, lambda old: (old or b"") + text_of([word]).encode())
        self.indexes[which].touched([name])
        self.files.setdefault(name, set()).add(word)

    @rule(which=either, name=names)
    def tool_trashes(self, which, name):
        if name in self.files:
            self.store.trash(name, "somenoteid12")
            self.indexes[which].touched([name])
            del self.files[name]

    @rule(which=either)
    def tidies(self, which):
        self.indexes[which].tidy()

    @rule(which=either)
    def begins_anew(self, which):
        self.indexes[which].refresh(rebuild=True)

    @rule(which=either)
    def is_opened_again(self, which):
        self.indexes[which].close()
        self.indexes[which] = Index(self.layout)

    @invariant()
    def each_finds_what_the_files_hold(self):
        for index in self.indexes:
            found = index.ask(lambda index=index: self.found(index))
            held = {w: {n for n, some in self.files.items() if w in some} for w in WORDS}
            assert found == held
            assert index.ask(index.freshness).behind == 0

    @staticmethod
    def found(index):
        hits = {word: index.find(word, Scope(), 50).hits for word in WORDS}
        assert all(word in hit.text for word, some in hits.items() for hit in some)
        rows = index.rows(Scope())
        assert len({row.id for row in rows}) == len(rows)
        return {word: {hit.row.path for hit in some} for word, some in hits.items()}


TestChanges = Changes.TestCase
TestChanges.settings = settings(max_examples=15, stateful_step_count=12, deadline=None)
