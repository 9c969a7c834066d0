"""Whether two sentences say the same, nearly the same, or opposite things.

A contradiction is more alike than a rewording ("dark" and "light" in one and the same sentence),
so likeness alone only finds the same subject, and three signs of a conflict decide the rest: other
numbers, a negation ("never", "stopped") on one side only, and other words in the same place.
Likeness is the idf-weighted Jaccard index and containment of the stems; a logistic function of
both, less the signs, is the score. It is a hint for whoever decides: nothing may be dropped because
of it.

A small lexicon tells which words mean the same or the opposite, in six languages. What has no
word in common is in reach through it alone, be it synonyms throughout or another language.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from math import exp
from typing import Literal

from ...indexer.analysis import NEGATIONS, stems
from ...vault.memory import normal_form
from .lexicon import CHANGES, DATES, FRAME, LESS, MEANINGS, NEGATIVE, NUMERALS, in_one_word

Kind = Literal["same", "reworded", "contradicting", "related", "unrelated"]
Idf = Callable[[str], float]
Sign = Literal["opposite", "negation", "number", "wording"]
"""How two texts contradict each other."""

# A logistic fit of 80 labelled pairs, from measurements that came before this code.
_JACCARD, _CONTAINMENT, _BIAS = 3.9, 4.9, -3.7
_NUMBER, _NEGATION, _OPPOSITE, _SLOT = 2.7, 6.7, 6.7, 3.5

_SAME_FACT = 0.55
_SAME_SUBJECT, _NEAR_SUBJECT = 0.4, 0.2
_CLEARLY_SAME_SUBJECT, _ALMOST_ALL = 0.5, 0.6
# The first words of a sentence name what it is about.
_NAMING = 2
_ALIGNED = 0.6
# Of long texts only the beginnings are laid side by side.
_LONGEST_ALIGNED = 200
_LEAST_IDF = 0.05


_HAN = "\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_HAN}]|[^\W_{_HAN}]+(?:['’.:][^\W_{_HAN}]+)*")
_NUMBER_RUN = re.compile(r"\d+(?:[.,:/-]\d+)*")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
# "no" is Portuguese for "in the" wherever one of these is near.
_PORTUGUESE = frozenset(("nao", "uma", "ao", "em", "voce", "sua", "seu", "do", "da"))
_ENGLISH = frozenset(("the", "is", "to", "of", "and", "a"))
_VERB_WEIGHT = 0.4
# Chinese characters that only hold a sentence together.
_GRAMMAR = frozenset("的了是在着把也都就很")


@dataclass(frozen=True, slots=True)
class Similarity:
    """How alike two texts are, from 0 to 1, and what they are to each other."""

    score: float
    conflict: bool
    kind: Kind


@dataclass(frozen=True, slots=True)
class _Statement:
    """What is compared of a text: its words in order, and what they say.

    `content` tells the stem of each meaning; `more` and `less` are the measures of which it says
    the one end and the other.
    """

    words: tuple[str, ...]
    content: Mapping[str, str]
    more: frozenset[str]
    less: frozenset[str]
    numbers: frozenset[str]
    negated: bool


def compare(candidate: str, existing: str, idf: Idf) -> Similarity:
    """Compare a text that is to be written with one that is there.

    `idf` tells how rare a stem is. `same` only if both are equal after normalisation;
    `contradicting` is a suspicion.
    """
    if normal_form(candidate) == normal_form(existing):
        return Similarity(1.0, False, "same")
    one, other = _statement(candidate), _statement(existing)
    jaccard, containment = _overlap(one.content, other.content, idf)
    number = _other_numbers(one, other)
    negation = one.negated != other.negated
    slot = _other_words_in_place(one, other)
    opposite = _other_end(one, other)
    evidence = _JACCARD * jaccard + _CONTAINMENT * containment + _BIAS
    evidence -= _NUMBER * number + _NEGATION * negation + _OPPOSITE * opposite + _SLOT * slot
    score = 1 / (1 + exp(-evidence))
    conflict = number or negation or slot or opposite
    return Similarity(score, conflict, _kind(score, conflict, containment))


def contradiction(one: str, other: str, idf: Idf) -> Sign | None:
    """How two texts contradict each other, if that is clear enough to say so to a reader.

    Facts of one kind about two things stand side by side in many a note ("mill 3", "mill 4"), so
    more is asked than for a suspicion: more words in common, and a difference that is not in what
    the sentences are about.
    """
    first, second = sorted((_statement(one), _statement(other)), key=lambda each: each.words)
    shared = _overlap(_worded(first), _worded(second), idf)[1]
    if shared < _CLEARLY_SAME_SUBJECT:
        return None
    if _other_end(first, second):
        return "opposite"
    if first.negated != second.negated:
        return "negation" if shared >= _ALMOST_ALL else None
    if not _begin_alike(first.words, second.words):
        return None
    if _other_numbers(first, second):
        return "number" if _first_numbers_differ(first, second) else None
    return "wording" if _other_words_in_place(first, second) else None


def _kind(score: float, conflict: bool, containment: float) -> Kind:
    if conflict and containment >= _SAME_SUBJECT:
        return "contradicting"
    if score >= _SAME_FACT:
        return "reworded"
    return "related" if containment >= _NEAR_SUBJECT else "unrelated"


# A new text is compared with several, and the known ones with the next new text again.
@functools.lru_cache(maxsize=1024)
def _statement(text: str) -> _Statement:
    text = _WORD.sub(_in_digits, in_one_word(_folded(text)))
    plain = _THOUSANDS.sub("", text)
    surface = _WORD.findall(plain)
    found = stems(text)
    negations = NEGATIONS & set(found)
    if "no" in negations and _is_portuguese(surface):
        negations -= {"no"}
    content = {MEANINGS.get(each, each): each for each in found if each not in NEGATIONS}
    measures = {each for each in found if MEANINGS.get(each, "").startswith("±")}
    return _Statement(
        words=tuple(map(_key, surface[:_LONGEST_ALIGNED])),
        content=content,
        more=frozenset(MEANINGS[each] for each in measures - LESS),
        less=frozenset(MEANINGS[each] for each in measures & LESS),
        numbers=frozenset(_NUMBER_RUN.findall(plain)) | content.keys() & DATES,
        negated=bool(negations) or not (CHANGES | NEGATIVE).isdisjoint(found),
    )


def _in_digits(word: re.Match[str]) -> str:
    return NUMERALS.get(word[0], word[0])


def _folded(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def _is_portuguese(words: Collection[str]) -> bool:
    return not _PORTUGUESE.isdisjoint(words) and _ENGLISH.isdisjoint(words)


def _key(word: str) -> str:
    """The stem of a word, or the word itself where it has none of its own."""
    found = stems(word)
    return MEANINGS.get(found[0], found[0]) if len(found) == 1 else word


def _overlap(one: Mapping[str, str], other: Mapping[str, str], idf: Idf) -> tuple[float, float]:
    """The idf-weighted Jaccard index, and the share of the lighter text that the other has."""
    both = one.keys() & other.keys()
    if not any(map(_is_subject, both)):
        return 0.0, 0.0
    weight = {word: _weight(word, idf(stem)) for word, stem in {**other, **one}.items()}
    shared, first, second = (sum(map(weight.__getitem__, words)) for words in (both, one, other))
    return shared / sum(weight.values()), shared / min(first, second)


def _weight(word: str, idf: float) -> float:
    return _VERB_WEIGHT if word.startswith("~") else max(idf, _LEAST_IDF)


def _is_subject(word: str) -> bool:
    return not (word[0] in "~±" or word[0].isdigit() or word in FRAME)


def _worded(statement: _Statement) -> Mapping[str, str]:
    """What a text says but for its numbers: those are compared by themselves."""
    return {word: stem for word, stem in statement.content.items() if not word[0].isdigit()}


def _other_numbers(one: _Statement, other: _Statement) -> bool:
    return bool(one.numbers - other.numbers and other.numbers - one.numbers)


def _other_end(one: _Statement, other: _Statement) -> bool:
    """Whether one says of a measure that it is more, and the other that it is less."""
    return bool(one.more & other.less - other.more or one.less & other.more - one.more)


def _begin_alike(one: Sequence[str], other: Sequence[str]) -> bool:
    return one[:_NAMING] == other[:_NAMING]


def _first_numbers_differ(one: _Statement, other: _Statement) -> bool:
    """Whether the first place in which two sentences differ is that of one number in each."""
    pairs = zip(one.words, other.words, strict=False)
    at = next((at for at, (first, second) in enumerate(pairs) if first != second), 0)
    numbers = one.numbers ^ other.numbers
    few = len(one.numbers - other.numbers) == len(other.numbers - one.numbers) == 1
    return few and {one.words[at], other.words[at]} <= numbers


def _other_words_in_place(one: _Statement, other: _Statement) -> bool:
    """Whether both are one sentence but for a place where each has words of its own."""
    first, second = sorted((one.words, other.words))
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    if matcher.ratio() < _ALIGNED:
        return False
    return any(
        tag == "replace" and _has_own(first[i:j], second) and _has_own(second[k:m], first)
        for tag, i, j, k, m in matcher.get_opcodes()
    )


def _has_own(place: Sequence[str], other: Sequence[str]) -> bool:
    return any(map(_says_something, set(place).difference(other)))


def _says_something(word: str) -> bool:
    """Whether a word counts in its place; a number has a sign of its own."""
    empty = word in NEGATIONS or word in _GRAMMAR or word[0].isdigit()
    return not empty and bool(stems(word))
