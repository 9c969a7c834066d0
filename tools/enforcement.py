"""The owner's rules on the memory itself, at the moments when they bind: writing and recalling.

A guard is made for one question. It holds the statements that bind its caller; the owner is
bound by none. Without such rules every check is a look at an empty list.
"""

from __future__ import annotations

import functools
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ..indexer.catalog import Names, Row
from ..indexer.index import Found, Hit
from ..indexer.passages import today
from ..vault.errors import InvalidArgument, NoteNotFound, StorageFailure
from ..vault.layout import Layout
from ..vault.markdown import parse
from ..vault.memory import observations
from ..vault.note import Note, own_tags, parse_note, read_note
from ..vault.rules import Rule, rules
from ..vault.statement import Fact, Moment, Statement, has_tag, parse_statement
from ..vault.stops import Stop, now, record_stop
from .kinds import Kind, rows_of
from .refusals import RuleForbids
from .vault import Vault

_log = logging.getLogger(__name__)

LOOKED_BEYOND = 200
"""Passages that are looked at beyond those wanted, where some may have to be left out."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A rule with what it states; `problem` says why it cannot be enforced, if so."""

    rule: Rule
    statement: Statement | None
    problem: str | None = None

    def lies_in(self, category: str, project: str) -> bool:
        """Whether it can be about something of this category and project."""
        if self.statement is None or self.rule.project not in (None, project):
            return False
        return self.statement.lies_in(category, project)


def statements(vault: Vault, row: Row) -> tuple[Bound, ...]:
    """The rules of a note that state something about the memory, as on disk now."""
    try:
        data = vault.store.read(row.path)
    except NoteNotFound:
        return ()
    return _statements(vault.layout, row.path, data)


@functools.lru_cache(maxsize=64)
def _statements(layout: Layout, path: str, data: bytes) -> tuple[Bound, ...]:
    note = parse_note(layout, path, data)
    if note.kind != "rules" or note.muted:
        return ()
    bound = (_bound(rule) for rule in rules(note) if rule.level == "must")
    return tuple(one for one in bound if one.statement or one.problem)


def _bound(rule: Rule) -> Bound:
    try:
        return Bound(rule, parse_statement(rule.statement))
    except InvalidArgument as error:
        return Bound(rule, None, error.problem)


class Guard:
    """What the rules forbid the caller of one question. Made inside a question only."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._rules = self._binding() if vault.caller.origin != "owner" else []
        self._by_row: dict[int, list[Bound]] = {}
        self._tags: dict[int, tuple[str, ...]] = {}
        self._stopped: Counter[Bound] = Counter()

    def _binding(self) -> list[Bound]:
        day, agent = today(), self._vault.caller.agent
        return [
            bound
            for row in rows_of(self._vault, "rules", None)
            for bound in statements(self._vault, row)
            if bound.statement and bound.rule.is_live(day) and bound.statement.binds(agent)
        ]

    # Remembering

    def refuse_text(
        self,
        text: str,
        *,
        category: str,
        project: str | None,
        type: str = "semantic",  # noqa: A002
    ) -> None:
        """Raise `RuleForbids` when words may not be remembered in this place."""
        if not self._rules:
            return
        fact = Fact(category, project or "", type, tuple(parse(text).tags))
        for bound in self._of("remember", category, project or ""):
            if bound.statement and bound.statement.meets(fact):
                raise self._refusal(bound, "remember")

    def refuse_new(self, before: Note, after: Note) -> None:
        """Raise `RuleForbids` when an edit adds a line that may not be remembered."""
        if self._rules and before.place.note_class == "agent-memory":
            known = {one.text for one in observations(before)}
            place = before.place.project
            for one in observations(after):
                if one.text not in known:
                    self.refuse_text(
                        one.text, category=before.category, project=place, type=one.type
                    )

    # Recalling

    def refuse_scope(self, project: str | None, category: str | None = None) -> None:
        """Raise `RuleForbids` when all of what is asked for may not be recalled."""
        for bound in self._of("recall", category or "", project or ""):
            statement = bound.statement
            asked = statement and (statement.project or statement.category or bound.rule.project)
            if statement and asked and statement.is_of_places:
                raise self._refusal(bound, "recall")

    def wanted(self, limit: int) -> int:
        """How many hits to look for, of which some may have to be left out."""
        return limit + LOOKED_BEYOND if self._rules else limit

    def filtered(self, found: Found) -> Found:
        """What was found without what may not be recalled, and without its count."""
        if not self._rules:
            return found
        left = found.only(self.admits)
        return found if len(left.hits) == len(found.hits) else left

    def admits(self, hit: Hit) -> bool:
        """Whether a passage may be recalled; one that may not be is counted."""
        bound = self._forbidding(hit)
        if bound is not None:
            self._stopped[bound] += 1
        return bound is None

    def admits_row(self, row: Row) -> bool:
        """Whether something of a note may be recalled: no rule forbids all of what is in it."""
        found = self._of_row(row) if self._rules else ()
        if not found:
            return True
        fact = Fact(row.category, row.project, "", self._tags_of_note(row, found))
        return not any(one.statement and one.statement.meets(fact) for one in found)

    def admits_all(self, row: Row) -> bool:
        """Whether all of a note may be recalled, so that it may be read as a whole."""
        if not self._of_row(row):
            return True
        parts = self._vault.index.parts(row)
        return self.admits_row(row) and not any(map(self._forbidding, parts))

    def frees(self, row: Row) -> bool:
        """Whether no rule is about anything in a note."""
        return not self._rules or not self._of_row(row)

    def tell(self, moment: str) -> None:
        """Keep a record of what was left out. A failure to do so is no failure of the question."""
        for bound, count in self._stopped.items():
            self._record(bound, moment, count)
        self._stopped.clear()

    def _forbidding(self, hit: Hit) -> Bound | None:
        found = self._of_row(hit.row) if self._rules else ()
        if not found:
            return None
        row, passage = hit.row, hit.passage
        kind = passage.type if passage and passage.is_observation else ""
        fact = Fact(row.category, row.project, kind, self._tags_of(hit, found))
        return next((one for one in found if one.statement and one.statement.meets(fact)), None)

    def _of_row(self, row: Row) -> list[Bound]:
        if not self._rules:
            return []
        if row.number not in self._by_row:
            self._by_row[row.number] = self._of("recall", row.category, row.project)
        return self._by_row[row.number]

    def _of(self, moment: Moment, category: str, project: str) -> list[Bound]:
        return [
            bound
            for bound in self._rules
            if bound.statement
            and bound.statement.moment == moment
            and bound.lies_in(category, project)
        ]

    def _tags_of(self, hit: Hit, found: Sequence[Bound]) -> tuple[str, ...]:
        """The tags of a passage and of its note, as far as they can matter."""
        own = tuple(parse(hit.text).tags) if "#" in hit.text and _names_tags(hit.row, found) else ()
        return (*own, *self._tags_of_note(hit.row, found))

    def _tags_of_note(self, row: Row, found: Sequence[Bound]) -> tuple[str, ...]:
        """The tags of all that is in a note, as far as they can matter."""
        if not _names_tags(row, found):
            return ()
        if row.number not in self._tags:
            try:
                self._tags[row.number] = own_tags(read_note(self._vault.layout, row.path))
            except NoteNotFound:
                self._tags[row.number] = ()
        return self._tags[row.number]

    # Refusing

    def _refusal(self, bound: Bound, moment: str) -> RuleForbids:
        self._record(bound, moment, 1)
        rule = bound.rule
        return RuleForbids(rule.called, rule.statement, rule.path, rule.line)

    def _record(self, bound: Bound, moment: str, count: int) -> None:
        vault, caller = self._vault, self._vault.caller
        stop = Stop(
            now(), bound.rule.called, bound.rule.path, moment, caller.agent, caller.session, count
        )
        try:
            device = vault.store.ledger.journal.device
            record_stop(vault.layout.state_dir, device, stop)
        except StorageFailure as failure:
            _log.warning("What a rule stopped is not kept: %s", failure)


def _names_tags(row: Row, found: Sequence[Bound]) -> bool:
    """Whether somewhere in a note is a tag that one of some rules is about."""
    wanted = [tag for one in found if one.statement for tag in one.statement.tags]
    return bool(wanted) and any(has_tag(Names.parse(row.names).tags, tag) for tag in wanted)


def rows_told(vault: Vault, kind: Kind, project: str | None) -> list[Row]:
    """The notes of a kind that the caller may be told of; inside a question only.

    Raises `RuleForbids` for a project of which it may recall nothing.
    """
    guard = Guard(vault)
    guard.refuse_scope(project)
    return [row for row in rows_of(vault, kind, project) if guard.admits_row(row)]
