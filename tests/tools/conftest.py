"""Vaults that the tests of the tools fill and open."""

import base64
from contextlib import ExitStack

import pytest
from zibaldone.tools.vault import Caller, Vault

AGENT = Caller(agent="tester", origin="agent")


@pytest.fixture
def fill(vault_dir):
    """Write files into the vault: text, bytes, or base64 as in `{"base64": …}`."""

    def write(files):
        for path, content in files.items():
            if isinstance(content, dict):
                content = base64.b64decode(content["base64"])
            file = vault_dir / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)
        return vault_dir

    return write


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
