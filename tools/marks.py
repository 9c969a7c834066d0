"""The owner's marks on notes, which say what agents load at the start, and which no agent sets.

The tag `always-load` pins a note, `always-load/2` at the second place. A note of the kind
`context-set` lists what is loaded, and a memory note that is `muted` is given to nobody.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from ..indexer.catalog import Names, Row
from ..vault.note import CONTEXT_SET, Note
from .refusals import OwnerOnly
from .vault import Vault

PIN: Final = "always-load"
"""The tag that pins a note."""

FURTHEST: Final = 999_999
"""The highest place of a pin."""


def place_of(tags: Iterable[str]) -> float | None:
    """The place that tags give to a pinned note, infinity without a number; None for no pin."""
    places = [place for place in map(_place, tags) if place is not None]
    return min(places, default=None)


def is_pin(tag: str) -> bool:
    """Whether a tag pins the note that it is in."""
    return _place(tag) is not None


def _place(tag: str) -> float | None:
    name, _, number = tag.removeprefix("#").casefold().partition("/")
    if name != PIN:
        return None
    # Not int: a number of thousands of digits is an error there, and infinite here.
    return float(number) if number.isascii() and number.isdigit() else math.inf


def pinned(rows: Iterable[Row]) -> list[Row]:
    """The pinned ones among notes: those with a number by it, then the others, each by path."""
    found = []
    for row in rows:
        # Few notes are pinned, so few names are read.
        if not row.kind and PIN in row.names.casefold():
            place = place_of(Names.parse(row.names).tags)
            if place is not None:
                found.append((place, row.path, row))
    return [row for _, _, row in sorted(found, key=lambda each: each[:2])]


def refuse_pins(vault: Vault, tags: Iterable[str]) -> None:
    """Raise `OwnerOnly` when an agent would pin something."""
    if vault.caller.origin != "owner" and any(map(is_pin, tags)):
        raise OwnerOnly("pin a note", "The owner pins it with `zib pin`; leave the tag out.")


def refuse_marks(vault: Vault, before: Note, after: Note) -> None:
    """Raise `OwnerOnly` when an edit by an agent would set or take away a mark of the owner's."""
    if vault.caller.origin == "owner":
        return
    if place_of(before.tags) != place_of(after.tags):
        step = "The owner does it with `zib pin` and `zib unpin`; leave the tag as it is."
        raise OwnerOnly("pin or unpin a note", step)
    if before.kind != after.kind and CONTEXT_SET in (before.kind, after.kind):
        raise OwnerOnly("make a note a context set")
    if before.muted != after.muted:
        raise OwnerOnly("mute memory", "The owner does it with `zib mute` and `zib unmute`.")


def refuse_deletion(vault: Vault, note: Note) -> None:
    """Raise `OwnerOnly` when an agent would delete a pinned note, which would unpin it."""
    if vault.caller.origin != "owner" and not note.kind and place_of(note.tags) is not None:
        raise OwnerOnly("delete a pinned note", "The owner unpins it with `zib unpin`.")
