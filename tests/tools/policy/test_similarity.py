"""Near memories: rewordings and contradictions are found, other subjects are left alone."""

import json
from collections import Counter
from hashlib import sha256
from math import log
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zibaldone.indexer.analysis import stems
from zibaldone.tools.policy.similarity import Similarity, compare

PAIRS = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data/pairs.jsonl").read_text("utf-8").splitlines()
]
LABELS = {"same", "reworded", "contradicting", "related", "unrelated"}
NEAR = ("reworded", "contradicting")
SENTENCES = {sentence for pair in PAIRS for sentence in (pair["a"], pair["b"])}
HOLDERS = Counter(stem for sentence in SENTENCES for stem in set(stems(sentence)))


def idf(stem):
    return log(1 + (len(SENTENCES) - HOLDERS[stem] + 0.5) / (HOLDERS[stem] + 0.5))


def flat(stem):
    return 1.0


def is_held_out(pair):
    """Half of the pairs, by their first text; `similarity` was tuned on the other half."""
    return sha256(pair["a"].encode()).digest()[0] % 2 == 1


HELD_OUT = [pair for pair in PAIRS if is_held_out(pair)]


@pytest.fixture(scope="module", params=[idf, flat], ids=["idf", "flat"])
def found(request):
    """Label -> how often each kind was found for it, among the pairs that were held out.

    Pairs that are `apart` (in other words throughout, or in two languages) are counted there too.
    """
    kinds = {label: Counter() for label in LABELS | {"apart"}}
    for pair in HELD_OUT:
        kind = compare(pair["a"], pair["b"], request.param).kind
        kinds[pair["label"]][kind] += 1
        if "apart" in pair:
            kinds["apart"][kind] += 1
    return kinds


def share(counted, *kinds):
    return sum(counted[kind] for kind in kinds) / counted.total()


def test_the_labelled_set_is_large_and_mixed():
    assert len(PAIRS) >= 320
    assert len({(pair["a"], pair["b"]) for pair in PAIRS}) == len(PAIRS)
    assert 0.4 <= len(HELD_OUT) / len(PAIRS) <= 0.6
    held_out = Counter(pair["label"] for pair in HELD_OUT)
    assert set(held_out) == LABELS
    assert held_out["same"] >= 10
    assert min(held_out["related"], held_out["unrelated"]) >= 30
    assert min(held_out["reworded"], held_out["contradicting"]) >= 60


def test_only_what_is_equal_after_normalisation_is_the_same():
    for pair in PAIRS:
        assert (compare(pair["a"], pair["b"], idf).kind == "same") == (pair["label"] == "same")


def test_nine_in_ten_rewordings_and_contradictions_are_offered(found):
    near = found["reworded"] + found["contradicting"]
    assert share(near, *NEAR) >= 0.9
    assert share(near - found["apart"], *NEAR) >= 0.96
    assert share(found["apart"], *NEAR) >= 0.25


def test_other_facts_about_the_same_subject_are_rarely_offered(found):
    assert share(found["related"], *NEAR) <= 0.06


def test_another_subject_is_never_offered(found):
    assert share(found["unrelated"], *NEAR) == 0


def test_a_contradiction_is_rarely_called_a_rewording(found):
    assert share(found["contradicting"], "reworded") <= 0.1
    assert share(found["contradicting"], "contradicting") >= 0.85
    assert share(found["reworded"], "contradicting") <= 0.08


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Budget is 12,000 euros.", "Budget is 15,000 euros."),
        ("Does not like the light theme.", "Does like the light theme."),
        ("Prefers the dark theme at night.", "Prefers the light theme at night."),
        ("他不喜欢浅色主题。", "他喜欢浅色主题。"),
        ("Keeps bees in the garden.", "Stopped keeping bees in the garden."),
        ("Waits five minutes for the lock.", "Waits 20 minutes for the lock."),
        ("The choir sings on Thursday.", "El coro canta los lunes; the choir sings."),
        ("Hates cold rooms.", "Likes cold rooms."),
        ("Answers in the office early.", "In the office, answers come late."),
    ],
    ids=[
        "number",
        "negation",
        "slot",
        "negation-chinese",
        "change",
        "numeral",
        "weekday",
        "dislike",
        "measure",
    ],
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
        ("Waits twenty minutes for the lock.", "Waits 20 minutes for the lock."),
        ("La reunión es el jueves.", "The meeting is on Thursday."),
        ("Hates cold rooms.", "Does not like cold rooms."),
        ("Likes short reports.", "Is fond of brief reports."),
    ],
    ids=[
        "thousands",
        "a-number-more",
        "portuguese-no",
        "moved-word",
        "numeral",
        "language",
        "dislike",
        "synonym",
    ],
)
def test_what_only_looks_like_a_conflict_is_none(one, other):
    assert not compare(one, other, flat).conflict


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Prefers the window seat.", "Likes tomato soup."),
        ("Every week there are three calls.", "Every week three tests fail."),
        ("Always since May.", "Since then always late."),
    ],
    ids=["verb", "number-and-time", "time"],
)
def test_verbs_numbers_and_times_are_no_common_subject(one, other):
    assert compare(one, other, flat).kind == "unrelated"


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
