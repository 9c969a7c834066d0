"""What memory is made of, in lines: its categories with their summaries, and the words in use.

Derived from what the caller may be told, and from nothing else: a category of which nothing may
be told is not there, nor is a tag that only hidden lines have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from ...indexer.catalog import Names, Row
from ...indexer.index import Hit
from ...vault.errors import NoteNotFound
from ...vault.markdown import parse
from ...vault.note import own_tags, read_note
from ..borders import Borders
from ..marks import is_pin
from ..render import counted
from ..summary import category_line
from ..vault import Vault

LABELS = 100
"""Categories that are named in a row at most."""

TAGS = 40
"""Tags that are named at most, the most frequent first."""


def profile(borders: Borders, rows: Iterable[Row]) -> Iterator[str]:
    """Yield a line for each category of which something may be told."""
    for row in rows:
        told = borders.told(row)
        if told:
            line = category_line(row, told)
            facts = counted(line.observations, "fact")
            summary = f": {line.summary}" if line.summary else ""
            yield f"- {line.category} ({facts}, {row.path}, {line.modified_at[:10]}){summary}"


def labels(borders: Borders, rows: Iterable[Row]) -> str:
    """The first categories of which something may be told, in a row."""
    told = (row.category for row in rows if borders.told(row))
    names = list(islice(told, LABELS + 1))
    return ", ".join([*names[:LABELS], *("…" for _ in names[LABELS:])])


def tags(vault: Vault, borders: Borders, rows: Iterable[Row]) -> str:
    """The tags that most notes have, in a row, each with the number of notes."""
    spelt: dict[str, str] = {}
    found: Counter[str] = Counter()
    for names, number in _named(vault, borders, rows).items():
        for tag in names:
            found[spelt.setdefault(tag.casefold(), tag)] += number
    last = sorted(found.items(), key=lambda each: (-each[1], each[0].casefold()))
    first = [each for each in last if not is_pin(each[0])][:TAGS]
    return ", ".join(f"#{tag} ({number})" for tag, number in first)


def _named(vault: Vault, borders: Borders, rows: Iterable[Row]) -> Mapping[tuple[str, ...], int]:
    """How many notes have which tags: those that may be told, with all of a note or a part."""
    whole, named = Counter[str](), Counter[tuple[str, ...]]()
    for row in rows:
        if borders.tells_all(row) or len(borders.told(row)) == len(row.docs) - 1:
            whole[row.names] += 1  # Many notes have the same tags and no other names.
        elif borders.told(row):
            named[tuple(dict.fromkeys(_tags_in(vault, row, borders.told(row))))] += 1
    for names, number in whole.items():
        named[Names.parse(names).tags] += number
    return named


def _tags_in(vault: Vault, row: Row, told: Iterable[Hit]) -> Iterator[str]:
    try:
        yield from own_tags(read_note(vault.layout, row.path))
    except NoteNotFound:
        return
    for hit in told:
        yield from parse(hit.text).tags
