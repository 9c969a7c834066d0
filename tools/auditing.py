"""Keeping in the audit what agents ask and what they are given.

The owner's own searches are not kept: the owner is nobody's to watch, and reading one's own
vault leaves no trace in it. What cannot be kept fails no question; it is logged, and `zib audit`
and `zib doctor` say so.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import TypeVar

from ..indexer.catalog import Row
from ..vault.audit import (
    REVISION_LENGTH,
    Given,
    LeftOut,
    Retrieval,
    Retriever,
    now,
    record,
)
from ..vault.errors import StorageFailure, ZibaldoneError
from .answers import NoteAnswer, Passage, RecallAnswer, SearchAnswer, Source
from .secrets import find_early_secret
from .start.answers import StartAnswer
from .tokens import count_tokens
from .vault import Vault

GIVEN = 10
"""Passages of a search that are listed, the best first; the others are counted."""

QUERY_LENGTH = 1000
"""Characters of a question that are kept."""

COUNTED = 8000
"""Characters of a note of which the tokens are counted; those of a longer one are estimated."""

Answer = TypeVar("Answer", SearchAnswer, RecallAnswer, NoteAnswer, StartAnswer)
_log = logging.getLogger(__name__)


class Audited:
    """One question that is being answered, and what is to be kept of its answer."""

    def __init__(self) -> None:
        self._answer: SearchAnswer | RecallAnswer | NoteAnswer | StartAnswer | None = None
        self._states: Mapping[str, str] = {}

    def answered(self, answer: Answer, rows: Iterable[Row] = ()) -> Answer:
        """Take the answer to be kept, and give it back; `rows` are the notes as they were shown."""
        self._answer, self._states = answer, {row.path: row.token for row in rows}
        return answer

    def told_by(self, asked: Retrieval) -> Retrieval:
        """Return the question with what was given."""
        match self._answer:
            case SearchAnswer():
                return self._searched(asked, self._answer)
            case RecallAnswer():
                return self._recalled(asked, self._answer)
            case NoteAnswer():
                return self._read(asked, self._answer)
            case StartAnswer():
                return self._started(asked, self._answer)
            case _:
                return asked

    def _searched(self, asked: Retrieval, answer: SearchAnswer) -> Retrieval:
        shown = answer.results[:GIVEN]
        given = tuple(self._given(each, count_tokens(each.snippet)) for each in shown)
        return replace(
            asked,
            found=answer.total,
            tokens=sum(each.tokens for each in given),
            given=given,
            more_given=len(answer.results) - len(given),
        )

    def _recalled(self, asked: Retrieval, answer: RecallAnswer) -> Retrieval:
        left_out = (LeftOut(each.note_id, each.reason, each.tokens) for each in answer.omitted)
        return replace(
            asked,
            found=len(answer.sources),
            tokens=answer.tokens if answer.sources else 0,
            given=tuple(self._given(each, each.tokens) for each in answer.sources),
            left_out=tuple(left_out),
            more_left_out=answer.omitted_more,
        )

    def _started(self, asked: Retrieval, answer: StartAnswer) -> Retrieval:
        """Notes are listed; what was made of many has no id, and only its tokens count."""
        given = [
            Given(
                each.note_id, self._states.get(each.path or "", "")[:REVISION_LENGTH], each.tokens
            )
            for each in answer.parts
            if each.note_id
        ]
        left_out = [
            LeftOut(each.note_id, each.reason, each.tokens)
            for each in answer.omitted
            if each.note_id
        ]
        return replace(
            asked,
            found=len(answer.parts),
            tokens=answer.tokens,
            given=tuple(given),
            more_given=len(answer.parts) - len(given),
            left_out=tuple(left_out),
            more_left_out=answer.omitted_more + len(answer.omitted) - len(left_out),
        )

    def _given(self, part: Passage | Source, tokens: int) -> Given:
        revision = self._states.get(part.path, "")[:REVISION_LENGTH]
        if part.observation_id is None:
            return Given(part.note_id, revision, tokens)
        return Given(part.note_id, revision, tokens, part.observation_id, part.version)

    def _read(self, asked: Retrieval, answer: NoteAnswer) -> Retrieval:
        tokens = _estimated(answer.content)
        given = Given(answer.note_id, answer.version_token[:REVISION_LENGTH], tokens)
        return replace(asked, found=1, tokens=tokens, given=(given,))


def _estimated(text: str) -> int:
    counted = count_tokens(text[:COUNTED])
    return counted if len(text) <= COUNTED else counted * len(text) // COUNTED


@contextmanager
def auditing(
    vault: Vault, tool: Retriever, query: str, filters: Mapping[str, str | int | None] | None = None
) -> Iterator[Audited]:
    """Keep one question and, at the end, what was answered or why it was refused.

    Nothing is kept of the owner's. Raises nothing of its own.
    """
    one, error = Audited(), ZibaldoneError.code
    try:
        yield one
        error = ""
    except ZibaldoneError as failure:
        error = failure.code
        raise
    finally:
        if vault.caller.origin != "owner":
            given = {name: value for name, value in (filters or {}).items() if value is not None}
            question = Retrieval(now(), tool, vault.actor, query, filters=given, error=error)
            _keep(vault, one.told_by(_fit_to_keep(question)))


def _fit_to_keep(question: Retrieval) -> Retrieval:
    """Return a question with its texts cut to size, and without those that hold a secret."""
    kind, query = _struck(question.query)
    filters: dict[str, str | int] = {}
    for name, value in question.filters.items():
        found, filters[name] = _struck(value) if isinstance(value, str) else ("", value)
        kind = kind or found
    return replace(question, query=query, filters=filters, struck=kind)


def _struck(text: str) -> tuple[str, str]:
    """The kind of the secret in a text, and what of the text is kept."""
    kind = find_early_secret(text, QUERY_LENGTH) or ""
    clipped = text if len(text) <= QUERY_LENGTH else f"{text[:QUERY_LENGTH]}…"
    return kind, "" if kind else clipped


def _keep(vault: Vault, retrieval: Retrieval) -> None:
    try:
        record(vault.layout.state_dir, vault.store.ledger.journal.device, retrieval)
    except StorageFailure as failure:
        _complain(str(failure))


@cache
def _complain(reason: str) -> None:
    """Say once that the audit cannot be written, and not at each question."""
    _log.warning("What agents ask cannot be kept: %s", reason)
