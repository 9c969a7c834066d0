"""Notes as HTML: Markdown as Obsidian writes it, rendered here and then sanitised.

Whatever a note says, what comes out holds only the elements and attributes listed below: no
script, style, form or frame, no address but of the web, of mail, and of this vault. Remote images
become links, so that reading a note asks nobody for anything.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, MutableMapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final, Protocol
from urllib.parse import unquote, urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup
from mdit_py_plugins.footnote import footnote_plugin

from ..vault.paths import fold_name
from .pixels import Size
from .syntax import add_syntax

MAX_NESTING = 64

LONGEST = 400_000
BRACKETS = 1_000
"""Characters of a note, and opening brackets of one block, beyond which it is shown as it is
written: time to parse grows with their square."""


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


TAGS: Final = _set(
    "a abbr b blockquote br cite code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i img ins "
    "kbd li mark ol p pre q s samp section small span strong sub summary sup table tbody td th "
    "thead tr u ul var wbr"
)
IMAGE_ENDINGS: Final = _set("png jpg jpeg gif webp avif svg bmp")
ATTRIBUTES: Final = {
    "*": {"id", "class", "title", "lang", "dir"},
    "a": {"href"},
    "img": {"src", "alt", "width", "height", "loading"},
    "ol": {"start"},
    "details": {"open"},
    "span": {"role", "aria-label"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan"},
}
SCHEMES: Final = frozenset({"http", "https", "mailto"})
CALLOUTS: Final = {
    "abstract": "abstract", "summary": "abstract", "tldr": "abstract",
    "info": "info", "todo": "info",
    "tip": "tip", "hint": "tip", "important": "tip",
    "success": "success", "check": "success", "done": "success",
    "question": "question", "help": "question", "faq": "question",
    "warning": "warning", "caution": "warning", "attention": "warning",
    "failure": "danger", "fail": "danger", "missing": "danger",
    "danger": "danger", "error": "danger", "bug": "danger",
    "example": "example", "quote": "quote", "cite": "quote",
}  # fmt: skip
"""What a callout is called in a note, and which of ours that is; all others are a note."""

_CLASSES: Final = _set(
    "align-left align-center align-right callout callout-title embed embed-title missing file tag "
    "task done doing blocked footnotes footnotes-list footnote-item footnote-ref footnote-backref "
    "footnotes-sep remote"
) | {f"callout-{kind}" for kind in ("note", *CALLOUTS.values())}
_LANGUAGE = re.compile(r"language-[\w+#-]{1,40}")
_ID = re.compile(r"(?:s|b)-[\w-]{1,200}|fn(?:ref)?[\w:-]{1,40}")
_NUMBER = re.compile(r"\d{1,4}")
_CALLOUT = re.compile(r"\[!([^\]\n]{1,60})\]([+-]?)[ \t]*")
_CODE = re.compile(r"`([^`]+)`")
_TASK = re.compile(r"\[(.)\][ \t]")
_BLOCK_ID = re.compile(r"(?:^|[ \t])\^([A-Za-z0-9_-]+)[ \t]*$")
_ALIGN = re.compile(r"text-align:(left|center|right)")
_NOT_SLUG = re.compile(r"[\W_]+")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//")
_IMAGE_TAG = re.compile(r"<img\b[^>]*>", re.IGNORECASE)
_IMAGE_SOURCE = re.compile(r"""\bsrc\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))""", re.IGNORECASE)
_TASKS = {" ": "", "x": "done", "X": "done", "/": "doing", "!": "blocked", "-": "blocked"}


@dataclass(frozen=True, slots=True)
class Embedded:
    """A part of another note that is shown inside this one."""

    title: str
    href: str
    html: str


class Links(Protocol):
    """Where the links of one note lead."""

    def note(self, target: str, anchor: str) -> str | None:
        """Return the address of the page of a note, or None when there is none to show."""

    def file(self, target: str) -> str | None:
        """Return the address of a file of the vault that is no note."""

    def size(self, target: str) -> Size | None:
        """Return the size of a picture, so that the page keeps its place for it."""

    def embedded(self, target: str, anchor: str) -> Embedded | None:
        """Return what an embed of a note shows."""

    def tag(self, name: str) -> str:
        """Return the address of the page of a tag."""


def render(body: str, links: Links, *, title: str = "", nested: str = "") -> Markup:
    """Return a body as HTML that is safe in any place of a page.

    A first heading that repeats `title` is left out. `nested` names a part that is shown inside
    another note: its headings and blocks get no ids, since those are the other note's.
    """
    if len(body) > LONGEST or any(part.count("[") > BRACKETS for part in body.split("\n\n")):
        return Markup("<pre>{}</pre>").format(body)
    env: dict[str, Any] = {"links": links, "title": title, "nested": nested}
    if nested:
        env["docId"] = nested
    return sanitised(_parser().render(body, env))


def sanitised(html: str) -> Markup:
    """Return HTML with nothing in it but what is allowed."""
    return Markup(
        nh3.clean(
            html,
            tags=set(TAGS),
            clean_content_tags={"script", "style", "template", "noscript", "svg", "math"},
            attributes={tag: set(names) for tag, names in ATTRIBUTES.items()},
            attribute_filter=_attribute,
            url_schemes=set(SCHEMES),
            link_rel="noopener noreferrer",
        )
    )


def slug(heading: str) -> str:
    """Return the id of a heading on a page."""
    return f"s-{_NOT_SLUG.sub('-', fold_name(heading)).strip('-')[:180] or 'section'}"


def heading_ids(headings: Iterable[str]) -> list[str]:
    """Return the ids of all headings of a page, of which no two are equal."""
    seen: dict[str, int] = {}
    return [_unique(slug(heading), seen) for heading in headings]


def _unique(name: str, seen: dict[str, int]) -> str:
    seen[name] = number = seen.get(name, 0) + 1
    return f"{name}-{number}" if number > 1 else name


def anchor_id(anchor: str) -> str:
    """Return the id on a page of what a link names behind its `#`."""
    return f"b-{anchor[1:]}" if anchor.startswith("^") else slug(anchor.rpartition("#")[2])


def is_image(path: str) -> bool:
    """Whether a file is called like an image that browsers show."""
    return path.rpartition(".")[2].lower() in IMAGE_ENDINGS


def _attribute(_tag: str, name: str, value: str) -> str | None:
    if name == "class":
        kept = [one for one in value.split() if one in _CLASSES or _LANGUAGE.fullmatch(one)]
        return " ".join(kept) or None
    if name == "id":
        return value if _ID.fullmatch(value) else None
    if name == "src":
        return value if value.startswith("/file/") else None
    if name == "role":
        return value if value == "img" else None
    if name in ("width", "height", "colspan", "rowspan", "start"):
        return value if _NUMBER.fullmatch(value) else None
    return value


@functools.cache
def _parser() -> MarkdownIt:
    # Fenced code is shown as it is; linkified words would be addresses that nobody wrote.
    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": MAX_NESTING})
    parser.enable(["table", "strikethrough"]).use(footnote_plugin)
    add_syntax(parser)
    parser.core.ruler.push("obsidian", _blocks)
    for name, rule in _RULES.items():
        parser.add_render_rule(name, rule)
    return parser


# After parsing: what Obsidian makes of blocks.


def _blocks(state: StateCore) -> None:
    tokens = state.tokens
    _drop_title(tokens, state.env)
    seen: dict[str, int] = {}
    for at, token in enumerate(tokens):
        if token.type in ("th_open", "td_open"):
            _align(token)
        elif token.type == "inline":
            _inline(tokens, at, nested=bool(state.env["nested"]))
        elif token.type == "heading_open" and not state.env["nested"]:
            _name_heading(token, tokens[at + 1], seen)
    _callouts(tokens)
    _embeds(tokens)


def _drop_title(tokens: list[Token], env: MutableMapping[str, Any]) -> None:
    """Leave out a first heading that says what the page is called already."""
    heading = len(tokens) > 2 and (tokens[0].type, tokens[0].tag) == ("heading_open", "h1")
    if heading and tokens[1].content.split() == env["title"].split():
        del tokens[:3]


def _align(token: Token) -> None:
    found = _ALIGN.fullmatch(str(token.attrs.pop("style", "")))
    if found:
        token.attrJoin("class", f"align-{found[1]}")


def _name_heading(heading: Token, inline: Token, seen: dict[str, int]) -> None:
    heading.attrs["id"] = _unique(slug(_BLOCK_ID.sub("", plain(inline))), seen)


def plain(inline: Token) -> str:
    """Return the words of an inline token, without its marks."""
    parts = []
    for child in inline.children or ():
        if child.type in ("text", "code_inline", "wikilink", "hashtag"):
            parts.append(child.content)
        elif child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
    return "".join(parts)


def _inline(tokens: list[Token], at: int, *, nested: bool) -> None:
    """Take block ids and boxes of tasks out of the text of a block."""
    children = tokens[at].children or []
    owner = tokens[at - 1]
    if owner.type == "paragraph_open" and at > 1 and tokens[at - 2].type == "list_item_open":
        owner = tokens[at - 2]
        _task(children)
    last = children[-1] if children else None
    found = _BLOCK_ID.search(last.content) if last and last.type == "text" else None
    if last and found:
        last.content = last.content[: found.start()]
        if not nested:
            owner.attrs.setdefault("id", f"b-{found[1]}")


def _task(children: list[Token]) -> None:
    first = children[0] if children else None
    found = _TASK.match(first.content) if first and first.type == "text" else None
    if first and found:
        first.content = first.content[found.end() :]
        box = Token("task", "", 0)
        box.content = _TASKS.get(found[1], "done")
        children.insert(0, box)


def _callouts(tokens: list[Token]) -> None:
    """Turn quotes that begin with `[!kind]` into callouts."""
    open_quotes: list[Token | None] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.type == "blockquote_open":
            title = _callout(token, tokens[at + 1 : at + 4])
            open_quotes.append(token if title else None)
            tokens[at + 1 : at + 1] = title
        elif token.type == "blockquote_close":
            opened = open_quotes.pop() if open_quotes else None
            if opened is not None:
                token.tag = opened.tag
        at += 1


def _callout(quote: Token, following: Sequence[Token]) -> list[Token]:
    """The title of a callout, for which its quote and first paragraph are changed; or nothing."""
    if [each.type for each in following[:2]] != ["paragraph_open", "inline"]:
        return []
    paragraph, inline = following[0], following[1]
    children = inline.children or []
    found = _CALLOUT.match(children[0].content) if children else None
    if not found or children[0].type != "text":
        return []
    children[0].content = children[0].content[found.end() :]
    end = next((n for n, each in enumerate(children) if each.type.endswith("break")), len(children))
    head, inline.children = children[:end], children[end + 1 :]
    if not inline.children:
        paragraph.hidden = following[2].hidden = True
    if not any(each.content.strip() or each.type != "text" for each in head):
        head = [_text(found[1].strip().capitalize())]
    kind = CALLOUTS.get(found[1].strip().casefold(), "note")
    quote.attrs["class"] = f"callout callout-{kind}"
    quote.tag = "details" if found[2] else "div"
    if found[2] == "+":
        quote.attrs["open"] = ""
    tag = "summary" if found[2] else "p"
    opening, closing = Token("callout_title_open", tag, 1), Token("callout_title_close", tag, -1)
    opening.attrs["class"] = "callout-title"
    title = Token("inline", "", 0)
    title.children, title.content = head, ""
    return [opening, title, closing]


def _text(content: str) -> Token:
    token = Token("text", "", 0)
    token.content = content
    return token


def _embeds(tokens: list[Token]) -> None:
    """Take embeds out of a paragraph that holds nothing else: they may be blocks."""
    for at, token in enumerate(tokens):
        children = [each for each in token.children or () if each.type != "softbreak"]
        shown = [each for each in children if each.type != "text" or each.content.strip()]
        if shown and all(each.type == "embed" for each in shown):
            before, after = tokens[at - 1], tokens[at + 1]
            if before.type == "paragraph_open":
                before.hidden = after.hidden = True
                for each in shown:
                    each.block = True


# Rendering


def _href(links: Links, destination: str) -> tuple[str, str]:
    """The address that a Markdown link leads to, and its class; no address when it is missing."""
    if not destination or _SCHEME.match(destination):
        return destination, ""
    path, _, anchor = unquote(destination).partition("#")
    found = links.note(path, anchor)
    if found is not None:
        return found, ""
    found = links.file(path) if path else None
    return (found, "file") if found else ("", "missing")


def _link_open(
    renderer: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: Any
) -> str:
    token = tokens[at]
    href, kind = _href(env["links"], str(token.attrs.get("href", "")))
    token.attrs = {"href": href} if href else {}
    if kind:
        token.attrs["class"] = kind
    return renderer.renderToken(tokens, at, options, env)


def _wikilink(
    _self: RendererHTML, tokens: Sequence[Token], at: int, _options: OptionsDict, env: Any
) -> str:
    token = tokens[at]
    target, anchor = token.meta["target"], token.meta["anchor"]
    href = env["links"].note(target, anchor)
    kind = ""
    if href is None:
        href = env["links"].file(target) if target else None
        kind = "file" if href else "missing"
    return _anchor(href, token.content, kind)


def _anchor(href: str | None, words: str, kind: str) -> str:
    named = f' class="{kind}"' if kind else ""
    shown = _CODE.sub(r"<code>\1</code>", escape(words))
    return (
        f'<a href="{escape(href)}"{named}>{shown}</a>' if href else f"<span{named}>{shown}</span>"
    )


def _embed(
    _self: RendererHTML, tokens: Sequence[Token], at: int, _options: OptionsDict, env: Any
) -> str:
    token, links = tokens[at], env["links"]
    target, anchor = token.meta["target"], token.meta["anchor"]
    if is_image(target):
        return _image_of(links, target, token.content, token.meta["alias"])
    shown = links.embedded(target, anchor) if token.block else None
    if shown is None:
        href = links.note(target, anchor) or links.file(target)
        return _anchor(href, token.content, "" if href else "missing")
    title = f'<p class="embed-title"><a href="{escape(shown.href)}">{escape(shown.title)}</a></p>'
    return f'<div class="embed">{title}{shown.html}</div>'


def _image_of(links: Links, target: str, alt: str, wanted: str = "") -> str:
    """A picture of the vault; `wanted` is a width, or a width and a height, as `300x200`."""
    source = links.file(target)
    if source is None:
        return _anchor(None, alt, "missing")
    width, _, height = wanted.partition("x")
    own = links.size(target)
    if _NUMBER.fullmatch(width):
        if not height and own:
            height = str(max(round(int(width) * own.height / own.width), 1))
    elif own:
        width, height = str(own.width), str(own.height)
    given = f' width="{width}"' if _NUMBER.fullmatch(width) else ""
    given += f' height="{height}"' if _NUMBER.fullmatch(height) else ""
    return f'<img src="{escape(source)}" alt="{escape(alt)}" loading="lazy"{given}>'


def _image(
    _self: RendererHTML, tokens: Sequence[Token], at: int, _options: OptionsDict, env: Any
) -> str:
    token = tokens[at]
    source, alt = str(token.attrs.get("src", "")), token.content
    if _SCHEME.match(source):
        return _remote(source, alt)
    return _image_of(env["links"], unquote(source), alt or source)


def _remote(source: str, alt: str = "") -> str:
    """A remote image is a link: to fetch it would tell its host that the note was read."""
    host = urlsplit(source).hostname or source
    return _anchor(source, f"{alt} ({host})" if alt else host, "remote")


def _html(
    _self: RendererHTML, tokens: Sequence[Token], at: int, _options: OptionsDict, env: Any
) -> str:
    def shown(image: re.Match[str]) -> str:
        found = _IMAGE_SOURCE.search(image[0])
        source = next(filter(None, found.groups()), "") if found else ""
        if source.lower().startswith(("http://", "https://")):
            return _remote(source)
        local = unquote(source)
        if not local or env["links"].file(local) is None:
            return ""
        return _image_of(env["links"], local, local.rpartition("/")[2])

    return _IMAGE_TAG.sub(shown, tokens[at].content)


def _task_box(
    _self: RendererHTML, tokens: Sequence[Token], at: int, _options: OptionsDict, _env: Any
) -> str:
    state = tokens[at].content
    named = {"done": "✓", "doing": "…", "blocked": "!"}.get(state, "☐")
    return f'<span class="task {state}" role="img" aria-label="{named}"></span>'


def _hashtag(
    _self: RendererHTML, tokens: Sequence[Token], at: int, _options: OptionsDict, env: Any
) -> str:
    name = tokens[at].content
    return _anchor(env["links"].tag(name.lstrip("#")), name, "tag")


def _nothing(*_: Any) -> str:
    return ""


_RULES: dict[str, Callable[..., str]] = {
    "link_open": _link_open,
    "wikilink": _wikilink,
    "embed": _embed,
    "image": _image,
    "html_inline": _html,
    "html_block": _html,
    "task": _task_box,
    "hashtag": _hashtag,
    "comment": _nothing,
}


def first_words(text: str, length: int) -> str:
    """Return the beginning of a text in Markdown, as a reader sees it, on one line."""
    words: list[str] = []
    size = 0
    for part in _plain_parts(text[: 4 * length]):
        words.append(part)
        size += len(part) + 1
        if size > length:
            break
    flat = " ".join(" ".join(words).split())
    if len(flat) <= length:
        return flat
    return f"{flat[:length].rpartition(' ')[0] or flat[:length]}…"


def plain_text(text: str) -> str:
    """Return a text in Markdown as a reader sees it, without headings, on one line."""
    return " ".join(" ".join(_plain_parts(text)).split())


# The Feed and a search show the same passages again and again.
@functools.lru_cache(maxsize=1024)
def _plain_parts(text: str) -> tuple[str, ...]:
    env: dict[str, Any] = {"title": "", "nested": "preview"}
    found, before = [], ""
    for token in _parser().parse(text, env):
        if token.type == "inline" and before != "heading_open":
            found.append(plain(token))
        before = token.type
    return tuple(found)
