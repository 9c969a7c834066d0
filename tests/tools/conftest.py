"""Vaults that the tests of the tools fill and open."""

from contextlib import ExitStack

import pytest
from zibaldone.tools.vault import Caller, Vault

AGENT = Caller(agent="tester", origin="agent")
PLANNER = Caller("planner", "i1", "s1", "1.0", "agent")


@pytest.fixture
def opened(fill, vault_dir):
    """Fill the vault and open it, as an agent unless said otherwise; closed after the test."""
    with ExitStack() as stack:

        def open_vault(files=(), *, caller=AGENT, watch=False):
            fill(dict(files))
            return stack.enter_context(Vault.open(vault_dir, caller=caller, watch=watch))

        yield open_vault


@pytest.fixture
def on_disk(vault_dir):
    """The text of a file of the vault."""
    return lambda path: (vault_dir / path).read_bytes().decode()


@pytest.fixture
def owner(vault_dir):
    """The vault as its owner has it open; its journal is whole at the end."""
    with Vault.open(vault_dir) as vault:
        yield vault
        assert vault.store.ledger.journal.verify() == []


@pytest.fixture
def planner(owner):
    """The same vault in the hands of an agent."""
    return owner.with_caller(PLANNER)
