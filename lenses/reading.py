"""The page of a note: its text with everything around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from markupsafe import Markup

from ..indexer.catalog import Row
from ..vault.errors import NoteNotFound, PathRefused
from ..vault.markdown import section
from ..vault.note import Note, read_note
from ..vault.sections import find_anchor, find_block
from .around import Reference, backlinks, is_shown, mentions, surroundings
from .markup import Embedded, anchor_id, heading_ids, render
from .picture import Picture, draw
from .pixels import Size, size_of
from .visit import House, Page, Visit, address_of, file_address, row_with, tag_address

DEPTH = 2
"""How deep embeds are shown inside embeds."""

HIDDEN_PROPERTIES = frozenset(
    ["id", "title", "alias", "aliases", "tag", "tags", "cssclass", "cssclasses"]
)
PROPERTIES = 24
PROPERTY_LENGTH = 300


class NoteLinks:
    """Where the links of one note lead, for an owner whose Memory lens is open or not."""

    def __init__(
        self, house: House, source: str, *, lens: bool, inside: tuple[str, ...] = ()
    ) -> None:
        self._house, self._source, self._lens = house, source, lens
        self._inside = (*inside, source)
        self._count = 0

    def note(self, target: str, anchor: str) -> str | None:
        """Return the address of a note's page."""
        row = self._row(target)
        if row is None:
            return None
        here = not target or row.path == self._source
        page = "" if here and len(self._inside) == 1 else address_of(row)
        return f"{page}#{anchor_id(anchor)}" if anchor else page or address_of(row)

    def file(self, target: str) -> str | None:
        """Return the address of a file that is no note."""
        path = self._file(target)
        return None if path is None else file_address(path)

    def size(self, target: str) -> Size | None:
        """Return the size of a picture."""
        path, layout = self._file(target), self._house.vault.layout
        try:
            return size_of(layout.absolute(path)) if path else None
        except PathRefused:  # A symlink that leads out of the vault.
            return None

    def _file(self, target: str) -> str | None:
        path = self._house.files.find(target, self._source)
        hidden = path is None or (not self._lens and self._in_memory(path))
        return None if hidden else path

    def embedded(self, target: str, anchor: str) -> Embedded | None:
        """Return what an embed shows; None where it would show itself, or too deep."""
        row = self._row(target)
        if row is None or row.path in self._inside or len(self._inside) > DEPTH:
            return None
        try:
            note = read_note(self._house.vault.layout, row.path)
        except NoteNotFound:
            return None
        span = _part(note, anchor)
        if span is None:
            return None
        links = NoteLinks(self._house, row.path, lens=self._lens, inside=self._inside)
        self._count += 1
        name = f"{len(self._inside)}-{self._count}"
        html = render(note.body[span[0] : span[1]], links, title=row.title, nested=name)
        address = f"{address_of(row)}#{anchor_id(anchor)}" if anchor else address_of(row)
        shown = f"{row.title} › {anchor.lstrip('^')}" if anchor else row.title
        return Embedded(shown, address, html)

    def tag(self, name: str) -> str:
        """Return the address of a tag's page."""
        return tag_address(name)

    def _row(self, target: str) -> Row | None:
        index = self._house.vault.index
        path = index.resolver().link(target, self._source) if target else self._source
        row = index.row(path) if path else None
        return row if is_shown(row, lens=self._lens) else None

    def _in_memory(self, path: str) -> bool:
        return self._house.vault.layout.place(path).note_class == "agent-memory"


def _part(note: Note, anchor: str) -> tuple[int, int] | None:
    """The span in the body of what an embed names."""
    if not anchor:
        return 0, len(note.body)
    if anchor.startswith("^"):
        return find_block(note.structure, note.body, anchor[1:])
    heading = find_anchor(note.structure, anchor)
    if heading is None:
        return None
    return section(note.structure, note.body, heading)


@dataclass(frozen=True, slots=True)
class OutlineLine:
    """One heading of the outline; `depth` counts from 0."""

    depth: int
    text: str
    href: str


@dataclass(frozen=True, slots=True)
class Reading:
    """Everything that the page of a note shows."""

    row: Row
    note: Note
    html: Markup
    outline: tuple[OutlineLine, ...]
    tags: tuple[str, ...]
    words: int
    parents: tuple[str, ...]
    properties: Mapping[str, str]
    backlinks: list[Reference]
    backlinks_more: int
    mentions: list[Reference]
    picture: Picture | None
    editors: Mapping[str, str]


def note_page(visit: Visit) -> Page:
    """Show a user-doc. Raises `NoteNotFound`, for memory too."""
    reading = visit.vault.index.ask(lambda: _reading(visit))
    folder = reading.row.path.rpartition("/")[0]
    return Page("note.html", {"reading": reading, "live": reading.row.id, "open_path": folder})


def _reading(visit: Visit) -> Reading:
    vault, lens = visit.vault, visit.lens
    rows = visit.house.shelves.now().by_id.get(visit.path["id"], [])
    row = row_with(rows, visit.path["id"], visit.query.get("path", ""))
    note = read_note(vault.layout, row.path)
    found, more = backlinks(vault, row.path, lens=lens)
    return Reading(
        row=row,
        note=note,
        html=render(note.body, NoteLinks(visit.house, row.path, lens=lens), title=note.title),
        outline=outline(note),
        tags=note.tags,
        words=len(note.body.split()),
        parents=_folders(row.path),
        properties=_properties(note),
        backlinks=found,
        backlinks_more=more,
        mentions=mentions(vault, note, row),
        picture=draw(surroundings(vault, row, lens=lens), address_of),
        editors=editors(visit, row.path),
    )


def _folders(path: str) -> tuple[str, ...]:
    parts = path.split("/")[:-1]
    return tuple("/".join(parts[:end]) for end in range(1, len(parts) + 1))


def outline(note: Note) -> tuple[OutlineLine, ...]:
    """Return the headings of a note, without a first one that repeats its title."""
    headings = list(note.structure.headings)
    slugs = heading_ids(heading.text for heading in headings)
    lines = list(zip(headings, slugs, strict=True))
    if lines and headings[0].level == 1 and headings[0].text == note.title:
        del lines[0]
        slugs = heading_ids(heading.text for heading, _ in lines)
        lines = [(heading, slug) for (heading, _), slug in zip(lines, slugs, strict=True)]
    top = min((heading.level for heading, _ in lines), default=1)
    return tuple(
        OutlineLine(min(heading.level - top, 3), heading.text, f"#{slug}")
        for heading, slug in lines
    )


def _properties(note: Note) -> Mapping[str, str]:
    shown: dict[str, str] = {}
    for key, value in note.properties.items():
        if key.casefold() not in HIDDEN_PROPERTIES and len(shown) < PROPERTIES:
            listed = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            shown[key] = listed[:PROPERTY_LENGTH]
    return shown


def editors(visit: Visit, path: str) -> Mapping[str, str]:
    """Return the addresses that open a note in an editor on this machine, by the editor's name."""
    file = f"{visit.vault.layout.root}/{path}"
    return {
        "Obsidian": f"obsidian://open?path={quote(file, safe='')}",
        "VS Code": f"vscode://file{quote(file)}",
    }
