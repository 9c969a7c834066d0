"""The structure of a note's body: headings, links, tags, list items, block ids.

markdown-it-py finds the blocks; `inline` reads their text. Offsets count characters of the
body as it is on disk, whatever its line ends; lines are 0-based.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from markdown_it import MarkdownIt
from markdown_it import rules_block as rules
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from .inline import InlineReader, Link, LinkKind, block_id, shown
from .source import readable

__all__ = ["Heading", "Item", "Link", "LinkKind", "Structure", "parse", "section"]

Span = tuple[int, int]

# Deeper quotes and lists are passed over: the block parser recurses, and nobody reads them.
_MAX_NESTING = 64
_LONGEST_HEADING = 1000
# Characters of a body whose structure is kept for a while.
_LONGEST_KEPT = 200_000

_TABLE_RULE = frozenset("|-:")
_LINE_END = re.compile(r"\r\n?|\n")
_INLINE_MARKS = re.compile(r"[\\`*_\[\]<>&~^]")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading that is not inside a quote or a list.

    `text` is what a reader sees, `raw` what is written after the hashes; `start` and `end` span
    the heading's lines without the last line end.
    """

    level: int
    text: str
    raw: str
    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Item:
    """A list item of a top-level list.

    The span runs from the marker to the end of the item's last line, without its line end.
    `indent` is the column at which its content starts. `paragraphs` are the spans of its own
    paragraphs and headings, without those of nested blocks.
    """

    start: int
    end: int
    line: int
    marker: str
    indent: int
    paragraphs: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Structure:
    """What one parse finds in a body. `tags` are without `#`, each once, in order.

    `blocks` maps a block id to its line; `fences` are the spans of fenced and indented code.
    """

    headings: tuple[Heading, ...] = ()
    links: tuple[Link, ...] = ()
    tags: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()
    blocks: Mapping[str, int] = field(default_factory=dict)
    fences: tuple[Span, ...] = ()


def _table_below(state: StateBlock, line: int) -> bool:
    """Whether the next line may be the rule below a table's head."""
    below = line + 1
    if below >= state.lineMax:
        return False
    first = state.bMarks[below] + state.tShift[below]
    return first < state.eMarks[below] and state.src[first] in _TABLE_RULE


def _mark(state: StateBlock, line: int) -> str:
    """The first character of a line that is no blank."""
    first = state.bMarks[line] + state.tShift[line]
    return state.src[first : first + 1]


def _underlines(state: StateBlock, line: int, mark: str) -> bool:
    """Whether the line is a setext underline of this mark."""
    if mark not in "=-" or state.sCount[line] < state.blkIndent:
        return False
    first = state.bMarks[line] + state.tShift[line]
    return not state.src[first : state.eMarks[line]].rstrip(" \t").strip(mark)


def _ends_definition(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """Whether another block starts on a line that could continue a link definition."""
    if _table_below(state, line) and rules.table(state, line, end, silent):
        return True
    return _ends_quote(state, line, end, silent)


def _ends_quote(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """Whether another block starts on a line that could continue a quote or a table."""
    fitting = _INTERRUPTING.get(_mark(state, line), ())
    return any(rule(state, line, end, silent) for rule in fitting)


def _ends_list(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """Whether a block that is no list item starts on a line that could continue a list."""
    fitting = _ENDS_LIST.get(_mark(state, line), ())
    return any(rule(state, line, end, silent) for rule in fitting)


def _text_end(state: StateBlock, start: int) -> tuple[int, str]:
    """The line after the paragraph that starts here, and the mark that makes it a heading."""
    for line in range(start + 1, state.lineMax):
        first = state.bMarks[line] + state.tShift[line]
        if first >= state.eMarks[line]:
            return line, ""
        if state.sCount[line] - state.blkIndent > 3 or state.sCount[line] < 0:
            continue
        mark = state.src[first]
        if _underlines(state, line, mark):
            return line, mark
        fitting = _INTERRUPTING.get(mark, ())
        if any(rule(state, line, state.lineMax, True) for rule in fitting) or (
            _table_below(state, line) and rules.table(state, line, state.lineMax, True)
        ):
            return line, ""
    return max(state.lineMax, start + 1), ""


def _text(state: StateBlock, start: int) -> bool:
    """A paragraph or a setext heading: one walk for two rules of the library."""
    outer, state.parentType = state.parentType, "paragraph"
    stop, mark = _text_end(state, start)
    state.parentType = outer
    state.line = stop + 1 if mark else stop
    kind, tag = ("heading", "h1" if mark == "=" else "h2") if mark else ("paragraph", "p")
    opening = state.push(f"{kind}_open", tag, 1)
    opening.map = [start, state.line]
    inline = state.push("inline", "", 0)
    inline.content = state.getLines(start, stop, state.blkIndent, False).strip()
    inline.map = [start, stop]
    inline.children = []
    state.push(f"{kind}_close", tag, -1)
    return True


def _definition(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Block rule: a link definition. A footnote looks like one, but its text is text."""
    first = state.bMarks[start] + state.tShift[start]
    close = state.src.find("]", first, state.eMarks[start])
    if state.src.startswith(("[[", "[^"), first) or (
        close > 0 and state.src[close - 1] != "\\" and not state.src.startswith(":", close + 1)
    ):
        return False
    return rules.reference(state, start, end, silent)


def _block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Block rule, tried first: asks only those rules that fit a line's first character."""
    if state.is_code_block(start):
        return rules.code(state, start, end, silent)
    if _table_below(state, start) and rules.table(state, start, end, silent):
        return True
    fitting = _OPENING.get(_mark(state, start), ())
    return any(rule(state, start, end, silent) for rule in fitting) or _text(state, start)


_Rules = dict[str, tuple[Callable[[StateBlock, int, int, bool], bool], ...]]
_INTERRUPTING: _Rules = {
    "#": (rules.heading,),
    ">": (rules.blockquote,),
    "<": (rules.html_block,),
    "`": (rules.fence,),
    "~": (rules.fence,),
    "+": (rules.list_block,),
    "-": (rules.hr, rules.list_block),
    "*": (rules.hr, rules.list_block),
    "_": (rules.hr,),
    **dict.fromkeys("0123456789", (rules.list_block,)),
}
_OPENING = {**_INTERRUPTING, "[": (_definition,)}
_ENDS_LIST: _Rules = {
    ">": (rules.blockquote,),
    "`": (rules.fence,),
    "~": (rules.fence,),
    **dict.fromkeys("-*_", (rules.hr,)),
}


def _block_parser() -> MarkdownIt:
    parser = MarkdownIt("zero", {"maxNesting": _MAX_NESTING, "html": True})
    parser.core.ruler.enableOnly(["normalize", "block"])
    parser.block.ruler.before("code", "block", _block)
    parser.block.ruler.enableOnly(["block", "code"])
    parser.block.ruler.push("ends_list", _ends_list, {"alt": ["list"]})
    parser.block.ruler.push("ends_quote", _ends_quote, {"alt": ["blockquote"]})
    parser.block.ruler.push("ends_definition", _ends_definition, {"alt": ["reference"]})
    return parser


_BLOCKS = _block_parser()
_INLINE = MarkdownIt("commonmark")


def _plain(raw: str) -> str:
    """A heading's text as a reader sees it."""
    identifier = block_id(raw)
    text = raw[: raw.rindex("^")].rstrip() if identifier else raw
    if len(text) > _LONGEST_HEADING or not _INLINE_MARKS.search(text):
        return " ".join(text.split())
    tokens = _INLINE.parseInline(shown(text))[0].children or []
    kept = (" " if t.type == "softbreak" else t.content for t in tokens if t.type != "html_inline")
    return " ".join("".join(kept).split())


class _Lines:
    """Where each line starts, and where it stops without its line end."""

    def __init__(self, body: str) -> None:
        self._body = body
        found = [end.span() for end in _LINE_END.finditer(body)]
        self._starts = [0, *(after for _, after in found)]
        self._stops = [*(before for before, _ in found), len(body)]

    def stop(self, line: int) -> int:
        return self._stops[line] if line < len(self._stops) else len(self._body)

    def blank(self, line: int) -> bool:
        return not self._body[self._starts[line] : self.stop(line)].strip(" \t")

    def span(self, token: Token) -> Span:
        """The span of a block, without blank lines at its end."""
        first, after = token.map or (0, 1)
        last = min(after, len(self._starts)) - 1
        while last > first and self.blank(last):
            last -= 1
        return self._starts[first], self._stops[last]


def _content_column(line: str, marker_end: int) -> int:
    """The column at which a list item's content starts (tabs stop at every fourth)."""
    marker_column = len(line[:marker_end])
    column = marker_column
    for position in range(marker_end, len(line)):
        if line[position] == "\t":
            column += 4 - column % 4
        elif line[position] == " ":
            column += 1
        else:
            return column if column - marker_column <= 4 else marker_column + 1
    return marker_column + 1


class _Walk:
    """Turns the block tokens of one body into a `Structure`."""

    def __init__(self, body: str, definitions: Mapping[str, Mapping[str, str]]) -> None:
        self._body = body
        self._lines = _Lines(body)
        self._reader = InlineReader({label: one["href"] for label, one in definitions.items()})
        self._headings: list[Heading] = []
        self._items: list[Item] = []
        self._fences: list[Span] = []
        self._blocks: dict[str, int] = {}
        self._item: Token | None = None
        self._paragraphs: list[Span] = []

    def structure(self, tokens: list[Token]) -> Structure:
        for index, token in enumerate(tokens):
            match token.type:
                case "inline":
                    self._text(token, tokens[index - 1])
                case "fence" | "code_block":
                    self._fences.append(self._lines.span(token))
                case "list_item_open" if token.level == 1:
                    self._item, self._paragraphs = token, []
                case "list_item_close" if token.level == 1 and self._item:
                    self._items.append(self._item_of(self._item))
        tags: dict[str, str] = {}
        for tag in self._reader.tags:
            tags.setdefault(tag.casefold(), tag)
        return Structure(
            headings=tuple(self._headings),
            links=tuple(self._reader.links),
            tags=tuple(tags.values()),
            items=tuple(self._items),
            blocks=self._blocks,
            fences=tuple(self._fences),
        )

    def _text(self, token: Token, block: Token) -> None:
        first, after = token.map or (0, 1)
        self._reader.read(token.content, first)
        if block.type == "heading_open" and block.level == 0:
            self._headings.append(self._heading_of(token, block))
        if block.type in ("heading_open", "paragraph_open"):
            if identifier := block_id(token.content):
                self._blocks.setdefault(identifier, after - 1)
            if block.level == 2:
                self._paragraphs.append(self._lines.span(block))

    def _heading_of(self, token: Token, block: Token) -> Heading:
        start, end = self._lines.span(block)
        line = block.map[0] if block.map else 0
        raw = token.content
        return Heading(int(block.tag[1]), _plain(raw), raw, line, start, end)

    def _item_of(self, token: Token) -> Item:
        line = token.map[0] if token.map else 0
        first, end = self._lines.span(token)
        text = self._body[first : self._lines.stop(line)]
        marker = token.info + token.markup
        column = len(text) - len(text.lstrip(" "))
        return Item(
            start=first + column,
            end=end,
            line=line,
            marker=marker,
            indent=_content_column(text, column + len(marker)),
            paragraphs=tuple(self._paragraphs),
        )


def parse(body: str) -> Structure:
    """Find the structure of a body, that is a note's text without its frontmatter.

    Any text is accepted. Links and tags in code, HTML blocks and comments do not count.
    """
    return _parsed_lately(body) if len(body) <= _LONGEST_KEPT else _parsed(body)


def _parsed(body: str) -> Structure:
    definitions: dict[str, Any] = {}
    tokens = _BLOCKS.parse(readable(body), definitions)
    return _Walk(body, definitions.get("references", {})).structure(tokens)


# A write reads a note, and then the index and the next write read what was written.
_parsed_lately = functools.lru_cache(maxsize=16)(_parsed)


def section(structure: Structure, body: str, heading: Heading) -> Span:
    """The span below a heading: up to the next heading of its level or a higher one."""
    start = heading.end
    found = _LINE_END.match(body, start)
    following = (h for h in structure.headings if h.start > heading.start)
    end = next((h.start for h in following if h.level <= heading.level), len(body))
    return (found.end() if found else start), end
