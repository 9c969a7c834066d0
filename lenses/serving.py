"""Serving the explorer: the vault, the web server, and their end."""

from __future__ import annotations

import secrets
import signal
import socket
import webbrowser
from collections.abc import Callable
from types import FrameType

import uvicorn

from ..tools.vault import Caller, Vault
from ..vault.ids import new_id
from .guard import Door, is_loopback
from .server import application
from .visit import House

ENDING_SECONDS = 1
"""How long pages that listen for news may hold up the end."""


def serve(
    folder: str | None,
    bound: socket.socket,
    host: str,
    token: str | None,
    *,
    opens: bool,
    say: Callable[[str], None],
) -> None:
    """Serve the vault at `folder` on a bound socket until Ctrl-C; `say` is told the address.

    Beyond this machine nobody enters without a token.
    """
    if hasattr(signal, "SIGPIPE"):  # The command line lets it end a process; browsers leave early.
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    port = bound.getsockname()[1]
    door = Door(host, port, token or ("" if is_loopback(host) else secrets.token_urlsafe(24)))
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
    if door.token:
        address += f"?token={door.token}"
    caller = Caller(agent="explorer", session=new_id(), origin="owner")
    with Vault.open(folder, caller=caller, watch=True) as vault:
        server = Server(House(vault), door)
        say(address)
        if opens:
            webbrowser.open(address)
        server.run(sockets=[bound])


class Server(uvicorn.Server):
    """The web server of one explorer; when it is told to end, its open pages are told first."""

    def __init__(self, house: House, door: Door) -> None:
        super().__init__(_configured(house, door))
        self._house = house

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End, as at Ctrl-C."""
        self._house.ending.set()
        super().handle_exit(sig, frame)


def _configured(house: House, door: Door) -> uvicorn.Config:
    """Return how the web server runs: quietly, and with nothing that it need not know."""
    return uvicorn.Config(
        application(house, door),
        http="h11",
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=ENDING_SECONDS,
    )
