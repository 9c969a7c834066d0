"""Every known failure of tools of this kind has a test that names it, or a reason why not yet.

The cases were collected from what users of such tools reported. A test names a case in its own
name (`test_fm_01_…`), or in its text or the text of its class (`Case FM-01`).
"""

import ast
import re
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent

CASES = {
    "FM": "01 03 05 06 08 10 11 13 15 16 18 20 21 23 25 26 28 30 31 33",  # frontmatter
    "ED": "01 03 05 06 08 10 11 13 15 16 18 20 21",  # edits
    "LK": "01 03 05 06 08 10 11 13 15 16 18 20 21 23",  # links
    "FW": "01 03 05 06 08 10 11 13 15 16 18",  # watching files
    "IX": "01 03 05 06 08 10 11 13 15 16 18 20 21",  # the index
    "RC": "01 03 05 06 08",  # recall
    "MM": "01 03 05 06 08 10 11 13",  # memory
    "SY": "01 03 05 06",  # sync programs
    "SC": "01 03 05 06 08 10 11",  # security
    "MC": "01 03 05 06 08 10 11",  # MCP
}
IDS = {f"{theme}-{number}" for theme, numbers in CASES.items() for number in numbers.split()}

# Cases whose tool or view does not exist in this version.
LATER = {
    "LK-13": "No tool renames a note; links are rewritten nowhere.",
}
# Cases of which a part has a test, and what has to wait.
PARTLY = {
    "LK-01": "No tool renames a note; links in code do not count as links.",
    "LK-16": "No tool removes a tag; a hash in a link is not taken for one.",
    "SC-10": "No tool renames a note; indexing, searching, editing and deleting are tried.",
}

_IN_NAME = re.compile(r"(?:^|_)([a-z]{2})_(\d\d)(?=_|$)")
_IN_TEXT = re.compile(r"\b([A-Z]{2})-(\d\d)\b")


def named(path):
    """Yield the cases that the tests of a file name."""
    text = path.read_text("utf-8")
    for node in ast.walk(ast.parse(text)):
        is_test = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if not is_test or not node.name.lower().startswith("test"):
            continue
        for theme, number in _IN_NAME.findall(node.name):
            yield f"{theme.upper()}-{number}"
        lines = text.splitlines()[node.lineno - 1 : node.end_lineno]
        for theme, number in _IN_TEXT.findall("\n".join(lines)):
            yield f"{theme}-{number}"


@cache
def all_named():
    files = (path for path in TESTS.rglob("test_*.py") if path != Path(__file__))
    return {case for path in files if "node_modules" not in path.parts for case in named(path)}


def test_every_case_has_a_test_or_a_reason():
    assert len(IDS) == 102
    assert IDS - all_named() - LATER.keys() == set()


def test_reasons_are_given_only_where_they_are_needed():
    found = all_named()
    assert LATER.keys() & found == set(), "it has a test, so it is no longer for later"
    assert PARTLY.keys() <= found
    assert {*LATER, *PARTLY} <= IDS
    assert all(reason.endswith(".") for reason in {**LATER, **PARTLY}.values())


def test_no_test_names_a_case_that_does_not_exist():
    themes = set(CASES)
    unknown = {case for case in all_named() - IDS if case.split("-")[0] in themes}
    assert unknown == set()
