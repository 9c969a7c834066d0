"""Other interfaces to the same memory, for agents that know them: notes, policy and audit are one.

A program declares once under which name its memory is kept, then uses either form:

>>> from zibaldone.tools.adapters import require
>>> from zibaldone.tools.adapters.categories import remember
>>> require("support-agent", vault="~/notes")
>>> remember("decision", "Refunds are answered within a day.", tags=["refunds"])
"""

from .names import close, require

__all__ = ["close", "require"]
