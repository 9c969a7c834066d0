"""What an edit changed, as owners and agents are shown it."""

import pytest
from zibaldone.tools.diff import SHOWN, unified, word_diff


def test_only_the_changed_lines_are_shown_with_one_line_around_them():
    before, after = "a\nb\nc\nd\ne\n", "a\nb\nX\nd\ne\n"
    assert unified(before, after) == "@@ -2,3 +2,3 @@\n b\n-c\n+X\n d"


def test_a_long_diff_is_cut_and_says_so():
    found = unified("", "line\n" * SHOWN)
    assert found.endswith("\n…")
    assert len(found) == SHOWN + 2


@pytest.mark.parametrize(
    ("before", "after", "diff"),
    [
        ("a b c", "a x c", "a [-b-]{+x+} c"),
        ("a", "a b", "a {+b+}"),
        ("a b", "b", "[-a-] b"),
        ("a", "b", "[-a-]{+b+}"),
    ],
)
def test_a_diff_is_one_of_words(before, after, diff):
    assert word_diff(before, after) == diff
