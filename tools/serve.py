"""Starting and ending `zib mcp`, the process that serves one agent over stdin and stdout.

Clients give a server little time to answer, and importing the MCP SDK takes most of it. So the
import is made cheaper here, and the vault is opened in the background.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib.util
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from .mcp_server import Door

LAZY_PACKAGES = ("mcp", "mcp.server")
"""What they do at their import brings in the client, and a larger server than ours needs."""

LOG_VARIABLE = "ZIBALDONE_LOG"
LEVELS = ("debug", "info", "warning", "error")

OBJECTS_PER_COLLECTION = 20_000
"""New objects after which Python looks for garbage in cycles. The 700 of Python suit programs
that hold few objects; here they cost a seventh of the time in which a vault is opened."""

CLOSING_SECONDS = 2.0
"""How long the end may take. Nothing acknowledged is lost by a sudden one either."""


@contextlib.contextmanager
def quick_imports() -> Iterator[None]:
    """Import large packages in less time; everything is as before afterwards.

    Garbage collection waits, since what imports make stays anyway. Pydantic's validators are
    built at their first use: of the several hundred in the MCP SDK, a session uses a few. And
    of the SDK's packages only the modules are imported that are asked for.
    """
    collecting = gc.isenabled()
    gc.disable()
    for package in LAZY_PACKAGES:
        _postpone(package)
    try:
        with _lazy_validators():
            yield
    finally:
        gc.freeze()
        if collecting:
            gc.enable()


def _postpone(package: str) -> None:
    """Import a package without running its own code until a name of its own is asked for."""
    spec = importlib.util.find_spec(package)
    if package in sys.modules or spec is None or spec.loader is None:
        return
    module, loader = importlib.util.module_from_spec(spec), spec.loader

    def whole(name: str) -> Any:
        del module.__getattr__
        loader.exec_module(module)
        return getattr(module, name)

    module.__getattr__ = whole  # type: ignore[method-assign]
    sys.modules[package] = module
    parent, _, own_name = package.rpartition(".")
    if parent:
        setattr(sys.modules[parent], own_name, module)


@contextlib.contextmanager
def _lazy_validators() -> Iterator[None]:
    """Let pydantic defer what is defined meanwhile, by its own setting `defer_build`.

    Models inherit the setting. An adapter takes it as an argument, unless it is one for a model,
    which has a configuration of its own.
    """
    import pydantic

    lazy = pydantic.ConfigDict(defer_build=True)
    config, build = pydantic.BaseModel.model_config, pydantic.TypeAdapter.__init__

    def build_lazily(adapter: Any, kind: Any, _parent_depth: int = 2, **options: Any) -> None:
        depth = _parent_depth + 1  # this function is one more between pydantic and its caller
        try:
            build(adapter, kind, _parent_depth=depth, **{"config": lazy, **options})
        except pydantic.errors.PydanticUserError:
            build(adapter, kind, _parent_depth=depth, **options)

    pydantic.BaseModel.model_config = {**config, **lazy}
    pydantic.TypeAdapter.__init__ = build_lazily  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        pydantic.BaseModel.model_config = config
        pydantic.TypeAdapter.__init__ = build  # type: ignore[method-assign]


def main(argv: Sequence[str]) -> NoReturn:
    """Run `zib mcp` until its input ends or it is told to stop; the exit code is 0."""
    options = _options(argv)
    level = options.log_level.upper()
    logging.basicConfig(stream=sys.stderr, level=level, format="%(levelname)s %(name)s %(message)s")
    gc.set_threshold(OBJECTS_PER_COLLECTION)
    with quick_imports():
        from . import mcp_server
    door = mcp_server.Door(options.vault)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: _end(door))
    door.open_in_background()
    mcp_server.serve(door.vault)
    _end(door)


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="zib mcp",
        description="Serve the tools to an agent over stdin and stdout (Model Context Protocol).",
    )
    parser.add_argument(
        "--vault", help="the vault; else ZIBALDONE_VAULT, else the nearest above this folder"
    )
    level = os.environ.get(LOG_VARIABLE, "").lower()
    parser.add_argument(
        "--log-level",
        choices=LEVELS,
        default=level if level in LEVELS else "warning",
        help=f"what is told on stderr (default: {LOG_VARIABLE}, else warning)",
    )
    return parser.parse_args(argv)


def _end(door: Door) -> NoReturn:
    # A thread of the SDK may still wait for a line of stdin, and Python would wait for it.
    closing = threading.Thread(target=door.close, daemon=True)
    closing.start()
    closing.join(CLOSING_SECONDS)
    logging.shutdown()
    os._exit(0)
