"""What `zib init` writes into a new vault, and what it says about the next steps."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path

SETTINGS = """\
# Settings of this vault. Every line is a default; take the # away to change it.

# The folder of memory about the user, and of each project's memory inside its project.
#memory_folder = "agent-memory"

# The folder that holds one folder for each project.
#projects_folder = "projects"

# Folders and files that are not notes, as patterns: ["templates", "archive/*"]
#ignore = []

# When a new memory waits for a verdict of its agent: if there is something "similar", "always",
# or never ("off").
#write_gate = "similar"

# How a running server hears of changes on disk: "native", "polling" (network disks) or "off".
#watch = "native"

# With "polling": seconds between two looks.
#poll_seconds = 1.0

# Days for which the short-term notes of a thread are kept after the last of them.
#thread_days = 14

# Days for which is kept what agents have asked, until `zib sweep --yes`.
#audit_days = 90

# Tokens for what a session starts with: about you, about its project, and work in progress.
#personal_tokens = 1500
#project_tokens = 2500
#work_tokens = 1000

# Which names programs may declare for their memory ("support-*" is the beginning of one).
#memory_names = { allow = [], deny = [] }

# How far a client is trusted: as an "agent"; "untrusted", so that you review what it remembers; or
# "read-only". The name is what it says of itself; "*" stands for all others. These come last.
#[clients."name of a client"]
#trust = "agent"
"""


def next_steps(root: Path) -> str:
    """Return how to give this vault to the common clients, ready to paste."""
    command = _command()
    server = {"command": command, "args": ["mcp", "--vault", str(root)]}
    line, place = shlex.join([command, *server["args"]]), shlex.quote(str(root))
    return f"""\
Give it to an agent; docs/clients.md has more of each:

  Claude Code   claude mcp add --scope user zibaldone -- {line}
  Codex CLI     codex mcp add zibaldone -- {line}

  Claude Desktop, Cursor and Gemini CLI, in their settings under "mcpServers";
  VS Code, in mcp.json under "servers":

    "zibaldone": {json.dumps(server, ensure_ascii=False)}

Try it: zib remember-about-user "Prefers short reports." --category preferences --vault {place}
        zib recall "how to write a report" --vault {place}
"""


def _command() -> str:
    """The path of `zib`, since clients with windows do not look where a shell does."""
    beside = Path(sys.executable).with_name("zib")
    return str(beside) if beside.exists() else shutil.which("zib") or "zib"
