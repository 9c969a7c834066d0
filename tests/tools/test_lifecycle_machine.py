"""Whatever is done to observations in whatever order: notes, journal, index and answers agree.

Two handles on one vault take turns, as two processes do, and the owner edits in an editor. After
each step the history verifies and leads to the bytes of the notes, search finds what the notes
say, and no word that was purged or redacted is in any file.
"""

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from zibaldone.tools import history
from zibaldone.tools.lifecycle import forget, update_memory
from zibaldone.tools.notes import delete_note
from zibaldone.tools.purge import purge, redact
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.search import search
from zibaldone.tools.vault import Vault
from zibaldone.vault.replay import replay

NOTE = "agent-memory/taste.md"
CACHE = "ZIBALDONE_CACHE_DIR"


class Lifecycle(RuleBasedStateMachine):
    """`live` has the words of each observation in the note, `gone` of those that are forgotten."""

    @initialize()
    def begin(self):
        self.top = Path(tempfile.mkdtemp())
        (self.top / "vault").mkdir()
        self.before = os.environ.get(CACHE)
        os.environ[CACHE] = str(self.top / "cache")
        self.vaults = [Vault.open(self.top / "vault") for _ in range(2)]
        self.count = 0
        self.ids, self.live, self.gone, self.past, self.struck = {}, {}, {}, {}, []
        self.deleted = False

    def teardown(self):
        if hasattr(self, "vaults"):
            for vault in self.vaults:
                vault.close()
            os.environ[CACHE] = self.before or ""
            shutil.rmtree(self.top)

    def word(self):
        self.count += 1
        return f"zibra{self.count:03}canary"

    def vault(self, data):
        return self.vaults[data.draw(st.integers(0, 1))]

    def some(self, data, among):
        return data.draw(st.sampled_from(sorted(among)))

    @precondition(lambda self: not self.deleted)
    @rule(data=st.data())
    def remember(self, data):
        word = self.word()
        made = remember_about_user(self.vault(data), f"Likes {word} much.", "taste")
        # Ids are random; the choices of a run have to be the same the next time.
        self.ids[self.count] = made.observation_id
        self.live[self.count] = word
        self.past[self.count] = [word]

    @precondition(lambda self: self.live and not self.deleted)
    @rule(data=st.data(), by_hand=st.booleans())
    def change(self, data, by_hand):
        one, word = self.some(data, self.live), self.word()
        if by_hand:
            note = self.top / "vault" / NOTE
            note.write_text(note.read_text().replace(self.live[one], word))
        else:
            update_memory(self.vault(data), self.ids[one], f"Likes {word} much.")
        self.live[one] = word
        self.past[one].append(word)

    @precondition(lambda self: self.live and not self.deleted)
    @rule(data=st.data())
    def forget(self, data):
        one = self.some(data, self.live)
        forget(self.vault(data), self.ids[one])
        self.gone[one] = self.live.pop(one)

    @precondition(lambda self: self.gone and not self.deleted)
    @rule(data=st.data())
    def restore(self, data):
        one = self.some(data, self.gone)
        history.restore(self.vault(data), self.ids[one])
        self.live[one] = self.gone.pop(one)

    @precondition(lambda self: (self.live or self.gone) and self.past)
    @rule(data=st.data())
    def purge(self, data):
        one = self.some(data, {*self.live, *self.gone})
        purge(self.vault(data), self.ids[one])
        self.struck += filter(None, self.past.pop(one))
        self.live.pop(one, None)
        self.gone.pop(one, None)

    def changed(self):
        """The observations whose first words are not those of now, and are still in the history."""
        now = {**self.live, **self.gone}
        return [one for one, words in self.past.items() if words[0] not in (None, now[one])]

    @precondition(lambda self: self.changed())
    @rule(data=st.data())
    def redact(self, data):
        one = self.some(data, self.changed())
        redact(self.vault(data), self.ids[one], "v1")
        self.struck.append(self.past[one][0])
        self.past[one][0] = None

    @precondition(lambda self: self.past and not self.deleted)
    @rule(data=st.data())
    def delete(self, data):
        delete_note(self.vault(data), NOTE)
        self.deleted = True

    @precondition(lambda self: self.deleted)
    @rule(data=st.data())
    def restore_note(self, data):
        vault = self.vault(data)
        (kept,) = history.trash(vault)
        history.restore(vault, kept.note_id)
        self.deleted = False

    @invariant()
    def no_struck_word_is_in_any_file(self):
        files = (path for path in self.top.rglob("*") if path.is_file() and self.struck)
        for path in files:
            data = path.read_bytes()
            assert [word for word in self.struck if word.encode() in data] == [], path

    @invariant()
    def search_finds_what_the_note_says(self):
        for vault in self.vaults:
            found = {hit.observation_id for hit in search(vault, "Likes much", limit=100).results}
            assert found - {None} == (
                set() if self.deleted else {self.ids[one] for one in self.live}
            )

    @invariant()
    def the_history_is_whole_and_leads_to_the_note(self):
        ledger = self.vaults[0].store.ledger
        assert ledger.journal.verify() == []
        ledger.history.catch_up()
        note = self.top / "vault" / NOTE
        for state in ledger.history.notes():
            if state.token is not None:
                assert replay(ledger.history.records(state.note)) == note.read_bytes()


TestLifecycle = Lifecycle.TestCase
TestLifecycle.settings = settings(
    max_examples=max(8, settings.default.max_examples // 12),
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
