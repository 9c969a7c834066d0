"""The write gate: whether a new memory is written at once, or its writer has to judge first.

An agent that would write what is close to a known memory, or contradicts one, is shown those
memories and answers with a verdict: that its own is `new`, that it is the `same`, or that it
`supersedes:<id>`. With the verdict comes the receipt of what was shown, unless the same session
was shown those memories by a search or a recall just before. The owner is told, and not held.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ...vault.errors import InvalidArgument, NoteNotFound
from ...vault.ids import derived_block_id
from ...vault.memory import Observation, observations
from ...vault.note import Note, read_note
from ...vault.store import signing_key
from ..answers import Similar
from ..refusals import ReceiptRefused
from ..trust import Caller, gate_of
from ..vault import Vault
from .form import Candidate
from .near import Memory
from .receipts import Receipts, as_text

CHANGED = "a memory that was shown has changed since, or is gone"
MORE_NOW = "there is now another memory like it, which was not shown"

_VERDICT = re.compile(r"(new|same)|supersedes:\s*\^?([A-Za-z0-9_-]{1,64})(?:@v\d{1,9})?")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a writer says of its candidate; `target` is the observation that it supersedes."""

    kind: Literal["new", "same", "supersedes"]
    target: str = ""


Step = Literal["write", "ask"]


def read_verdict(text: str | None) -> Verdict | None:
    """Return a verdict as it was given. Raises `InvalidArgument`."""
    if text is None:
        return None
    found = _VERDICT.fullmatch(text.strip())
    if found is None:
        problem = f"{text!r} is none of new, same and supersedes:<observationId>"
        raise InvalidArgument("verdict", problem)
    if found[2]:
        return Verdict("supersedes", found[2])
    return Verdict("new" if found[1] == "new" else "same")


def judge(
    vault: Vault, memory: Memory, candidate: Candidate, verdict: Verdict | None, receipt: str | None
) -> Step | Similar:
    """Say what becomes of a candidate that is not there yet.

    To write it, to ask its writer first, or the memory that it repeats or supersedes. Raises
    `ReceiptRefused` for a receipt that does not hold, `InvalidArgument` for a verdict that does
    not fit what is there.
    """
    if receipt is not None:
        if verdict is None:
            raise InvalidArgument("verdict", "it is needed with a receipt")
        _check_receipt(vault, memory, candidate, receipt)
    elif _has_to_ask(vault, memory, verdict):
        return "ask"
    if verdict is None or verdict.kind == "new":
        return "write"
    return _meant(memory.similar, verdict)


def _has_to_ask(vault: Vault, memory: Memory, verdict: Verdict | None) -> bool:
    gate, caller = gate_of(vault.caller, vault.settings), vault.caller
    if gate == "off" or (gate == "similar" and not memory.pressing):
        return False
    if not memory.similar:
        return not vault.shown.has_looked(caller)
    if verdict is None and (gate == "similar" or memory.pressing):
        return True
    wanted = memory.pressing or memory.similar
    known = [(one.note_id, one.observation_id or "", one.version) for one in wanted]
    return not vault.shown.knows(caller, known)


def _meant(similar: Sequence[Similar], verdict: Verdict) -> Similar:
    if not similar:
        raise InvalidArgument("verdict", "nothing like it is remembered; leave the verdict out")
    if verdict.kind == "same":
        return similar[0]
    named = [one for one in similar if name_of(one) == verdict.target]
    if not named:
        ids = ", ".join(map(name_of, similar))
        problem = f"{verdict.target!r} is not among the memories that are like it: {ids}"
        raise InvalidArgument("verdict", problem)
    return named[0]


def name_of(similar: Similar) -> str:
    """The id of a memory; for a line without one, the id that it gets when it is first needed."""
    return similar.observation_id or derived_block_id(similar.note_id, similar.text)


def find_line(note: Note, similar: Similar) -> Observation | None:
    """The line of a memory in its note as it is now, if it still says the same."""
    found = (
        each
        for each in observations(note)
        if each.id == (similar.observation_id or "") and each.text == similar.text
    )
    return next(found, None)


# Receipts


def give_receipt(vault: Vault, memory: Memory, candidate: Candidate) -> str:
    """Return the receipt for what a caller is shown of a memory, to come back with a verdict."""
    return Receipts(signing_key(vault.layout)).give(
        _words(memory, candidate), _of(vault.caller), map(_told, memory.similar), time.time()
    )


def _check_receipt(vault: Vault, memory: Memory, candidate: Candidate, receipt: str) -> None:
    receipts = Receipts(signing_key(vault.layout))
    words = _words(memory, candidate)
    shown = receipts.read(receipt, words, _of(vault.caller), time.time())
    present = _still_there(vault, memory.similar)
    marks = {receipts.mark(_told(one)) for one in present}
    if not shown <= marks:
        raise ReceiptRefused(CHANGED)
    if any(receipts.mark(_told(one)) not in shown for one in memory.pressing):
        raise ReceiptRefused(MORE_NOW)


def _still_there(vault: Vault, similar: Iterable[Similar]) -> list[Similar]:
    """Those memories that stand in their notes on disk as they were found."""
    present = []
    for one in similar:
        try:
            note = read_note(vault.layout, one.path)
        except NoteNotFound:
            continue
        if find_line(note, one) is not None:
            present.append(one)
    return present


def _words(memory: Memory, candidate: Candidate) -> str:
    fields = sorted(candidate.fields.items())
    return as_text(memory.folder, memory.key, candidate.words, fields, candidate.summary)


def _of(caller: Caller) -> str:
    session = "" if caller.passing else caller.session
    return as_text(caller.agent, caller.instance, session, caller.origin)


def _told(one: Similar) -> str:
    return as_text(one.note_id, one.observation_id, one.version, one.text)
