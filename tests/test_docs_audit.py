"""The specification of the audit is true: its examples are read and written as the page says."""

import json
import re
from pathlib import Path
from typing import get_args

from zibaldone.tools.auditing import GIVEN, QUERY_LENGTH
from zibaldone.vault.audit import REVISION_LENGTH, VERSION, Given, LeftOut, Retriever, parse, to_raw

PAGE = (Path(__file__).parents[1] / "docs/audit.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```\w+ example=([\w-]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = dict(FENCE.findall(PAGE))
LINES = [line.encode() + b"\n" for text in EXAMPLES.values() for line in text.splitlines()]


def rows(heading):
    """The first cells of the table after some words."""
    section = PAGE.split(heading)[1].split("\n\n", 2)[1]
    return re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)


def test_examples_are_lines_as_they_are_written():
    assert len(LINES) == 5
    for line in LINES:
        assert json.dumps(to_raw(parse(line)), separators=(",", ":")).encode() + b"\n" == line


def test_an_example_means_what_the_page_says():
    one = parse(LINES[0])
    assert (one.time[:7], one.tool, one.caller.client_version) == ("2026-11", "search", "2.1.0")
    assert one.given[0] == Given("k2m9qx4tb1c7", "1e5cec3cf8978ace", 27, "q81xz0", 3)
    assert parse(LINES[1]).left_out == (LeftOut("d80mmsjrb6kd", "budget", 160),)
    assert {parse(line).tool for line in LINES} <= set(get_args(Retriever))


def test_every_field_is_in_a_table():
    raws = list(map(json.loads, LINES))
    fields = {name for raw in raws for name in raw} | {"moreGiven", "redacted"}
    assert set(rows('"tokens":53}]}\n```')) == fields
    parts = {name for raw in raws for part in raw.get("given", ()) for name in part}
    assert set(rows("A part of `given`:")) == parts


def test_the_numbers_are_those_of_the_code():
    assert (VERSION, GIVEN, QUERY_LENGTH, REVISION_LENGTH) == (1, 10, 1000, 16)
    for told in ("this form: 1", "the first ten are", "1,000 characters", "first 16 digits"):
        assert told in PAGE
