"""A strict prefix within a budget, whatever the entries are."""

from hypothesis import given
from hypothesis import strategies as st
from zibaldone.tools.bundle.candidates import Measure
from zibaldone.tools.bundle.envelope import PLAIN_NONCE, body, sealed
from zibaldone.tools.start.prefix import Entry, Prefix
from zibaldone.tools.tokens import count_tokens

MEASURE = Measure(count_tokens)


def entry(title, *lines, missing=False):
    return Entry(
        "personal", "pin", title, lambda: title, lambda: [(x, "") for x in lines], missing=missing
    )


def taken(budget, entries, named=20):
    prefix = Prefix(budget, MEASURE, named)
    prefix.take(entries)
    return prefix


WORDS = st.lists(
    st.sampled_from(["tea.", "green", "日本語", "A sentence ends.", "x" * 30]), max_size=30
)
LINES = st.lists(WORDS.map(" ".join).filter(bool), max_size=6)


@given(st.lists(LINES, max_size=8), st.integers(0, 400), st.integers(0, 3))
def test_what_is_loaded_is_a_prefix_that_fits(texts, budget, named):
    entries = [entry(f"Note {n}", *lines) for n, lines in enumerate(texts)]
    prefix = taken(budget, entries, named)
    text = body([one.block for one in prefix.loaded])
    assert count_tokens(sealed(text, PLAIN_NONCE)) <= budget
    filled = [n for n, lines in enumerate(texts) if lines]
    loaded = [int(one.entry.title[5:]) for one in prefix.loaded]
    assert loaded == filled[: len(loaded)]
    assert not any(one.cut for one in prefix.loaded[:-1])
    whole = len(loaded) - any(one.cut for one in prefix.loaded)
    assert whole + len(prefix.left) + prefix.more == len(filled)
    assert [one.reason for one in prefix.left] == ["budget", "order", "order"][: len(prefix.left)]
    for one in prefix.loaded:
        if not one.cut:
            assert list(one.texts) == texts[int(one.entry.title[5:])]


@given(LINES.filter(bool), st.integers(0, 60))
def test_a_larger_budget_never_loads_less(lines, budget):
    entries = [entry("A", *lines), entry("B", "The end.")]
    small, large = (
        sum(len("".join(one.texts)) for one in taken(size, entries).loaded)
        for size in (budget, budget + 40)
    )
    assert small <= large


def test_it_is_cut_at_a_line_and_says_so():
    lines = [f"- Fact number {n} about tea" for n in range(40)]
    (one,) = taken(150, [entry("Tea", *lines), entry("Small", "x")]).loaded
    assert one.cut
    assert list(one.texts) == [*lines[: len(one.texts) - 1], "[…]"]
    assert body([one.block]).endswith("\n[…]\n")


def test_a_line_is_cut_at_a_sentence_and_its_tail_stays():
    line = ("- It is long. " * 60, " ^aaaaaa · agent")
    prefix = taken(100, [Entry("personal", "pin", "Tea", lambda: "Tea", lambda: [line])])
    ((text,),) = (one.texts for one in prefix.loaded)
    assert text.endswith("It is long. […] ^aaaaaa · agent")


def test_what_is_missing_or_empty_takes_no_room_and_ends_nothing():
    prefix = taken(100, [entry("Gone", missing=True), entry("Empty"), entry("Tea", "Green.")])
    assert [one.entry.title for one in prefix.loaded] == ["Tea"]
    assert [(one.entry.title, one.reason, one.tokens) for one in prefix.left] == [
        ("Gone", "missing", 0)
    ]


def test_what_is_cut_is_named_behind_any_number_of_missing_ones():
    gone = [entry(f"Gone {n}", missing=True) for n in range(9)]
    prefix = taken(30, [*gone, entry("Tea", "Green. " * 90), entry("Small", "x")], named=3)
    assert [one.reason for one in prefix.left] == ["missing"] * 3 + ["budget"]
    assert prefix.more == 7


def test_nothing_is_read_behind_what_is_named():
    read = []

    def lines(n):
        read.append(n)
        return [("Some words that take room.", "")]

    entries = [Entry("personal", "pin", "", str, lambda n=n: lines(n), row=True) for n in range(99)]
    prefix = taken(30, entries, named=3)
    assert len(prefix.left) == 3
    assert len(prefix.loaded) + 3 + prefix.more == 99
    assert max(read) < 10
