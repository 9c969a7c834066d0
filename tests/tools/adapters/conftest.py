"""A program of its own for each test, as far as the adapters know."""

import pytest
from zibaldone.tools.adapters import names
from zibaldone.tools.vault import OWNER, Vault


@pytest.fixture
def program(monkeypatch):
    """What this program has declared: nothing yet."""
    fresh = names.Program()
    monkeypatch.setattr(names, "PROGRAM", fresh)
    yield fresh
    fresh.close()


@pytest.fixture
def declared(program, fill, vault_dir):
    """Fill the vault and declare `support-agent` for it; returns the vault as the owner has it."""

    def declare(files=(), name="support-agent"):
        fill(dict(files))
        names.require(name, vault_dir)
        return names.declared().with_caller(OWNER)

    return declare


@pytest.fixture
def another(vault_dir):
    """Use the vault as another program would, and leave it."""

    def act(caller, step):
        with Vault.open(vault_dir, caller=caller) as vault:
            return step(vault)

    return act
