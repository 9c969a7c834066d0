"""Who runs the command line: the owner, or an agent in a shell of its own.

What an agent writes must not pass as the owner's words. Agents are known by the variables that
their programs set for the commands they run; `ZIBALDONE_AGENT` says it for all others. A variable
lowers the origin and never raises it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from ..vault.ids import new_id
from .render import one_line
from .vault import Caller

AGENT_VARIABLE = "ZIBALDONE_AGENT"
INSTANCE_VARIABLE = "ZIBALDONE_AGENT_INSTANCE"

AGENT_SHELLS: Final[Mapping[str, str]] = {
    "AI_AGENT": "",
    "AGENT": "",
    "CLAUDECODE": "claude-code",
    "CODEX_SANDBOX": "codex",
    "CODEX_THREAD_ID": "codex",
    "CURSOR_AGENT": "cursor",
    "GEMINI_CLI": "gemini-cli",
    "GOOSE_TERMINAL": "goose",
    "OPENCODE": "opencode",
    "AUGMENT_AGENT": "augment",
}
"""Variables of agents' shells with the agent's name; for those without one, the value names it."""


def caller_of(environment: Mapping[str, str]) -> Caller:
    """Return who is asking, as far as the environment tells."""
    owner = Caller(
        agent="owner",
        instance=one_line(environment.get(INSTANCE_VARIABLE, "")),
        session=new_id(),
        origin="owner",
        passing=True,
    )
    if name := environment.get(AGENT_VARIABLE):
        return replace(owner, agent=one_line(name) or "unknown", origin="agent")
    for variable, name in AGENT_SHELLS.items():
        if value := environment.get(variable):
            return replace(owner, agent=name or one_line(value) or "unknown", origin="agent")
    return owner
