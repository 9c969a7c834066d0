"""Inline Markdown: where the text of one block links to, and its tags.

One pass from left to right with a stack of open brackets, as the CommonMark specification
(0.31.2, "Phase 2: inline structure") lays out, so that no text takes more than linear time.
Wikilinks come before code spans and links, which keeps an alias with code in it whole.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
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
_NO_TAG = r"\s!-,.:-@\[-^`{-~\u2000-\u200b\u200e-\u206f\u2e00-\u2e7f\u3000-\u303f\uff01-\uff0f\uff1a-\uff20"
_TAG = re.compile(rf"#([^{_NO_TAG}]+)")
_BEFORE_TAG = frozenset(" \t\n\u00a0\u3000(*_~,;“‘«（「，、。")
_ANY = re.compile(r"[\[#]|%%")
_SPECIAL = re.compile(r"\\|`|!?\[|\]|<|#|%%")
_TICKS = re.compile(r"`+")
_CODE_MARKS = re.compile(r"\\|`+")
_WIKILINK = re.compile(r"\[\[(?!\[)((?:[^\[\]\n]|\[(?!\[)|\](?!\]))*+)\]\]")
_AUTOLINK = re.compile(r"<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^<>\x00-\x20]*+>")
_TAG_OF_HTML = re.compile(r"""</?[A-Za-z](?:[^<>"']|"[^"<>]{0,2000}+"|'[^'<>]{0,2000}+')*+>""")
_BLANKS = re.compile(r"[ \t]*+\n?[ \t]*+")
_POINTED = re.compile(r"<((?:[^<>\\\n]|\\.)*+)>")
_BARE = re.compile(r"[^\\()\x00-\x20\x7f]++|\\[^\x00-\x20]?|[()]")
_TITLE = re.compile(r""""(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\)""", re.DOTALL)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//")
_WEB = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://|mailto:", re.IGNORECASE)
_BLOCK_ID = re.compile(r"\^([A-Za-z0-9_-]+)[ \t]*\Z")
_NESTED_PARENTHESES = 32
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


def _bare_destination(text: str, start: int) -> _Target | None:
    position = start
    depth = 0
    while found := _BARE.match(text, position):
        if found[0] == "(":
            depth += 1
        elif found[0] == ")":
            depth -= 1
        if depth < 0 or depth > _NESTED_PARENTHESES:
            break
        position = found.end()
    return _Target(text[start:position], position) if depth <= 0 else None


def _destination(text: str, start: int) -> _Target | None:
    """What stands in the parentheses that open at `start`, without its title."""
    position = _skip_blanks(text, start + 1)
    if text.startswith("<", position):
        pointed = _POINTED.match(text, position)
        target = _Target(pointed[1], pointed.end()) if pointed else None
    else:
        target = _bare_destination(text, position)
    if target is None:
        return None
    position = _skip_blanks(text, target.end)
    title = _TITLE.match(text, position) if position > target.end else None
    if title:
        position = _skip_blanks(text, title.end())
    if not text.startswith(")", position):
        return None
    return _Target(unescapeAll(target.destination), position + 1)


def _skip_blanks(text: str, start: int) -> int:
    found = _BLANKS.match(text, start)
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
        comment_spans_blocks = self._comment is not None or text.startswith("%%")
        position = 0
        while found := _SPECIAL.search(text, position):
            position = self._step(found[0], found.start())
        if not comment_spans_blocks:
            self._comment = None

    def _step(self, mark: str, at: int) -> int:
        match mark:
            case "\\":
                return at + 2
            case "`":
                return self._code(at)
            case "<":
                return self._html(at)
            case "#":
                return self._tag(at)
            case "]":
                return self._close(at)
            case "%%":
                return self._toggle_comment(at)
            case _:
                return self._open(at, image=mark == "![")

    def _code(self, at: int) -> int:
        if self._runs is None:
            self._runs = _runs(self._text)
        return _code_end(self._text, at, self._runs)

    def _html(self, at: int) -> int:
        text = self._text
        if text.startswith("<!--", at) and not self._no_comment_end:
            end = text.find("-->", at + 4)
            self._no_comment_end = end < 0
            return at + 1 if end < 0 else end + 3
        found = _AUTOLINK.match(text, at) or _TAG_OF_HTML.match(text, at)
        return found.end() if found else at + 1

    def _tag(self, at: int) -> int:
        found = _TAG.match(self._text, at)
        if found is None:
            return at + 1
        name = found[1].strip("/")
        if (at == 0 or self._text[at - 1] in _BEFORE_TAG) and not name.replace("/", "").isdigit():
            self.tags.append(name)
        return found.end()

    def _toggle_comment(self, at: int) -> int:
        if self._comment is None:
            self._comment = (len(self.links), len(self.tags))
        else:
            links, tags = self._comment
            del self.links[links:], self.tags[tags:]
            self._comment = None
        return at + 2

    def _open(self, at: int, *, image: bool) -> int:
        bracket = at + 1 if image else at
        found = _WIKILINK.match(self._text, bracket)
        if found:
            self._add_wikilink(found[1], at, embed=image)
            return found.end()
        self._openers.append(_Opener(image, bracket + 1, len(self.tags)))
        return bracket + 1

    def _close(self, at: int) -> int:
        if not self._openers:
            return at + 1
        opener = self._openers.pop()
        dead = len(self._openers) < self._dead and not opener.image
        self._dead = min(self._dead, len(self._openers))
        target = None if dead else self._target(opener, at)
        if target is None:
            return at + 1
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
        label, end = text[opener.label : close], close + 1
        if text.startswith("[", close + 1):
            stop = text.find("]", close + 2, close + 3 + _REFERENCE_LABEL)
            if stop > 0:
                label, end = text[close + 2 : stop] or label, stop + 1
        if len(label) > _REFERENCE_LABEL:
            return None
        destination = self._references.get(normalizeReference(label))
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
