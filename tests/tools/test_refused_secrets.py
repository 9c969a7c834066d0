"""A secret is refused at the door, and its characters are nowhere afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from zibaldone.tools.remember import remember_about_project, remember_about_user
from zibaldone.tools.vault import Vault
from zibaldone.vault.errors import SecretRefused

TOKEN = "ghp_" + "Zq7LmX2vNc9RtYbK4wHs8JdF3gPaQeUi1oTz"


def _bytes_below(*folders: Path) -> bytes:
    files = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    return b"".join(path.read_bytes() for path in files)


@pytest.mark.parametrize(
    "arguments",
    [
        {"observation": f"The deploy token is {TOKEN}."},
        {"observation": "Deploys with a token.", "summary": f"Tokens such as {TOKEN}"},
    ],
)
def test_a_secret_is_refused_and_leaves_no_trace(vault_dir, arguments):
    with Vault.open(vault_dir) as vault:
        remember_about_user(vault, "Deploys on Mondays.")
        with pytest.raises(SecretRefused) as refused:
            remember_about_user(vault, **arguments)
        with pytest.raises(SecretRefused):
            remember_about_project(vault, "harbour", **arguments)
        cache = vault.layout.cache_dir
    assert "GitHub" in str(refused.value)
    assert TOKEN not in str(refused.value)
    assert TOKEN.encode() not in _bytes_below(vault_dir, cache)
    assert not (vault_dir / "projects").exists()


def test_a_sentence_about_secrets_passes(vault_dir):
    with Vault.open(vault_dir) as vault:
        answer = remember_about_user(vault, "The API key is in the password manager, ask Ops.")
    assert answer.outcome == "created"
