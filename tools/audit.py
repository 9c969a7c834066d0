"""What agents have asked and what they were given, for their owner to look through.

For the explorer as for `zib audit`: `audit` lists retrievals, the newest first; `blind_spots`
are the questions that find nothing; `most_asked` come up most often; `uses` tells of each note
and observation how often it was given. All of it is for the owner alone.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from operator import attrgetter

from ..indexer.passages import today
from ..indexer.view import Scope
from ..vault.audit import Retrieval, Retriever, count_before, drop_before
from ..vault.revision import as_time
from .history import time_of
from .subjects import owner_only
from .vault import Vault

WHAT = "see what agents have asked"
_time = attrgetter("time")
MISSED = ("", "note_not_found", "section_not_found")
"""The errors that say that something was looked for and is not there, and none."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which retrievals are wanted; what is None does not matter.

    `since` and `until` are times, ISO 8601. `query` is a part of the question, in any case.
    """

    agent: str | None = None
    instance: str | None = None
    session: str | None = None
    since: str | None = None
    tool: Retriever | None = None
    query: str | None = None
    until: str | None = None


@dataclass(frozen=True, slots=True)
class AuditAnswer:
    """The newest retrievals of `total` that fit.

    `paths` says where the notes in them lie now, by their ids; one that is gone is not there.
    `damaged` lines could not be read. `notice` says why nothing can be kept now, if so.
    """

    retrievals: tuple[Retrieval, ...]
    paths: Mapping[str, str]
    total: int
    damaged: int
    notice: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question, in the words in which it was asked last, and how often it was."""

    query: str
    times: int
    found: int
    last: str
    agents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Use:
    """How often something was given to agents, and when last."""

    times: int
    last: str


@dataclass(frozen=True, slots=True)
class Day:
    """What was asked on one day, by the clock of this machine; `missed` found nothing."""

    day: date
    asked: int
    missed: int
    tokens: int


def audit(
    vault: Vault, wanted: Wanted | None = None, limit: int = 50, skip: int = 0
) -> AuditAnswer:
    """Return what agents have asked, the newest first, but for the `skip` newest.

    Raises `OwnerOnly`, `InvalidArgument` for what should be a time and is none, and
    `StorageFailed`.
    """
    found, damaged = _retrievals(vault, wanted)
    newest = tuple(found[::-1][skip : skip + limit])
    paths = _paths(vault, newest)
    return AuditAnswer(newest, paths, len(found), damaged, vault.store.probe())


def blind_spots(
    vault: Vault, wanted: Wanted | None = None, limit: int = 50
) -> tuple[Question, ...]:
    """Return the questions that found nothing when they were asked last, the most frequent first.

    Raises as `audit` does.
    """
    found, _ = _retrievals(vault, wanted)
    return _most([one for one in _questions(found) if is_missed(one[-1])], limit)


def most_asked(vault: Vault, wanted: Wanted | None = None, limit: int = 50) -> tuple[Question, ...]:
    """Return the most frequent questions. Raises as `audit` does."""
    found, _ = _retrievals(vault, wanted)
    return _most(_questions(found), limit)


def uses(vault: Vault, wanted: Wanted | None = None) -> Mapping[tuple[str, str], Use]:
    """Return how often each part was given, by the ids of note and observation.

    A part that is no observation has "" in the place of its id. Raises as `audit` does.
    """
    given: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for one in _retrievals(vault, wanted)[0]:
        for part in dict.fromkeys((each.note, each.observation) for each in one.given):
            given[part].append(one.time)
    return {part: Use(len(times), times[-1]) for part, times in given.items()}


def daily(vault: Vault, wanted: Wanted | None = None, days: int = 30) -> tuple[Day, ...]:
    """Return what was asked on each of the last days, the first first. Raises as `audit` does."""
    found, _ = _retrievals(vault, wanted)
    last = datetime.now(UTC).astimezone().date()
    shown = [last - timedelta(days=back) for back in range(days - 1, -1, -1)]
    ends = [*shown, last + timedelta(days=1)]
    cuts = [bisect_left(found, _midnight(day), key=_time) for day in ends]
    parts = (found[start:end] for start, end in pairwise(cuts))
    return tuple(_day(day, part) for day, part in zip(shown, parts, strict=True))


def _midnight(day: date) -> str:
    """When a day of this machine begins, as the audit tells times."""
    return as_time(datetime.combine(day, time.min).astimezone())


def _day(day: date, found: Sequence[Retrieval]) -> Day:
    missed = sum(map(is_missed, found))
    return Day(day, len(found), missed, sum(one.tokens for one in found))


def askers(vault: Vault) -> tuple[str, ...]:
    """Return the names of the agents that have asked, in order. Raises as `audit` does."""
    found, _ = _retrievals(vault, None)
    return tuple(sorted({one.caller.agent for one in found} - {""}))


def is_missed(one: Retrieval) -> bool:
    """Whether something was looked for and is not there."""
    return one.tool != "start_session" and not one.found and one.error in MISSED


def outdated(vault: Vault) -> int:
    """Count the retrievals that are older than the setting `audit_days`. For the owner alone."""
    owner_only(vault, WHAT)
    return count_before(vault.layout.state_dir, _first_day(vault))


def sweep_audit(vault: Vault) -> int:
    """Take out, for good, what is older than the setting `audit_days`; return how many there were.

    Of the current month of another device nothing is taken. Raises `OwnerOnly` and the storage
    failures.
    """
    owner_only(vault, WHAT)
    device = vault.store.ledger.journal.device
    with vault.store.locked():
        return drop_before(vault.layout.state_dir, device, _first_day(vault))


def _first_day(vault: Vault) -> str:
    """The first day of which everything is kept."""
    kept = timedelta(days=vault.settings.audit_days)
    return (date.fromisoformat(today()) - kept).isoformat()


def _retrievals(vault: Vault, wanted: Wanted | None) -> tuple[Sequence[Retrieval], int]:
    """The retrievals that are wanted, by time, and how many lines are damaged."""
    owner_only(vault, WHAT)
    kept, wanted = vault.audit_log.read(), wanted or Wanted()
    since = time_of("since", wanted.since) if wanted.since else ""
    until = time_of("until", wanted.until) if wanted.until else "~"
    start = bisect_left(kept.retrievals, since, key=_time)
    end = bisect_right(kept.retrievals, until, key=_time)
    found: Sequence[Retrieval] = kept.retrievals[start:end]
    names = ("agent", "instance", "session")
    who = {name: given for name in names if (given := getattr(wanted, name)) is not None}
    if who:
        found = [one for one in found if all(getattr(one.caller, n) == who[n] for n in who)]
    if wanted.tool is not None:
        found = [one for one in found if one.tool == wanted.tool]
    if words := _folded(wanted.query or ""):
        found = [one for one in found if words in _folded(one.query)]
    return found, kept.damaged


def _folded(query: str) -> str:
    return " ".join(query.casefold().split())


def _questions(found: Iterable[Retrieval]) -> list[list[Retrieval]]:
    """The retrievals of each question, by time. What was struck is no question any more."""
    same: defaultdict[str, list[Retrieval]] = defaultdict(list)
    for one in found:
        same[one.query].append(one)
    by_words: defaultdict[str, list[Retrieval]] = defaultdict(list)
    for query, asked in same.items():
        if query.strip():
            by_words[_folded(query)] += asked
    return [sorted(asked, key=_time) for asked in by_words.values()]


def _most(questions: Sequence[list[Retrieval]], limit: int) -> tuple[Question, ...]:
    # Of two in one millisecond the one that came up last counts as the later.
    later_first = questions[::-1]
    often = sorted(later_first, key=lambda asked: (len(asked), asked[-1].time), reverse=True)
    return tuple(map(_question, often[:limit]))


def _question(asked: list[Retrieval]) -> Question:
    agents = tuple(sorted({one.caller.agent for one in asked}))
    last = asked[-1]
    return Question(last.query, len(asked), last.found, last.time, agents)


def _paths(vault: Vault, told: Iterable[Retrieval]) -> Mapping[str, str]:
    named = {part.note for one in told for part in one.given}
    named |= {each.note for one in told for each in one.left_out}
    rows = vault.index.ask(lambda: vault.index.rows(Scope()))
    return {row.id: row.path for row in rows if row.id in named}
