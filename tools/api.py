"""The Python API: open a `Vault` and hand it to the tools.

>>> from zibaldone.tools.api import Vault, recall, remember_about_user
>>> with Vault.open("~/notes") as vault:
...     remember_about_user(vault, "Prefers short reports.", category="preferences")
...     print(recall(vault, "how to write a report", budget_tokens=2000).context)
"""

from ..vault.errors import ZibaldoneError
from .lifecycle import forget, update_memory
from .notes import create_note, delete_note, edit_note, get_note, list_notes
from .plans import (
    complete_step,
    create_progress,
    fail_step,
    progress,
    resume_point,
    skip_step,
    start_step,
)
from .recall import recall
from .remember import remember_about_project, remember_about_user
from .rules import add_rule, check_rules, get_rules
from .search import search
from .start.session import start_session
from .summary import memory_summary
from .threads import consolidate, read_notes, take_note
from .vault import Caller, Vault

__all__ = [
    "Caller",
    "Vault",
    "ZibaldoneError",
    "add_rule",
    "check_rules",
    "complete_step",
    "consolidate",
    "create_note",
    "create_progress",
    "delete_note",
    "edit_note",
    "fail_step",
    "forget",
    "get_note",
    "get_rules",
    "list_notes",
    "memory_summary",
    "progress",
    "read_notes",
    "recall",
    "remember_about_project",
    "remember_about_user",
    "resume_point",
    "search",
    "skip_step",
    "start_session",
    "start_step",
    "take_note",
    "update_memory",
]
