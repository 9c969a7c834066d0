"""A client of `zib mcp` with nothing between: JSON-RPC lines over the pipes of a real process."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Self

from clocks import Memory, cpu_of, memory_of

PROTOCOL = "2025-06-18"
PATIENCE = 60.0
"""Seconds after which a server that does not answer is ended."""


class ServerError(RuntimeError):
    """The server answered with an error, or not at all."""


class Server:
    """One running `zib mcp`."""

    def __init__(self, vault: Path) -> None:
        self.started = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "zibaldone.tools", "mcp", "--vault", str(vault)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._number = 0

    def since_start(self) -> float:
        """Seconds since the process was started."""
        return time.perf_counter() - self.started

    def initialize(self) -> None:
        """Shake hands."""
        client = {"name": "bench", "version": "1"}
        self.ask("initialize", protocolVersion=PROTOCOL, capabilities={}, clientInfo=client)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its structured answer. Raises `ServerError`."""
        answer = self.ask("tools/call", name=tool, arguments=arguments)
        if answer.get("isError"):
            raise ServerError(str(answer["structuredContent"]))
        return dict(answer["structuredContent"])

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request and wait for its answer. Raises `ServerError`."""
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        assert self._process.stdout is not None
        patience = threading.Timer(PATIENCE, self._process.kill)
        patience.start()
        try:
            for line in self._process.stdout:
                message = json.loads(line)
                if message.get("id") == self._number:
                    break
            else:
                raise ServerError(f"no answer to {method}")
        finally:
            patience.cancel()
        if "result" not in message:
            raise ServerError(str(message["error"]))
        return dict(message["result"])

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def memory(self) -> Memory:
        """Memory of the process."""
        return memory_of(self._process.pid)

    def cpu(self) -> float:
        """Seconds of CPU that the process has had."""
        return cpu_of(self._process.pid)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
