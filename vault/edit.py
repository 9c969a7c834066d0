"""Edits of a note's body, byte for byte: what is not edited stays as it is.

Every function takes a `Source` and gives the edited one; nothing is written. Inserted text
takes the line ends of the lines around it. An edit never reaches into the frontmatter, nor can
it make some. Text that is not valid Unicode is refused with InvalidArgument.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise

from .errors import InvalidArgument, TextNotFound, TextNotUnique
from .markdown import Heading, parse
from .markdown import section as span_below
from .sections import find_section, heading_key
from .source import Source

__all__ = [
    "append",
    "append_to_section",
    "delete_span",
    "find_replace",
    "insert_lines",
    "prepend",
    "replace_body",
    "replace_section",
    "replace_span",
]

Span = tuple[int, int]

_LINE_END = re.compile(r"\r\n?|\n")
_SURROGATE = re.compile("[\ud800-\udfff]")
# Up to U+00BF nothing decomposes; what lies above goes through normalisation.
_CHUNK = re.compile("\r\n?|[^\r\u00c0-\U0010ffff]+|[\u00c0-\U0010ffff]+")
_NOTHING_LEFT = re.compile(
    r"[ \t>]*+"
    r"(?:#{1,6}|(?:[-+*]|\d{1,9}[.)])(?:[ \t]++\[[^\[\]\n]\](?=[ \t]|\Z))?"
    r"(?:[ \t]++(?:\[[\w-]++[ \t]*+::[^\[\]\n]*+\]|\^[\w-]++))*+)?"
    r"[ \t]*+"
)
_MARKER = re.compile(r"[ \t>]*(?:[-+*]|\d{1,9}[.)])[ \t]*")
_STARTS_BLOCK = re.compile(
    r"[-+*](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$)|#{1,6}(?:[ \t]|$)|[>|<`~ \t]|$"
)
_UNDERLINE = re.compile(r"(?:-+|=+)[ \t]*$")
_INDENT = re.compile(r"[ \t]+")
_HASHES = re.compile(r"(#{1,6})[ \t]+")


def find_replace(
    source: Source, path: str, find: str, content: str = "", *, expected: int = 1
) -> Source:
    """Replace a text of the body that occurs exactly `expected` times; no patterns.

    Line ends and Unicode normal forms do not matter in finding. Empty `content` deletes: a
    line or bullet that is left empty goes, and at most one blank line stays at the seam.
    Raises InvalidArgument, TextNotFound or TextNotUnique with `path` in their sentences.
    """
    _check("find", find)
    _check("content", content)
    if not find.strip():
        raise InvalidArgument("find", "it is empty or blank")
    if expected < 1:
        raise InvalidArgument("expected", "it must be 1 or more")
    spans = _occurrences(source, find)
    if not spans:
        raise TextNotFound(path, find)
    if len(spans) != expected:
        lines = _lines_of(source.text, spans)
        if len(spans) > expected:
            raise TextNotUnique(path, len(spans), lines)
        where = ", ".join(map(str, lines))
        raise InvalidArgument("expected", f"the text occurs {len(spans)} times, on lines {where}")
    if any(end > start for (_, end), (start, _) in pairwise(spans)):
        raise TextNotUnique(path, len(spans), _lines_of(source.text, spans))
    return _replace(source, spans, content) if content else _delete(source, spans)


def append(source: Source, content: str) -> Source:
    """Add text as new lines at the end of the body.

    A blank line goes before it where the text would otherwise run on in a list, quote or table.
    """
    _check("content", content)
    return insert_lines(source, len(source.text), content) if content else source


def prepend(source: Source, content: str) -> Source:
    """Add text as new lines at the start of the body, after blank lines that are there."""
    _check("content", content)
    if not content:
        return source
    text = source.text
    at = source.body + len(text[source.body :]) - len(text[source.body :].lstrip(" \t\r\n"))
    return insert_lines(source, _line_start(text, source.body, at), content)


def replace_section(source: Source, path: str, section: str, content: str) -> Source:
    """Replace what stands below a heading, its sub-sections included; the heading stays.

    `section` is a heading, with or without its hashes, or a path such as "Cellar / Leaks".
    The blank lines around the section's text stay, a repeated heading in `content` does not.
    Raises SectionNotFound or SectionAmbiguous, which list the full paths.
    """
    _check("content", content)
    body = source.body_text
    structure = parse(body)
    heading = find_section(structure, path, section)
    start, end = span_below(structure, body, heading)
    span = _without_blank_lines(source.text, source.body + start, source.body + end)
    wanted = _without_heading(content, heading).strip("\r\n")
    if span is None:
        return insert_lines(source, source.body + start, wanted) if wanted else source
    if not wanted:
        return delete_span(source, *span)
    below = source.text[_after_line_end(source.text, span[1]) :]
    return replace_span(source, *span, wanted + "\n" if _runs_on(wanted, below) else wanted)


def append_to_section(source: Source, path: str, section: str, content: str) -> Source:
    """Add text as new lines at the end of a section, before its first sub-section.

    Sections are named, and errors raised, as for `replace_section`.
    """
    _check("content", content)
    body = source.body_text
    structure = parse(body)
    heading = find_section(structure, path, section)
    start, end = span_below(structure, body, heading)
    end = min([end, *(other.start for other in structure.headings if other.start >= start)])
    wanted = content.strip("\r\n")
    span = _without_blank_lines(source.text, source.body + start, source.body + end)
    return (
        insert_lines(source, span[1] if span else source.body + start, wanted) if wanted else source
    )


def replace_body(source: Source, content: str) -> Source:
    """Replace the whole body.

    Content that begins with the frontmatter that the note has, stands for the whole file. Any
    other content is the body, even if it looks like frontmatter. Lines at both ends that stay
    the same keep their line ends.
    """
    _check("content", content)
    head = _LINE_END.sub("\n", source.text[: source.body])
    wanted = _LINE_END.sub("\n", content).removeprefix("\ufeff")
    if source.yaml is not None and wanted.startswith(head.removeprefix("\ufeff")):
        wanted = wanted[len(head.removeprefix("\ufeff")) :]
    old, new = _lines(source.body_text), _lines(wanted)
    limit = min(len(old), len(new))
    same = next((n for n in range(limit) if _differ(old[n], new[n])), limit)
    limit -= same
    tail = next((n for n in range(limit) if _differ(old[-n - 1], new[-n - 1])), limit)
    start = source.body + sum(map(len, old[:same]))
    end = len(source.text) - sum(map(len, old[len(old) - tail :]))
    return replace_span(source, start, end, "".join(new[same : len(new) - tail]))


def insert_lines(source: Source, at: int, content: str) -> Source:
    """Insert whole lines at an offset of the text that is the start or the end of a line.

    The text before and after the lines does not run on in them: a blank line goes between.
    """
    text = source.text
    inside = at > 0 and text[at - 1] not in "\r\n\ufeff"
    above = text[source.body : at]
    below = text[_after_line_end(text, at) if inside else at :]
    lead = "\n" if inside else ""
    if _runs_on(above, content):
        lead += "\n"
    reuses_line_end = inside and text[at : at + 1] in ("\r", "\n")
    tail = "" if content[-1] in "\r\n" or reuses_line_end else "\n"
    if _runs_on(content, below):
        tail += "\n"
    inserted = _styled(source, at, at, lead + content + tail)
    return _edited(source, text[:at] + inserted + text[at:])


def replace_span(source: Source, start: int, end: int, content: str) -> Source:
    """Replace the text between two offsets, with the line ends that are there."""
    return _replace(source, [(start, end)], content)


def delete_span(source: Source, start: int, end: int) -> Source:
    """Delete the text between two offsets and heal the seam, as `find_replace` does."""
    return _delete(source, [(start, end)])


def _check(argument: str, value: str) -> None:
    if not value.isascii() and _SURROGATE.search(value):
        raise InvalidArgument(argument, "it is not valid Unicode")


def _lines(text: str) -> list[str]:
    """The lines with their line ends."""
    ends = [found.end() for found in _LINE_END.finditer(text)]
    bounds = [0, *ends] if ends and ends[-1] == len(text) else [0, *ends, len(text)]
    return [text[a:b] for a, b in pairwise(bounds)]


def _differ(one: str, other: str) -> bool:
    return _LINE_END.sub("\n", one) != _LINE_END.sub("\n", other)


def _line_start(text: str, floor: int, at: int) -> int:
    return max(text.rfind("\n", floor, at), text.rfind("\r", floor, at), floor - 1) + 1


def _line_stop(text: str, at: int) -> int:
    """The end of the line without its line end."""
    feed = text.find("\n", at)
    stop = len(text) if feed < 0 else feed
    turn = text.find("\r", at, stop)
    return stop if turn < 0 else turn


def _after_line_end(text: str, at: int) -> int:
    found = _LINE_END.match(text, at)
    return found.end() if found else at


def _line_above(text: str, floor: int, start: int) -> int:
    """The start of the line above the one that starts here."""
    return _line_start(text, floor, start - (2 if text.endswith("\r\n", 0, start) else 1))


def _lines_of(text: str, spans: list[Span]) -> tuple[int, ...]:
    """The lines of the file, counted from 1, on which spans start."""
    ends = [found.end() for found in _LINE_END.finditer(text)]
    return tuple(bisect_right(ends, start) + 1 for start, _ in spans)


# Finding


def _occurrences(source: Source, find: str) -> list[Span]:
    """Where the text occurs; two that overlap are both listed when there are no others."""
    folded, origins = _fold(source.text, source.body)
    needle, _ = _fold(find, 0)
    spans: list[Span] = []
    at = folded.find(needle)
    first = at
    while at >= 0:
        end = at + len(needle)
        whole = _boundary(folded, origins, at) and _boundary(folded, origins, end)
        if whole:
            first = at if not spans else first
            spans.append((origins[at], origins[end]))
        at = folded.find(needle, end if whole else at + 1)
    return spans if len(spans) != 1 else spans + _overlapping(folded, origins, needle, first)


def _overlapping(folded: str, origins: list[int], needle: str, first: int) -> list[Span]:
    at = folded.find(needle, first + 1)
    end = at + len(needle)
    if at < 0 or not (_boundary(folded, origins, at) and _boundary(folded, origins, end)):
        return []
    return [(origins[at], origins[end])]


def _fold(text: str, start: int) -> tuple[str, list[int]]:
    """The text from `start` on in NFD with line feeds, and where each character comes from."""
    pieces: list[str] = []
    origins: list[int] = []
    for found in _CHUNK.finditer(text, start):
        chunk, first = found[0], found.start()
        if chunk[0] == "\r":
            pieces.append("\n")
            origins.append(first)
        elif chunk[0] < "\u00c0" or unicodedata.is_normalized("NFD", chunk):
            pieces.append(chunk)
            origins.extend(range(first, found.end()))
        else:
            parts = {character: unicodedata.normalize("NFD", character) for character in set(chunk)}
            pieces.append(unicodedata.normalize("NFD", chunk))
            if pieces[-1] == "".join([parts[character] for character in chunk]):
                for origin, character in enumerate(chunk, first):
                    origins += [origin] * len(parts[character])
            else:
                origins += [origin for _, origin in _decomposed(chunk, first)]
    origins.append(len(text))
    return "".join(pieces), origins


def _decomposed(chunk: str, first: int) -> Iterator[tuple[str, int]]:
    """The characters in NFD with their origins; marks that change places share the first's."""
    marks: list[tuple[str, int]] = []
    for offset, character in enumerate(chunk):
        for part in unicodedata.normalize("NFD", character):
            if unicodedata.combining(part):
                marks.append((part, first + offset))
                continue
            yield from _ordered(marks)
            marks = []
            yield part, first + offset
    yield from _ordered(marks)


def _ordered(marks: list[tuple[str, int]]) -> list[tuple[str, int]]:
    ordered = sorted(marks, key=lambda mark: unicodedata.combining(mark[0]))
    return marks if ordered == marks else [(mark, marks[0][1]) for mark, _ in ordered]


def _boundary(folded: str, origins: list[int], at: int) -> bool:
    """Whether a cut here splits no character, seen as a reader sees it."""
    if at == 0 or at == len(folded):
        return True
    joins = unicodedata.combining(folded[at]) != 0 or "\u1160" <= folded[at] <= "\u11ff"
    return not joins and origins[at] != origins[at - 1]


# Replacing, inserting and deleting


def _replace(source: Source, spans: list[Span], content: str) -> Source:
    pieces: list[str] = []
    at = 0
    for start, end in spans:
        pieces += [source.text[at:start], _styled(source, start, end, content)]
        at = end
    return _edited(source, "".join([*pieces, source.text[at:]]))


def _edited(source: Source, text: str) -> Source:
    """The source with a new text whose frontmatter is still the old one.

    Where the start of the body would turn into frontmatter, or run on in its last line, a line
    end goes first.
    """
    edited = Source.from_text(text)
    head, rest = text[: source.body], text[source.body :]
    unclosed = source.yaml is not None and not head.endswith("\n")
    grown = source.yaml is None and (edited.yaml, edited.body) != (None, source.body)
    if grown or (unclosed and rest and not rest.startswith(("\n", "\r\n"))):
        edited = Source.from_text(head + source.newline + rest)
    if edited.yaml != source.yaml:
        raise InvalidArgument("content", "it would change where the frontmatter ends")
    return edited


def _styled(source: Source, start: int, end: int, content: str) -> str:
    """The content with the line ends of the span that it replaces, or of those next to it."""
    if "\n" not in content and "\r" not in content:
        return content
    text = source.text
    styles = [found[0] for found in _LINE_END.finditer(text, start, end)]
    if not styles:
        first = _line_start(text, 0, start)
        above = "\r\n" if text.endswith("\r\n", 0, first) else text[first - 1 : first]
        below = _LINE_END.match(text, _line_stop(text, end))
        styles = [below[0] if below else above or source.newline]
    # A bare carriage return is a line end only where no line feed can come to stand beside it.
    styles = [source.newline if one == "\r" and "\n" in text else one for one in styles]
    pieces = _LINE_END.split(content)
    joined = [pieces[0]]
    for index, piece in enumerate(pieces[1:]):
        joined += [styles[min(index, len(styles) - 1)], piece]
    glued = not pieces[0] and joined[1] == "\n" and text.endswith("\r", 0, start)
    return "".join(["\r", *joined] if glued else joined)


def _runs_on(above: str, below: str) -> bool:
    """Whether the first line of a text, put right under another, would join its last block."""
    stop = _line_stop(below, 0)
    first, second = below[:stop], _after_line_end(below, stop)
    end = len(above) - 1 if above.endswith("\n") else len(above)
    end -= above.endswith("\r", 0, end)
    last = above[_line_start(above, 0, end) : end]
    if not last.strip() or not first.strip():
        return False
    if _UNDERLINE.match(first) or _UNDERLINE.match(below[second : _line_stop(below, second)]):
        return True
    if _STARTS_BLOCK.match(first):
        return False
    items = parse(above).items
    return last.lstrip().startswith(("|", ">")) or (bool(items) and items[-1].end == end)


def _delete(source: Source, spans: list[Span]) -> Source:
    text = source.text
    cut = len(text)
    for start, end in reversed(spans):
        if start >= cut:
            continue
        cut, after = _healed(text, source.body, start, min(end, cut))
        gap = source.newline if _would_underline(text, source.body, cut, after) else ""
        text = text[:cut] + gap + text[after:]
    return _edited(source, text)


def _would_underline(text: str, floor: int, start: int, end: int) -> bool:
    """Whether the line after a cut of whole lines would make a heading of the line before."""
    if start == floor or text[start - 1] not in "\r\n":
        return False
    above = text[_line_above(text, floor, start) : start]
    return bool(above.strip()) and bool(_UNDERLINE.match(text, end, _line_stop(text, end)))


def _healed(text: str, floor: int, start: int, end: int) -> Span:
    """What to delete so that the seam shows no empty line, empty bullet or row of blank lines."""
    first, last = _line_start(text, floor, start), _line_stop(text, end)
    if start == first and end > start and text[end - 1] in "\r\n":
        return _close_gap(text, floor, start, end)
    before, after = text[first:start], text[end:last]
    if not _NOTHING_LEFT.fullmatch(before + after):
        return (start, end) if after else (first + len(before.rstrip(" \t")), end)
    following = _after_line_end(text, last)
    goes_on = _INDENT.match(text, following)
    if _MARKER.fullmatch(before) and not after and goes_on:
        content = text[goes_on.end() : _line_stop(text, goes_on.end())]
        if content and not _STARTS_BLOCK.match(content):
            return start, goes_on.end()
    return _close_gap(text, floor, first, following)


def _close_gap(text: str, floor: int, start: int, end: int) -> Span:
    """Whole lines, and so many blank ones next to them that at most one is left."""
    above = len(text[floor:start].rstrip(" \t\r\n")) + floor
    top = _after_line_end(text, _line_stop(text, above)) if above > floor else floor
    rest = text[end:]
    below = end + len(rest) - len(rest.lstrip(" \t\r\n"))
    if below == len(text):
        return min(top, start), below
    bottom = _line_start(text, end, below)
    kept_above = min(start, _after_line_end(text, _line_stop(text, top)))
    if start > top:
        return kept_above, bottom
    if above <= floor:
        return start, bottom
    return start, max(end, _line_above(text, end, bottom))


# Sections


def _without_heading(content: str, heading: Heading) -> str:
    """The content without a first line that repeats the section's heading."""
    stop = _line_stop(content, 0)
    hashes = _HASHES.match(content, 0, stop)
    if not hashes or len(hashes[1]) != heading.level:
        return content
    same = heading_key(content[hashes.end() : stop]) in (
        heading_key(heading.raw),
        heading_key(heading.text),
    )
    return content[_after_line_end(content, stop) :] if same else content


def _without_blank_lines(text: str, start: int, end: int) -> Span | None:
    """The span from its first to its last line that is not blank, without the last line end."""
    inner = text[start:end]
    if not inner.strip(" \t\r\n"):
        return None
    first = start + len(inner) - len(inner.lstrip(" \t\r\n"))
    last = start + len(inner.rstrip(" \t\r\n"))
    return _line_start(text, start, first), _line_stop(text, last)
