"""Threads: notes of kind `thread`, the short-term notes of one line of work.

Each item is a line such as `- decision: use WAL mode. ^id`. The note says itself until which
day it is kept; the owner may change that day, or take it out to keep the note.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, get_args

from . import frontmatter
from .escape import encode
from .memory import observations
from .note import Note
from .source import Source

NoteKind = Literal["state", "decision", "searched", "discarded", "pending"]

OVER: Final = "the thread is over"
"""The reason with which a thread's note leaves; what rests on its lines stays true then."""

KINDS: Final[tuple[NoteKind, ...]] = get_args(NoteKind)


@dataclass(frozen=True, slots=True)
class ThreadLine:
    """One short-term note. `line` counts from 0 in the body; lines by hand may have no id."""

    kind: NoteKind
    text: str
    id: str
    origin: str
    start: int
    end: int
    line: int


def thread_lines(note: Note) -> Iterator[ThreadLine]:
    """Yield what a thread noted, in the order of the note. A line without a kind is of `state`."""
    for one in observations(note):
        word, colon, rest = one.text.partition(":")
        kind = next((known for known in KINDS if known == word.strip().casefold()), None)
        text = rest.strip() if kind and colon else one.text
        yield ThreadLine(kind or "state", text, one.id, one.origin, one.start, one.end, one.line)


def written(kind: NoteKind, text: str) -> str:
    """The text of an item for a note of this kind."""
    return f"{kind}: {text}"


def last_day(note: Note) -> str:
    """The last day on which a thread is read, an ISO date; empty when it is kept."""
    return str(note.properties.get("expires") or "").strip()


def is_over(note: Note, day: str) -> bool:
    """Whether a thread has expired by a day."""
    last = last_day(note)
    return bool(last) and last < day


def new_thread_source(thread: str, id: str, expires: str) -> Source:  # noqa: A002
    """The note of a thread without lines."""
    keys = {"id": id, "kind": "thread", "title": thread, "expires": expires}
    lines = [f"{key}: {frontmatter.quote(value)}" for key, value in keys.items()]
    return Source.from_text("\n".join(["---", *lines, "---", f"# {encode(thread)}", ""]))
