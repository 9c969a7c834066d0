"""The name under which a program's memory is kept. It is declared once, before anything is done.

It is the name of the agent in journal and audit, and to the owner's settings and rules. A program
that forgot to declare it, or may not have it, leaves no trace: nothing is opened before.
"""

from __future__ import annotations

import atexit
import os
import re
import sys
import threading
from pathlib import Path

from ...vault.errors import InvalidArgument
from ...vault.ids import new_id
from ..refusals import MemoryNameRefused, MemoryUndeclared
from ..render import one_line
from ..shell import INSTANCE_VARIABLE
from ..vault import Caller, Vault, layout_of

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Program:
    """What one program has declared, and the vault that it works with. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._name = ""
        self._root = Path()
        self._vault: Vault | None = None

    def require(self, name: str, vault: str | Path | None = None) -> None:
        """Declare the program's name; see `require` of this module."""
        if not NAME.fullmatch(name):
            raise MemoryNameRefused(name, "it is not made of 1 to 64 of A-Z, a-z, 0-9, _ and -")
        with self._lock:
            if self._name:
                self._refuse_another(name, vault)
                return
            layout = layout_of(vault)
            if not layout.settings.memory_names.admits(name):
                raise MemoryNameRefused(name, "the settings of the vault do not allow it")
            self._name, self._root = name, layout.root

    def vault(self) -> Vault:
        """The vault, asked by this program. Raises `MemoryUndeclared`, and opens nothing then."""
        with self._lock:
            if not self._name:
                raise MemoryUndeclared(_suggested())
            if self._vault is None:
                instance = one_line(os.environ.get(INSTANCE_VARIABLE, ""))
                caller = Caller(self._name, instance, session=new_id(), origin="agent")
                self._vault = Vault.open(self._root, caller=caller)
            return self._vault

    def close(self) -> None:
        """Close the vault if it is open. The name stays declared; the next use opens it again."""
        with self._lock:
            if self._vault is not None:
                self._vault.close()
                self._vault = None

    def _refuse_another(self, name: str, vault: str | Path | None) -> None:
        if name != self._name:
            raise MemoryNameRefused(name, f"this program has declared {self._name!r} already")
        if vault is not None and layout_of(vault).root != self._root:
            raise InvalidArgument("vault", f"this program has declared that it uses {self._root}")


PROGRAM = Program()


def require(name: str, vault: str | Path | None = None) -> None:
    """Declare the name under which this program's memory is kept; the same again is no harm.

    The vault is found as `Vault.open` finds it. Nothing is written or opened yet. Raises
    `MemoryNameRefused` for a name that is malformed, that the settings of the vault do not allow,
    or that is a second one; `InvalidArgument` for a second vault; `VaultNotFound` and
    `SettingsInvalid`.
    """
    PROGRAM.require(name, vault)


def close() -> None:
    """Close the vault, as the end of the program does. The next use opens it again."""
    PROGRAM.close()


def declared() -> Vault:
    """The vault of this program, asked under its name. Raises `MemoryUndeclared`."""
    return PROGRAM.vault()


def _suggested() -> str:
    """A name for a program that has none, from what it is called."""
    stem = Path(sys.argv[0] if sys.argv else "").stem
    name = "-".join(re.findall(r"[A-Za-z0-9]+", stem.removeprefix("__").removesuffix("__")))
    return name[:64] if name and name not in ("main", "c") else "my-agent"


atexit.register(close)
