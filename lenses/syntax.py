"""What Obsidian adds to the words of Markdown: wikilinks, embeds, tags, marks and comments.

Rules for markdown-it-py; each looks at one place of the text and takes linear time over a note.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

_WIKILINK = re.compile(r"!?\[\[([^\[\]\n]{1,1000})\]\]")
_TAG = re.compile(r"#([\w/-]*[^\W\d_][\w/-]*)")
_BEFORE_TAG = frozenset(" \t\n\u00a0(*_~,;")
_MARK = re.compile(r"==(?=\S)([^\n=]{1,1000})(?<=\S)==")
_COMMENT = re.compile(r"%%.{0,4000}?%%", re.DOTALL)


def add_syntax(parser: MarkdownIt) -> None:
    """Teach a parser these forms."""
    # Wikilinks come first, as Obsidian has it: an alias may hold a code span.
    parser.inline.ruler.before("escape", "wikilink", _wikilink)
    parser.inline.ruler.after("wikilink", "hashtag", _hashtag)
    parser.inline.ruler.after("hashtag", "mark", _mark)
    parser.inline.ruler.after("mark", "comment", _inline_comment)
    parser.block.ruler.before("fence", "comment", _block_comment, {"alt": ["paragraph"]})


def _wikilink(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] not in "![":
        return False
    found = _WIKILINK.match(state.src, state.pos, state.posMax)
    name, _, alias = found[1].partition("|") if found else ("", "", "")
    # Inside a table the pipe of the alias is written `\|`.
    target, _, anchor = name.removesuffix("\\").partition("#")
    target, anchor, alias = target.strip(), anchor.strip(), alias.strip()
    if found is None or not (target or anchor):
        return False
    if not silent:
        embed = found[0].startswith("!")
        token = state.push("embed" if embed else "wikilink", "", 0)
        token.meta = {"target": target, "anchor": anchor, "alias": alias}
        token.content = alias if alias and not (embed and alias[0].isdigit()) else _shown(name)
    state.pos = found.end()
    return True


def _shown(name: str) -> str:
    """How a link without words of its own reads: `Note > Heading`."""
    target, _, anchor = name.removesuffix("\\").partition("#")
    parts = [target.strip(), *(part.strip() for part in anchor.split("#"))]
    return " › ".join(part for part in parts if part and part[0] != "^") or name.strip()


def _hashtag(state: StateInline, silent: bool) -> bool:
    at = state.pos
    if state.src[at] != "#" or (at and state.src[at - 1] not in _BEFORE_TAG):
        return False
    found = _TAG.match(state.src, at, state.posMax)
    if found is None:
        return False
    if not silent:
        state.push("hashtag", "", 0).content = found[0].rstrip("/")
    state.pos = at + len(found[0].rstrip("/"))
    return True


def _mark(state: StateInline, silent: bool) -> bool:
    found = _MARK.match(state.src, state.pos, state.posMax) if state.src[state.pos] == "=" else None
    if found is None:
        return False
    if not silent:
        outer = state.posMax
        state.push("mark_open", "mark", 1)
        state.pos, state.posMax = found.start(1), found.end(1)
        state.md.inline.tokenize(state)
        state.posMax = outer
        state.push("mark_close", "mark", -1)
    state.pos = found.end()
    return True


def _inline_comment(state: StateInline, silent: bool) -> bool:
    if not state.src.startswith("%%", state.pos):
        return False
    found = _COMMENT.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        state.push("comment", "", 0)
    state.pos = found.end()
    return True


def _block_comment(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A comment that starts a line and may run over blank ones."""
    first = state.bMarks[start] + state.tShift[start]
    if not state.src.startswith("%%", first) or state.is_code_block(start):
        return False
    closing = _line_that_closes(state, start, end, first)
    if closing is None:
        return False
    if not silent:
        state.line = closing + 1
    return True


def _line_that_closes(state: StateBlock, start: int, end: int, first: int) -> int | None:
    for line in range(start, end):
        opened = first + 2 if line == start else state.bMarks[line]
        text = state.src[opened : state.eMarks[line]]
        if text.rstrip().endswith("%%"):
            return line
        if "%%" in text:
            return None  # Words follow the comment: the inline rule reads those.
    return None
