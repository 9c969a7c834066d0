"""The owner's commands that agents have no tools for: history, restore, trash, review, purge, …"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Annotated, Final, Literal

import typer

from ..vault.errors import InvalidArgument
from . import derivation, retention, tending, verification
from . import history as journal
from . import purge as purging
from . import revert as reverting
from . import review as reviewing
from .commands import JsonOption, VaultOption, opened, write, write_json
from .render import Piece, counted, one_line
from .rulebook import RuleEntry, rulebook
from .wire import wire

Ref = Annotated[
    str,
    typer.Argument(
        metavar="REF", help="An observation (its id, or note#^id) or a note (id, path or title)."
    ),
]


def history(ref: Ref, vault_folder: VaultOption = None, as_json: JsonOption = False) -> None:
    """Tell who changed a note or an observation, when, from where, and to which version."""
    with opened(vault_folder) as vault:
        answer = journal.history(vault, ref)
    if as_json:
        write_json(wire(answer))
        return
    write([(f"{answer.path}\n", "path")])
    for line in answer.revisions:
        write(_told(line))
    if not answer.revisions:
        write([("No change of it is known: it is as it was found.\n", "text")])


def _told(line: journal.RevisionLine) -> list[Piece]:
    version = f" ^{line.observation_id}@v{line.version}" if line.observation_id else ""
    parent = f" (from v{line.parent})" if line.parent else ""
    said = (line.agent, line.client_version or "", line.instance or "")
    client = " ".join(filter(None, map(one_line, said)))
    return [
        (f"{line.revision}  {line.time}  ", "faint"),
        (f"{line.op}{version}{parent}", "title"),
        (f"  by {client} ({line.origin})", "text"),
        (f": {line.reason}\n" if line.reason else "\n", "text"),
    ]


def diff(
    ref: Ref,
    start: Annotated[str | None, typer.Option("--from", help="A version or revision.")] = None,
    end: Annotated[str | None, typer.Option("--to", help="A version or revision.")] = None,
    vault_folder: VaultOption = None,
) -> None:
    """Show what changed between two versions of an observation, or revisions of a note."""
    with opened(vault_folder) as vault:
        write([(f"{journal.diff(vault, ref, start, end)}\n", "text")])


def restore(
    ref: Ref,
    to: Annotated[str | None, typer.Option("--to", help="A version or revision.")] = None,
    vault_folder: VaultOption = None,
    as_json: JsonOption = False,
) -> None:
    """Bring back what was forgotten or deleted, or an earlier state of what is there."""
    with opened(vault_folder) as vault:
        answer = journal.restore(vault, ref, to)
    if as_json:
        write_json(wire(answer))
        return
    cited = f"#^{answer.observation_id}" if answer.observation_id else ""
    write([("Restored: ", "good"), (f"{answer.path}{cited}\n", "path")])


def trash(vault_folder: VaultOption = None, as_json: JsonOption = False) -> None:
    """List the notes in the trash; `zib restore` brings one back."""
    with opened(vault_folder) as vault:
        found = journal.trash(vault)
    if as_json:
        write_json([wire(each) for each in found])
        return
    write([("The trash is empty.\n", "text")] if not found else [])
    for each in found:
        write(
            [
                (f"{each.note_id}  {each.time}  by {each.agent}  ", "faint"),
                (f"{each.path}\n", "path"),
            ]
        )


def revert(
    agent: Annotated[str, typer.Option("--agent", help="The name of the agent.")],
    since: Annotated[str, typer.Option("--since", help="A time, such as 2027-01-31T09:00.")],
    vault_folder: VaultOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take back what one agent did to memory since a time, and nobody else's words."""
    with opened(vault_folder) as vault:
        answer = reverting.revert(vault, agent, since)
    if as_json:
        write_json(wire(answer))
        return
    for said, names, role in (
        ("Reverted: ", answer.reverted, "good"),
        ("Left as it is: ", answer.left, "warning"),
    ):
        for name in names:
            write([(said, role), (f"{name}\n", "path")])  # type: ignore[list-item]
    if not answer.reverted and not answer.left:
        write([(f"There is nothing of {agent} since {since} to take back.\n", "text")])


def confirm(ref: Ref, vault_folder: VaultOption = None, as_json: JsonOption = False) -> None:
    """Let an observation count again that became stale when what it rests on changed."""
    with opened(vault_folder) as vault:
        answer = derivation.confirm(vault, ref)
    if as_json:
        write_json(wire(answer))
        return
    write([("Confirmed: ", "good"), (f"{answer.path}#^{answer.observation_id}\n", "path")])


def rename_category(
    old: Annotated[str, typer.Argument(metavar="OLD", help="The label that it has.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The label that it is to have.")],
    project: Annotated[
        str | None, typer.Option("--project", help="The project whose category it is.")
    ] = None,
    vault_folder: VaultOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give a category of memory another label; its note keeps its file, id and history."""
    with opened(vault_folder) as vault:
        path = tending.category_note(vault, old, project)
        answer = tending.rename_category(vault, path, new)
    if as_json:
        write_json(wire(answer))
        return
    changed = answer.outcome == "changed"
    write([("Renamed: ", "good") if changed else ("It was so already: ", "warning")])
    write([(f"{new} ", "text"), (f"({answer.path})\n", "path")])


FOUND_SOMETHING: Final = 7
"""The exit code when a check finds that something is wrong."""

YesOption = Annotated[bool, typer.Option("--yes", help="Do it without asking.")]


def sweep(
    yes: Annotated[bool, typer.Option("--yes", help="Move it out of the notes.")] = False,
    vault_folder: VaultOption = None,
    as_json: JsonOption = False,
) -> None:
    """List what has expired; with --yes, move it out of the notes and trim the audit."""
    with opened(vault_folder) as vault:
        answer = retention.sweep(vault) if yes else retention.listed(vault)
    if as_json:
        write_json(wire(answer))
        return
    said: Piece = ("Moved out: ", "good") if answer.moved else ("Expired: ", "warning")
    for each in answer.expired:
        cited = f"#^{each.observation_id}" if each.observation_id else ""
        write([said, (f"{each.path}{cited}", "path"), (f" ({each.expires})", "faint")])
        write([(f" {each.text or ''}\n", "text")])
    if answer.audited:
        write([said, (f"{counted(answer.audited, 'retrieval')} in the audit, for good\n", "text")])
    if not answer.expired:
        write([("Nothing has expired.\n", "text")])
    elif not answer.moved:
        write([("It is not recalled. `zib sweep --yes` moves it out of the notes.\n", "text")])


def journal_command(vault_folder: VaultOption = None, as_json: JsonOption = False) -> None:
    """Check the journals of all devices line by line, and tell what was repaired after crashes."""
    with opened(vault_folder) as vault:
        answer = verification.verify(vault)
    if as_json:
        write_json(wire(answer))
    else:
        write(_verified(answer))
    if answer.wrong or answer.unfinished:
        raise SystemExit(FOUND_SOMETHING)


def _verified(answer: verification.Verified) -> Iterator[Piece]:
    for flaw in answer.wrong:
        yield f"{flaw.device}/{flaw.file}:{flaw.line}", "path"
        yield f"  {flaw.problem}\n", "warning"
    for name in answer.unfinished:
        yield f"A purge was cut off. Run `zib purge {name.partition('-')[2] or name}`.\n", "warning"
    for each in answer.recovered:
        yield f"{each.time}  {each.revision}  ", "faint"
        yield f"taken back, by {each.agent or 'someone'}", "title"
        yield f" in {each.path}: {each.reason}\n", "text"
    state = "not all as they were written" if answer.wrong else "as they were written"
    seen = f"{counted(answer.records, 'record')} of {counted(answer.devices, 'device')}"
    yield f"{seen}, {state}.\n", "warning" if answer.wrong else "good"


def purge(
    ref: Ref,
    yes: YesOption = False,
    vault_folder: VaultOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take an observation or a note out for good, with its history, and prove that it is gone."""
    with opened(vault_folder) as vault:
        doom = purging.doomed(vault, ref)
        place = f"{doom.path}#^{doom.observation_id}" if doom.observation_id else doom.path
        words = f": {doom.words}" if doom.words else ""
        _confirmed(
            yes, f"{place or doom.note_id}{words}\n{counted(doom.revisions, 'revision')} of it"
        )
        answer = purging.purge(vault, ref)
    _show_purged(answer, as_json=as_json)


def redact(
    ref: Ref,
    revision: Annotated[str, typer.Option("--revision", help="A version or revision.")],
    yes: YesOption = False,
    vault_folder: VaultOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take the words of one past revision out of the history; what the note says now stays."""
    with opened(vault_folder) as vault:
        _confirmed(yes, f"The words of revision {revision} of {ref}")
        answer = purging.redact(vault, ref, revision)
    _show_purged(answer, as_json=as_json)


def _confirmed(yes: bool, what: str) -> None:
    """Ask before something that cannot be undone. Raises `InvalidArgument` where nobody is."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise InvalidArgument("--yes", "it is needed here, for nothing brings these words back")
    typer.confirm(f"{what} will be gone for good. Go on?", abort=True, err=True)


def _show_purged(answer: purging.Purged, *, as_json: bool) -> None:
    if as_json:
        write_json(wire(answer))
    else:
        write(_purged(answer))


def _purged(answer: purging.Purged) -> Iterator[Piece]:
    proof = answer.proof
    yield "Gone for good: ", "good"
    cited = f"#^{answer.observation_id}" if answer.observation_id else ""
    yield f"{answer.path or answer.note_id}{cited}\n", "path"
    yield f"{counted(answer.records, 'record')} of the journal lost words.\n", "text"
    for path in answer.copies:
        yield f"Taken out of {path} too.\n", "text"
    if not proof.lines:
        yield "No word of it is known any more, so there was nothing to look for.\n", "text"
    else:
        looked = f"{proof.files} files with {proof.bytes} bytes in vault, state and cache"
        which = f"the longest {proof.lines} of " if proof.known > proof.lines else ""
        lines = f"{which}{counted(proof.known, 'line')}"
        yield f"Looked for {lines} of it in {looked}.\n", "text"
    for place in proof.elsewhere:
        yield f"The same words, left as they are ({place.count}, {place.form}): ", "warning"
        yield f"{place.path}\n", "path"
    for path in proof.unseen:
        yield f"Could not be looked into: {path}\n", "warning"


def rules(vault_folder: VaultOption = None, as_json: JsonOption = False) -> None:
    """List all rules: which bind, which wait or cannot be kept, and what each has stopped."""
    with opened(vault_folder) as vault:
        found = rulebook(vault)
    if as_json:
        write_json([wire(each) for each in found])
        return
    write([("There are no rules.\n", "text")] if not found else [])
    for entry in found:
        write(_rule(entry))


def _rule(entry: RuleEntry) -> list[Piece]:
    kept = "  kept by the tools" if entry.enforced else ""
    stopped = f"  stopped {entry.stopped}, the last {entry.last_moment} by {entry.last_agent} at"
    return [
        (f"{entry.level}: {entry.text}\n", "title"),
        (f"  {entry.path}:{entry.line} {entry.name}", "path"),
        (f"  {entry.state}{kept}\n", "good" if entry.state == "binds" else "warning"),
        (f"{stopped} {entry.last_time}\n" if entry.stopped else "", "text"),
        (f"  It cannot be kept: {entry.problem}\n" if entry.problem else "", "warning"),
    ]


def review(
    decision: Annotated[
        Literal["accept", "reject"] | None, typer.Argument(help="Without one, the queue is listed.")
    ] = None,
    ticket: Annotated[str | None, typer.Argument(help="That of the line, from the list.")] = None,
    reason: Annotated[str | None, typer.Option("--reason", help="Why it is rejected.")] = None,
    vault_folder: VaultOption = None,
    as_json: JsonOption = False,
) -> None:
    """List what agents proposed and you have not accepted yet; accept or reject one line of it."""
    if decision is None:
        _list_queue(vault_folder, as_json=as_json)
        return
    if ticket is None:
        raise InvalidArgument("TICKET", f"{decision} needs the ticket that `zib review` shows")
    with opened(vault_folder) as vault:
        if decision == "accept":
            answer = reviewing.accept(vault, ticket)
        else:
            answer = reviewing.reject(vault, ticket, reason)
    if as_json:
        write_json(wire(answer))
        return
    block = f"#^{answer.observation_id}" if answer.observation_id else ""
    write([(f"{answer.outcome.capitalize()}: ", "good"), (f"{answer.text}  ", "text")])
    write([(f"{answer.path}{block}\n", "path")])


def _list_queue(vault_folder: str | None, *, as_json: bool) -> None:
    with opened(vault_folder) as vault:
        found = reviewing.queue(vault)
    if as_json:
        write_json([wire(each) for each in found])
        return
    write([("Nothing waits for review.\n", "text")] if not found else [])
    for each in found:
        client = " ".join(filter(None, [each.agent, each.client_version, each.instance]))
        written = f"{each.time}  by {client}" if each.time else "nobody knows since when"
        write(
            [
                (f"{each.ticket}  ", "title"),
                (f"{each.path}", "path"),
                (f"  {written}", "faint"),
                (f" ({each.origin})\n", "faint"),
                (f"{each.line}\n", "text"),
            ]
        )
