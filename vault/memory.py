"""Memory notes: the observations in them, and the edits that tools make to those.

An observation is a top-level list item: its text, then tags, inline fields and a block id.
What a caller hands over is written so that it reads back the same and opens no block; every
edit is parsed again before it is handed out, and refused when anything else would change.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from . import edit, frontmatter
from .errors import InvalidArgument, NoteUnusable, ObservationRefused
from .escape import decode, encode
from .ids import new_block_id
from .inline import InlineReader, block_id, code_spans
from .markdown import Item, Structure, parse
from .note import Note
from .source import Source, readable

__all__ = [
    "ACTIVE",
    "FIELDS",
    "MAX_BYTES",
    "Observation",
    "append_observation",
    "attribute",
    "canonical",
    "decode",
    "encode",
    "find_observation",
    "find_unnamed",
    "new_memory_source",
    "normal_form",
    "observations",
    "observations_in",
    "remove_observation",
    "replace_observation",
    "stamp_id",
]

FIELDS = ("type", "origin", "status", "expires", "derived_from")
"""The inline fields that are not text, in the order in which they are written."""

MAX_BYTES = 4096
ACTIVE = ("", "active")
"""What the status of an observation says that counts."""

"""The largest observation, in bytes of UTF-8."""

# Characters of a body whose observations are kept for a while.
_LONGEST_KEPT = 200_000

_LINE_END = re.compile(r"\r\n?|\n")
_FIELD = re.compile(
    r"(?<!\\)\[[ \t]*(type|origin|status|expires|derived[_-]from)[ \t]*::([^\[\]\n]*)\]", re.I
)
_ID = re.compile(r"[A-Za-z0-9_-]+")
_BOX = re.compile(r"\[.\][ \t]")
_END_TAGS = re.compile(r"(?:^|\s)#[^\s#]+$")
_END_MARKS = ".!?…,;:。！？、，；："
_NOT_IN_FIELDS = re.compile(r"[\[\]\n\r`]|%%")


@dataclass(frozen=True, slots=True)
class Observation:
    """One fact of a memory note.

    `text` is what was remembered, tags included; `id` is the block id or empty. `start` and
    `end` span the list item in the body, `line` is its first line there, counted from 0.
    `fields` are the inline fields as written, `origin` and `type` have their defaults.
    """

    id: str
    text: str
    type: str
    origin: str
    status: str
    expires: str
    derived_from: tuple[str, ...]
    tags: tuple[str, ...]
    start: int
    end: int
    line: int
    fields: Mapping[str, str]


def observations(note: Note) -> tuple[Observation, ...]:
    """The observations of a note: every top-level list item that is not empty."""
    if len(note.body) > _LONGEST_KEPT:
        return observations_in(note.body, note.structure)
    return _observations_lately(note.body)


def find_observation(note: Note | None, id: str | None) -> Observation | None:  # noqa: A002
    """The observation of a note that has this id; None without a note, an id or such a line."""
    kept = observations(note) if note and id else ()
    return next((each for each in kept if each.id == id), None)


def find_unnamed(note: Note, text: str | None) -> Observation | None:
    """The first observation without an id that has this text, as one written by hand."""
    return next((each for each in observations(note) if not each.id and each.text == text), None)


def observations_in(body: str, structure: Structure) -> tuple[Observation, ...]:
    """The observations of a body whose structure is known."""
    read = (_read(body, item) for item in structure.items)
    return tuple(one for one in read if one.text)


# What a write has read, the index and the next write read again.
@functools.lru_cache(maxsize=16)
def _observations_lately(body: str) -> tuple[Observation, ...]:
    return observations_in(body, parse(body))


def canonical(text: str) -> str:
    """The text as it is kept: line feeds, and no blanks at the ends of lines or at both ends.

    Raises ObservationRefused for text that is blank, too large, not valid Unicode or that has
    control characters.
    """
    if not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
        raise ObservationRefused("it is not valid Unicode")
    lines = _LINE_END.split(text)
    kept = "\n".join(line.rstrip() for line in lines).strip()
    if any(unicodedata.category(c) == "Cc" and c not in "\n\t" for c in kept):
        raise ObservationRefused("it holds control characters")
    if all(c.isspace() or unicodedata.category(c) == "Cf" for c in kept):
        raise ObservationRefused("it is blank")
    size = len(kept.encode())
    if size > MAX_BYTES:
        raise ObservationRefused(f"it has {size} bytes, more than {MAX_BYTES}")
    return kept


def normal_form(text: str) -> str:
    """What two texts share that say the same: see the write gate.

    Compatible characters, case, blanks, marks at the end and tags at the end do not count.
    """
    form = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    form = unicodedata.normalize("NFKC", form)
    while True:
        shorter = _END_TAGS.sub("", form.rstrip(_END_MARKS).rstrip())
        if shorter == form or not shorter.strip(_END_MARKS):
            return form
        form = shorter


def new_memory_source(category: str, summary: str, id: str) -> Source:  # noqa: A002
    """A memory note without observations."""
    values = {"id": id, "category": category, "summary": summary}
    lines = [f"{key}: {frontmatter.quote(value)}" for key, value in values.items() if value]
    return Source.from_text("\n".join(["---", *lines, "---", f"# {category}", ""]))


# Reading


def _read(body: str, item: Item) -> Observation:
    raw = body[item.start : item.end]
    identifier, cuts = "", []
    fields: dict[str, str] = {}
    for start, end in reversed(item.paragraphs):
        first = max(start - item.start, len(item.marker))
        paragraph = raw[first : end - item.start]
        own = None if identifier else block_id(paragraph)
        if own:
            identifier = own
            cuts.append((first + paragraph.rindex("^"), first + len(paragraph)))
            paragraph = paragraph[: paragraph.rindex("^")]
        for name, value, span in _fields_of(paragraph):
            fields.setdefault(name, value)
            cuts.append((first + span[0], first + span[1]))
    text = _text_of(raw, item, sorted(cuts))
    return Observation(
        id=identifier,
        text=text,
        type=fields.get("type", "semantic").casefold(),
        origin=fields.get("origin", "agent" if identifier else "owner").casefold(),
        status=fields.get("status", "").casefold(),
        expires=fields.get("expires", ""),
        derived_from=_listed(fields.get("derived_from", "")),
        tags=_tags(text),
        start=item.start,
        end=item.end,
        line=item.line,
        fields=fields,
    )


def _tags(text: str) -> tuple[str, ...]:
    if "#" not in text:
        return ()
    reader = InlineReader({})
    reader.read(text, 0)
    return tuple(dict.fromkeys(reader.tags))


def _listed(value: str) -> tuple[str, ...]:
    return tuple(part.strip().lstrip("^") for part in value.split(",") if part.strip())


def _fields_of(paragraph: str) -> list[tuple[str, str, tuple[int, int]]]:
    """The known fields of a paragraph, outside of code, with their spans."""
    found = list(_FIELD.finditer(paragraph))
    code = code_spans(paragraph) if found and "`" in paragraph else []
    starts = [start for start, _ in code]

    def in_code(at: int) -> bool:
        before = bisect_right(starts, at) - 1
        return before >= 0 and at < code[before][1]

    return [
        (one[1].lower().replace("-", "_"), one[2].strip(), one.span())
        for one in found
        if not in_code(one.start())
    ]


def _text_of(raw: str, item: Item, cuts: Iterable[tuple[int, int]]) -> str:
    """An item's text without its marker, the cuts with the blanks before them, and indents."""
    pieces: list[str] = []
    at = len(item.marker)
    for start, end in cuts:
        pieces.append(raw[at:start].rstrip(" \t"))
        at = end
    pieces.append(raw[at:])
    first, *others = _LINE_END.split("".join(pieces))
    lines = [first.lstrip(" \t"), *(_dedented(line, item.indent) for line in others)]
    return decode("\n".join(line.rstrip(" \t") for line in lines).strip())


def _dedented(line: str, columns: int) -> str:
    column = 0
    for position, character in enumerate(line):
        if character not in " \t" or column >= columns:
            return line[position:]
        column += 4 - column % 4 if character == "\t" else 1
    return ""


# Writing


def append_observation(
    source: Source,
    text: str,
    *,
    id: str,  # noqa: A002
    tags: Iterable[str] = (),
    fields: Mapping[str, str] = MappingProxyType({}),
    structure: Structure | None = None,
) -> Source:
    """Add one observation after the last one, or at the end of a note that has none.

    It takes the bullet and the indent of the list that it continues. `structure` is that of the
    body, for a caller that has it. Raises ObservationRefused
    as `canonical` does, InvalidArgument for an id, a tag or a field that cannot be written, and
    NoteUnusable, with an empty path, where the note would not read back as it was and one more.
    """
    wanted = _tagged(canonical(text), tags)
    before = structure or parse(source.body_text)
    tail = _tail(_checked(fields), _fresh(id, before))
    lead, bullet, at = _place(source, before)
    written = _written(f"{lead}{bullet} ", len(lead) + 2, encode(wanted), tail)
    if not before.items and source.body_text.strip() and not _ends_in_blank_line(source.text):
        written = "\n" + written
    edited = edit.insert_lines(source, at, written)
    if _added(source, edited, before.items[-1:]) != (wanted, id, dict(fields)):
        raise NoteUnusable("", _UNSAFE)
    return edited


def replace_observation(source: Source, observation: Observation, text: str) -> Source:
    """Give an observation another text or other fields; its bullet and its id stay.

    The fields are those of `observation`, so that a changed copy of one changes them. Raises as
    `append_observation` does, and NoteUnusable when the source does not hold it.
    """
    wanted = canonical(text)
    before, item = _find(source, observation)
    if wanted == observation.text and observation.fields == _fields_at(source, item):
        return source
    body = source.body_text
    opening, indent = _opening(body, item)
    written = encode(wanted)
    if _BOX.match(observation.text) and _BOX.match(wanted):
        written = written.removeprefix("\\")
    written = _written(opening, indent, written, _tail(observation.fields, observation.id))
    start, end = source.body + item.start, source.body + item.end
    kept = (wanted, observation.id, observation.fields)
    # A pipe in the last line and a rule right below would make a table: a blank line helps.
    for end_of_line in ("", "\n"):
        edited = edit.replace_span(source, start, end, written + end_of_line)
        found = _changed(before, body, edited, item)
        if found and (found.text, found.id, found.fields) == kept:
            return edited
    raise NoteUnusable("", _UNSAFE)


def _fields_at(source: Source, item: Item) -> Mapping[str, str]:
    return _read(readable(source.body_text), item).fields


def remove_observation(source: Source, observation: Observation) -> Source:
    """Take an observation out of the note, line and all.

    Raises NoteUnusable when the source does not hold it, or when another part would change.
    """
    before, item = _find(source, observation)
    body = source.body_text
    start, end = source.body + item.start - len(_lead(body, item)), source.body + item.end
    # Where what follows would run on in what goes before, a blank line has to stay.
    for edited in (edit.delete_span(source, start, end), edit.replace_span(source, start, end, "")):
        if _others_kept(before, body, edited, item, left=0):
            return edited
    raise NoteUnusable("", _UNSAFE)


def stamp_id(source: Source, observation: Observation, identifier: str) -> Source:
    """Give an observation that the owner wrote by hand an id; one that has an id keeps it.

    A line with an id counts as an agent's, so the owner's gets `[origin:: owner]` as well.
    Raises as `append_observation` does.
    """
    before, item = _find(source, observation)
    if observation.id:
        return source
    fields = {} if "origin" in observation.fields else {"origin": observation.origin}
    tail = _tail(fields, _fresh(identifier, before))
    body = source.body_text
    if item.paragraphs:
        start, end = item.paragraphs[-1]
        at = source.body + start + len(body[start:end].rstrip(" \t"))
        edited = edit.replace_span(source, at, at, f" {tail}")
    else:
        at = source.body + item.end
        edited = edit.replace_span(source, at, at, f"\n\n{' ' * item.indent}{tail}")
    found = _changed(before, body, edited, item)
    kept = (observation.text, identifier, observation.origin)
    if found is None or (found.text, found.id, found.origin) != kept:
        raise NoteUnusable("", _UNSAFE)
    return edited


def attribute(source: Source, origins: Mapping[int, str]) -> Source:
    """Give observations another origin, named by their places among `observations`.

    One without an id gets one, as it would count as the owner's. Words, other fields and ids
    stay. Raises NoteUnusable when the note would not read back so.
    """
    body = source.body_text
    structure = parse(body)
    read = ((_read(readable(body), item), item) for item in structure.items)
    items = [(one, item) for one, item in read if one.text]
    taken, edited = set(structure.blocks), source
    for place in sorted(origins, reverse=True):
        one, item = items[place]
        block = one.id or new_block_id(taken)
        taken.add(block)
        for start, end, text in _attribution(body, item, origins[place], block, source.newline):
            edited = edited.splice(source.body + start, source.body + end, text)
    after = observations_in(edited.body_text, parse(edited.body_text))
    wanted = [(one.text, origins.get(at, one.origin)) for at, (one, _) in enumerate(items)]
    if [(one.text, one.origin) for one in after] != wanted or edited.yaml != source.yaml:
        raise NoteUnusable("", _UNSAFE)
    return edited


def _attribution(
    body: str, item: Item, origin: str, block: str, newline: str
) -> list[tuple[int, int, str]]:
    """The splices that set the origin of an item, from last to first; offsets in the body."""
    field = {} if origin == "agent" else {"origin": origin}
    splices: list[tuple[int, int, str]] = []
    identified = False
    for start, end in item.paragraphs:
        first = max(start, item.start + len(item.marker))
        paragraph = body[first:end]
        for name, _, (at, stop) in _fields_of(paragraph):
            if name == "origin":
                at = len(paragraph[:at].rstrip(" \t"))
                splices.append((first + at, first + stop, ""))
        if block_id(paragraph) == block:
            identified = True
            if field:
                at = first + paragraph.rindex("^")
                splices.append((at, at, f"{_tail(field, '')} "))
    if not identified:
        end = item.paragraphs[-1][1] if item.paragraphs else item.end
        at = item.start + len(body[item.start : end].rstrip())
        lead = " " if item.paragraphs else f"{newline * 2}{' ' * item.indent}"
        splices.append((at, at, lead + _tail(field, block)))
    return sorted(splices, reverse=True)


_UNSAFE = "the change would not read back as one observation and leave the rest as it is"


def _tagged(text: str, tags: Iterable[str]) -> str:
    """The text with the tags that are not in it yet at its end."""
    known = {tag.casefold() for tag in _tags(text)}
    for tag in tags:
        name = tag.removeprefix("#")
        if _tags(f"#{name}") != (name,):
            raise InvalidArgument("tags", f"{tag!r} cannot be a tag")
        if name.casefold() not in known:
            known.add(name.casefold())
            text = f"{text} #{name}"
    return canonical(text)


def _checked(fields: Mapping[str, str]) -> Mapping[str, str]:
    for key, value in fields.items():
        if key not in FIELDS:
            raise InvalidArgument("fields", f"{key!r} is no field; there are {', '.join(FIELDS)}")
        if not value.strip() or value != value.strip() or _NOT_IN_FIELDS.search(value):
            raise InvalidArgument("fields", f"{value!r} cannot be the value of {key}")
    return fields


def _fresh(identifier: str, structure: Structure) -> str:
    if not _ID.fullmatch(identifier):
        raise InvalidArgument("id", f"{identifier!r} cannot be a block id")
    if identifier in structure.blocks:
        raise InvalidArgument("id", f"^{identifier} is in the note already")
    return identifier


def _tail(fields: Mapping[str, str], identifier: str) -> str:
    written = [f"[{key}:: {fields[key]}]" for key in FIELDS if key in fields]
    return " ".join([*written, f"^{identifier}"] if identifier else written)


def _written(opening: str, indent: int, text: str, tail: str) -> str:
    first, *others = text.split("\n")
    lines = [opening + first, *(" " * indent + line if line else "" for line in others)]
    return "\n".join(lines) + (f" {tail}" if tail else "")


def _lead(body: str, item: Item) -> str:
    """The blanks before an item's marker."""
    before = body[max(item.start - 3, 0) : item.start]
    return before[len(before.rstrip(" ")) :]


def _place(source: Source, structure: Structure) -> tuple[str, str, int]:
    """The lead, the bullet and the offset in the text of an item that comes last."""
    if not structure.items:
        return "", "-", len(source.text)
    last = structure.items[-1]
    bullets = [item.marker for item in structure.items if item.marker in "-+*"]
    lead = _lead(source.body_text, last) if last.marker in "-+*" else ""
    return lead, bullets[-1] if bullets else "-", source.body + last.end


def _ends_in_blank_line(text: str) -> bool:
    end = max(text.rfind("\n"), text.rfind("\r"))
    rest = text[:end].removesuffix("\r") if text[end : end + 1] == "\n" else text[:end]
    above = rest[max(rest.rfind("\n"), rest.rfind("\r")) + 1 :]
    return end >= 0 and not text[end:].strip() and not above.strip()


def _opening(body: str, item: Item) -> tuple[str, int]:
    """An item's marker with the blanks that follow it, and the column of its content."""
    lead = len(_lead(body, item))
    after = item.start + len(item.marker)
    rest = body[after : item.end]
    gap = rest[: len(rest) - len(rest.lstrip(" \t"))]
    if gap and lead + len(item.marker) + len(gap) == item.indent:
        return item.marker + gap, item.indent
    return f"{item.marker} ", lead + len(item.marker) + 1


def _find(source: Source, observation: Observation) -> tuple[Structure, Item]:
    structure = parse(source.body_text)
    for item in structure.items:
        if item.start == observation.start and item.end == observation.end:
            found = _read(readable(source.body_text), item)
            if (found.id, found.text) == (observation.id, observation.text):
                return structure, item
    raise NoteUnusable("", "the observation is not where it was read")


def _added(
    source: Source, edited: Source, last: tuple[Item, ...]
) -> tuple[str, str, Mapping[str, str]] | None:
    """What follows the last item, if that is one observation and the rest is as it was.

    An item of a top-level list starts afresh, so that only the text from there on is parsed.
    """
    start = last[0].start - len(_lead(source.body_text, last[0])) if last else 0
    body = edited.body_text[start:]
    before, after = parse(source.body_text[start:]), parse(body)
    if not after.items or after.items[:-1] != before.items or not _alike(before, after):
        return None
    found = _read(readable(body), after.items[-1])
    return found.text, found.id, found.fields


def _alike(before: Structure, after: Structure) -> bool:
    """Whether all but the list items is the same."""
    return [(one.level, one.raw) for one in before.headings] == [
        (one.level, one.raw) for one in after.headings
    ]


def _others_kept(
    before: Structure, body: str, edited: Source, item: Item, *, left: int
) -> Structure | None:
    """The new structure, if an edit of one item has left `left` of it and the rest as it was."""
    edited_body = edited.body_text
    after = parse(edited_body)
    index = before.items.index(item)
    old = [body[one.start : one.end] for one in before.items]
    new = [edited_body[one.start : one.end] for one in after.items]
    kept = new[:index] == old[:index] and new[index + left :] == old[index + 1 :]
    return after if kept and len(new) == len(old) - 1 + left and _alike(before, after) else None


def _changed(before: Structure, body: str, edited: Source, item: Item) -> Observation | None:
    """The item after an edit that has left the rest as it was."""
    after = _others_kept(before, body, edited, item, left=1)
    if after is None:
        return None
    return _read(readable(edited.body_text), after.items[before.items.index(item)])
