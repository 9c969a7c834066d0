"""`zib audit`: the owner looks through what agents have asked and what they were given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, get_args

import typer

from ..vault.audit import Retrieval, Retriever
from ..vault.errors import InvalidArgument
from .audit import AuditAnswer, Question, Wanted, audit, blind_spots, most_asked
from .commands import JsonOption, VaultOption, opened, write, write_json
from .render import Piece
from .wire import wire


def _filter(name: str, description: str) -> object:
    return typer.Option(name, metavar="TEXT", help=description, show_default=False)


def audit_command(
    agent: Annotated[str | None, _filter("--agent", "Only what this agent asked.")] = None,
    instance: Annotated[str | None, _filter("--instance", "Only this instance.")] = None,
    session: Annotated[str | None, _filter("--session", "Only this session.")] = None,
    since: Annotated[
        str | None, _filter("--since", "Only from a time on, such as 2027-01-31T09:00.")
    ] = None,
    tool: Annotated[
        str | None, _filter("--tool", f"Only one of {', '.join(get_args(Retriever))}.")
    ] = None,
    query: Annotated[
        str | None, _filter("--query", "Only questions that hold these words.")
    ] = None,
    blind: Annotated[
        bool, typer.Option("--blind-spots", help="What is asked and not found, by how often.")
    ] = False,
    frequent: Annotated[
        bool, typer.Option("--most-asked", help="The questions that come most often.")
    ] = False,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, help="At most so many.")
    ] = 20,
    vault_folder: VaultOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what agents have asked, what they were given, and what was not found."""
    wanted = Wanted(agent, instance, session, since, _retriever(tool), query)
    with opened(vault_folder) as vault:
        if blind or frequent:
            ask = blind_spots if blind else most_asked
            _show_questions(ask(vault, wanted, limit), as_json=as_json)
            return
        answer = audit(vault, wanted, limit)
    if as_json:
        write_json(wire(answer))
    else:
        write(_told(answer))


def _retriever(tool: str | None) -> Retriever | None:
    """The tool of a filter, in either spelling. Raises `InvalidArgument`."""
    known: tuple[Retriever, ...] = get_args(Retriever)
    name = tool.replace("-", "_") if tool else None
    if name is not None and name not in known:
        raise InvalidArgument("--tool", f"must be one of {', '.join(known)}")
    return next((each for each in known if each == name), None)


def _show_questions(found: Iterable[Question], *, as_json: bool) -> None:
    if as_json:
        write_json([wire(each) for each in found])
        return
    lines = [_line(each) for each in found]
    write([piece for line in lines for piece in line] or [("There are none.\n", "text")])


def _line(one: Question) -> list[Piece]:
    who = f"found {one.found}, last {one.last} by {', '.join(one.agents)}\n"
    return [(f"{one.times}×  ", "faint"), (one.query, "title"), (f"  {who}", "faint")]


def _told(answer: AuditAnswer) -> Iterator[Piece]:
    for one in answer.retrievals:
        yield from _retrieval(one, answer.paths)
    shown = len(answer.retrievals)
    counted = "1 retrieval" if answer.total == 1 else f"{answer.total} retrievals"
    yield f"{counted}{f', {shown} shown' if shown < answer.total else ''}.\n", "good"
    if answer.damaged:
        yield f"Lines that could not be read: {answer.damaged}.\n", "warning"
    if answer.notice:
        yield f"What agents ask cannot be kept now: {answer.notice}.\n", "warning"


def _retrieval(one: Retrieval, paths: Mapping[str, str]) -> Iterator[Piece]:
    caller = one.caller
    who = " ".join(
        filter(None, [caller.agent, caller.client_version, caller.instance, caller.session])
    )
    yield f"{one.time}  ", "faint"
    yield f"{one.tool}  ", "title"
    yield f"{one.query or _gone(one)}\n", "text"
    filters = "".join(f"  {name}={value}" for name, value in one.filters.items())
    outcome = f"refused: {one.error}" if one.error else f"found {one.found}, {one.tokens} tokens"
    yield f"  by {who} ({caller.origin}){filters}  {outcome}\n", "faint"
    for rank, part in enumerate(one.given, 1):
        yield f"  {rank}. ", "faint"
        yield paths.get(part.note) or f"{part.note or 'a note'}, which is gone", "path"
        version = f"@v{part.version}" if part.version is not None else ""
        yield f"{f'#^{part.observation}' if part.observation else ''}{version}", "path"
        yield f"  {part.tokens} tokens, revision {part.revision}\n", "faint"
    if one.more_given:
        yield f"  and {one.more_given} more\n", "faint"
    for each in one.left_out:
        yield "  left out: ", "warning"
        yield paths.get(each.note) or each.note or "a note", "path"
        yield f" ({each.reason}, {each.tokens} tokens)\n", "faint"
    if one.more_left_out:
        yield f"  left out: {one.more_left_out} more\n", "warning"


def _gone(one: Retrieval) -> str:
    if one.struck:
        return f"[struck: {one.struck}]"
    return "[purged]" if one.redacted else ""
