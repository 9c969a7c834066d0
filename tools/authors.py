"""Narrowing a question to what one agent wrote, as the journal tells it."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..indexer.index import Found, Hit
from ..vault.errors import InvalidArgument
from .vault import Vault

OWN, ANYONE = "own", "*"
"""What stands for the caller itself, and for everybody."""


@dataclass(frozen=True, slots=True)
class Author:
    """The observations that an agent wrote first, as pairs of note and observation."""

    written: frozenset[tuple[str, str]] = field(repr=False)

    @property
    def notes(self) -> frozenset[str]:
        """The ids of the notes that they are in."""
        return frozenset(note for note, _ in self.written)

    def admits(self, hit: Hit) -> bool:
        """Whether a passage is by this agent; what is no observation is by nobody's."""
        passage = hit.passage
        return passage is not None and (hit.row.id, passage.observation) in self.written

    def filtered(self, found: Found) -> Found:
        """What was found of this agent's, and the number of its notes."""
        return found.only(self.admits)


def author_of(vault: Vault, name: str | None) -> Author | None:
    """Return whose words are asked for: `own`, a name as its client gives it, or None for all.

    Raises `InvalidArgument` for a blank name, and what reading the journal raises.
    """
    if name is None or name.strip() == ANYONE:
        return None
    agent = vault.caller.agent if name.strip() == OWN else name.strip()
    if not agent:
        raise InvalidArgument("from_agent", "it is blank; own, * or the name of an agent")
    return Author(vault.history().written_by(agent))
