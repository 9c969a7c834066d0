"""What the adapters answer with: single memories, the newest first or the best first."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import repeat
from typing import Literal

from ...indexer.analysis import terms
from ...indexer.catalog import Row
from ...indexer.index import Hit
from ...indexer.view import Scope
from ...vault.categories import category_key
from ...vault.errors import InvalidArgument, StorageFailure
from ...vault.markdown import parse
from ...vault.paths import fold_name
from ...vault.revision import as_time
from ...vault.statement import has_tag
from ..answers import IndexState, MemoryType, Origin, Remembered, SearchAnswer, Similar
from ..auditing import Audited, auditing
from ..authors import Author, author_of
from ..derivation import settled
from ..enforcement import LOOKED_BEYOND, Guard
from ..kinds import Kind
from ..provenance import Provenance, id_of, provenances, type_of
from ..remember import remember_about_project, remember_about_user
from ..search import passage_of, shown
from ..vault import Vault

Mode = Literal["all", "any"]
LIMITS = (1, 100)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of something that was to be remembered.

    `id` names the memory; there is none yet with `needs_verdict`, when `similar` has to be judged
    first, and `receipt` goes back with the verdict. What is `pending` waits for the owner.
    """

    outcome: Literal["created", "appended", "skipped", "needs_verdict", "pending"]
    id: str | None
    category: str
    path: str
    project: str | None = None
    note_id: str | None = None
    similar: tuple[Similar, ...] = ()
    receipt: str | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory; a line that the owner added by hand has no `id` before a tool needs one."""

    id: str | None
    content: str
    category: str
    project: str | None
    type: MemoryType
    tags: tuple[str, ...]
    origin: Origin
    date: str
    version: int
    note_id: str
    path: str


@dataclass(frozen=True, slots=True)
class Memories:
    """Memories that fit; `more` says that there are others beyond the limit."""

    memories: tuple[Memory, ...]
    more: bool
    index: IndexState


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which memories are asked for. What is None or empty does not narrow; `words` are searched.

    `personal` are those about the user alone. `mode` says whether all tags and words have to be
    there, or any of the tags and any of the words.
    """

    project: str | None = None
    personal: bool = False
    category: str | None = None
    kind: Kind | Literal[""] | None = None
    type: MemoryType | None = None
    tags: tuple[str, ...] = ()
    words: str = ""
    mode: Mode = "all"
    from_agent: str | None = None

    def filters(self, limit: int) -> dict[str, str | int | None]:
        """What the audit keeps of it beside the words."""
        tags = ", ".join(self.tags) or None
        given = {"project": self.project, "category": self.category, "type": self.type}
        return {**given, "tags": tags, "from": self.from_agent, "limit": limit}

    def admits(self, row: Row) -> bool:
        """Whether memories of a note can be among them."""
        kinds = ("", "rules") if self.kind is None else (self.kind,)
        return row.kind in kinds and not row.conflict_copy and not (self.personal and row.project)

    def fits(self, hit: Hit) -> bool:
        """Whether a passage is one of them, but for its words."""
        passage = hit.passage
        if passage is None or not passage.is_observation:
            return False
        # What is for one thread's work is nobody else's to recall, unless it is asked for.
        kind = passage.type
        if kind != self.type if self.type else kind == "working":
            return False
        tags = parse(passage.words).tags if self.tags else ()
        return self._enough([has_tag(tags, fold_name(each)) for each in self.tags])

    def says(self, hit: Hit) -> bool:
        """Whether the words stand in a passage, in whatever inflection."""
        told = frozenset(terms(shown(hit))) if self.words else ()
        return self._enough([each in told for each in terms(self.words)])

    def _enough(self, found: Sequence[bool]) -> bool:
        return not found or (any(found) if self.mode == "any" else all(found))


def teller(vault: Vault, project: str | None) -> Callable[..., Remembered]:
    """The tool that remembers about the user, or about a project."""
    if project is None:
        return partial(remember_about_user, vault)
    return partial(remember_about_project, vault, project)


def kept(answer: Remembered, category: str, project: str | None) -> Kept:
    """The answer of a `remember` tool as the adapters give it."""
    return Kept(
        outcome=answer.outcome,
        id=answer.observation_id,
        category=category,
        path=answer.path,
        project=project,
        note_id=answer.note_id,
        similar=answer.similar,
        receipt=answer.receipt,
    )


def newest(vault: Vault, wanted: Wanted, limit: int) -> Memories:
    """Return memories, those that were written or changed last in front."""
    with auditing(vault, "recall", wanted.words, wanted.filters(limit)) as audited:
        question = _Question(vault, wanted, limit)
        hits, index = settled(vault, question.matching)
        times = _times(vault, hits)
        dated = [(_time(times, hit), hit.row.path, hit.part, hit) for hit in hits]
        dated.sort(key=lambda each: each[:3], reverse=True)
        return question.answered(audited, [(each[3], each[0]) for each in dated], index)


def ranked(vault: Vault, wanted: Wanted, limit: int) -> Memories:
    """Return the memories that answer the words best, the best in front."""
    with auditing(vault, "search", wanted.words, wanted.filters(limit)) as audited:
        question = _Question(vault, wanted, limit)
        hits, index = settled(vault, question.found)
        times = _times(vault, hits)
        return question.answered(audited, [(hit, _time(times, hit)) for hit in hits], index)


def _times(vault: Vault, hits: Iterable[Hit]) -> dict[tuple[str, str], str]:
    """When memories were changed last, also in an editor; without a usable journal, nothing."""
    try:
        vault.store.settle(sorted({(hit.row.path, hit.row.id) for hit in hits}))
        return vault.history().times()
    except StorageFailure as failure:
        _log.warning("When memories were changed is not told: %s", failure)
        return {}


def _time(times: dict[tuple[str, str], str], hit: Hit) -> str:
    """When a memory was changed last; the journal may hear of that later than its file tells."""
    changed = as_time(datetime.fromtimestamp(hit.row.mtime_ns / 1e9, UTC))
    return min(times.get((hit.row.id, id_of(hit)), changed), changed)


class _Question:
    """One question of an adapter. Raises `InvalidArgument` for a wrong limit or mode."""

    def __init__(self, vault: Vault, wanted: Wanted, limit: int) -> None:
        if not LIMITS[0] <= limit <= LIMITS[1]:
            raise InvalidArgument("limit", f"must be from {LIMITS[0]} to {LIMITS[1]}, not {limit}")
        if wanted.mode not in ("all", "any"):
            raise InvalidArgument("mode", f"{wanted.mode!r} is not one of all, any")
        self._vault, self._wanted, self._limit = vault, wanted, limit
        self._author: Author | None = author_of(vault, wanted.from_agent)

    def matching(self) -> tuple[list[Hit], IndexState]:
        """All memories that are wanted; inside a question only."""
        guard, wanted = self._guard(), self._wanted
        parts = (hit for row in self._rows() for hit in self._vault.index.parts(row))
        hits = [hit for hit in parts if self._may_show(guard, hit) and wanted.says(hit)]
        guard.tell("recall")
        return hits, self._vault.index_state()

    def found(self) -> tuple[list[Hit], IndexState]:
        """The best of them, and one more than is shown; inside a question only."""
        guard, vault = self._guard(), self._vault
        notes = frozenset(row.id for row in self._rows())
        scope = Scope(note_class="agent-memory", notes=notes, muted=False)
        found = vault.index.find(self._wanted.words, scope, self._limit + 1 + LOOKED_BEYOND)
        hits = [hit for hit in found.hits if self._may_show(guard, hit)]
        guard.tell("search")
        return hits[: self._limit + 1], vault.index_state()

    def answered(
        self, audited: Audited, dated: Sequence[tuple[Hit, str]], index: IndexState
    ) -> Memories:
        """Give the answer, and note for the audit and for the write gate what was shown."""
        vault, shown_now = self._vault, dated[: self._limit]
        more = len(dated) > len(shown_now)
        hits = [hit for hit, _ in shown_now]
        told = provenances(vault, hits)
        passages = tuple(map(passage_of, hits, told, repeat("")))
        total = len({hit.row.number for hit, _ in dated})
        answer = SearchAnswer(results=passages, total=total, more=more, index=index)
        audited.answered(answer, (hit.row for hit in hits))
        vault.shown.note(vault.caller, passages)
        times = (time for _, time in shown_now)
        return Memories(tuple(map(_memory, hits, told, times)), more, index)

    def _guard(self) -> Guard:
        guard = Guard(self._vault)
        guard.refuse_scope(self._wanted.project, self._wanted.category)
        return guard

    def _rows(self) -> Iterator[Row]:
        wanted = self._wanted
        category = category_key(wanted.category) if wanted.category else None
        scope = Scope(wanted.project, "agent-memory", category, muted=False)
        return filter(wanted.admits, self._vault.index.rows(scope))

    def _may_show(self, guard: Guard, hit: Hit) -> bool:
        if not self._wanted.fits(hit) or (self._author and not self._author.admits(hit)):
            return False
        return guard.admits(hit)


def _memory(hit: Hit, told: Provenance, time: str) -> Memory:
    row, words = hit.row, shown(hit)
    return Memory(
        id=id_of(hit) or None,
        content=words,
        category=row.category or row.kind,
        project=row.project or None,
        type=type_of(hit) or "semantic",
        tags=tuple(parse(words).tags),
        origin=told.origin,
        date=time,
        version=told.version,
        note_id=row.id,
        path=row.path,
    )
