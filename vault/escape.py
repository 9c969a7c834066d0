"""Text that must not become structure of the note that it is written into.

`encode` adds one backslash where a line would open a block, an inline field would be read, a
block id or a comment; `decode` takes it away. Each step only looks at what stands after the
place where its backslash goes, and no step changes that, so `decode(encode(text)) == text`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

# What opens a block, or turns the line above into one, wherever the line stands.
_OPENS = (
    r"(?:#{1,6}(?=[ \t]|$)|[-+*](?=[ \t]|$)|([-*_])(?:[ \t]*\2){2,}+[ \t]*$|(?:-+|=+)[ \t]*$"
    r"|>|<(?=[A-Za-z/!?])|`{3,}[^`\n]*$|~{3,}|(?=[:| \t]*-)[-:|][-:| \t]*$)"
)
# What does so only where a paragraph starts: a link definition, a task's box.
_DEFINES = r"\[(?=(?:[^\[\]\\\n]|\\.)*+(?:\]:|\\?$)|.\](?:[ \t]|$))"

_LINE = (re.compile(rf"^([ \t]*)(?=\\*{_OPENS})"), re.compile(rf"^([ \t]*)\\(?=\\*{_OPENS})"))
_NUMBER = (
    re.compile(r"^([ \t]*\d{1,9})(?=\\*[.)](?:[ \t]|$))"),
    re.compile(r"^([ \t]*\d{1,9})\\(?=\\*[.)](?:[ \t]|$))"),
)
_START = (re.compile(rf"^([ \t]*)(?=\\*{_DEFINES})"), re.compile(rf"^([ \t]*)\\(?=\\*{_DEFINES})"))
_DEEP = r"(?=\\*(?: {4}| {0,3}\t)[ \t]*[^ \t])"
_INDENT = (re.compile(rf"^(){_DEEP}"), re.compile(rf"^()\\{_DEEP}"))
_FIELD = (re.compile(r"()(?=\[[^\[\]\n:]*::)"), re.compile(r"()\\(?=\[[^\[\]\n:]*::)"))
_BLOCK_ID = (
    re.compile(r"(^|(?<=[ \t]))(?=\\*\^[\w-]+$)", re.MULTILINE | re.ASCII),
    re.compile(r"(^|(?<=[ \t]))\\(?=\\*\^[\w-]+$)", re.MULTILINE | re.ASCII),
)
_COMMENT = (re.compile(r"(%)(?=\\*%)"), re.compile(r"(%)\\(?=\\*%)"))

_ANYWHERE = (_FIELD, _BLOCK_ID, _COMMENT)
_IN_LINES = (_LINE, _NUMBER)
_AT_STARTS = (_START, _INDENT)


def encode(text: str) -> str:
    """The text as it can be written into a list item: nothing in it opens a block."""
    for adding, _ in _ANYWHERE:
        text = adding.sub(r"\1\\", text)
    return _by_line(text, _encoded)


def decode(text: str) -> str:
    """The text that `encode` was given. Other text loses a backslash where it has no use."""
    if "\\" not in text:
        return text
    text = _by_line(text, _decoded)
    for _, removing in reversed(_ANYWHERE):
        text = removing.sub(r"\1", text)
    return text


def _by_line(text: str, change: Callable[[str, bool], str]) -> str:
    lines = text.split("\n")
    starts = [True, *(not line.strip(" \t") for line in lines[:-1])]
    return "\n".join(change(line, start) for line, start in zip(lines, starts, strict=True))


def _encoded(line: str, starts: bool) -> str:
    for adding, _ in _IN_LINES + _AT_STARTS if starts else _IN_LINES:
        line = adding.sub(r"\1\\", line, count=1)
    return line


def _decoded(line: str, starts: bool) -> str:
    for _, removing in reversed(_IN_LINES + _AT_STARTS if starts else _IN_LINES):
        line = removing.sub(r"\1", line, count=1)
    return line
