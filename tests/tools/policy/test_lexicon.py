"""The lexicon: one meaning for each word, and other words to look for."""

from collections import Counter

import pytest
from zibaldone.indexer.analysis import stems
from zibaldone.tools.policy import lexicon
from zibaldone.tools.policy.lexicon import CHANGES, LESS, MEANINGS, in_one_word, other_words


def test_each_word_has_one_meaning_and_one_stem():
    named = dict(lexicon._meanings())
    assert len(named) > 100
    held = Counter(
        stem for words in named.values() for stem in set(map(lexicon._stem, words.split()))
    )
    assert {stem for stem, count in held.items() if count > 1} == set()
    assert [
        word for words in named.values() for word in words.split() if len(stems(word)) > 1
    ] == []
    assert CHANGES.isdisjoint(MEANINGS)


def test_a_measure_has_two_ends():
    ends = {MEANINGS[stem]: set() for stem in LESS}
    for stem, name in MEANINGS.items():
        if name.startswith("±"):
            ends[name].add(stem in LESS)
    assert ends and all(both == {True, False} for both in ends.values())


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Meets on Thursdays.", "jueves"),
        ("El jefe llega tarde.", "manager"),
        ("Her boss is late.", "temprano"),
        ("周四开会。", "jueves"),
    ],
)
def test_other_words_mean_the_same_or_the_opposite(text, word):
    found = other_words(text).split()
    assert word in found
    assert not set(stems(text)) & {stem for each in found for stem in stems(each)}


def test_verbs_that_say_little_and_unknown_words_have_no_others():
    assert other_words("Likes quince.") == ""


def test_a_phrase_becomes_the_word_that_it_means():
    assert in_one_word("works from home") == "works remotely"
    assert in_one_word("stay upstairs") == "stay upstairs"
