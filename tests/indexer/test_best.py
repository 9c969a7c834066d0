"""What is kept over small changes must be what working it out anew would give."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from zibaldone.indexer import best
from zibaldone.indexer.best import Best, matching
from zibaldone.indexer.view import Overlay

TERMS = ("tea", "boat", "rope")


class FakeRow:
    def __init__(self, docs):
        self.docs = docs


class FakeView:
    """Notes whose documents are in two sources, both of which grow."""

    def __init__(self):
        self.rows = {}
        self.owner = [0]
        self._sources = Overlay(), Overlay()

    def sources(self):
        return self._sources

    def add_document(self, source, impacts):
        self.owner.append(0)
        self._sources[source].add(len(self.owner) - 1, impacts)
        return len(self.owner) - 1

    def own(self, docs, note):
        for doc in docs:
            self.owner[doc] = note


documents = st.dictionaries(st.sampled_from(TERMS), st.sampled_from([0.5, 1.0, 1.5]))


class Changes(RuleBasedStateMachine):
    """Notes come, grow, shrink and go, while terms are asked for now and then."""

    def __init__(self):
        super().__init__()
        self.view = FakeView()
        self.best = Best(self.view)

    @rule(note=st.integers(1, 4), new=st.lists(documents, max_size=3), data=st.data())
    def change(self, note, new, data):
        old = self.view.rows[note].docs if note in self.view.rows else ()
        kept = data.draw(st.lists(st.sampled_from(old), unique=True)) if old else []
        source = data.draw(st.sampled_from([0, 1]))
        docs = (*kept, *(self.view.add_document(source, impacts) for impacts in new))
        self.view.own(old, 0)
        self.view.own(docs, note)
        self.view.rows[note] = FakeRow(docs)
        self.best.touch(note, old, docs)

    @rule(note=st.integers(1, 4))
    def remove(self, note):
        row = self.view.rows.pop(note, None)
        if row:
            self.view.own(row.docs, 0)
            self.best.touch(note, row.docs, ())

    @rule(term=st.sampled_from(TERMS))
    def ask(self, term):
        found, anew = self.best.impacts(term), Best(self.view).impacts(term)
        assert found.by_note == anew.by_note
        assert found.peak >= max(found.by_note.values(), default=0.0)

    @rule()
    def move(self):
        self.view._sources = self.view._sources[::-1]
        self.best.moved()

    @rule()
    def forget(self):
        self.best.clear()

    @invariant()
    def nothing_of_a_note_that_is_gone(self):
        assert set(self.best.impacts("tea").by_note) <= self.view.rows.keys()


TestChanges = Changes.TestCase


@pytest.fixture
def view():
    view = FakeView()
    docs = (view.add_document(0, {"tea": 1.0}), view.add_document(1, {"tea": 2.0, "boat": 0.5}))
    view.own(docs, 7)
    view.rows[7] = FakeRow(docs)
    return view


def test_the_best_of_several_documents_counts(view):
    assert Best(view).impacts("tea").by_note == {7: 2.0}
    assert Best(view).impacts("rope").by_note == {}


def test_a_note_that_only_grew_is_looked_at_in_its_new_documents_alone(view):
    kept = Best(view)
    kept.impacts("tea")
    old = view.rows[7].docs
    view.own(old[:1], 0)  # would be seen as gone if the old documents were looked at again
    new = view.add_document(1, {"tea": 3.0})
    kept.touch(7, old, (*old, new))
    view.rows[7] = FakeRow((*old, new))
    assert kept.impacts("tea").by_note == {7: 3.0}


def test_many_changes_or_many_pairs_are_forgotten_as_a_whole(view, monkeypatch):
    monkeypatch.setattr(best, "TOUCHES", 3)
    kept = Best(view)
    first = kept.impacts("tea")
    for _ in range(3):
        kept.touch(7, view.rows[7].docs, ())
    assert kept.impacts("tea") is first
    kept.touch(7, view.rows[7].docs, ())
    assert kept.impacts("tea") is not first
    monkeypatch.setattr(best, "KEPT", 0)
    again = kept.impacts("tea")
    kept.impacts("boat")
    assert kept.impacts("tea") is not again
    assert kept.impacts("tea").by_note == {7: 2.0}


@given(
    st.dictionaries(st.integers(0, 60), st.floats(0.125, 2.0, width=32)),
    st.dictionaries(st.integers(0, 60), st.text(max_size=2)),
)
def test_matching_finds_the_same_whichever_side_is_walked(postings, wanted):
    overlay = Overlay()
    for doc in sorted(postings):
        overlay.add(doc, {"tea": postings[doc]})
    found = overlay.postings("tea")
    if found is None:
        return
    both = sorted((wanted[doc], postings[doc]) for doc in wanted.keys() & postings.keys())
    assert sorted(matching(found, wanted)) == both
