"""The explorer as it runs: a real server on a real socket, asked as a browser asks."""

import http.client
import re
import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlencode

import pytest
from zibaldone.lenses.guard import Door
from zibaldone.lenses.serving import Server
from zibaldone.lenses.visit import House
from zibaldone.tools.vault import Caller, Vault

EXPLORER = Caller(agent="explorer", session="visit", origin="owner")


@dataclass
class Reply:
    status: int
    headers: list[tuple[str, str]]
    data: bytes

    @property
    def text(self):
        return self.data.decode(errors="replace")

    def header(self, name):
        return ", ".join(value for key, value in self.headers if key.lower() == name)

    @property
    def cookies(self):
        given = [value for key, value in self.headers if key.lower() == "set-cookie"]
        return dict(each.partition(";")[0].split("=", 1) for each in given)


class Site:
    """One browser's view of a running explorer; it keeps its cookies and sends its forms."""

    def __init__(self, door, port, vault):
        self.door, self.port, self.vault = door, port, vault
        self.host = f"127.0.0.1:{port}"
        self.origin = f"http://{self.host}"
        self.cookies = {}

    def ask(self, method, path, *, headers=None, body=None, cookies=True):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        given = {"Host": self.host, **(headers or {})}
        if cookies and self.cookies:
            given["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        data = body.encode() if body is not None else None
        if data is not None:
            given["Content-Length"] = str(len(data))
        for name, value in given.items():
            for each in value if isinstance(value, list) else [value]:
                connection.putheader(name, each)
        connection.endheaders(data)
        answer = connection.getresponse()
        reply = Reply(answer.status, answer.getheaders(), answer.read())
        connection.close()
        if cookies:
            self.cookies |= reply.cookies
        return reply

    def get(self, path, **headers):
        return self.ask("GET", path, headers={k.replace("_", "-"): v for k, v in headers.items()})

    def csrf(self):
        return re.search(r'name="csrf" value="(\w+)"', self.get("/help").text)[1]

    def post(self, path, **form):
        form.setdefault("csrf", self.csrf())
        headers = {
            "Origin": self.origin,
            "Content-Type": "application/x-www-form-urlencoded",
        }
        return self.ask("POST", path, headers=headers, body=urlencode(form))

    def open_lens(self):
        assert self.post("/settings", lens="on").status == 303


@contextmanager
def running(vault, host="127.0.0.1", token=""):
    bound = socket.create_server(("127.0.0.1", 0))
    port = bound.getsockname()[1]
    door = Door(host, port, token)
    house = House(vault)
    server = Server(house, door)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.005)
    try:
        yield Site(door, port, vault)
    finally:
        house.ending.set()
        server.should_exit = True
        thread.join(10)
        bound.close()


@pytest.fixture
def explored(fill, vault_dir):
    """Fill the vault and serve it; returns a `Site`."""
    from contextlib import ExitStack

    with ExitStack() as stack:

        def serve(files=(), **options):
            fill(dict(files))
            vault = stack.enter_context(Vault.open(vault_dir, caller=EXPLORER))
            return stack.enter_context(running(vault, **options))

        yield serve


@pytest.fixture
def house(fill, vault_dir):
    """Fill the vault and open it, without a server; returns its `House`."""
    from contextlib import ExitStack

    with ExitStack() as stack:

        def opened(files=()):
            fill(dict(files))
            return House(stack.enter_context(Vault.open(vault_dir, caller=EXPLORER)))

        yield opened
