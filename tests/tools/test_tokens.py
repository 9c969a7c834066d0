"""Tokens: never fewer than real tokenizers count, and parts that add up."""

import json
import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zibaldone.tools.tokens import count_tokens, cut_to

# Counts of fourteen real tokenizers, measured once.
MEASURED = json.loads((Path(__file__).parents[1] / "data/token_counts.json").read_text("utf-8"))
FAMILY = "👩‍👩‍👧‍👦"

# Every kind of character that the counter tells apart.
TEXT = st.text(
    st.one_of(
        st.sampled_from(
            " \n\t.*-=#_'aeqzAZ09éñßżжЖάΑאب한中鱻猫か，。…\u0301\u200d😀🏽🇪🇸\ud83d\ude00"
        ),
        st.characters(),
    ),
    max_size=80,
)


def highest(row):
    return max(row["tokens"].values())


@pytest.mark.parametrize("row", MEASURED, ids=lambda row: f"{row['kind']}-{row['text'][:12]!r}")
def test_no_tokenizer_counts_more(row):
    assert len(row["tokens"]) == 14
    assert count_tokens(row["text"]) >= highest(row)


@pytest.mark.parametrize(
    ("kind", "ratio"),
    [("english-long", 1.36), ("spanish", 1.45), ("german", 1.35), ("chinese", 1.3), ("json", 1.5)],
)
def test_the_count_stays_near_the_highest_tokenizer(kind, ratio):
    rows = [row for row in MEASURED if row["kind"] == kind]
    assert sum(count_tokens(row["text"]) for row in rows) <= ratio * sum(map(highest, rows))


def test_rc_05_chinese_and_emoji_are_counted_by_the_character():
    words = "letter " * 57
    assert 400 <= count_tokens("我们在北京买了自行车" * 40) <= 600
    assert count_tokens("我们在北京买了自行车" * 40) >= 2 * count_tokens(words[:400])
    assert count_tokens("😀" * 50) >= 50


def test_rc_05_a_cut_chinese_note_stays_within_the_budget():
    note = "会议每周二上午十点开始，请提前准备好问题。" * 190
    cut = cut_to(note, 1000)
    assert note.startswith(cut)
    assert cut.endswith("。")
    assert 900 <= count_tokens(cut) <= 1000


def test_rc_06_one_letter_words_are_a_token_each():
    assert 500 <= count_tokens("a " * 500) <= 510


def test_no_text_is_no_token():
    assert count_tokens("") == 0
    assert count_tokens(" ") >= 1


@given(TEXT, TEXT)
def test_parts_add_up_to_at_least_the_whole(one, other):
    assert count_tokens(one + other) <= count_tokens(one) + count_tokens(other)


@given(TEXT, TEXT)
def test_a_beginning_never_counts_more_than_the_whole(one, other):
    assert count_tokens(one) <= count_tokens(one + other)


# Cutting


@given(TEXT, st.integers(-1, 60))
def test_a_cut_text_is_a_beginning_within_the_budget(text, budget):
    cut = cut_to(text, budget)
    assert text.startswith(cut)
    assert count_tokens(cut) <= max(budget, 0)
    if count_tokens(text) <= budget:
        assert cut == text


@given(TEXT, st.integers(0, 60))
def test_a_cut_parts_no_sequence(text, budget):
    cut = cut_to(text, budget)
    rest = text[len(cut) :]
    if cut and rest:
        assert not unicodedata.category(rest[0]).startswith("M") or rest[0].isspace()
        assert "\u200d" not in (cut[-1], rest[0])


@pytest.mark.parametrize(
    ("cut", "fits", "rest"),
    [
        ("Pump A is off.", " Pump B is", " on and hot."),
        ('He said "stop!"', " and then", " went on for long."),
        ("First line without a stop", "\nsecond line", " that is longer"),
        ("1. Zinc", " qu", "artz and jars for all of the pumps"),
        ("one two", " thr", "ee four"),
        ("。我们在北京。", "买了", "自行车"),
        (FAMILY, FAMILY[:4], FAMILY[4:]),
        ("🇪🇸🇫🇷", "🇩", "🇪"),
        ("cafe\u0301", " caf", "e\u0301s"),
        ("x" * 90, "", "x" * 90),
        ("x" * 90, "e", "\u0301x"),
    ],
    ids=[
        "sentence",
        "quote",
        "line",
        "list",
        "word",
        "han",
        "family",
        "flags",
        "accents",
        "no-word",
        "accent",
    ],
)
def test_a_cut_is_made_at_the_best_place(cut, fits, rest):
    assert cut_to(cut + fits + rest, count_tokens(cut + fits)) == cut


@pytest.mark.parametrize("unit", ["x", "(", " ", ".", ".\n", '."', "\u0301", "中", "1. ", "[["])
def test_hostile_text_is_counted_and_cut_in_linear_time(unit):
    text = unit * (1_000_000 // len(unit))
    started = time.perf_counter()
    cut = cut_to(text, count_tokens(text) // 2)
    assert len(cut) < len(text)
    assert time.perf_counter() - started < 20
