"""Inline Markdown: where the text of one block links to, and its tags.

One pass from left to right with a stack of open brackets, as the CommonMark specification
(0.31.2, "Phase 2: inline structure") lays out, so that no text takes more than linear time.
Wikilinks come before code spans and links, which keeps an alias with code in it whole.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple
from urllib.parse import unquote

from markdown_it.common.utils import normalizeReference, unescapeAll

LinkKind = Literal["wikilink", "embed", "markdown"]


@dataclass(frozen=True, slots=True)
class Link:
    """A link to a note or a file; web addresses are none.

    `target` is decoded and empty for a link inside the note, `anchor` is what follows the
    first `#`, `alias` the shown text as written, `line` 0-based in the body.
    """

    target: str
    anchor: str
    alias: str
    kind: LinkKind
    line: int


class _Opener(NamedTuple):
    image: bool
    label: int
    tags: int


class _Target(NamedTuple):
    destination: str
    end: int


# What cannot be in a tag: blanks, ASCII marks but - / _, and typographic marks (joiners may).
_TYPOGRAPHY = r"\u2000-\u200b\u200e-\u206f\u2e00-\u2e7f\u3000-\u303f\uff01-\uff0f\uff1a-\uff20"
_TAG = re.compile(rf"#([^\s!-,.:-@\[-^`{{-~{_TYPOGRAPHY}]+)")
_BEFORE_TAG = frozenset(" \t\n\u00a0\u3000(*_~,;“‘«（「，、。")
_ANY = re.compile(r"[\[#]|%%")
_SPECIAL = re.compile(r"\\|`+|!?\[+|\]|<|#|%%")
_TICKS = re.compile(r"`+")
_CODE_MARKS = re.compile(r"\\|`+")
_WIKILINK = re.compile(r"\[\[(?!\[)((?:[^\[\]\n]|\[(?!\[)|\](?!\]))*+)\]\]")
_AUTOLINK = re.compile(r"<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^<>\x00-\x20]*+>")
_TAG_OF_HTML = re.compile(r"""</?[A-Za-z](?:[^<>"']|"[^"<>]{0,2000}+"|'[^'<>]{0,2000}+')*+>""")
_BLANKS = re.compile(r"[ \t]*+\n?[ \t]*+")
_POINTED = re.compile(r"<((?:[^<>\\\n]|\\.)*+)>")
_PLAIN = r"[^\\()\x00-\x20\x7f]++|\\[^\x00-\x20]?"
_BARE = re.compile(rf"(?:{_PLAIN}|\((?:{_PLAIN}|\((?:{_PLAIN}|\((?:{_PLAIN})*+\))*+\))*+\))*+")
_TITLE = re.compile(r""""(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\)""", re.DOTALL)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//")
_WEB = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://|mailto:", re.IGNORECASE)
_BLOCK_ID = re.compile(r"\^([A-Za-z0-9_-]+)[ \t]*\Z")
_REFERENCE_LABEL = 999


def block_id(text: str) -> str | None:
    """The Obsidian block id (`^id`) that ends a block's text, without the caret."""
    at = text.rfind("^")
    if at < 0 or (at > 0 and text[at - 1] not in " \t\n"):
        return None
    found = _BLOCK_ID.match(text, at)
    return found[1] if found else None


def shown(text: str) -> str:
    """The text with each wikilink replaced by what a reader sees of it."""
    return _WIKILINK.sub(lambda link: link[1].partition("|")[2] or link[1], text)


def code_spans(text: str) -> list[tuple[int, int]]:
    """The spans of inline code, backticks included."""
    spans: list[tuple[int, int]] = []
    runs = _runs(text)
    position = 0
    while runs and (found := _CODE_MARKS.search(text, position)):
        if found[0] == "\\":
            position = found.end() + 1
            continue
        position = _code_end(text, found.start(), runs)
        if position > found.end():
            spans.append((found.start(), position))
    return spans


def _runs(text: str) -> dict[int, list[int]]:
    runs: dict[int, list[int]] = {}
    for found in _TICKS.finditer(text):
        runs.setdefault(found.end() - found.start(), []).append(found.start())
    return runs


def _code_end(text: str, start: int, runs: Mapping[int, list[int]]) -> int:
    """The end of the code span that opens here, or of its backticks when none closes it."""
    opening = _TICKS.match(text, start)
    after = opening.end() if opening else start + 1
    closers = runs.get(after - start, [])
    index = bisect_left(closers, after)
    return closers[index] + after - start if index < len(closers) else after


def _destination(text: str, start: int) -> _Target | None:
    """What stands in the parentheses that open at `start`, without its title."""
    position = _skip_blanks(text, start + 1)
    pointed = text.startswith("<", position)
    found = (_POINTED if pointed else _BARE).match(text, position)
    if found is None:
        return None
    position = _skip_blanks(text, found.end())
    title = _TITLE.match(text, position) if position > found.end() else None
    if title:
        position = _skip_blanks(text, title.end())
    if not text.startswith(")", position):
        return None
    written = found[1] if pointed else found[0]
    decoded = unescapeAll(written) if "\\" in written or "&" in written else written
    return _Target(decoded, position + 1)


def _skip_blanks(text: str, start: int) -> int:
    found = _BLANKS.match(text, start) if text[start : start + 1] in (" ", "\t", "\n") else None
    return found.end() if found else start


class InlineReader:
    """Collects the links and tags of a note whose blocks are read in their order.

    `references` maps normalised labels of link definitions to their destinations.
    """

    def __init__(self, references: Mapping[str, str]) -> None:
        self.links: list[Link] = []
        self.tags: list[str] = []
        self._references = references
        self._comment: tuple[int, int] | None = None

    def read(self, text: str, line: int) -> None:
        """Read one block's text, whose first line is line `line` of the body."""
        if _ANY.search(text) is None:
            return
        self._text = text
        self._counted = (line, 0)
        self._openers: list[_Opener] = []
        self._dead = 0
        self._runs: dict[int, list[int]] | None = None
        self._no_comment_end = False
        self._brackets_matter = "](" in text or bool(self._references)
        comment_spans_blocks = self._comment is not None or text.startswith("%%")
        position = 0
        while found := _SPECIAL.search(text, position):
            position = _STEPS[text[found.start()]](self, found.start(), found.end())
        if not comment_spans_blocks:
            self._comment = None

    def _escape(self, _at: int, end: int) -> int:
        return end + 1

    def _code(self, at: int, _end: int) -> int:
        if self._runs is None:
            self._runs = _runs(self._text)
        return _code_end(self._text, at, self._runs)

    def _html(self, at: int, after: int) -> int:
        text = self._text
        if text.startswith("<!--", at) and not self._no_comment_end:
            end = text.find("-->", at + 4)
            self._no_comment_end = end < 0
            return after if end < 0 else end + 3
        found = _AUTOLINK.match(text, at) or _TAG_OF_HTML.match(text, at)
        return found.end() if found else after

    def _tag(self, at: int, after: int) -> int:
        found = _TAG.match(self._text, at)
        if found is None:
            return after
        name = found[1].strip("/")
        if (at == 0 or self._text[at - 1] in _BEFORE_TAG) and not name.replace("/", "").isdigit():
            self.tags.append(name)
        return found.end()

    def _toggle_comment(self, _at: int, after: int) -> int:
        if self._comment is None:
            self._comment = (len(self.links), len(self.tags))
        else:
            links, tags = self._comment
            del self.links[links:], self.tags[tags:]
            self._comment = None
        return after

    def _open(self, at: int, after: int) -> int:
        """A run of opening brackets: a wikilink starts at its last two."""
        image = self._text[at] == "!"
        wikilink = _WIKILINK.match(self._text, after - 2) if after - at >= 2 else None
        opened = range(at + image, after - 2 if wikilink else after)
        if self._brackets_matter and opened:
            tags = len(self.tags)
            self._openers.append(_Opener(image, opened[0] + 1, tags))
            self._openers.extend(_Opener(False, bracket + 1, tags) for bracket in opened[1:])
        if wikilink is None:
            return after
        self._add_wikilink(wikilink[1], at, embed=image and not opened)
        return wikilink.end()

    def _close(self, at: int, after: int) -> int:
        if not self._openers:
            return after
        opener = self._openers.pop()
        dead = len(self._openers) < self._dead and not opener.image
        self._dead = min(self._dead, len(self._openers))
        target = None if dead else self._target(opener, at)
        if target is None:
            return after
        # A word in the shown text of a link is no tag: projects differ, and this loses nothing.
        del self.tags[opener.tags :]
        self._add_markdown(target.destination, opener, at)
        if not opener.image:
            self._dead = len(self._openers)
        return target.end

    def _target(self, opener: _Opener, close: int) -> _Target | None:
        text = self._text
        if text.startswith("(", close + 1):
            found = _destination(text, close + 1)
            if found:
                return found
        if not self._references:
            return None
        start, stop, end = opener.label, close, close + 1
        if text.startswith("[", end):
            second = text.find("]", end + 1, end + 2 + _REFERENCE_LABEL)
            if second > end + 1:
                start, stop = end + 1, second
            end = second + 1 if second > 0 else end
        if stop - start > _REFERENCE_LABEL:
            return None
        destination = self._references.get(normalizeReference(text[start:stop]))
        return None if destination is None else _Target(destination, end)

    def _line_of(self, at: int) -> int:
        line, position = self._counted
        if at > position:
            line += self._text.count("\n", position, at)
            self._counted = (line, at)
        return line

    def _add_wikilink(self, inner: str, at: int, *, embed: bool) -> None:
        name, _, alias = inner.partition("|")
        # Inside a table the pipe of the alias is written `\|`.
        target, _, anchor = name.removesuffix("\\").partition("#")
        target, anchor = target.strip(), anchor.strip()
        if (target or anchor) and not _WEB.match(target):
            kind: LinkKind = "embed" if embed else "wikilink"
            self.links.append(Link(target, anchor, alias.strip(), kind, self._line_of(at)))

    def _add_markdown(self, destination: str, opener: _Opener, close: int) -> None:
        path, _, anchor = destination.partition("#")
        target, anchor = unquote(path).strip(), unquote(anchor).strip()
        if (target or anchor) and not _SCHEME.match(destination):
            kind: LinkKind = "embed" if opener.image else "markdown"
            alias = self._text[opener.label : close]
            self.links.append(Link(target, anchor, alias, kind, self._line_of(opener.label)))


_STEPS: dict[str, Callable[[InlineReader, int, int], int]] = {
    "\\": InlineReader._escape,
    "`": InlineReader._code,
    "<": InlineReader._html,
    "#": InlineReader._tag,
    "%": InlineReader._toggle_comment,
    "!": InlineReader._open,
    "[": InlineReader._open,
    "]": InlineReader._close,
}
