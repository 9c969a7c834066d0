"""What a question about one project may be told: law 10, that no scope leaks into another.

Of the other projects nothing; of the user's memory, and of the notes that belong to no project,
only what is not tied to another project, be it by a tag with the project's name or by a link
to one of its notes. What is muted, and the copies that sync programs leave, are told to nobody;
nor is what is only for the work of one thread.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..indexer.catalog import Names, Row
from ..indexer.graph import Way
from ..indexer.index import Hit
from ..indexer.view import Scope
from ..vault.errors import NoteNotFound
from ..vault.markdown import Structure, parse
from ..vault.note import own_tags, read_note
from ..vault.paths import fold_name
from .answers import MemoryType
from .authors import Author
from .enforcement import Guard
from .provenance import type_of
from .vault import Vault

_NO_WORD = re.compile(r"[\W_]+")
_LIKE_TAG = re.compile(r"#([^\s#]++)")


class Borders:
    """The borders of one question. None stands for all projects, authors and types.

    With `closed`, no project stands for none at all. Raises `RuleForbids` for a project of which
    a rule lets the caller recall nothing.
    """

    def __init__(
        self,
        vault: Vault,
        project: str | None,
        author: Author | None = None,
        *,
        kind: MemoryType | None = None,
        closed: bool = False,
    ) -> None:
        self._vault, self._index, self._project = vault, vault.index, project
        self._author, self._kind = author, kind
        self.guard = Guard(vault)
        self.guard.refuse_scope(project)
        self._others = frozenset[str]()
        if closed or project is not None:
            self._others = self._index.projects() - {project or ""}
        self._other_tags = frozenset(map(_tag_key, self._others))
        self._told: dict[int, Sequence[Hit]] = {}
        self._tied_notes: dict[str, bool] = {}
        self._open_notes: dict[str, bool] = {}
        self._open_links: dict[str, frozenset[str]] = {}

    @property
    def scope(self) -> Scope:
        """The notes in which a question looks for its words."""
        return Scope(
            project=self._project,
            note_class="agent-memory" if self._kind else None,
            notes=self._author.notes if self._author else None,
            user_memory=True,
            muted=False,
        )

    @property
    def way(self) -> Way:
        """What a walk from note to note may use."""
        return Way(self.admits_note, self._follows if self._others else None)

    def admits_note(self, path: str) -> bool:
        """Whether something of a note may be told."""
        if path not in self._open_notes:
            row = self._index.row(path)
            self._open_notes[path] = row is not None and self.admits_row(row)
        return self._open_notes[path]

    def admits_row(self, row: Row) -> bool:
        """Whether something of a note may be told, as the index knows it."""
        if row.muted or row.conflict_copy:
            return False
        return row.project not in self._others and self.guard.admits_row(row)

    def admits(self, hit: Hit) -> bool:
        """Whether a passage may be told."""
        if self._author is not None and not self._author.admits(hit):
            return False
        kind = type_of(hit)
        if kind == "working" or (self._kind and kind != self._kind):
            return False
        return self._lies_inside(hit) and self.guard.admits(hit)

    def told(self, row: Row) -> Sequence[Hit]:
        """The passages of a note that may be told, in the order of its file."""
        if row.number not in self._told:
            found = filter(self.admits, self._index.parts(row))
            self._told[row.number] = sorted(found, key=by_place)
        return self._told[row.number]

    def tells(self, row: Row) -> bool:
        """Whether there is something in a note that may be told."""
        return len(row.docs) > 1 if self.tells_all(row) else bool(self.told(row))

    def tells_all(self, row: Row) -> bool:
        """Whether all passages of a note of this project may be told, without a look at them."""
        inside = bool(row.project) or not self._others
        return inside and self._author is None and self.guard.frees(row)

    def _lies_inside(self, hit: Hit) -> bool:
        row = hit.row
        if row.muted or row.conflict_copy or row.project in self._others:
            return False
        if not self._others or row.project:
            return True
        return not self.ties_note(row) and not self.ties(hit.text, row.path)

    def ties(self, text: str, path: str) -> bool:
        """Whether a text in a note of no project is tied to a project that is another one."""
        if not self._others or not ("[" in text or self._may_name_another(text)):
            return False
        return self._is_tied(parse(text), path)

    def _may_name_another(self, text: str) -> bool:
        """Whether a tag in a text may name another project, before the text is parsed."""
        parts = (part for tag in _LIKE_TAG.findall(text) for part in tag.split("/"))
        return any(_tag_key(part).startswith(name) for part in parts for name in self._other_tags)

    def ties_note(self, row: Row) -> bool:
        """Whether the frontmatter's tags tie a whole note to another project."""
        if row.path not in self._tied_notes:
            self._tied_notes[row.path] = not row.project and self._is_tied_note(row)
        return self._tied_notes[row.path]

    def _is_tied_note(self, row: Row) -> bool:
        if not self._names_another(Names.parse(row.names).tags):
            return False
        try:
            return self._names_another(own_tags(read_note(self._vault.layout, row.path)))
        except NoteNotFound:
            return False

    def _is_tied(self, structure: Structure, path: str) -> bool:
        if self._names_another(structure.tags):
            return True
        resolver = self._index.resolver()
        for link in structure.links:
            found = resolver.link(link.target, path) if link.target else None
            row = self._index.row(found) if found else None
            if (row.project if row else self._project_in(link.target)) in self._others:
                return True
        return False

    def _names_another(self, tags: Iterable[str]) -> bool:
        parts = (_tag_key(part) for tag in tags for part in tag.split("/"))
        return not self._other_tags.isdisjoint(parts)

    def _project_in(self, target: str) -> str:
        """The project whose folder a link names that leads to no note."""
        folder, _, rest = target.lstrip("/").partition("/")
        return rest.partition("/")[0] if folder == self._vault.settings.projects_folder else ""

    def _follows(self, source: str, target: str) -> bool:
        """Whether a link may be followed: not one in a line that is tied to another project."""
        row = self._index.row(source)
        if row is None or row.project or row.note_class != "agent-memory":
            return True
        if source not in self._open_links:
            resolver = self._index.resolver()
            told = (hit for hit in self._index.parts(row) if self.admits(hit))
            links = (link for hit in told for link in parse(hit.text).links)
            found = (resolver.link(link.target, source) for link in links if link.target)
            self._open_links[source] = frozenset(filter(None, found))
        return target in self._open_links[source]


def by_place(hit: Hit) -> int:
    """Sort key: where in its file a passage stands; those of memory are numbered otherwise."""
    return hit.passage.start if hit.passage else 0


def _tag_key(name: str) -> str:
    """What a tag and a folder's name have in common: `Acme Inc.` and `#acme-inc`."""
    return _NO_WORD.sub("-", fold_name(name)).strip("-")
