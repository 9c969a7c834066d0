"""What a session starts with, as entries in their order: personal, of the project, of the work.

In the personal part and in that of the project come first the owner's context sets, link by link,
then the pinned notes, then what is derived: an index of notes and memory, and what others have
changed. Work in progress has a part of its own, so that no number of pins can keep it out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import starmap

from ...indexer.catalog import Row
from ...indexer.index import Hit
from ...indexer.passages import today
from ...indexer.view import Scope
from ...vault.authorship import least
from ...vault.note import CONTEXT_SET
from ...vault.rules import LEVELS, MEMORY, Rule
from ..answers import Origin
from ..borders import Borders
from ..bundle.candidates import line_of
from ..bundle.envelope import quoted
from ..bundle.pack import citation
from ..marks import pinned
from ..plans import unfinished
from ..provenance import Provenance, provenances
from ..render import counted
from ..rules import rules_in
from ..threads import thread_tail
from ..vault import Vault
from .answers import StartKind, StartPartName
from .changes import NoteChange
from .prefix import Entry, Place
from .sets import links_of, passages_at
from .vocabulary import labels, profile, tags

FOLDERS = 12
"""Folders of a project that are named: those with the most notes."""


@dataclass(frozen=True)
class Start:
    """One session's start. Made inside a question only."""

    vault: Vault
    borders: Borders
    project: str | None
    thread: str | None
    changes: Sequence[NoteChange] = ()
    loaded: set[Place] = field(default_factory=set)
    """What is loaded already, and is not loaded again."""

    @cached_property
    def personal(self) -> list[Row]:
        """The notes of no project of which something may be told, by path."""
        return self._rows("")

    @cached_property
    def of_project(self) -> list[Row]:
        """The same of the project that is asked for, if one is."""
        return [] if self.project is None else self._rows(self.project)

    def _rows(self, project: str) -> list[Row]:
        rows = self.vault.index.rows(Scope(project=project, muted=False))
        return list(filter(self.borders.admits_row, rows))

    def entries(self, part: StartPartName) -> Iterator[Entry]:
        """Yield the entries of a part in their order."""
        if part == "work":
            yield from self._work()
        elif part == "personal":
            yield from self._about(part, self.personal, "the user")
        elif self.project is not None:
            yield from self._about(part, self.of_project, self.project)

    def _about(self, part: StartPartName, rows: Sequence[Row], whom: str) -> Iterator[Entry]:
        seen = set(self.loaded)
        for row in rows:
            if row.kind == CONTEXT_SET:
                yield from self._set(part, row, seen)
        for row in pinned(rows):
            if (row.path, "") not in seen and self.borders.tells(row):
                yield self._note(part, "pin", row)
        if part == "project":
            yield _list(part, "index", f"Notes of {whom}", lambda: self._index(rows))
        memory = [row for row in rows if _is_category(row)]
        yield _list(part, "profile", f"Memory about {whom}", lambda: profile(self.borders, memory))
        changed = [one for one in self.changes if bool(one.row.project) == (part == "project")]
        title = f"Changed since your last session, about {whom}"
        yield _list(part, "changes", title, lambda: map(str, changed))

    # Notes

    def _set(self, part: StartPartName, row: Row, seen: set[Place]) -> Iterator[Entry]:
        """What a context set lists. What is loaded already is not loaded again."""
        for link in links_of(self.vault, self.borders, row):
            if link.row is None:
                yield _missing(part, row, link.line)
            elif seen.isdisjoint([(link.row.path, ""), (link.row.path, link.anchor)]):
                seen.add((link.row.path, link.anchor))
                hits = passages_at(self.vault, self.borders, link.row, link.anchor)
                if hits:
                    yield self._note(part, "context-set", link.row, link.anchor, hits)
                else:
                    yield _missing(part, row, link.line)

    def _note(
        self,
        part: StartPartName,
        kind: StartKind,
        row: Row,
        anchor: str = "",
        hits: Sequence[Hit] | None = None,
    ) -> Entry:
        """A note, or `hits` of it; a whole one is read when it is its turn."""
        title = f"{row.title} › {anchor}" if anchor else row.title

        @cache
        def told() -> Sequence[tuple[Hit, Provenance]]:
            found = self.borders.told(row) if hits is None else hits
            return list(zip(found, provenances(self.vault, found, inside=True), strict=True))

        def origin() -> Origin:
            return least(one.origin for _, one in told())

        return Entry(
            part=part,
            kind=kind,
            title=title,
            citation=lambda: citation(row._replace(title=title), origin()),
            lines=lambda: starmap(line_of, told()),
            origin=origin,
            row=row,
            anchor=anchor,
        )

    # What is derived

    def _index(self, rows: Iterable[Row]) -> Iterator[str]:
        """How many notes a project has, and in which of its folders."""
        notes = [row.path for row in rows if row.note_class == "user-doc" and self._counts(row)]
        parts = (path.split("/", 3) for path in notes)
        folders = Counter(part[2] for part in parts if len(part) > 3)
        if notes:
            yield f"- {counted(len(notes), 'note')}"
        first = sorted(folders.items(), key=lambda each: (-each[1], each[0]))[:FOLDERS]
        if first:
            yield f"- Folders: {', '.join(f'{name} ({number})' for name, number in first)}"

    def _counts(self, row: Row) -> bool:
        return self.borders.tells_all(row) or bool(self.borders.told(row))

    # Work in progress

    def _work(self) -> Iterator[Entry]:
        kinds = [row for row in (*self.personal, *self.of_project) if row.kind]
        yield _list("work", "plans", "Open plans", lambda: self._plans(kinds))
        yield from self._thread()
        yield _list("work", "rules", "Rules that bind", lambda: self._rules(kinds))
        yield _list("work", "vocabulary", "Words in use", self._words)

    def _plans(self, rows: Iterable[Row]) -> Iterator[str]:
        """The unfinished plans with their next steps, those that were changed last first."""
        plans = [row for row in rows if row.kind == "progress"]
        for row in sorted(plans, key=lambda row: (-row.mtime_ns, row.path)):
            for plan in unfinished(self.vault, [row]):
                step = f"{plan.next.step} ({plan.next.state})" if plan.next else "none"
                line = f"- {plan.task}, {plan.percent} %, next: {step}"
                if not self.borders.ties(line, row.path):
                    yield f"{line} ({row.path})"

    def _thread(self) -> Iterator[Entry]:
        if self.thread is None:
            return
        row, hits = thread_tail(self.vault, self.thread)
        told = [hit for hit in hits if self.borders.guard.admits(hit)]
        if row is not None and told:
            yield self._note("work", "thread", row, hits=told)

    def _rules(self, rows: Iterable[Row]) -> Iterator[str]:
        """The rules for the work; those on the memory itself the tools keep without telling."""
        found = [rule for row in rows if row.kind == "rules" for rule in self._told_rules(row)]
        for rule in sorted(found, key=lambda one: (LEVELS.index(one.level), one.path, one.line)):
            place = f"{rule.path}:{rule.line} {rule.name}".rstrip()
            yield f"- {rule.level}: {rule.statement} ({place})"

    def _told_rules(self, row: Row) -> Iterator[Rule]:
        words = (hit.passage.words for hit in self.borders.told(row) if hit.passage)
        told = {each.partition(":")[2].strip() for each in words}
        for rule in rules_in(self.vault, row):
            on_work = rule.categories != (MEMORY,) and rule.is_live(today())
            if on_work and rule.statement.strip() in told:
                yield rule

    def _words(self) -> Iterator[str]:
        """The categories and tags in use."""
        memory = [row for row in self.personal if row.note_class == "agent-memory"]
        about = {"the user": memory, self.project or "": self.of_project}
        for whom, known in about.items():
            named = labels(self.borders, filter(_is_category, known))
            if named:
                yield f"- Categories about {whom}: {named}"
        # The tags of rules say what is not to be told.
        tagged = [row for row in (*memory, *self.of_project) if not row.kind]
        used = tags(self.vault, self.borders, tagged)
        if used:
            yield f"- Tags: {used}"


def _is_category(row: Row) -> bool:
    return row.note_class == "agent-memory" and not row.kind


def _missing(part: StartPartName, row: Row, line: int) -> Entry:
    title = f"{row.title}, line {line}"
    return Entry(part, "context-set", title, str, tuple, row=row, missing=True)


def _list(
    part: StartPartName, kind: StartKind, title: str, lines: Callable[[], Iterable[str]]
) -> Entry:
    """An entry that is made of lines about many notes."""
    return Entry(
        part,
        kind,
        title,
        citation=lambda: title,
        lines=lambda: ((quoted(_flat(line)), "") for line in lines()),
    )


def _flat(line: str) -> str:
    return " ".join(line.split())
