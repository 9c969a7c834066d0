"""What only the tools refuse: the write policy, and what is for the vault's owner alone.

They are errors as those of `vault.errors` are: built from facts, with a code and the next step.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..vault.errors import (
    Conflicting,
    NotFound,
    Refused,
    StorageFailure,
    UsageFailure,
    listing,
)


@dataclass(eq=False)
class SecretRefused(Refused):
    """The text holds what looks like a secret. It is told by its kind and never repeated."""

    kind: str
    code = "secret_refused"

    @property
    def sentence(self) -> str:
        return f"Nothing was written: the text seems to hold {self.kind}."

    @property
    def next_step(self) -> str:
        return "Say where the secret is kept instead of what it is."


@dataclass(eq=False)
class PurgeIncomplete(StorageFailure):
    """Words that were to be gone are still in files of ours."""

    left: tuple[str, ...]
    code = "purge_incomplete"

    @property
    def sentence(self) -> str:
        return f"The words are not gone yet: they stand in {listing(self.left)}."

    @property
    def next_step(self) -> str:
        return "Close the programs that use the vault, then run it again."


@dataclass(eq=False)
class ClientReadOnly(Refused):
    """A client that the settings let only read asked for a change."""

    client: str
    code = "client_read_only"

    @property
    def sentence(self) -> str:
        return f"The settings of this vault let {self.client!r} read and not write."

    @property
    def next_step(self) -> str:
        return "Tell the owner what should be written; zibaldone.toml says who may."


@dataclass(eq=False)
class ClientUntrusted(Refused):
    """A client whose words the owner reviews asked for more than to propose a memory."""

    client: str
    code = "client_untrusted"

    @property
    def sentence(self) -> str:
        return f"{self.client!r} may propose memories here and change nothing that is there."

    @property
    def next_step(self) -> str:
        return "Propose the fact with a `remember` tool; the owner reviews it."


@dataclass(eq=False)
class ReceiptRefused(Conflicting):
    """A verdict came with a receipt that does not hold for it, or no longer."""

    reason: str
    code = "receipt_refused"

    @property
    def sentence(self) -> str:
        return f"Nothing was written, for the receipt does not hold: {self.reason}."

    @property
    def next_step(self) -> str:
        return "Call again without receipt and verdict, and judge what the answer shows."


@dataclass(eq=False)
class ProposalChanged(Conflicting):
    """No line that waits for review is the one that was shown with this ticket."""

    ticket: str
    code = "proposal_changed"

    @property
    def sentence(self) -> str:
        return f"Nothing that waits for review is as it was shown with ticket {self.ticket!r}."

    @property
    def next_step(self) -> str:
        return "Read the queue again with `zib review`, and decide by what it shows now."


@dataclass(eq=False)
class OwnerOnly(Refused):
    """An agent asked for what only the vault's owner may do."""

    what: str
    how: str = "Ask the owner to do it."
    code = "owner_only"

    @property
    def sentence(self) -> str:
        return f"Only the owner of the vault may {self.what}."

    @property
    def next_step(self) -> str:
        return self.how


@dataclass(eq=False)
class NameUnknown(NotFound):
    """A plan, a step or a rule was named that is not there."""

    what: str
    name: str
    known: tuple[str, ...] = ()
    code = "name_unknown"

    @property
    def sentence(self) -> str:
        return f"There is no {self.what} called {self.name!r}."

    @property
    def next_step(self) -> str:
        return f"There is: {listing(self.known, 40)}." if self.known else "There is none at all."


@dataclass(eq=False)
class RuleForbids(Refused):
    """A rule of the owner on the memory itself forbids to remember or to recall something."""

    rule: str
    statement: str
    path: str
    line: int
    code = "rule_forbids"

    @property
    def sentence(self) -> str:
        return f"The rule {self.rule!r} ({self.path}, line {self.line}) says: {self.statement}."

    @property
    def next_step(self) -> str:
        return "Keep to it; ask the owner if it should not hold here."


@dataclass(eq=False)
class MemoryUndeclared(UsageFailure):
    """A program used an adapter before it declared under which name its memory is kept."""

    suggested: str
    code = "memory_undeclared"

    @property
    def sentence(self) -> str:
        return "This program has not declared the name of its memory; nothing was done."

    @property
    def next_step(self) -> str:
        name = self.suggested
        return f'Add this line: from zibaldone.tools.adapters import require; require("{name}")'


@dataclass(eq=False)
class MemoryNameRefused(Refused):
    """A name for a program's memory that is malformed, not allowed, or a second one."""

    name: str
    reason: str
    code = "memory_name_refused"

    @property
    def sentence(self) -> str:
        return f"{self.name!r} cannot be the name of this program's memory: {self.reason}."

    @property
    def next_step(self) -> str:
        return "Declare one name for each program; [memory_names] in zibaldone.toml says which."


@dataclass(eq=False)
class EventUnknown(UsageFailure):
    """An event of an agent in a shape that is not known."""

    problem: str
    known: tuple[str, ...] = ()
    code = "event_unknown"

    @property
    def sentence(self) -> str:
        return f"The event cannot be read: {self.problem}."

    @property
    def next_step(self) -> str:
        known = ", ".join(self.known)
        return f"Give one of these types: {known}." if known else "Correct it and call again."
