"""Remembering: one observation, appended to the memory note of its category.

A candidate passes the checks of the write policy, one after the other: its form, secrets, what
is known already, how far its writer is trusted. Each check stands in a module of its own; here
they have their order. The note's folder is the tool's to choose: `agent-memory` for the user,
`projects/<project>/agent-memory` for a project.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..vault.errors import InvalidArgument, NoteNotFound
from ..vault.markdown import parse
from ..vault.note import read_note
from .answers import MemoryType, Remembered, Similar
from .lifecycle import update_memory
from .marks import refuse_pins
from .places import project_name
from .policy.form import Candidate, check_form
from .policy.gate import CHANGED, Verdict, find_line, give_receipt, judge, name_of, read_verdict
from .policy.idempotency import answer_again, key_of
from .policy.near import Memory, look, sourced
from .policy.writing import Target, id_of, skip, stamped, target, told, write
from .refusals import ReceiptRefused
from .secrets import refuse_secrets
from .trust import gate_of, lowered, refuse_reader, with_trust
from .vault import Vault

LOOKS = 2
"""How often is looked before a write that may be held, when others write to the same note."""


def remember_about_user(
    vault: Vault,
    observation: str,
    category: str = "general",
    summary: str | None = None,
    type: MemoryType = "semantic",  # noqa: A002 - the contract's word
    tags: Sequence[str] = (),
    derived_from: Sequence[str] = (),
    expires: str | None = None,
    untrusted: bool = False,
    idempotency_key: str | None = None,
    receipt: str | None = None,
    verdict: str | None = None,
) -> Remembered:
    """Append one fact about the user to the note of its category; the note is made when new.

    A fact that is there already, but for case, blanks and a final full stop, is `skipped`. Where
    something like it is there, an agent gets `needs_verdict` with a `receipt`, and calls again
    with that and a `verdict`: `new`, `same` or `supersedes:<observation id>`. `untrusted` words
    are `pending` until the owner accepts them. With an `idempotency_key` the fact is written
    once. `expires` is a date, YYYY-MM-DD, after which the fact is no longer recalled.
    Raises `ObservationRefused`, `CategoryRefused`, `SecretRefused`, `InvalidArgument`,
    `ReceiptRefused`, `ClientReadOnly`, `NoteUnusable` and the storage failures; nothing is
    written then.
    """
    refuse_secrets(category, *tags, *derived_from)
    writer = _writer(vault, idempotency_key, untrusted=untrusted)
    candidate = _checked(writer, observation, summary, type, tags, derived_from, expires)
    return _remember(writer, _Wish(None, category, candidate, read_verdict(verdict), receipt))


def remember_about_project(
    vault: Vault,
    project: str,
    observation: str,
    category: str = "general",
    summary: str | None = None,
    type: MemoryType = "semantic",  # noqa: A002 - the contract's word
    tags: Sequence[str] = (),
    derived_from: Sequence[str] = (),
    expires: str | None = None,
    untrusted: bool = False,
    idempotency_key: str | None = None,
    receipt: str | None = None,
    verdict: str | None = None,
) -> Remembered:
    """Append one fact about a project to its note of that category; see `remember_about_user`.

    A project is a folder under `projects/`; a new name makes a new one.
    """
    refuse_secrets(project, category, *tags, *derived_from)
    name = project_name(vault.layout, project)
    writer = _writer(vault, idempotency_key, untrusted=untrusted)
    candidate = _checked(writer, observation, summary, type, tags, derived_from, expires)
    return _remember(writer, _Wish(name, category, candidate, read_verdict(verdict), receipt))


@dataclass(frozen=True, slots=True)
class _Wish:
    """What is to be remembered where, and what its writer says to memories like it."""

    project: str | None
    category: str
    candidate: Candidate
    verdict: Verdict | None
    receipt: str | None


def _writer(vault: Vault, key: str | None, *, untrusted: bool) -> Vault:
    """The vault as who writes has it: trusted no more than it says, its writes under its key."""
    refuse_reader(vault.caller, vault.settings)
    caller = lowered(vault.caller) if untrusted else vault.caller
    return vault.with_caller(caller).with_key(key_of(caller, key))


def _checked(
    vault: Vault,
    observation: str,
    summary: str | None,
    kind: str,
    tags: Sequence[str],
    derived_from: Sequence[str],
    expires: str | None,
) -> Candidate:
    """The checks for which nothing has to be looked up: form, secrets and trust."""
    candidate = check_form(observation, summary, kind, tags, derived_from, expires)
    refuse_secrets(candidate.text, summary or "")
    refuse_pins(vault, parse(candidate.words).tags)
    return with_trust(candidate, vault.caller)


def _remember(vault: Vault, wish: _Wish) -> Remembered:
    held = gate_of(vault.caller, vault.settings) != "off"
    for left in reversed(range(LOOKS if held else 1)):
        memory = look(vault, wish.project, wish.category, wish.candidate)
        with vault.store.transaction(memory.path):
            place = target(vault, memory)
            if place.token == memory.token or not left:
                step = _step(vault, memory, place, wish)
                break
        vault.index.touched((place.path,))
    if isinstance(step, Similar):
        return _supersede(vault, memory, wish.candidate, step)
    if step.outcome != "needs_verdict":
        vault.index.touched((step.path,))
    return step


def _step(vault: Vault, memory: Memory, place: Target, wish: _Wish) -> Remembered | Similar:
    """Write a candidate, or say why not; or which memory it supersedes. The lock is held."""
    candidate = wish.candidate
    if again := answer_again(vault, candidate):
        return again
    known = told(vault, memory, place, candidate) or _repeated(vault, memory, memory.echoed)
    if known:
        return known
    step = judge(vault, memory, candidate, wish.verdict, wish.receipt)
    if step == "ask":
        return _ask(vault, memory, place, candidate)
    if step == "write":
        return write(vault, memory, place, sourced(vault, memory, candidate))
    if wish.verdict and wish.verdict.kind == "supersedes":
        return step
    known = _repeated(vault, memory, (step,))
    if known is None:
        raise ReceiptRefused(CHANGED)
    return known


def _ask(vault: Vault, memory: Memory, place: Target, candidate: Candidate) -> Remembered:
    """Show what is like a candidate, with the receipt for it; nothing is written."""
    return Remembered(
        outcome="needs_verdict",
        note_id=id_of(memory, place.note) if place.note else None,
        path=place.path,
        category=memory.label,
        summary_updated=False,
        similar=tuple(replace(one, observation_id=name_of(one)) for one in memory.similar),
        receipt=give_receipt(vault, memory, candidate),
    )


def _repeated(vault: Vault, memory: Memory, known: Sequence[Similar]) -> Remembered | None:
    """Name the first of the memories that a candidate repeats; None if it is not there now."""
    if not known:
        return None
    try:
        note = read_note(vault.layout, known[0].path)
    except NoteNotFound:
        return None
    line = find_line(note, known[0])
    if line is None:
        return None
    found = replace(memory, label=note.category, similar=tuple(known))
    return skip(vault, found, note, line, name_of(known[0]))


def _supersede(vault: Vault, memory: Memory, candidate: Candidate, old: Similar) -> Remembered:
    """Put a candidate in the place of a memory, as its next version."""
    _refuse_to_supersede(candidate, old)
    path, observation = old.path, _named(vault, memory, candidate, old)
    try:
        updated = update_memory(
            vault,
            f"{path}#^{observation}@v{old.version}",
            candidate.words,
            f"supersedes {observation}@v{old.version}",
        )
    except (InvalidArgument, NoteNotFound) as changed:
        raise ReceiptRefused(CHANGED) from changed
    return Remembered(
        outcome="appended",
        note_id=updated.note_id,
        observation_id=observation,
        version=updated.version,
        version_token=updated.version_token,
        path=path,
        category=read_note(vault.layout, path).category,
        summary_updated=False,
        similar=tuple(one for one in memory.similar if one != old),
    )


def _refuse_to_supersede(candidate: Candidate, old: Similar) -> None:
    if candidate.pending:
        problem = "what waits for review supersedes nothing; answer new, and the owner sees both"
        raise InvalidArgument("verdict", problem)
    if (
        old.origin == "untrusted"
        and old.kind != "contradicting"
        and "origin" not in candidate.fields
    ):
        problem = f"it only repeats {name_of(old)}, which an untrusted client wrote; answer same"
        raise InvalidArgument("verdict", problem)


def _named(vault: Vault, memory: Memory, candidate: Candidate, old: Similar) -> str:
    """The id of the memory that is superseded, which keeps its fields; it gets one if need be.

    Raises `ReceiptRefused` when it is not there, `InvalidArgument` for fields that would be lost.
    """
    with vault.store.transaction(old.path):
        note = read_note(vault.layout, old.path)
        line = find_line(note, old)
        if line is None:
            raise ReceiptRefused(CHANGED)
        for name, value in candidate.fields.items():
            if name != "origin" and line.fields.get(name) != value:
                problem = "what supersedes a memory keeps its fields; leave it out, or answer new"
                raise InvalidArgument(name, problem)
        return stamped(vault, memory, note, line, name_of(old))[0]
