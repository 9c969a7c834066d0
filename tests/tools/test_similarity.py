"""Near memories: rewordings and contradictions are found, other subjects are left alone."""

import json
from collections import Counter
from math import log
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zibaldone.indexer.analysis import stems
from zibaldone.tools.similarity import Similarity, compare

PAIRS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data/pairs.jsonl").read_text("utf-8").splitlines()
]
SENTENCES = {sentence for pair in PAIRS for sentence in (pair["a"], pair["b"])}
HOLDERS = Counter(stem for sentence in SENTENCES for stem in set(stems(sentence)))


def idf(stem):
    return log(1 + (len(SENTENCES) - HOLDERS[stem] + 0.5) / (HOLDERS[stem] + 0.5))


def flat(stem):
    return 1.0


@pytest.fixture(scope="module")
def found():
    """label -> how often each kind was found for it."""
    kinds = {}
    for pair in PAIRS:
        kind = compare(pair["a"], pair["b"], idf).kind
        kinds.setdefault(pair["label"], Counter())[kind] += 1
    return kinds


def test_the_labelled_set_is_large_and_mixed(found):
    assert len(PAIRS) >= 100
    assert all(found[label].total() >= 5 for label in ("same", "related", "unrelated"))
    assert all(found[label].total() >= 40 for label in ("reworded", "contradicting"))


def test_another_subject_is_never_called_the_same(found):
    assert found["unrelated"]["reworded"] == found["unrelated"]["same"] == 0
    assert found["related"]["reworded"] == found["related"]["same"] == 0
    assert found["unrelated"]["contradicting"] <= 1


def test_rewordings_are_found(found):
    assert found["reworded"]["reworded"] >= 36
    assert found["reworded"]["contradicting"] == found["reworded"]["unrelated"] == 0


def test_contradictions_are_found_and_not_called_rewordings(found):
    assert found["contradicting"]["contradicting"] >= 38
    assert found["contradicting"]["reworded"] <= 1


def test_equal_after_normalisation_is_the_same_and_nothing_else_is(found):
    assert found["same"] == Counter(same=5)
    assert sum(kinds["same"] for label, kinds in found.items() if label != "same") == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Budget is 12,000 euros.", "Budget is 15,000 euros."),
        ("Does not like the light theme.", "Does like the light theme."),
        ("Prefers the dark theme at night.", "Prefers the light theme at night."),
        ("他不喜欢浅色主题。", "他喜欢浅色主题。"),
    ],
    ids=["number", "negation", "slot", "negation-chinese"],
)
def test_each_sign_of_a_conflict_lowers_the_score(one, other):
    alike, conflicting = compare(one, one + " Really.", flat), compare(one, other, flat)
    assert conflicting.conflict
    assert conflicting.kind == "contradicting"
    assert conflicting.score < 0.5 < alike.score


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The budget is 12,000 euros.", "The budget: 12000 euros."),
        ("Opens at 9:30, room 5.", "Opens at 9:30."),
        ("O servidor fica no porão, em uma sala.", "O servidor fica em uma sala do porão."),
        ("Das Team trifft sich dienstags.", "Dienstags trifft sich das Team."),
    ],
    ids=["thousands", "a-number-more", "portuguese-no", "moved-word"],
)
def test_what_only_looks_like_a_conflict_is_none(one, other):
    assert not compare(one, other, flat).conflict


def test_without_words_in_common_nothing_is_alike():
    assert compare("", "Prefers tea.", flat).kind == "unrelated"
    assert compare("?!", "!?", flat).kind in ("same", "unrelated")


def test_long_hostile_texts_stay_quick_and_are_compared():
    one, other = "a b " * 2000, "b a " * 2000
    assert compare(one + "tea", other + "tea", flat).score > 0.5


@given(st.text(max_size=60), st.text(max_size=60))
def test_comparing_is_total_symmetric_and_bounded(one, other):
    found = compare(one, other, flat)
    assert isinstance(found, Similarity)
    assert 0.0 <= found.score <= 1.0
    assert found == compare(other, one, flat)
