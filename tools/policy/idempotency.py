"""The same call again: a write that its caller knows by a key is made once and answered twice.

The key stands, hashed together with who gave it, in the record of the write in the journal. So
it holds after a lost answer, a crash and a restart, and there is nothing else to keep.
"""

from __future__ import annotations

import hashlib

from ...vault.errors import InvalidArgument, NoteNotFound
from ...vault.memory import find_observation
from ...vault.note import Note, parse_note, read_note
from ...vault.revision import Record
from ..answers import Remembered
from ..trust import UNREVIEWED, Caller
from ..vault import Vault
from .form import Candidate
from .receipts import as_text

KEY_LENGTH = 200


def key_of(caller: Caller, given: str | None) -> str:
    """Return what the journal knows a key by; "" for none. Raises `InvalidArgument`."""
    if given is None:
        return ""
    if not given.strip() or len(given) > KEY_LENGTH:
        problem = f"it has to be some text of at most {KEY_LENGTH} characters"
        raise InvalidArgument("idempotency_key", problem)
    named = as_text(caller.agent, caller.instance, given)
    return hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def answer_again(vault: Vault, candidate: Candidate) -> Remembered | None:
    """Return the answer that the write with the vault's key had; None when there was none.

    `similar` is empty then. Raises `InvalidArgument` when other words were written with the key.
    """
    if not vault.key:
        return None
    record = vault.history().keyed(vault.key)
    if record is None or record.observation is None or not _reached(vault, record):
        return None
    written = _written(vault, record)
    line = find_observation(written, record.observation)
    if line is not None and line.text != candidate.words and not record.redacted:
        problem = "other words were written with it; take a new key for each observation"
        raise InvalidArgument("idempotency_key", problem)
    pending = line is not None and line.status == UNREVIEWED
    return Remembered(
        outcome="pending" if pending else "created" if record.op == "create" else "appended",
        note_id=record.note,
        observation_id=record.observation,
        version=record.version,
        version_token=record.after,
        path=written.path,
        category=_now(vault, written).category,
        summary_updated=any(_is_summary(splice.inserted) for splice in record.splices),
    )


def _reached(vault: Vault, record: Record) -> bool:
    """Whether a write has come to its note, which a crash may have kept it from."""
    state = vault.store.ledger.history.state(record.note)
    if state is None or state.record != record.hash:
        return True  # Something came after it.
    try:
        return read_note(vault.layout, record.path).source.token != record.before
    except NoteNotFound:
        return record.before is not None


def _written(vault: Vault, record: Record) -> Note:
    """What a record put into its note, read as a note of its own."""
    state = vault.store.ledger.history.state(record.note)
    path = record.path or (state.path if state else "")
    return parse_note(vault.layout, path, b"".join(each.inserted for each in record.splices))


def _now(vault: Vault, written: Note) -> Note:
    """The note as it is now; what was written when it is gone."""
    try:
        return read_note(vault.layout, written.path)
    except NoteNotFound:
        return written


def _is_summary(inserted: bytes) -> bool:
    return any(line.startswith(b"summary:") for line in inserted.splitlines())
