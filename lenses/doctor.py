"""`zib doctor`: what is wrong in a vault, note by note, and how its owner can mend it.

It reads all notes and changes none. Each check yields findings; one that fails is a finding too.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import date
from importlib.metadata import packages_distributions
from typing import Final, get_args

from ..tools.answers import IndexState, MemoryType, Origin
from ..tools.commands import JsonOption, VaultOption, opened, write, write_json
from ..tools.notes import missing_part
from ..tools.owner import FOUND_SOMETHING
from ..tools.render import Piece, counted
from ..tools.vault import Vault
from ..tools.verification import verify
from ..tools.wire import wire
from ..vault.errors import NoteNotFound, ZibaldoneError
from ..vault.layout import WalkProblem
from ..vault.memory import Observation, observations
from ..vault.note import Note, ProblemKind, read_note
from ..vault.paths import fold_name


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong: where (`line` counts from 1), what, and how to mend it."""

    kind: str
    problem: str
    remedy: str
    path: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Examination:
    """What was looked at and found; `findings` are in the order of their paths."""

    notes: int
    findings: tuple[Finding, ...]
    index: IndexState | None


def doctor(vault_folder: VaultOption = None, as_json: JsonOption = False) -> None:
    """Say what is wrong in this vault, note by note, and how to mend it; change nothing."""
    with opened(vault_folder) as vault:
        seen = examine(vault)
    if as_json:
        write_json(wire(seen))
    else:
        write(_report(seen))
    if seen.findings:
        raise SystemExit(FOUND_SOMETHING)


def examine(vault: Vault) -> Examination:
    """Look at all notes, the folder, the installation and the index of a vault."""
    return _Examiner(vault).examination()


class _Examiner:
    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._notes = 0
        self._state: IndexState | None = None

    def examination(self) -> Examination:
        checks = (self._index, self._every_note, self._folder, self._journal, _installation)
        found = [finding for check in checks for finding in _guarded(check)]
        found = list(dict.fromkeys(found))  # two checks may fail for one reason
        found.sort(key=lambda one: (one.path is not None, one.path or "", one.line or 0))
        return Examination(self._notes, tuple(found), self._state)

    def _index(self) -> Iterator[Finding]:
        self._vault.index.refresh()
        self._state = now = self._vault.index.ask(self._vault.index_state)
        if not now.fresh or now.note:
            problem = now.note or f"the index is behind by {counted(now.behind, 'note')}"
            yield Finding("index", problem, "run `zib index`")

    def _every_note(self) -> Iterator[Finding]:
        left_out: list[WalkProblem] = []
        names, links = _Names(), _Links(self._vault)
        purged = self._purged()
        for entry in self._vault.layout.walk(left_out.append):
            self._notes += 1
            try:
                note = read_note(self._vault.layout, entry.path)
            except NoteNotFound:
                continue  # removed since it was listed
            names.add(note)
            yield from _note(note)
            yield from _memory(note)
            yield from _back_again(note, purged)
            yield from links.of(note)
        yield from names.findings()
        for path, reason in left_out:
            remedy = "nothing, if it is meant to be left out; else put the notes into the vault"
            yield Finding("left-out", f"it is not read: {reason}", remedy, path)

    def _purged(self) -> frozenset[tuple[str, str]]:
        """What was purged; it is the owner's history, of which an agent is told nothing."""
        if self._vault.caller.origin != "owner":
            return frozenset()
        return self._vault.history().purged()

    def _folder(self) -> Iterator[Finding]:
        reason = self._vault.store.probe()
        if reason:
            yield Finding("read-only", reason, "give your user the right to write, or free space")
        for path in self._vault.store.leftovers():
            problem = "a process that was killed left it behind"
            yield Finding("temporary", problem, "delete it", path)

    def _journal(self) -> Iterator[Finding]:
        """Yield what is wrong with the history; it is the owner's, so an agent is told nothing."""
        if self._vault.caller.origin != "owner":
            return
        seen = verify(self._vault)
        for flaw in seen.wrong:
            place = f"journal/{flaw.device}/{flaw.file}"
            remedy = "keep the file as it is; if a copy from before is whole, put it in its place"
            yield Finding("journal", _uncapped(flaw.problem), remedy, place, flaw.line or None)
        for name in seen.unfinished:
            ref = name.partition("-")[2] or name
            yield Finding("purge", f"the purge of {ref} was cut off", f"run `zib purge {ref}`")


def _uncapped(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:].removesuffix(".")


def _installation() -> Iterator[Finding]:
    providers = set(packages_distributions().get("whoosh", ()))
    if len(providers) > 1:
        yield Finding(
            "installation",
            f"the package whoosh is installed twice, by {' and '.join(sorted(providers))}",
            "uninstall both, then install one of them again",
        )


def _guarded(check: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    try:
        yield from check()
    except ZibaldoneError as error:
        yield Finding(error.code, error.sentence.removesuffix("."), error.next_step)


# One note

_REMEDIES: Final[dict[ProblemKind, str]] = {
    "frontmatter": "correct the lines between the two --- in an editor; until then tools do not "
    "change them",
    "encoding": "save the file as UTF-8 in an editor",
    "binary": "give it another ending than .md, or save it as UTF-8 text",
    "too-large": "divide it into several notes; until then only its properties are known",
    "unreadable": "give your user the right to read it",
    "conflict-copy": "take over from it what is missing in the note beside it, then delete it",
}


def _note(note: Note) -> Iterator[Finding]:
    if note.problem is not None:
        kind, detail = note.problem.kind, note.problem.detail
        yield Finding(kind, detail, _REMEDIES[kind], note.path)


def _line(note: Note, line: int) -> int:
    """The line in the file, from 1, of a line in the body, from 0."""
    return note.source.first_line + line


def _memory(note: Note) -> Iterator[Finding]:
    """Yield the lines of a memory note that do not mean what their writer may think."""
    if note.place.note_class != "agent-memory":
        return
    ids: dict[str, int] = {}
    for one in observations(note):
        line = _line(note, one.line)
        for problem, remedy in _flaws(one):
            yield Finding("memory-line", problem, remedy, note.path, line)
        if one.id and ids.setdefault(one.id, line) != line:
            problem = f"its id ^{one.id} is that of line {ids[one.id]} too"
            remedy = "take the id away from the copy; a tool gives it a new one"
            yield Finding("memory-line", problem, remedy, note.path, line)
        below = note.body[one.start : one.end].split("\n")[1:]
        for offset, text in enumerate(below, 1):
            own = text.rstrip().rpartition(" ")[2]
            if text.lstrip()[:2] in ("- ", "* ", "+ ") and own[:1] == "^":
                problem = f"{own} is on an indented line, which belongs to the line above"
                remedy = "take the indentation away to make it an observation of its own"
                yield Finding("memory-line", problem, remedy, note.path, line + offset)


def _back_again(note: Note, purged: Collection[tuple[str, str]]) -> Iterator[Finding]:
    """Yield what was purged and stands in a file again, as one from a backup does."""
    if note.has_own_id and (note.id, "") in purged:
        remedy = f"if it is to be gone, run `zib purge {note.id}`"
        yield Finding("purged", "this note was purged, and is here again", remedy, note.path)
        return
    for one in observations(note) if note.place.note_class == "agent-memory" else ():
        if (note.id, one.id) in purged:
            remedy = f"if it is to be gone, run `zib purge {note.path}#^{one.id}`"
            problem = f"^{one.id} was purged, and is here again"
            yield Finding("purged", problem, remedy, note.path, _line(note, one.line))


def _flaws(one: Observation) -> Iterator[tuple[str, str]]:
    for field, known in _KNOWN.items():
        value = one.fields.get(field, "")
        if value and value not in known:
            yield f"{value!r} is no {field}", f"write one of {', '.join(known)}"
    try:
        date.fromisoformat(one.fields.get("expires", "2000-01-01"))
    except ValueError:
        problem = f"{one.fields['expires']!r} is no date, so nobody knows when it expires"
        yield problem, "write the date as 2027-01-31"


_KNOWN: Final = {
    "type": get_args(MemoryType),
    "origin": get_args(Origin),
    "status": ("active", "unreviewed", "stale"),
}


# Links


class _Links:
    """Where the links of notes lead; files that are no notes are known by their names."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._resolver = vault.index.ask(vault.index.resolver)
        self._files = {fold_name(name) for name in _file_names(vault)}

    def of(self, note: Note) -> Iterator[Finding]:
        """Yield the links of a note that lead nowhere, or to one of several."""
        for link in note.structure.links:
            target, line = link.target, _line(note, link.line)
            if target.rpartition("/")[2] and fold_name(target.rpartition("/")[2]) in self._files:
                continue
            path = self._resolver.link(target, note.path) if target else note.path
            missing = missing_part(self._vault, path, link.anchor)
            if missing is not None:
                shown = f"{target}#{link.anchor}" if link.anchor else target
                problem = f"the link to {shown} leads nowhere: {_MISSING[missing]}"
                remedy = "correct the link, or make what it names"
                yield Finding("link", problem, remedy, note.path, line)
            elif path is not None and target:
                yield from self._ambiguous(note, target, path, line)

    def _ambiguous(self, note: Note, target: str, path: str, line: int) -> Iterator[Finding]:
        others = self._resolver.find(target)
        beside = note.path.rpartition("/")[0] == path.rpartition("/")[0]
        if len(others) > 1 and path in others and not beside:
            problem = f"the link to {target} fits {', '.join(others)}; it leads to {path}"
            remedy = (
                f"write the path of the one that is meant, as in [[{path.removesuffix('.md')}]]"
            )
            yield Finding("ambiguous-link", problem, remedy, note.path, line)


_MISSING: Final = {"note": "no note", "heading": "no such heading", "block": "no such block"}


def _file_names(vault: Vault) -> Iterator[str]:
    for _, folders, names in os.walk(vault.layout.root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (name for name in names if not name.lower().endswith(".md"))


# Across notes


class _Names:
    """The ids of all notes, and their names with those of their folders, to find twins."""

    def __init__(self) -> None:
        self._ids: dict[str, list[str]] = defaultdict(list)
        self._names: dict[str, dict[str, None]] = defaultdict(dict)

    def add(self, note: Note) -> None:
        if note.has_own_id:
            self._ids[note.id].append(note.path)
        parts = note.path.split("/")
        for end in range(1, len(parts) + 1):
            folded = "/".join(map(fold_name, parts[:end]))
            self._names[folded]["/".join(parts[:end])] = None

    def findings(self) -> Iterator[Finding]:
        for note_id, (first, *others) in self._ids.items():
            for path in others:
                problem = f"it has the id {note_id} of {first}"
                yield Finding("duplicate-id", problem, "remove the id from the copy", path)
        for first, *others in self._names.values():
            for path in others:
                problem = f"its name differs from {first} only by case or Unicode form"
                remedy = "rename one of them; some disks cannot hold both"
                yield Finding("twin-name", problem, remedy, path)


# The report


def _report(seen: Examination) -> Iterator[Piece]:
    for finding in seen.findings:
        place = finding.path or "the vault"
        yield f"{place}:{finding.line}" if finding.line else place, "path"
        yield f"  {finding.problem}\n", "warning"
        yield f"    {finding.remedy[:1].upper()}{finding.remedy[1:].removesuffix('.')}.\n", "text"
    if seen.findings:
        yield (
            f"{counted(len(seen.findings), 'finding')} in {counted(seen.notes, 'note')}.\n",
            "title",
        )
    else:
        yield f"{counted(seen.notes, 'note')}, nothing is wrong.\n", "good"
