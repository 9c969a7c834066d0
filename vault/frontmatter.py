"""The properties of a note: read with python-frontmatter, changed as text.

Nothing is ever dumped: an edit replaces the lines of one key and leaves every other byte of
the file as it is. Reading keeps what people mean: dates, clock times, `1.10`, `0123`, `yes`
and `no` stay text, as YAML 1.2 editors show them; only true, false, null and plain whole
numbers have a type.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TypeAlias

import frontmatter
import yaml
from frontmatter.default_handlers import YAMLHandler

from .errors import InvalidArgument, NoteUnusable
from .source import Source, readable

try:
    from yaml import CSafeLoader as _BaseLoader
except ImportError:  # PyYAML that was built without libyaml
    from yaml import SafeLoader as _BaseLoader  # type: ignore[assignment]

MAX_BYTES = 64 * 1024
"""The largest frontmatter block that is read, in bytes."""

MAX_DEPTH = 32
"""How deeply lists and maps may be nested in a property."""

Value: TypeAlias = str | bool | int | Sequence[str]
"""What a property can be set to."""

_TAGS = ("tags", "tag")
_ALIASES = ("aliases", "alias")
_CORE = "tag:yaml.org,2002:"
_BOOL = re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z")
_NULL = re.compile(r"(?:~|null|Null|NULL|)\Z")
# At most 15 digits: larger numbers are inexact in the JSON of many clients, so they stay text.
_INT = re.compile(r"(?:0|-?[1-9][0-9]{0,14})\Z")
_LONG_INT = re.compile(r"-?[0-9]{1,999}\Z")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.]{5,15}Z?)?\Z")
# Texts that another reader of YAML would take for a truth value, a null or a number.
_AMBIGUOUS = re.compile(
    r"(?:y|n|yes|no|on|off|true|false|null|[0-9][0-9a-f_.,:xo+-]*)\Z", re.IGNORECASE
)
_COMMA = re.compile(r"[ \t\r\n]*,")
_UNPRINTABLE = re.compile("[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPED = re.compile('[\0-\x1f"\\\\\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]')


class _Loader(_BaseLoader):
    """Resolves only null, true and false, and plain whole numbers; the rest is text."""

    yaml_implicit_resolvers = {}  # noqa: RUF012 - declared so by PyYAML


_Loader.add_implicit_resolver(_CORE + "bool", _BOOL, list("tTfF"))
_Loader.add_implicit_resolver(_CORE + "null", _NULL, ["~", "n", "N", ""])
_Loader.add_implicit_resolver(_CORE + "int", _INT, list("-0123456789"))


class _Handler(YAMLHandler):
    """Hands python-frontmatter the block that `Source` found, and loads it strictly."""

    repeated: str | None = None

    def split(self, text: str) -> tuple[str, str]:
        return text[len("---\n") : -len("---")], ""

    def load(self, fm: str, **_: object) -> dict[str, object]:
        root = _compose(fm)
        if root is None:
            return {}
        properties = _map(root)
        self.repeated = _repeated_key(root)
        return properties


def read(source: Source) -> tuple[dict[str, object], str | None]:
    """The properties of a note, and in one sentence why they are not usable, if so.

    Values are text, bool, int, None, lists and maps, fit for JSON. Anchors and aliases,
    blocks above `MAX_BYTES`, nesting above `MAX_DEPTH`, foreign tags and blocks that are not
    keys with values are problems. When a key is repeated, the last one is shown beside the
    problem. Content never raises.
    """
    if source.yaml is None:
        return {}, None
    block = _block(source)
    if len(block.encode()) > MAX_BYTES:
        return {}, f"the frontmatter cannot be read: it is larger than {MAX_BYTES // 1024} KB"
    handler = _Handler()
    try:
        properties, _ = frontmatter.parse(f"---\n{block}---\n", handler=handler)
    except yaml.YAMLError as error:
        return {}, _sentence(error, block)
    except RecursionError:
        return {}, "the frontmatter cannot be read: its values are nested too deeply"
    return properties, handler.repeated


def entries(key: str, value: object) -> list[str]:
    """The texts of a list property. The keys of tags and aliases also accept one text.

    Such a text is split at its commas; tags without a comma are split at blanks, as Obsidian
    does. Nulls and nested values are left out.
    """
    if isinstance(value, list):
        return [_as_text(item) for item in value if isinstance(item, str | int)]
    if not isinstance(value, str | int):
        return []
    text, name = _as_text(value), key.casefold()
    if name in _TAGS and "," not in text:
        return text.split()
    if name in _TAGS or name in _ALIASES:
        return [part.strip() for part in text.split(",") if part.strip()]
    return [text] if text.strip() else []


def quote(value: Value) -> str:
    """YAML on one line that reads back as exactly this value, here and in other tools.

    Raises InvalidArgument for text that is not valid Unicode.
    """
    if isinstance(value, str | int):
        return _scalar(value)
    return _inline(value)


def set_property(source: Source, key: str, value: Value) -> Source:
    """Give one property a value, changing the lines of that key only.

    A new key comes last; a block is made when there is none. The quotes, the comment and the
    kind of list that are there are kept. Raises NoteUnusable, with an empty path, when the
    block cannot be read or the change would touch something else.
    """
    properties, root = _open(source)
    wanted = {**properties, key: value if isinstance(value, str | int) else list(value)}
    if key in properties and _same(properties, wanted):
        return source
    pair = _find(root, key)
    if pair is None:
        edited = _with_new_key(source, root, f"{_scalar(key)}: {quote(value)}")
    else:
        edited = _with_block(source, _replaced(_raw_block(source), *pair, value, source.newline))
    return _verified(source, edited, wanted)


def remove_property(source: Source, key: str) -> Source:
    """Take one property out, with all of its lines. A key that is not there changes nothing.

    Raises NoteUnusable as `set_property` does.
    """
    properties, root = _open(source)
    pair = _find(root, key)
    if pair is None:
        return source
    block = _raw_block(source)
    start, end = _line_start(block, pair[0]), _line_end(block, _end(block, pair[1]))
    wanted = {name: value for name, value in properties.items() if name != key}
    return _verified(source, _with_block(source, block[:start] + block[end:]), wanted)


def add_to_list(source: Source, key: str, item: str) -> Source:
    """Add an item to a list property, in the form and quotes of the list that is there.

    A single text becomes a list; an item that is there already changes nothing. Raises
    NoteUnusable as `set_property` does, and when the property is a map.
    """
    properties, root = _open(source)
    key = _spelled(properties, key)
    present = properties.get(key)
    if isinstance(present, dict):
        raise NoteUnusable("", f"its property {key!r} is a map, not a list")
    known = entries(key, present)
    if item in known:
        return source
    _, node = _find(root, key) or (None, None)
    if not isinstance(present, list) or not present or not isinstance(node, yaml.SequenceNode):
        return set_property(source, key, [*known, item])
    block = _with_item(_raw_block(source), node, item, source.newline)
    return _verified(source, _with_block(source, block), {**properties, key: [*present, item]})


def remove_from_list(source: Source, key: str, item: str) -> Source:
    """Take an item out of a list property, and its line if it has one; all else of it stays.

    A list that has no other item goes with it. Raises NoteUnusable as `set_property` does.
    """
    properties, root = _open(source)
    key = _spelled(properties, key)
    present = properties.get(key)
    known = entries(key, present)
    if item not in known:
        return source
    _, node = _find(root, key) or (None, None)
    if not isinstance(present, list) or not isinstance(node, yaml.SequenceNode):
        kept = [each for each in known if each != item]
        return set_property(source, key, kept) if kept else remove_property(source, key)
    places = [at for at, each in enumerate(present) if entries("", [each]) == [item]]
    if len(places) == len(present):
        return remove_property(source, key)
    block = _raw_block(source)
    for at in reversed(places):
        block = _without_item(block, node, at)
    others = [each for at, each in enumerate(present) if at not in places]
    return _verified(source, _with_block(source, block), {**properties, key: others})


# Reading


def _raw_block(source: Source) -> str:
    start, end = source.yaml or (0, 0)
    return source.text[start:end]


def _block(source: Source) -> str:
    return readable(_raw_block(source))


def _compose(block: str) -> yaml.MappingNode | None:
    """The node tree of a block, with the place of each key and value."""
    if "&" in block or "*" in block:
        _refuse_references(block)
    root = yaml.compose(block, Loader=_Loader)
    if root is None or isinstance(root, yaml.MappingNode):
        return root
    raise _failure("it is not made of keys with values", root)


def _refuse_references(block: str) -> None:
    # A few hundred bytes of nested aliases can stand for millions of values.
    for token in yaml.scan(block, Loader=_Loader):
        if isinstance(token, yaml.AnchorToken | yaml.AliasToken):
            raise _failure("anchors (&) and aliases (*) are not read", token)


def _failure(problem: str, where: yaml.Node | yaml.Token) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=where.start_mark)


def _sentence(error: yaml.YAMLError, block: str) -> str:
    """What is wrong in a block, and on which line of the file when that is known."""
    line: int | None = None
    problem = str(error)
    if isinstance(error, yaml.MarkedYAMLError):
        problem = f"{error.problem} {error.context or ''}"
        at_end = error.context_mark and "end of stream" in problem
        mark = error.context_mark if at_end else error.problem_mark
        line = mark.line if mark else None
    elif found := _UNPRINTABLE.search(block):
        problem = f"it holds the control character U+{ord(found[0]):04X}"
        line = block.count("\n", 0, found.start())
    where = "" if line is None else f" (line {line + 2})"  # the fence is line 1
    return f"the frontmatter cannot be read: {' '.join(problem.split())}{where}"


def _repeated_key(root: yaml.MappingNode) -> str | None:
    first: dict[str, yaml.Node] = {}
    for node, _ in root.value:
        if first.setdefault(node.value, node) is not node:
            lines = f"{first[node.value].start_mark.line + 2} and {node.start_mark.line + 2}"
            return f"the frontmatter has the key {node.value!r} twice, on lines {lines}"
    return None


def _value(node: yaml.Node, depth: int) -> object:
    if depth > MAX_DEPTH:
        raise _failure("its values are nested too deeply", node)
    if not node.tag.startswith(_CORE) or "/" in node.tag:
        raise _failure(f"the tag {node.tag} is not read", node)
    if isinstance(node, yaml.MappingNode):
        return _map(node, depth)
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, depth + 1) for item in node.value]
    return _typed(node.value, node.tag.removeprefix(_CORE))


def _map(node: yaml.MappingNode, depth: int = 0) -> dict[str, object]:
    return {_key(key): _value(value, depth + 1) for key, value in node.value}


def _key(node: yaml.Node) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise _failure("a key is not a text", node)
    return str(node.value)


def _typed(text: str, kind: str) -> str | int | None:
    if kind == "bool" and _BOOL.match(text):
        return text.lower() == "true"
    if kind == "int" and _LONG_INT.match(text):
        return int(text)
    return None if kind == "null" else text


# Writing values


def _as_text(value: str | int) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _inline(items: Sequence[str]) -> str:
    return f"[{', '.join(_scalar(item, flow=True) for item in items)}]"


def _scalar(value: str | int, style: str | None = None, *, flow: bool = False) -> str:
    """One value as YAML: in the given style of PyYAML ('' is plain) where that can hold it."""
    if isinstance(value, int):
        text = _as_text(value)
        return text if isinstance(value, bool) or _INT.match(text) else f"!!int {text}"
    if style == "'" and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    if style not in ("'", '"') and _is_plain(value, flow=flow, trusting=style == ""):
        return value
    return _double_quoted(value)


def _is_plain(text: str, *, flow: bool, trusting: bool) -> bool:
    """Whether a text can stand without quotes.

    `trusting` follows an owner who wrote the present value, such as `no`, without quotes.
    """
    if not text.isprintable() or not text[:1].isalnum() or text[-1] in " :":
        return False
    if ": " in text or " #" in text or (flow and any(mark in text for mark in ",[]{}:?")):
        return False
    if _INT.match(text) or _BOOL.match(text) or _NULL.match(text):
        return False
    return trusting or _DATE.match(text) is not None or not _AMBIGUOUS.match(text)


def _double_quoted(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidArgument("value", "the text is not valid Unicode") from None
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    short = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}.get(character)
    return short or f"\\u{ord(character):04x}"


# Editing the block as text


def _open(source: Source) -> tuple[dict[str, object], yaml.MappingNode | None]:
    properties, problem = read(source)
    if problem:
        raise NoteUnusable("", problem)
    block = _block(source)
    try:
        return properties, _compose(block)
    except yaml.YAMLError as error:  # python-frontmatter read it with other line ends
        raise NoteUnusable("", _sentence(error, block)) from error


def _find(root: yaml.MappingNode | None, key: str) -> tuple[yaml.Node, yaml.Node] | None:
    return next((pair for pair in root.value if pair[0].value == key), None) if root else None


def _spelled(properties: dict[str, object], key: str) -> str:
    """The key as the block spells it: Obsidian takes `Tags` for `tags`."""
    if key in properties or key not in _TAGS + _ALIASES:
        return key
    return next((name for name in properties if name.casefold() == key), key)


def _same(one: dict[str, object], other: dict[str, object]) -> bool:
    # As JSON, because 1 == True in Python.
    return json.dumps(one) == json.dumps(other)


def _with_block(source: Source, block: str) -> Source:
    start, end = source.yaml or (0, 0)
    return source.splice(start, end, block)


def _verified(before: Source, after: Source, wanted: dict[str, object]) -> Source:
    properties, problem = read(after)
    if problem or not _same(properties, wanted) or after.body_text != before.body_text:
        raise NoteUnusable(
            "", problem or "its frontmatter is written so that one key cannot change"
        )
    return after


def _with_new_key(source: Source, root: yaml.MappingNode | None, line: str) -> Source:
    newline = source.newline
    if source.yaml is None:
        fresh = f"---{newline}{line}{newline}---{newline}"
        return source.splice(source.body, source.body, fresh)
    indent = " " * root.value[0][0].start_mark.column if root and root.value else ""
    return source.splice(source.yaml[1], source.yaml[1], indent + line + newline)


def _line_start(block: str, key: yaml.Node) -> int:
    """Where the line of a key starts; NoteUnusable when the key is not alone there."""
    start = block.rfind("\n", 0, key.start_mark.index) + 1
    if block[start : key.start_mark.index].strip(" "):
        raise NoteUnusable("", f"its property {key.value!r} is not on a line of its own")
    return start


def _line_end(block: str, offset: int) -> int:
    """The offset after the line end that follows."""
    return (block.find("\n", offset) + 1) or len(block)


def _end(block: str, node: yaml.Node) -> int:
    """Where a value really ends: PyYAML counts the blanks and comments after a block in."""
    if _is_block_collection(node) and node.value:
        last = node.value[-1]
        return _end(block, last[1] if isinstance(last, tuple) else last)
    if getattr(node, "style", None) in ("|", ">"):
        return _block_scalar_end(block, node)
    return int(node.end_mark.index)


def _block_scalar_end(block: str, node: yaml.Node) -> int:
    """The end of the last line of a literal or folded text; `+` keeps the blank lines in it."""
    start = node.start_mark.index
    header = block[start : _line_end(block, start)].partition("#")[0]
    text = block[: node.end_mark.index].rstrip(" \t")
    if "+" in header and text.endswith("\n"):
        end = len(text) - 1
    else:
        end = block.find("\n", len(text.rstrip(" \t\r\n")))
    return end - 1 if block[end - 1] == "\r" else end


def _is_block_collection(node: yaml.Node) -> bool:
    return isinstance(node, yaml.CollectionNode) and not node.flow_style


def _style(node: yaml.Node | None) -> str | None:
    """The quotes of a text that is there, '' for none; None when it is not a text."""
    if not isinstance(node, yaml.ScalarNode) or node.tag != _CORE + "str":
        return None
    return node.style or ""


def _replaced(block: str, key: yaml.Node, node: yaml.Node, value: Value, newline: str) -> str:
    """The block with another value for one key."""
    _line_start(block, key)
    start, end = node.start_mark.index, _end(block, node)
    if isinstance(value, str | int):
        fresh = _scalar(value, _style(node))
    elif _is_block_collection(node) and value and block[start] == "-":
        return _relisted(block, node, value, newline)
    else:
        fresh = _inline_like(block, node, value)
    lead = block[key.end_mark.index : start]
    if _is_block_collection(node) and "\n" in lead:
        # The value moves up to the key; comments between the two stay where they are.
        start = block.index(":", key.end_mark.index) + 1
        first = block.rfind("\n", 0, node.start_mark.index) + 1
        return f"{block[:start]} {fresh}{block[start:first]}{block[_line_end(block, end) :]}"
    gap = " " if lead.endswith(":") else ""
    return f"{block[:start]}{gap}{fresh}{block[end:]}"


def _inline_like(block: str, node: yaml.Node, items: Sequence[str]) -> str:
    """An inline list in which the items that are there already stay as they are written."""
    if not isinstance(node, yaml.SequenceNode) or not node.flow_style:
        return _inline(items)
    written = {
        item.value: block[item.start_mark.index : item.end_mark.index]
        for item in node.value
        if _style(item) is not None
    }
    style = _style(node.value[-1]) if node.value else None
    return f"[{', '.join(written.get(item) or _scalar(item, style, flow=True) for item in items)}]"


def _relisted(block: str, node: yaml.Node, items: Sequence[str], newline: str) -> str:
    """A block list with other items; those that stay keep their lines, comments included."""
    start = at = block.rfind("\n", 0, node.start_mark.index) + 1
    lines: dict[str, list[str]] = {}
    for item in node.value:
        begin, at = at, _line_end(block, _end(block, item))
        if _style(item) is not None:
            lines.setdefault(item.value, []).append(block[begin:at])
    fresh = [
        lines[item].pop(0) if lines.get(item) else _list_line(node, item, newline) for item in items
    ]
    return block[:start] + "".join(fresh) + block[at:]


def _list_line(node: yaml.Node, item: str, newline: str) -> str:
    return f"{' ' * node.start_mark.column}- {_scalar(item, _style(node.value[-1]))}{newline}"


def _with_item(block: str, node: yaml.CollectionNode, item: str, newline: str) -> str:
    """The block with one more item at the end of a list that is not empty."""
    last = node.value[-1]
    end = _end(block, last)
    if not node.flow_style:
        at = _line_end(block, end)
        return block[:at] + _list_line(node, item, newline) + block[at:]
    margin = block[block.rfind("\n", 0, last.start_mark.index) + 1 : last.start_mark.index]
    between = f",{newline}{margin}" if not margin.strip() else ", "
    return block[:end] + between + _scalar(item, _style(last), flow=True) + block[end:]


def _without_item(block: str, node: yaml.SequenceNode, at: int) -> str:
    """The block without one item of a list that has others before it, or behind it."""
    item = node.value[at]
    start, end = item.start_mark.index, _end(block, item)
    line = block.rfind("\n", 0, start) + 1
    if not node.flow_style:
        return block[:line] + block[_line_end(block, end) :]
    before = _end(block, node.value[at - 1]) if at else start
    comma = _COMMA.match(block, end)
    if comma is None and "#" not in block[before:start]:
        return block[:before] + block[end:]
    end = comma.end() if comma else end
    rest = end + len(block[end:]) - len(block[end:].lstrip(" \t"))
    if not block[line:start].strip() and block[rest : rest + 1] in ("\r", "\n"):
        return block[:line] + block[_line_end(block, rest) :]
    return block[:start] + block[end if block[rest : rest + 1] == "#" else rest :]
