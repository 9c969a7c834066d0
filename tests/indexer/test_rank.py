"""The quick ranking gives what adding up everything would give."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from zibaldone.indexer.analysis import QueryTerm
from zibaldone.indexer.best import Best
from zibaldone.indexer.rank import COPY_SHARE, NOTE_SHARE, Ranked, idf, rank
from zibaldone.indexer.view import Overlay

TERMS = ("tea", "boat", "rope", "kiln")


class FakeRow:
    def __init__(self, path, docs, *, conflict_copy):
        self.path, self.docs, self.conflict_copy = path, docs, conflict_copy


class FakeView:
    """Notes, each a list of documents (its head first), all in one source."""

    def __init__(self, notes, copies=()):
        self.overlay = Overlay()
        self.rows, self.owner = {}, [0]
        self.copies = set(copies)
        self.documents = {}
        last = 0
        for number, note in enumerate(notes, 1):
            docs = []
            for impacts in note:
                last += 1
                self.overlay.add(last, impacts)
                self.owner.append(number)
                self.documents[last] = impacts
                docs.append(last)
            copy = number in self.copies
            self.rows[number] = FakeRow(
                f"{number % 3}-{number}.md", tuple(docs), conflict_copy=copy
            )
        self.best = Best(self)

    def sources(self):
        return [self.overlay]


def added_up(view, query, allowed):
    """The score of every note and passage, by the definition."""
    found = {}
    for number in allowed:
        row = view.rows[number]
        share = COPY_SHARE if row.conflict_copy else 1.0
        docs = [view.documents[doc] for doc in row.docs]
        weights = {term.text: term.weight * idf(view, term.text) for term in query}
        terms = [text for text in weights if any(text in impacts for impacts in docs)]
        if not terms:
            continue
        whole = share * sum(weights[t] * max(i.get(t, 0.0) for i in docs) for t in terms)
        parts = {
            part: share * sum(weights[t] * impacts.get(t, 0.0) for t in terms)
            for part, impacts in enumerate(docs[1:], 1)
            if any(t in impacts for t in terms)
        }
        if not parts:
            parts = {1 if len(docs) > 1 else 0: 0.0}
        found[number] = (whole, {part: s + NOTE_SHARE * whole for part, s in parts.items()})
    return found


def made(rng):
    """Some notes of a few documents with a few terms."""
    return [
        [
            {
                term: rng.choice([0.25, 0.5, 1.0, 2.0])
                for term in rng.sample(TERMS, rng.randrange(4))
            }
            for _ in range(rng.randrange(1, 4))
        ]
        for _ in range(rng.randrange(1, 15))
    ]


@settings(max_examples=400)
@given(st.integers(0))
def test_the_best_passages_of_the_best_notes_in_their_order(seed):
    rng = random.Random(seed)
    notes, limit = made(rng), rng.randrange(1, 7)
    asked = rng.sample((*TERMS, "none"), rng.randrange(1, 5))
    query = [QueryTerm(term, rng.choice([0.5, 1.0, 2.0])) for term in asked]
    numbers = range(1, len(notes) + 1)
    copies = rng.sample(numbers, rng.randrange(2)) if len(notes) > 2 else []
    allowed = set(numbers if rng.random() < 0.5 else rng.sample(numbers, rng.randrange(len(notes))))
    view = FakeView(notes, copies)
    ranking = rank(view, query, allowed, limit)
    expected = added_up(view, query, allowed)
    assert ranking.notes == len(expected)
    for hit in ranking.hits:
        assert hit.score == pytest.approx(expected[hit.note][1][hit.part], abs=1e-5)
    scores = [hit.score for hit in ranking.hits]
    assert scores == sorted(scores, reverse=True)
    # No passage of a note that is clearly among the best may be missing.
    wholes = sorted((whole for whole, _ in expected.values()), reverse=True)
    beyond = wholes[limit] if len(wholes) > limit else 0.0
    for number, (whole, parts) in expected.items():
        for part, score in parts.items():
            found = any((hit.note, hit.part) == (number, part) for hit in ranking.hits)
            full = len(ranking.hits) == limit and score <= scores[-1] + 1e-5
            assert found or full or whole <= beyond + 1e-5


def test_equal_scores_are_in_the_order_of_paths():
    view = FakeView([[{}, {"tea": 1.0}]] * 6)
    hits = rank(view, [QueryTerm("tea", 1.0)], set(view.rows), 4).hits
    assert [view.rows[hit.note].path for hit in hits] == ["0-3.md", "0-6.md", "1-1.md", "1-4.md"]


def test_common_words_do_not_decide_but_are_added_to_what_rare_ones_found():
    rare = [[{}, {"kiln": 2.0, "tea": 0.5}], [{}, {"kiln": 2.0, "tea": 2.0}]]
    view = FakeView(rare + [[{}, {"tea": 2.0}]] * 40)
    ranking = rank(view, [QueryTerm("tea", 1.0), QueryTerm("kiln", 1.0)], set(view.rows), 2)
    assert [hit.note for hit in ranking.hits] == [2, 1]
    assert ranking.notes == 42


def test_a_conflict_copy_ranks_behind_what_it_is_a_copy_of():
    view = FakeView([[{}, {"tea": 2.0}], [{}, {"tea": 1.9}], [{}, {"tea": 0.1}]], copies=[1])
    hits = rank(view, [QueryTerm("tea", 1.0)], set(view.rows), 1).hits
    assert [hit.note for hit in hits] == [2]


def test_a_note_that_only_its_head_answers_for_is_shown_by_its_first_passage():
    view = FakeView([[{"tea": 1.0}, {"boat": 1.0}], [{"tea": 1.0}]])
    hits = rank(view, [QueryTerm("tea", 1.0)], set(view.rows), 5).hits
    assert [(hit.note, hit.part) for hit in hits] == [(1, 1), (2, 0)]
    assert all(isinstance(hit, Ranked) for hit in hits)


def test_nothing_allowed_or_no_term_finds_nothing():
    view = FakeView([[{}, {"tea": 1.0}]])
    assert rank(view, [QueryTerm("tea", 1.0)], set(), 5).notes == 0
    assert rank(view, [], set(view.rows), 5) == rank(view, [QueryTerm("no", 1.0)], {1}, 5)
