"""The chart of use: bars that stand on the ground, inside the picture, in proportion."""

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st
from zibaldone.lenses.chart import HEIGHT, LEAST, WIDTH, chart
from zibaldone.tools.audit import Day

FIRST = date(2026, 11, 1)
COUNTS = st.tuples(st.integers(0, 5000), st.integers(0, 5000)).map(sorted)


def days(counts):
    return [
        Day(FIRST + timedelta(days=number), asked, missed, 0)
        for number, (missed, asked) in enumerate(counts)
    ]


@given(st.lists(COUNTS, max_size=40))
def test_bars_stay_inside_and_stand_on_the_ground(counts):
    drawn = chart(days(counts))
    if drawn is None:
        assert all(asked == 0 for _, asked in counts)
        return
    assert (drawn.asked, drawn.peak) == (sum(a for _, a in counts), max(a for _, a in counts))
    for bar in drawn.bars:
        assert 0 <= bar.x <= bar.x + bar.width <= WIDTH
        assert abs(bar.top + bar.found + bar.missed - HEIGHT) < 0.3
        assert bar.top >= -0.1 and min(bar.found, bar.missed) >= 0
        assert bar.day.asked == 0 or bar.found + bar.missed >= LEAST - 0.2


def test_heights_are_in_proportion():
    one, other, none = chart(days([(5, 10), (0, 5), (0, 0)])).bars
    assert (one.found, one.missed, one.top) == (HEIGHT / 2, HEIGHT / 2, 0)
    assert (other.found, other.missed) == (HEIGHT / 2, 0)
    assert (none.found, none.missed) == (0, 0)


def test_nothing_asked_is_no_chart():
    assert chart([]) is None and chart(days([(0, 0)])) is None
