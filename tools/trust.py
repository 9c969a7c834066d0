"""Who calls a tool, and how far the owner's settings trust it.

The door says who it is. The settings can lower that, by the name of the client, and nothing can
raise it. A client that is trusted less than others may propose memories, which wait for the
owner's review, and change nothing else; one that may only read is refused every change.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..vault.settings import Client, Settings, WriteGate
from .answers import Origin
from .policy.form import Candidate
from .refusals import ClientReadOnly, ClientUntrusted

OF_AGENTS = ("agent", "untrusted")
"""The origins that the settings for clients, and the write gate, are about."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls a tool. The door sets it; no argument can.

    `passing` says that each call is a session of its own, as on the command line.
    """

    agent: str = "unknown"
    instance: str = ""
    session: str = ""
    client_version: str = ""
    origin: Origin = "agent"
    passing: bool = False


OWNER = Caller(agent="owner", origin="owner")

UNREVIEWED = "unreviewed"
"""The status of an observation that no recall and no search finds until the owner accepts it."""


def as_trusted(caller: Caller, settings: Settings) -> Caller:
    """Return a caller with the origin that the settings leave to it."""
    if caller.origin == "agent" and client_of(caller, settings).trust == "untrusted":
        return replace(caller, origin="untrusted")
    return caller


def lowered(caller: Caller) -> Caller:
    """A caller who says that its words are not to be trusted; nothing raises them again."""
    return replace(caller, origin="untrusted")


def said_by(caller: Caller) -> dict[str, str]:
    """The field of a line that tells whose words it holds; none for an agent's, the default."""
    return {} if caller.origin == "agent" else {"origin": caller.origin}


def with_trust(candidate: Candidate, caller: Caller) -> Candidate:
    """Return a candidate with the origin of its words; those of nobody trusted wait for review."""
    marks = said_by(caller)
    if caller.origin == "untrusted":
        marks["status"] = UNREVIEWED
    return replace(candidate, fields={**candidate.fields, **marks})


def client_of(caller: Caller, settings: Settings) -> Client:
    """What the settings say of a caller; for the owner and the program itself, nothing."""
    return settings.client(caller.agent) if caller.origin in OF_AGENTS else Client()


def gate_of(caller: Caller, settings: Settings) -> WriteGate:
    """When a write by this caller waits for a verdict. The owner's never does."""
    if caller.origin not in OF_AGENTS:
        return "off"
    return client_of(caller, settings).write_gate or settings.write_gate


def refuse_reader(caller: Caller, settings: Settings) -> None:
    """Raise `ClientReadOnly` when the settings let a caller only read."""
    if client_of(caller, settings).trust == "read-only":
        raise ClientReadOnly(caller.agent)


def refuse_act(caller: Caller, settings: Settings, *, quiet: bool) -> None:
    """Raise `ClientReadOnly` or `ClientUntrusted` when a caller may not make a change.

    `quiet` is one that shows no words of the caller to any agent.
    """
    refuse_reader(caller, settings)
    if caller.origin == "untrusted" and not quiet:
        raise ClientUntrusted(caller.agent)
