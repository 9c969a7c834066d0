"""Reading, listing, making, changing and deleting single notes."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from typing import Literal

from ..indexer.catalog import Names, Row
from ..indexer.sync import is_note
from ..indexer.view import Scope
from ..vault import edit
from ..vault.errors import (
    InvalidArgument,
    NoteAmbiguous,
    NoteChanged,
    NoteExists,
    NoteNotFound,
    NoteUnusable,
    PathRefused,
)
from ..vault.frontmatter import quote
from ..vault.ids import new_id
from ..vault.markdown import section as section_span
from ..vault.memory import observations
from ..vault.note import Note, parse_note, read_note
from ..vault.paths import note_file_name, safe_relative, twin
from ..vault.source import Source, readable
from .answers import (
    Backlink,
    Created,
    Deleted,
    Edited,
    Heading,
    LinkOut,
    NoteAnswer,
    NoteLine,
    NoteList,
    ObservationOut,
)
from .places import project_name
from .remember import checked_tag
from .search import date_of, known_project
from .vault import Vault

CONTENT_SHOWN = 100_000
DIFF_SHOWN = 4_000
"""Characters of a note, and of a diff, in one answer at most."""

EditMode = Literal["findReplace", "replace", "append", "prepend", "replaceSection"]


def get_note(vault: Vault, ref: str) -> NoteAnswer:
    """Return a note as it is on disk now.

    `ref` is an id, a path, a title or an alias; `#heading` or `#^block` behind it returns that
    part alone. Raises `NoteNotFound`, `NoteAmbiguous`, `SectionNotFound`, `SectionAmbiguous`.
    """
    return vault.index.ask(lambda: _get(vault, ref))


def list_notes(
    vault: Vault,
    project: str | None = None,
    folder: str | None = None,
    tag: str | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> NoteList:
    """List user-docs by path, never memory; `cursor` is the `next_cursor` of the page before."""
    prefix = f"{safe_relative(folder, 'folder')}/" if folder else ""
    return vault.index.ask(lambda: _list(vault, project, prefix, tag, limit, cursor or ""))


def create_note(
    vault: Vault,
    project: str,
    title: str,
    body: str,
    folder: str | None = None,
    tags: Sequence[str] = (),
) -> Created:
    """Make a user-doc in a project. `body` is stored as it is given.

    Raises `NoteExists` when the path or the title is taken in that project, and `PathRefused`
    for a title or folder that is no plain name.
    """
    name = project_name(vault.layout, project)
    parent = f"{vault.settings.projects_folder}/{name}"
    if folder:
        parent = f"{parent}/{safe_relative(folder, 'folder')}"
    path = f"{parent}/{note_file_name(title)}"
    if vault.layout.place(path).note_class != "user-doc":
        raise PathRefused(folder or "", "that folder holds memory, which has tools of its own")
    source = _new_source(title, _checked_body(body), tuple(map(checked_tag, tags)))
    return vault.index.ask(lambda: _create(vault, name, path, title, source))


def edit_note(
    vault: Vault,
    ref: str,
    mode: EditMode,
    content: str = "",
    find: str | None = None,
    section: str | None = None,
    version_token: str | None = None,
) -> Edited:
    """Change a note, memory too, and nothing of it but the edit.

    `findReplace` needs `find`, which must occur exactly once; empty `content` deletes it.
    `append` takes a `section` too. With `version_token` the edit is made only on that version.
    Raises `TextNotFound`, `TextNotUnique`, `SectionNotFound`, `SectionAmbiguous`, `NoteChanged`,
    `NoteUnusable` and what `get_note` raises; the note is as it was then.
    """
    change = _change(mode, _checked_body(content), find, section)
    row = vault.index.ask(lambda: resolve(vault, ref))
    with vault.store.transaction(row.path):
        before = read_note(vault.layout, row.path)
        _refuse_unusable(before, version_token)
        after = change(before.source, row.path)
        changed = after.data != before.source.data
        token = before.source.token
        if changed:
            token = vault.store.write(row.path, after.data, expected=token)
    if changed:
        vault.index.touched((row.path,))
    return Edited(
        outcome="edited" if changed else "unchanged",
        note_id=before.id if before.has_own_id else row.id,
        path=row.path,
        version_token=token,
        diff=_diff(before.source, after) if changed else None,
    )


def delete_note(vault: Vault, ref: str) -> Deleted:
    """Move a note to the trash, from which only the owner restores or purges it."""

    def known() -> tuple[Row, int]:
        row = resolve(vault, ref)
        return row, len(vault.index.graph().incoming(row.path))

    row, backlinks = vault.index.ask(known)
    trash = vault.store.trash(row.path, row.id)
    vault.index.touched((row.path,))
    return Deleted("deleted", row.id, row.path, trash, backlinks)


# References


def resolve(vault: Vault, ref: str) -> Row:
    """Return the one note that `ref` names; inside a question only.

    Raises `NoteNotFound` with close names, or `NoteAmbiguous` with all paths that fit.
    """
    paths = vault.index.resolver().find(ref)
    if len(paths) > 1:
        raise NoteAmbiguous(ref, paths)
    row = vault.index.row(paths[0]) if paths else None
    if row is None:
        raise NoteNotFound(ref, vault.index.resolver().suggest(ref))
    return row


def split_ref(ref: str) -> tuple[str, str]:
    """Divide a reference into the note and the part behind `#`, as a wikilink does."""
    inner = ref.strip().removeprefix("[[").removesuffix("]]")
    note, _, part = inner.partition("#")
    return note, part


# get_note


def _get(vault: Vault, ref: str) -> NoteAnswer:
    row = resolve(vault, ref)
    note = read_note(vault.layout, row.path)
    part = split_ref(ref)[1]
    start, end = _span(note, part)
    content = readable(note.source.text[start:end])
    memory = note.place.note_class == "agent-memory"
    return NoteAnswer(
        note_id=row.id,
        path=row.path,
        title=note.title,
        note_class=note.place.note_class,
        content=content[:CONTENT_SHOWN],
        truncated=len(content) > CONTENT_SHOWN,
        frontmatter=dict(note.properties),
        tags=tuple(note.tags),
        aliases=tuple(note.aliases),
        outline=_outline(note),
        links=_links(vault, note),
        backlinks=_backlinks(vault, row.path),
        version_token=note.source.token,
        modified_at=date_of(row.mtime_ns),
        observations=_observations(note) if memory else None,
        category=note.category if memory else None,
        project=note.place.project,
        section=part or None,
        problem=note.problem.detail if note.problem else None,
    )


def _span(note: Note, part: str) -> tuple[int, int]:
    base, body = note.source.body, note.source.body_text
    if not part:
        return base, len(note.source.text)
    if part.startswith("^"):
        start, end = edit.find_block(note.source, note.path, part[1:])
        return start, end
    heading = edit.find_section(note.source, note.path, part)
    start, end = section_span(note.structure, body, heading)
    return base + start, base + end


def _outline(note: Note) -> tuple[Heading, ...]:
    first = note.source.text.count("\n", 0, note.source.body) + 1
    return tuple(Heading(h.level, h.text, h.line + first) for h in note.structure.headings)


def _observations(note: Note) -> tuple[ObservationOut, ...]:
    first = note.source.text.count("\n", 0, note.source.body) + 1
    return tuple(
        ObservationOut(
            text=item.text,
            line=item.line + first,
            origin=item.origin,
            type=item.type,
            observation_id=item.id or None,
            status=item.status or None,
            expires=item.expires or None,
            derived_from=item.derived_from or None,
        )
        for item in observations(note)
    )


def _links(vault: Vault, note: Note) -> tuple[LinkOut, ...]:
    resolver = vault.index.resolver()
    first = note.source.text.count("\n", 0, note.source.body) + 1
    found = []
    for link in note.structure.links:
        path = resolver.link(link.target, note.path) if link.target else note.path
        found.append(
            LinkOut(
                target=link.target,
                kind=link.kind,
                line=link.line + first,
                path=path,
                anchor=link.anchor or None,
                alias=link.alias or None,
                missing=missing_part(vault, path, link.anchor),
            )
        )
    return tuple(found)


def missing_part(
    vault: Vault, path: str | None, anchor: str
) -> Literal["note", "heading", "block"] | None:
    """Say what a link misses: the note, or the heading or block in it."""
    if path is None:
        return "note"
    if not anchor or not is_note(vault.layout, path):
        return None
    try:
        note = read_note(vault.layout, path)
    except NoteNotFound:
        return "note"
    if anchor.startswith("^"):
        return None if anchor[1:] in note.structure.blocks else "block"
    return None if edit.has_section(note.source, anchor) else "heading"


def _backlinks(vault: Vault, path: str) -> tuple[Backlink, ...]:
    rows = filter(None, map(vault.index.row, sorted(vault.index.graph().incoming(path))))
    return tuple(Backlink(row.id, row.path, row.title) for row in rows if not row.muted)


# list_notes


def _list(
    vault: Vault, project: str | None, prefix: str, tag: str | None, limit: int, cursor: str
) -> NoteList:
    scope = Scope(project=known_project(vault, project), note_class="user-doc")
    rows = [row for row in vault.index.rows(scope) if row.path.startswith(prefix)]
    if tag:
        wanted = tag.removeprefix("#").casefold()
        rows = [row for row in rows if _has_tag(Names.parse(row.names).tags, wanted)]
    page = [row for row in rows if row.path > cursor][:limit]
    more = bool(page) and page[-1] is not rows[-1]
    return NoteList(
        notes=tuple(map(_line, page)),
        total=len(rows),
        next_cursor=page[-1].path if more else None,
        index=vault.index_state(),
    )


def _has_tag(tags: Sequence[str], wanted: str) -> bool:
    folded = (tag.casefold() for tag in tags)
    return any(tag == wanted or tag.startswith(f"{wanted}/") for tag in folded)


def _line(row: Row) -> NoteLine:
    return NoteLine(
        note_id=row.id,
        path=row.path,
        title=row.title,
        tags=Names.parse(row.names).tags,
        modified_at=date_of(row.mtime_ns),
        project=row.project or None,
        problem=row.problem or None,
    )


# create_note, edit_note


def _checked_body(body: str) -> str:
    try:
        body.encode()
    except UnicodeEncodeError as problem:
        raise InvalidArgument("content", "it holds half of a surrogate pair") from problem
    return body


def _new_source(title: str, body: str, tags: tuple[str, ...]) -> Source:
    keys = {"id": new_id(), "title": title} | ({"tags": list(tags)} if tags else {})
    lines = "".join(f"{key}: {quote(value)}\n" for key, value in keys.items())
    end = "" if body.endswith("\n") else "\n"
    return Source.from_text(f"---\n{lines}---\n{body}{end}")


def _create(vault: Vault, project: str, path: str, title: str, source: Source) -> Created:
    _refuse_occupied(vault, project, path, title)
    with vault.store.transaction(path):
        token = vault.store.write(path, source.data, expected=None)
    vault.index.touched((path,))
    note = parse_note(vault.layout, path, source.data)
    return Created("created", note.id, path, title, token)


def _refuse_occupied(vault: Vault, project: str, path: str, title: str) -> None:
    folder, _, name = path.rpartition("/")
    there = twin(vault.layout.root / folder, name)
    if there is not None:
        row = vault.index.row(f"{folder}/{there}")
        raise NoteExists(f"{folder}/{there}", row.id if row else "")
    key = _title_key(title)
    for row in vault.index.rows(Scope(project=project, note_class="user-doc")):
        if key in (_title_key(row.title), _title_key(row.path.rpartition("/")[2][:-3])):
            raise NoteExists(row.path, row.id)


def _title_key(title: str) -> str:
    return " ".join(title.casefold().replace("-", " ").replace("_", " ").split())


def _refuse_unusable(note: Note, version_token: str | None) -> None:
    if version_token and version_token != note.source.token:
        raise NoteChanged(note.path, note.source.token)
    if note.problem is not None and note.problem.kind in ("binary", "too-large", "unreadable"):
        raise NoteUnusable(note.path, note.problem.detail)


def _change(
    mode: EditMode, content: str, find: str | None, section: str | None
) -> Callable[[Source, str], Source]:
    """Bind the arguments of an edit, and refuse those that do not belong together."""
    if (find is not None) != (mode == "findReplace"):
        need = "is needed with" if find is None else "belongs only to"
        raise InvalidArgument("find", f"it {need} mode findReplace")
    if section is not None and mode not in ("append", "replaceSection"):
        raise InvalidArgument("section", "it belongs to the modes append and replaceSection")
    if section is None and mode == "replaceSection":
        raise InvalidArgument("section", "it is needed with mode replaceSection")
    match mode:
        case "findReplace":
            return lambda source, path: edit.find_replace(source, path, find or "", content)
        case "replaceSection":
            return lambda source, path: edit.replace_section(source, path, section or "", content)
        case "append" if section is not None:
            return lambda source, path: edit.append_to_section(source, path, section, content)
        case "append":
            return lambda source, _: edit.append(source, content)
        case "prepend":
            return lambda source, _: edit.prepend(source, content)
        case "replace":
            return lambda source, _: edit.replace_body(source, content)


def _diff(before: Source, after: Source) -> str:
    lines = difflib.unified_diff(
        readable(before.text).splitlines(), readable(after.text).splitlines(), lineterm="", n=1
    )
    text = "\n".join(list(lines)[2:])
    return text if len(text) <= DIFF_SHOWN else f"{text[:DIFF_SHOWN]}\n…"
