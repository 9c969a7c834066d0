"""One note: its properties, its structure, and what is wrong with it, read once."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal, TypeAlias

from . import frontmatter, markdown
from .errors import NoteNotFound, NoteUnusable
from .ids import derived_id, is_id
from .layout import Layout, Place, conflict_copy
from .markdown import Structure
from .source import Source, readable

MAX_BYTES = 8 * 1024 * 1024
"""The largest file whose body is read, in bytes."""

ProblemKind: TypeAlias = Literal[
    "frontmatter", "encoding", "binary", "too-large", "unreadable", "conflict-copy"
]

CONTEXT_SET = "context-set"
"""A note that lists, in their order, what agents load at the start of a session."""

KINDS = ("rules", "progress", "thread", CONTEXT_SET)
"""What a memory note can be instead of a category."""

_SAMPLE = 8192
_CONTROLS = bytes(range(9)) + bytes(range(14, 27)) + bytes(range(28, 32))
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_YES = ("true", "yes", "on")
_KIND = re.compile(r"^[\"']?kind[\"']?[ \t]*:[ \t]*[\"']?([a-z-]+)", re.I | re.M)
_ID = re.compile(r"^id:[ \t]*[\"']?([0-9a-z]{12})[\"']?[ \t]*\r?$", re.M)
_MUTED = re.compile(r"^[ \t]*[\"']?muted[\"']?[ \t]*:[ \t]*[\"']?(?:true|yes|on)\b", re.I | re.M)


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a note cannot be used in full; `detail` is a sentence without its full stop."""

    kind: ProblemKind
    detail: str


@dataclass(frozen=True, slots=True)
class Note:
    """A note as it is on disk, and all that follows from its text.

    `path` is relative to the vault, with slashes. `kind` is one of `KINDS`, or empty for an
    ordinary note; a note of a kind is no category. The offsets in `structure` point into
    `body`, which is the body of `source` with U+FFFD for bytes that are not UTF-8.
    """

    path: str
    source: Source
    properties: Mapping[str, object]
    body: str
    structure: Structure
    problem: Problem | None
    place: Place
    id: str
    has_own_id: bool
    title: str
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    kind: str
    category: str
    summary: str
    muted: bool

    def known_as(self, id: str) -> str:  # noqa: A002
        """Its own id, else the one by which an index knows it, which survives a rename."""
        return self.id if self.has_own_id else id


def read_note(layout: Layout, path: str) -> Note:
    """Read one note from the vault.

    Raises NoteNotFound when there is no such file, and PathRefused when the path leaves the
    vault. A file that is there but cannot be read is a note with a problem.
    """
    try:
        return parse_note(layout, path, _read(layout.absolute(path)))
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as missing:
        raise NoteNotFound(path) from missing
    except OSError as failure:
        detail = f"the system does not let it be read: {failure.strerror}"
        return _note(layout, path, Source.parse(b""), Problem("unreadable", detail))


def parse_note(layout: Layout, path: str, data: bytes) -> Note:
    """Understand the bytes of one note. Content never raises.

    A body is left empty when the file is larger than `MAX_BYTES`, or binary and not text.
    """
    if len(data) > MAX_BYTES:
        detail = f"it is larger than {MAX_BYTES // 1024 // 1024} MB"
        return _note(layout, path, _head(data), Problem("too-large", detail))
    source = Source.parse(data)
    problem = _encoding_problem(data, source)
    if problem and problem.kind == "binary" and source.undecoded is not None:
        source = _head(data)
    return _note(layout, path, source, problem)


def check_size(path: str, source: Source) -> None:
    """Raise NoteUnusable for a note that could be written and, too large, not be read again."""
    if len(source.data) > MAX_BYTES:
        raise NoteUnusable(path, f"it would be larger than {MAX_BYTES // 1024 // 1024} MB")


def own_id(path: str, data: bytes) -> str:
    """The id that a note has by its frontmatter; empty when it has none of its own."""
    source = Source.parse(data)
    return _own_id(path, *frontmatter.read(source), source)


def _read(file: Path) -> bytes:
    # Without O_NONBLOCK, opening a named pipe would wait for a writer.
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):  # such as a folder, or a pipe, which is never a note
            raise IsADirectoryError(file)
        # A limit makes room for so many bytes, which costs more than reading a small file.
        return stream.read(-1 if found.st_size <= MAX_BYTES else MAX_BYTES + 1)


def _head(data: bytes) -> Source:
    """The frontmatter alone."""
    source = Source.parse(data[: 2 * frontmatter.MAX_BYTES])
    return Source.from_text(source.text[: source.body] if source.yaml else "")


def _note(layout: Layout, path: str, source: Source, problem: Problem | None) -> Note:
    properties, unusable = frontmatter.read(source)
    body = readable(source.body_text)
    structure = markdown.parse(body)
    own = {key.casefold(): value for key, value in properties.items()} | properties
    place = layout.place(path)
    found_id = _own_id(path, properties, unusable, source)
    title = _title(own, structure, path)
    kind = _kind(own, place, source, unusable)
    return Note(
        path=path,
        source=source,
        properties=properties,
        body=body,
        structure=structure,
        problem=_worst(problem, unusable, path),
        place=place,
        id=found_id or derived_id(path),
        has_own_id=bool(found_id),
        title=title,
        aliases=_distinct(_entries(properties, "alias", "aliases")),
        tags=_distinct([*_entries(properties, "tag", "tags"), *structure.tags]),
        kind=kind,
        category="" if kind else _category(own, place, title),
        summary=_text(own.get("summary")),
        muted=_muted(own, source, unusable),
    )


def _own_id(
    path: str, properties: Mapping[str, object], unusable: str | None, source: Source
) -> str:
    """The id that the note has, or ''. A block that breaks elsewhere makes it no other note.

    The id in a conflict copy is that of the note that it is a copy of.
    """
    if conflict_copy(path):
        return ""
    own = _text(properties.get("id"))
    if is_id(own) or unusable is None:
        return own if is_id(own) else ""
    found = _ID.search(source.text, *(source.yaml or (0, 0)))
    return found[1] if found and is_id(found[1]) else ""


def _worst(problem: Problem | None, unusable: str | None, path: str) -> Problem | None:
    """The problem that says most about what can be done with a note."""
    if problem and problem.kind != "encoding":
        return problem
    if conflict_copy(path):
        return Problem("conflict-copy", "a sync tool made it from two versions of one note")
    return Problem("frontmatter", unusable) if unusable else problem


def _encoding_problem(data: bytes, source: Source) -> Problem | None:
    if data.startswith(_UTF_16):
        return Problem("binary", "it is written in UTF-16; save it as UTF-8")
    bad = source.undecoded
    if bad is None and b"\0" not in data:
        return None
    sample = data[:_SAMPLE]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    undecoded_junk = bad is not None and controls * 100 > len(sample) > 1024
    if controls * 10 > len(sample) or undecoded_junk:
        return Problem("binary", "it looks like binary data and not like text")
    if bad is None:
        return None
    byte, line = ord(source.text[bad]) - 0xDC00, source.text.count("\n", 0, bad) + 1
    return Problem("encoding", f"it is not UTF-8: byte 0x{byte:02X} on line {line}")


def _text(value: object) -> str:
    """A property as text on one line; '' when it is empty, a list or a map."""
    if isinstance(value, bool):
        return str(value).lower()
    return " ".join(str(value).split()) if isinstance(value, str | int) else ""


def _title(own: Mapping[str, object], structure: Structure, path: str) -> str:
    """The title property, or the first heading of level 1, or the name of the file.

    A title that is there but blank or null stands for the name of the file. Programs that
    write the word None or null for nothing are understood.
    """
    name = readable(PurePosixPath(path).stem)
    if "title" in own:
        value = own["title"]
        title = value.strip() if isinstance(value, str) else _text(value)
        if "\n" in title:
            title = _text(title)
        return name if title in ("", "None", "null") else title
    first = next((heading for heading in structure.headings if heading.level == 1), None)
    return (first.text.strip() if first else "") or name


def own_tags(note: Note) -> tuple[str, ...]:
    """The tags in the frontmatter of a note, which are those of all that is in it."""
    return _distinct(_entries(note.properties, "tag", "tags"))


def _kind(own: Mapping[str, object], place: Place, source: Source, unusable: str | None) -> str:
    """What a note is instead of a category; looked for in broken frontmatter too.

    Outside of memory a note can be a context set and nothing else.
    """
    kind = _text(own.get("kind")).lower()
    if not kind and unusable is not None:
        start, end = source.yaml or (0, 0)
        found = _KIND.search(source.text, start, end)
        kind = found[1].lower() if found else ""
    known = KINDS if place.note_class == "agent-memory" else (CONTEXT_SET,)
    return kind if kind in known else ""


def _category(own: Mapping[str, object], place: Place, title: str) -> str:
    if place.note_class != "agent-memory":
        return ""
    return _text(own.get("category")) or title


def _entries(properties: Mapping[str, object], *names: str) -> Iterator[str]:
    for key, value in properties.items():
        if key.casefold() in names:
            yield from frontmatter.entries(key, value)


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    """The texts in their order, each once whatever its case, without a leading `#`."""
    found: dict[str, str] = {}
    for text in texts:
        bare = readable(" ".join(text.split()).lstrip("#"))
        if bare:
            found.setdefault(bare.casefold(), bare)
    return tuple(found.values())


def _muted(own: Mapping[str, object], source: Source, unusable: str | None) -> bool:
    """Whether the owner muted the note. When the frontmatter is broken, the safe answer."""
    if _text(own.get("muted")).lower() in _YES:
        return True
    start, end = source.yaml or (0, 0)
    return unusable is not None and _MUTED.search(source.text, start, end) is not None
