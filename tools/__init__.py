"""The intents of agents and owners, and the doors to them.

The Python API is here: open a `Vault` and hand it to the tools.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .notes import create_note as create_note
    from .notes import delete_note as delete_note
    from .notes import edit_note as edit_note
    from .notes import get_note as get_note
    from .notes import list_notes as list_notes
    from .recall import recall as recall
    from .remember import remember_about_project as remember_about_project
    from .remember import remember_about_user as remember_about_user
    from .search import search as search
    from .summary import memory_summary as memory_summary
    from .vault import Caller as Caller
    from .vault import Vault as Vault

_HOMES = {
    "Caller": "vault",
    "Vault": "vault",
    "create_note": "notes",
    "delete_note": "notes",
    "edit_note": "notes",
    "get_note": "notes",
    "list_notes": "notes",
    "memory_summary": "summary",
    "recall": "recall",
    "remember_about_project": "remember",
    "remember_about_user": "remember",
    "search": "search",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    # Loaded on first use, so that `zib --help` does not pay for an index.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
