"""Finding user-docs: the tree, the Feed, tags, the search, and the files beside the notes."""

from __future__ import annotations

import mimetypes
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from markupsafe import Markup, escape

from ..indexer.analysis import terms
from ..indexer.catalog import Row
from ..indexer.index import Hit
from ..tools.search import shown, snippet
from ..vault.errors import NoteNotFound, PathRefused
from .around import tags_of
from .markup import anchor_id, first_words, is_image, plain_text
from .shelf import MEMORY, USER_DOCS, Folder, Shelf
from .visit import File, Page, Visit, address_of
from .words import moment_of

FEED_LENGTH = 30
FOLDER_LENGTH = 200
PREVIEW = 280
FOUND = 30
TITLES = 8
QUERY_LENGTH = 400

_WORD = re.compile(r"(\w(?:[\w+#.'’-]*[\w+#])?)")


@dataclass(frozen=True, slots=True)
class FeedLine:
    """One note of the Feed."""

    row: Row
    moment: datetime
    preview: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoundLine:
    """One passage that was found, with the words of the query marked in it."""

    row: Row
    heading: str
    href: str
    snippet: Markup


def shelf_of(visit: Visit) -> Shelf:
    """Return the user-docs as they are now."""
    return visit.vault.index.ask(visit.house.shelves.now)


def tree_page(visit: Visit) -> Page:
    """Show one folder of the tree. Raises `NoteNotFound` for one without notes."""
    folder = shelf_of(visit).folders.get(visit.path.get("folder", "").strip("/"))
    if folder is None:
        raise NoteNotFound(visit.path.get("folder", ""))
    page = visit.number("page")
    start = (page - 1) * FOLDER_LENGTH
    facts = {
        "folder": folder,
        "notes": folder.notes[start : start + FOLDER_LENGTH],
        "page": page,
        "pages": -(-len(folder.notes) // FOLDER_LENGTH),
        "parents": list(_parents(folder)),
        "open_path": folder.path,
    }
    return Page("tree.html", facts, part="_branch.html")


def _parents(folder: Folder) -> Iterator[str]:
    parts = folder.path.split("/")
    for end in range(1, len(parts)):
        yield "/".join(parts[:end])


def feed_page(visit: Visit) -> Page:
    """Show user-docs, the last that were changed first, with their first words."""
    rows = shelf_of(visit).newest
    page = visit.number("page")
    shown = rows[(page - 1) * FEED_LENGTH :][:FEED_LENGTH]
    lines = visit.vault.index.ask(lambda: [_feed_line(visit, row) for row in shown])
    days = [
        (day, list(group)) for day, group in groupby(lines, key=lambda line: line.moment.date())
    ]
    more = len(rows) > page * FEED_LENGTH
    facts = {"days": days, "page": page, "more": more, "total": len(rows), "live": "*"}
    return Page("feed.html", facts)


def _feed_line(visit: Visit, row: Row) -> FeedLine:
    hits = visit.vault.index.parts(row, 1, 2)
    text = "\n\n".join(_without_title(hit.text, row.title) for hit in hits)
    preview = first_words(text, PREVIEW)
    return FeedLine(row, moment_of(row.mtime_ns), preview, tags_of(row))


def _without_title(text: str, title: str) -> str:
    first, _, rest = text.lstrip().partition("\n")
    return rest if first.lstrip("# ").strip() == title else text


def tags_page(visit: Visit) -> Page:
    """Show all tags with their numbers of notes."""
    tags = visit.vault.index.ask(lambda: visit.house.shelves.now().tags())
    counted = sorted((name, len(rows)) for name, rows in tags.items())
    return Page("tags.html", {"tags": counted})


def tag_page(visit: Visit) -> Page:
    """Show the notes of one tag. Raises `NoteNotFound` when there are none."""
    name = visit.path["tag"].casefold().strip("/")
    rows = visit.vault.index.ask(lambda: visit.house.shelves.now().tags().get(name, []))
    if not rows:
        raise NoteNotFound(f"#{name}")
    return Page("tag.html", {"tag": name, "rows": rows[:FOLDER_LENGTH], "total": len(rows)})


def search_page(visit: Visit) -> Page:
    """Search user-docs, or with an open Memory lens and `in=memory` what is remembered."""
    query = visit.query.get("q", "")[:QUERY_LENGTH].strip()
    memory = visit.lens and visit.query.get("in") == "memory"
    found: list[FoundLine] = []
    titles: list[Row] = []
    more = False
    if query:
        found, more = visit.vault.index.ask(lambda: _found(visit, query, memory=memory))
        titles = [] if memory else shelf_of(visit).titled(query, TITLES)
    facts = {
        "query": query,
        "in_memory": memory,
        "titles": [(row, marked(row.title, query)) for row in titles],
        "found": found,
        "more": more,
    }
    return Page("search.html", facts, part="_results.html")


def _found(visit: Visit, query: str, *, memory: bool) -> tuple[list[FoundLine], bool]:
    answer = visit.vault.index.find(query, MEMORY if memory else USER_DOCS, FOUND + 1)
    return [_found_line(hit, query) for hit in answer.hits[:FOUND]], len(answer.hits) > FOUND


def _found_line(hit: Hit, query: str) -> FoundLine:
    row, passage = hit.row, hit.passage
    heading = passage.heading if passage and passage.heading != row.title else ""
    href = address_of(row)
    if passage and passage.observation:
        href += f"#b-{passage.observation}"
    elif heading:
        href += f"#{anchor_id(heading)}"
    text = snippet(plain_text(shown(hit)), query)
    return FoundLine(row, heading, href, marked(text, query))


def marked(text: str, query: str) -> Markup:
    """Return a text with the words of a query marked, in whatever form they stand there."""
    wanted = set(terms(query))
    parts = []
    for number, word in enumerate(_WORD.split(text)):
        found = number % 2 and not wanted.isdisjoint(terms(word))
        parts.append(Markup("<mark>{}</mark>").format(word) if found else escape(word))
    return Markup("").join(parts)


def file_page(visit: Visit) -> File:
    """Give out a file of the vault that is no note. Raises `NoteNotFound` for all others."""
    path, layout = visit.path["file"], visit.vault.layout
    try:
        real = layout.absolute(path)
    except PathRefused as refused:
        raise NoteNotFound(path) from refused
    name = layout.relative(real)
    hidden = layout.ignored(name) or name.lower().endswith((".md", ".toml"))
    if hidden or (not visit.lens and layout.place(name).note_class == "agent-memory"):
        raise NoteNotFound(path)
    if not os.path.isfile(real):  # noqa: PTH113 - Path.is_file raises for a long name
        raise NoteNotFound(path)
    kind = mimetypes.guess_type(name)[0] if is_image(name) else None
    return File(real, kind or "application/octet-stream", real.name, inline=kind is not None)
