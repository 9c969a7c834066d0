"""The command `zib`: where it starts, what it says of failures, and how it ends.

`zib mcp` is sent straight to the server, which has to answer soon; all else goes through the
commands that are made from the tools' definitions.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from ..vault.errors import ZibaldoneError

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells count it."""


def main() -> NoReturn:
    """Run the command line of this process and end with its exit code."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["mcp"]:
        from .serve import main as serve

        serve(arguments[1:])
    signal.signal(signal.SIGINT, lambda *_: sys.exit(INTERRUPTED))
    if hasattr(signal, "SIGPIPE"):  # a reader such as `head` may leave early, without a word
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(run(arguments))


def run(arguments: Sequence[str]) -> int:
    """Run one command; return its exit code."""
    from .commands import app

    try:
        app(args=list(arguments), prog_name="zib")
    except ZibaldoneError as error:
        tell(error, as_json=_wants_json(arguments))
        return error.exit_code
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def tell(error: ZibaldoneError, *, as_json: bool) -> None:
    """Say what went wrong: one line on stderr, or for programs the error on stdout."""
    from .wire import wire_error

    if as_json:
        sys.stdout.write(f"{json.dumps(wire_error(error), indent=2)}\n")
    else:
        sys.stderr.write(f"zib: {' '.join(str(error).split())}\n")


def _wants_json(arguments: Sequence[str]) -> bool:
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options
