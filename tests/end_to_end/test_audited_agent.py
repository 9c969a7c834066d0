"""What an agent asks over MCP is in the audit for its owner, and nothing of it is for the agent."""

import json

from agents import run, session
from zibaldone.tools.audit import audit, blind_spots
from zibaldone.tools.vault import Vault

CANARY = "what does the zeppelin carry"


async def ask(vault):
    """Ask this and that as a client named dockhand; returns all that it was answered."""
    async with session(vault, "dockhand", "3.1", ZIBALDONE_AGENT_INSTANCE="berth-4") as client:
        listed = await client.list_tools()
        calls = [
            ("search", {"query": CANARY, "limit": 5}),
            ("recall", {"query": "short reports", "budgetTokens": 300}),
            ("get_note", {"ref": "Home"}),
            ("get_note", {"ref": ".zibaldone/audit"}),
            ("search", {"query": "zeppelin"}),
            ("list_notes", {}),
            ("memory_summary", {}),
        ]
        answers = [await client.call_tool(name, given) for name, given in calls]
    assert [one.is_error for one in answers] == [name == ".zibaldone/audit" for name in (
        given.get("ref") for _, given in calls)]  # fmt: skip
    return listed.model_dump_json() + "".join(one.model_dump_json() for one in answers)


def test_an_agent_is_audited_and_is_told_nothing_of_it(sample_vault):
    heard = run(ask, sample_vault)
    assert CANARY not in heard
    assert "dockhand" not in heard
    with Vault.open(sample_vault) as owner:
        told = audit(owner)
        blind = blind_spots(owner)
    asked = [(one.tool, one.query, one.error) for one in reversed(told.retrievals)]
    assert asked == [
        ("search", CANARY, ""),
        ("recall", "short reports", ""),
        ("get_note", "Home", ""),
        ("get_note", ".zibaldone/audit", "note_not_found"),
        ("search", "zeppelin", ""),
    ]
    callers = {one.caller for one in told.retrievals}
    (caller,) = callers
    assert (caller.agent, caller.instance, caller.client_version) == ("dockhand", "berth-4", "3.1")
    assert (caller.origin, bool(caller.session)) == ("agent", True)
    recalled = told.retrievals[3]
    assert recalled.tokens <= 300
    assert all(part.note in told.paths and len(part.revision) == 16 for part in recalled.given)
    assert "zeppelin" in [one.query for one in blind]
    lines = [
        json.loads(line)
        for file in sample_vault.glob(".zibaldone/audit/*/*.jsonl")
        for line in file.read_bytes().splitlines()
    ]
    assert len(lines) == len(asked)
