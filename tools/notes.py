"""Reading, listing, making, changing and deleting single notes."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Literal, TypeVar

from ..indexer.catalog import Names, Row, decoded
from ..indexer.view import Scope
from ..vault import edit
from ..vault.errors import (
    InvalidArgument,
    NoteChanged,
    NoteExists,
    NoteUnusable,
    PathRefused,
    SectionNotFound,
)
from ..vault.frontmatter import quote
from ..vault.ids import derived_id, is_id, new_id
from ..vault.markdown import parse
from ..vault.markdown import section as section_span
from ..vault.memory import observations
from ..vault.note import Note, Problem, parse_note, read_note
from ..vault.paths import NOTE_ENDING, contained, fold_name, is_control, note_file_name
from ..vault.sections import find_anchor, find_block, find_section
from ..vault.source import Source, readable
from .answers import (
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
from .auditing import auditing
from .diff import unified
from .enforcement import Guard
from .hidden import as_told, changed_around, refuse_waiting
from .kinds import refuse_agents
from .linked import backlinks, links, missing_part
from .marks import refuse_deletion, refuse_marks, refuse_pins
from .own_words import in_own_words
from .places import known_project, new_note, project_name
from .policy.form import checked_tag
from .provenance import date_of, known_origin, known_type
from .refs import resolve, whole
from .secrets import refuse_secrets
from .vault import Vault
from .versions import FIRST_VERSION, versions

__all__ = [
    "create_note",
    "delete_note",
    "edit_note",
    "get_note",
    "list_notes",
    "missing_part",
]

CONTENT_SHOWN = 100_000
LISTED = 500
"""Characters of a note, and links, headings and the like of it, in one answer at most."""

TITLE_LENGTH = 300
TAGS = 100

EditMode = Literal["findReplace", "replace", "append", "prepend", "replaceSection"]
Part = TypeVar("Part")


def get_note(vault: Vault, ref: str) -> NoteAnswer:
    """Return a note as it is on disk now.

    `ref` is an id, a path, a title or an alias; `#heading` or `#^block` behind it returns that
    part alone. Raises `NoteNotFound`, `NoteAmbiguous`, `SectionNotFound`, `SectionAmbiguous`.
    """
    with auditing(vault, "get_note", ref) as audited:
        answer = vault.index.ask(lambda: _get(vault, ref))
        return audited.answered(replace(answer, observations=_with_versions(vault, answer)))


def list_notes(
    vault: Vault,
    project: str | None = None,
    folder: str | None = None,
    tag: str | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> NoteList:
    """List user-docs by path, never memory; `cursor` is the `next_cursor` of the page before.

    Raises `PathRefused` for a project or folder that leads out of the vault.
    """
    scope = Scope(project=known_project(vault.layout, project), note_class="user-doc")
    prefix = f"{_nfc(str(contained(folder, 'folder')))}/" if folder is not None else ""
    return vault.index.ask(lambda: _list(vault, scope, prefix, tag, limit, cursor or ""))


def create_note(
    vault: Vault,
    project: str,
    title: str,
    body: str,
    folder: str | None = None,
    tags: Sequence[str] = (),
) -> Created:
    """Make a user-doc in a project. `body` is stored as it is given, with a line end behind it.

    Raises `NoteExists` when the path or the title is taken in that project, and `PathRefused`
    for a title that is a path, and for a folder that leads out of the project, into its memory
    or to where notes are ignored.
    """
    title = _checked_title(title)
    refuse_pins(vault, [*tags, *parse(body).tags])
    name = project_name(vault.layout, project)
    home = parent = f"{vault.settings.projects_folder}/{name}"
    if folder is not None:
        parent = f"{home}/{contained(folder, 'folder')}"
    path = new_note(vault.layout, f"{parent}/{note_file_name(title)}", "user-doc")
    source = _new_source(title, body, tags)
    if vault.index.watched:
        vault.index.look_below(home)  # A note of that title may have come a moment ago.
    vault.index.ask(lambda: _refuse_taken(vault, name, path, title))
    made = parse_note(vault.layout, path, source.data)
    refuse_unreadable("body", made)
    act = vault.act("create", made.id)
    token = vault.store.write(path, source.data, expected=None, act=act)
    vault.index.touched((path,))
    return Created("created", made.id, path, title, token)


def edit_note(
    vault: Vault,
    ref: str,
    mode: EditMode,
    content: str | None = None,
    find: str | None = None,
    section: str | None = None,
    version_token: str | None = None,
) -> Edited:
    """Change a note, memory too, and nothing of it but the edit.

    `findReplace` needs `find`, which must occur exactly once; without `content` it is deleted.
    The other modes need `content`; `append` takes a `section` too. With `version_token` the edit
    is made only on that version. What an agent writes into memory is marked as its own.
    Raises `TextNotFound`, `TextNotUnique`, `SectionNotFound`, `SectionAmbiguous`, `NoteChanged`,
    `NoteUnusable`, `SecretRefused` in memory, and what `get_note` raises; the note is as it was
    then.
    """
    if content is None and mode != "findReplace":
        raise InvalidArgument("content", f"it is needed with mode {mode}")
    wanted = _change(mode, _checked_text("content", content or ""), find, section)

    def edited(source: Source, path: str) -> Source:
        after = wanted(source, path)
        _refuse_secrets(parse_note(vault.layout, path, source.data), after)
        return after

    change = in_own_words(vault, edited)
    row, guard = vault.index.ask(lambda: (whole(vault, ref), Guard(vault)))
    with vault.store.transaction(row.path):
        before = read_note(vault.layout, row.path)
        refuse_agents(vault, before.kind)
        refuse_unusable(before, version_token)
        after, *texts = changed_around(vault, before, change)
        data, token = after.data, before.source.token
        changed = data != before.source.data
        if changed:
            made = parse_note(vault.layout, row.path, data)
            refuse_unreadable("content", made)
            refuse_marks(vault, before, made)
            guard.refuse_new(before, made)
            act = vault.act("edit", before.known_as(row.id))
            token = vault.store.write(row.path, data, expected=token, act=act)
    if changed:
        vault.index.touched((row.path,))
    return Edited(
        outcome="edited" if changed else "unchanged",
        note_id=before.known_as(row.id),
        path=row.path,
        version_token=token,
        diff=unified(*texts) if changed else None,
    )


def delete_note(vault: Vault, ref: str) -> Deleted:
    """Move a note to the trash, from which only the owner restores or purges it.

    Raises what `get_note` raises, `OwnerOnly` for one that is pinned or in which something waits
    for the owner's review, and `StorageFailed`, with the note still in its place.
    """

    def known() -> tuple[Row, int]:
        row = whole(vault, ref)
        return row, sum(1 for _ in backlinks(vault, row.path))

    row, linked = vault.index.ask(known)
    refuse_agents(vault, row.kind)
    note_id = row.id if is_id(row.id) else derived_id(row.path)
    with vault.store.transaction(row.path):
        note = read_note(vault.layout, row.path)
        refuse_waiting(vault, note)
        refuse_deletion(vault, note)
        trash = vault.store.trash(row.path, note_id, vault.act("delete", note_id))
    vault.index.touched((row.path,))
    return Deleted("deleted", note_id, row.path, trash, linked)


def _with_versions(vault: Vault, answer: NoteAnswer) -> tuple[ObservationOut, ...] | None:
    if answer.observations is None:
        return None
    ids = [each.observation_id for each in answer.observations if each.observation_id]
    found = versions(vault, answer.path, answer.note_id, ids)
    return tuple(
        replace(each, version=found.get(each.observation_id or "", FIRST_VERSION))
        for each in answer.observations
    )


# get_note


def _get(vault: Vault, ref: str) -> NoteAnswer:
    found = resolve(vault, ref)
    row, file = found.row, read_note(vault.layout, found.row.path)
    note = as_told(vault, file)
    start, end = _span(note, found.part)
    content = readable(note.source.text[start:end])
    is_memory = note.place.note_class == "agent-memory"
    more: dict[str, int] = {}
    return NoteAnswer(
        note_id=note.known_as(row.id),
        path=row.path,
        title=note.title,
        note_class=note.place.note_class,
        content=content[:CONTENT_SHOWN],
        truncated=len(content) > CONTENT_SHOWN,
        frontmatter=dict(note.properties),
        tags=tuple(note.tags),
        aliases=tuple(note.aliases),
        outline=_listed("outline", _outline(note), more),
        links=_links(vault, note, more),
        backlinks=_listed("backlinks", backlinks(vault, row.path), more),
        version_token=file.source.token,
        modified_at=date_of(row.mtime_ns),
        observations=_listed("observations", _observations(note, start, end), more)
        if is_memory
        else None,
        category=(note.category or None) if is_memory else None,
        project=note.place.project,
        section=found.part or None,
        problem=_sentence(note.problem) if note.problem else None,
        not_listed=more or None,
    )


def _links(vault: Vault, note: Note, more: dict[str, int]) -> tuple[LinkOut, ...]:
    """The first links: only they are judged, which may mean to read the note at the other end."""
    left = len(note.structure.links) - LISTED
    if left > 0:
        more["links"] = left
    return tuple(islice(links(vault, note), LISTED))


def _listed(name: str, items: Iterable[Part], more: dict[str, int]) -> tuple[Part, ...]:
    """The first items; how many others there are goes into `more`."""
    every = items if isinstance(items, Sequence) else tuple(items)
    if len(every) > LISTED:
        more[name] = len(every) - LISTED
    return tuple(every[:LISTED])


def _span(note: Note, part: str) -> tuple[int, int]:
    """The span in the text of what is asked for: the whole body, a section or a block."""
    base = note.source.body
    if not part:
        return base, len(note.source.text)
    if part.startswith("^"):
        block = find_block(note.structure, note.body, part[1:])
        if block is None:
            blocks = tuple(f"^{name}" for name in note.structure.blocks)
            raise SectionNotFound(note.path, part, blocks)
        return base + block[0], base + block[1]
    try:
        heading = find_section(note.structure, note.path, part)
    except SectionNotFound:
        anchored = find_anchor(note.structure, part)
        if anchored is None:
            raise
        heading = anchored
    return base + heading.start, base + section_span(note.structure, note.body, heading)[1]


def _outline(note: Note) -> list[Heading]:
    first = note.source.first_line
    return [Heading(h.level, h.text, h.line + first) for h in note.structure.headings]


def _observations(note: Note, start: int, end: int) -> list[ObservationOut]:
    """The observations of a part of the note."""
    first, base = note.source.first_line, note.source.body
    return [
        ObservationOut(
            text=item.text,
            line=item.line + first,
            origin=known_origin(item.origin),
            type=known_type(item.type),
            version=FIRST_VERSION,
            observation_id=item.id or None,
            status=item.status or None,
            expires=item.expires or None,
            derived_from=item.derived_from or None,
        )
        for item in observations(note)
        if start <= base + item.start and base + item.end <= end
    ]


def _sentence(problem: Problem) -> str:
    return f"{problem.detail[:1].upper()}{problem.detail[1:]}."


# list_notes


def _list(
    vault: Vault, scope: Scope, prefix: str, tag: str | None, limit: int, cursor: str
) -> NoteList:
    guard = Guard(vault)
    rows = [row for row in vault.index.rows(scope) if _nfc(row.path).startswith(prefix)]
    rows = [row for row in rows if guard.admits_row(row)]
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


def _nfc(path: str) -> str:
    return unicodedata.normalize("NFC", path)


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
        problem=_sentence(Problem(*decoded(row.problem))) if row.problem else None,
    )


# create_note


def _checked_title(title: str) -> str:
    """Return a title without blanks around it; raises `PathRefused` for one that is a path."""
    tidy = title.strip()
    _checked_text("title", tidy)
    contained(tidy, "title")
    if any(map(is_control, tidy)) or len(tidy) > TITLE_LENGTH:
        raise InvalidArgument("title", f"it is one line of at most {TITLE_LENGTH} characters")
    if "\\" in tidy or ("/" in tidy and tidy.lower().endswith(NOTE_ENDING)):
        raise PathRefused(tidy, "a title is no path; the folder goes into `folder` (title)")
    return tidy


def _new_source(title: str, body: str, tags: Sequence[str]) -> Source:
    names = list(dict.fromkeys(map(checked_tag, tags)))
    if len(names) > TAGS:
        raise InvalidArgument("tags", f"there are more than {TAGS}")
    keys = {"id": new_id(), "title": title} | ({"tags": names} if names else {})
    lines = "".join(f"{key}: {quote(value)}\n" for key, value in keys.items())
    end = "" if not body or body.endswith("\n") else "\n"
    return Source.from_text(f"---\n{lines}---\n{_checked_text('body', body)}{end}")


def _refuse_taken(vault: Vault, project: str, path: str, title: str) -> None:
    """Refuse a path or a title that a note of the project has."""
    if (vault.layout.root / path).exists():
        row = vault.index.row(path)
        raise NoteExists(path, row.id if row else read_note(vault.layout, path).id)
    key = _title_key(title)
    for row in vault.index.rows(Scope(project=project, note_class="user-doc")):
        stem = row.path.rpartition("/")[2][: -len(NOTE_ENDING)]
        if not row.conflict_copy and key in (_title_key(row.title), _title_key(stem)):
            raise NoteExists(row.path, row.id)


def _title_key(title: str) -> str:
    """What titles have in common that name one note: case, blanks and hyphens do not matter."""
    return " ".join(fold_name(title).replace("-", " ").replace("_", " ").split())


# edit_note


def _checked_text(argument: str, text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as problem:
        raise InvalidArgument(argument, "it holds half of a surrogate pair") from problem
    return text


def refuse_unreadable(argument: str, made: Note) -> None:
    """Raise `InvalidArgument` for a note that could be written, and not be read again."""
    if made.problem is not None and made.problem.kind in ("too-large", "binary"):
        problem = f"the note could not be read again: {made.problem.detail}"
        raise InvalidArgument(argument, problem)


def _refuse_secrets(before: Note, after: Source) -> None:
    """Memory takes no secret by an edit either. What is in the note already is its owner's."""
    if before.place.note_class == "agent-memory":
        there = set(before.source.text.splitlines())
        refuse_secrets("\n".join(line for line in after.text.splitlines() if line not in there))


def refuse_unusable(note: Note, version_token: str | None) -> None:
    """Raise `NoteUnusable` for what is no text, and `NoteChanged` unless it is at that version."""
    if note.problem is not None and note.problem.kind in ("binary", "too-large", "unreadable"):
        raise NoteUnusable(note.path, note.problem.detail)
    if version_token and version_token != note.source.token:
        raise NoteChanged(note.path, note.source.token)


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
