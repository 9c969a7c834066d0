"""A note's whole text as a text field shows it, and the note that its owner makes of it there.

A text field knows one kind of line end and no bytes that are not text. So each line that comes
back as it was shown keeps the bytes that it has, and a new one takes the line end of the line
whose place it takes, or of the one above it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import takewhile

from .errors import InvalidArgument
from .source import BOM, Source, readable

COMPARED = 2000
"""Changed lines beyond which no equal ones are looked for among them."""

_LINE_END = re.compile(r"\r\n?|\n")

Block = tuple[slice, slice]
"""Lines as they were, and the lines in their place."""


def field_text(source: Source) -> str:
    """Return the text of a file, frontmatter too, with line feeds and without a byte order mark."""
    return "\n".join(_shown(line) for line, _ in _lines(source.text.removeprefix(BOM)))


def with_field_text(source: Source, text: str) -> Source:
    """Return the note whose `field_text` is `text`, with every byte kept that was not changed.

    Raises InvalidArgument when a line is changed whose bytes a text field cannot show.
    """
    mark = BOM if source.text.startswith(BOM) else ""
    old, new = _lines(source.text.removeprefix(BOM)), text.split("\n")
    kept = list(_kept(old, new, source.newline))
    made = Source.from_text(mark + "".join(f"{line}{end}" for line, end in kept))
    if field_text(made) == _shown(text):
        return made
    # A bare carriage return has come to stand before a line feed, and makes one line end with it.
    return Source.from_text(mark + source.newline.join(line for line, _ in kept))


def _lines(text: str) -> list[tuple[str, str]]:
    """The lines, each with its line end; the last has none."""
    found, at = [], 0
    for end in _LINE_END.finditer(text):
        found.append((text[at : end.start()], end[0]))
        at = end.end()
    return [*found, (text[at:], "")]


def _shown(text: str) -> str:
    return readable(text).replace("\0", "\ufffd")


def _kept(
    old: Sequence[tuple[str, str]], new: Sequence[str], newline: str
) -> Iterator[tuple[str, str]]:
    above = newline
    for before, after in _blocks([_shown(line) for line, _ in old], new):
        there, come = old[before], new[after]
        same = [_shown(line) for line, _ in there] == come
        if not same:
            _refuse_change(there, come)
        for number, line in enumerate(come):
            raw, end = there[number] if number < len(there) else (line, "")
            above = end or above
            is_last = after.start + number == len(new) - 1
            yield raw if same else line, "" if is_last else above


def _blocks(old: Sequence[str], new: Sequence[str]) -> Iterator[Block]:
    """What stands in the place of what, from the first line to the last."""
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    end, new_end = len(old) - tail, len(new) - tail
    yield slice(0, head), slice(0, head)
    if max(end, new_end) - head > COMPARED:
        yield slice(head, end), slice(head, new_end)
    else:
        matcher = SequenceMatcher(None, old[head:end], new[head:new_end], autojunk=False)
        for _, a, b, c, d in matcher.get_opcodes():
            yield slice(head + a, head + b), slice(head + c, head + d)
    yield slice(end, len(old)), slice(new_end, len(new))


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _refuse_change(old: Sequence[tuple[str, str]], new: Sequence[str]) -> None:
    hidden = any(_shown(line) != line for line, _ in old)
    if hidden and any("\ufffd" in line for line in new):
        problem = "a line with bytes that are no text (�) can be kept or taken out, not changed"
        raise InvalidArgument("text", problem)
