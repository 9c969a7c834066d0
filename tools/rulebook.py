"""All rules as their owner sees them: what binds, what cannot, and what each has stopped."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ..indexer.catalog import Row
from ..indexer.passages import today
from ..vault.memory import ACTIVE
from ..vault.rules import Rule
from ..vault.stops import Stop, stops
from .enforcement import Bound, statements
from .kinds import rows_of
from .rules import rules_in
from .subjects import owner_only
from .trust import UNREVIEWED
from .vault import Vault

RuleState = Literal["binds", "waits", "expired", "does not bind"]


@dataclass(frozen=True, slots=True)
class RuleEntry:
    """One rule and what it has stopped. `enforced` rules are kept by the tools themselves.

    `problem` says why a rule that looks like an enforced one cannot be kept. `stopped` counts
    passages that were left out, and questions and writes that were refused.
    """

    name: str
    level: str
    text: str
    path: str
    line: int
    state: RuleState
    enforced: bool
    stopped: int
    problem: str | None = None
    last_time: str | None = None
    last_agent: str | None = None
    last_moment: str | None = None


def rulebook(vault: Vault) -> tuple[RuleEntry, ...]:
    """Return every rule of the vault, by note and line. For the owner alone."""
    owner_only(vault, "see what rules have stopped")
    rows = vault.index.ask(lambda: rows_of(vault, "rules", None))
    stopped: defaultdict[tuple[str, str], list[Stop]] = defaultdict(list)
    for stop in stops(vault.layout.state_dir):
        stopped[stop.path, stop.rule].append(stop)
    return tuple(
        _entry(rule, bound, stopped[row.path, rule.called])
        for row in rows
        for rule, bound in _with_statements(vault, row)
    )


def _with_statements(vault: Vault, row: Row) -> Iterator[tuple[Rule, Bound | None]]:
    bound = {one.rule.line: one for one in statements(vault, row)}
    return ((rule, bound.get(rule.line)) for rule in rules_in(vault, row))


def _entry(rule: Rule, bound: Bound | None, stopped: list[Stop]) -> RuleEntry:
    last = max(stopped, key=lambda stop: stop.time, default=None)
    return RuleEntry(
        name=rule.name,
        level=rule.level,
        text=rule.statement,
        path=rule.path,
        line=rule.line,
        state=_state(rule),
        enforced=bound is not None and bound.statement is not None,
        stopped=sum(stop.count for stop in stopped),
        problem=bound.problem if bound else None,
        last_time=last.time if last else None,
        last_agent=last.agent if last else None,
        last_moment=last.moment if last else None,
    )


def _state(rule: Rule) -> RuleState:
    if rule.is_live(today()):
        return "binds"
    if rule.status in ACTIVE:
        return "expired"
    return "waits" if rule.status == UNREVIEWED else "does not bind"
