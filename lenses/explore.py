"""`zib explore`: the owner's web explorer, on this machine."""

from __future__ import annotations

import os
import socket
import sys
from typing import Annotated

import typer

from ..tools.commands import VaultOption, write
from ..tools.refusals import OwnerOnly
from ..tools.shell import caller_of
from ..vault.errors import InvalidArgument

PORT = 8377
"""The port, unless it is taken or another one is wanted."""


def explore(
    port: Annotated[
        int | None, typer.Option(help="The port; by default 8377, or any that is free.")
    ] = None,
    host: Annotated[
        str, typer.Option(help="The address to listen on; one of another machine needs a token.")
    ] = "127.0.0.1",
    token: Annotated[
        str | None,
        typer.Option(help="What a browser has to show; made up for a --host beyond this machine."),
    ] = None,
    opens: Annotated[
        bool, typer.Option("--open/--no-open", help="Whether to open it in the browser.")
    ] = True,
    vault_folder: VaultOption = None,
) -> None:
    """Open the explorer: your notes and what agents remember, in the browser."""
    if caller_of(os.environ).origin != "owner":
        raise OwnerOnly("open the explorer")
    from .serving import serve

    bound = _bound(host, port)
    with bound:
        serve(vault_folder, bound, host, token, opens=opens and sys.stdout.isatty(), say=_say)


def _say(address: str) -> None:
    write([("The explorer is at ", "text"), (address, "path"), ("; Ctrl-C ends it.\n", "text")])
    sys.stdout.flush()


def _bound(host: str, port: int | None) -> socket.socket:
    """Take a port of this machine. Raises `InvalidArgument` when it cannot be had."""
    if port is not None and not 0 <= port < 65536:
        raise InvalidArgument("port", "it is a number from 0 to 65535")
    wanted = (PORT, 0) if port is None else (port,)
    for number in wanted:
        try:
            family = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0][0]
            made = socket.create_server((host, number), family=family, backlog=128)
        except OSError as failure:
            problem = failure
        else:
            # Connections inherit it; without it an answer's body waits 40 ms for word of its head.
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return made
    argument = "host" if isinstance(problem, socket.gaierror) else "port"
    raise InvalidArgument(argument, f"{host} cannot be listened on: {problem.strerror or problem}")
