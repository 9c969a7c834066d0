"""Fixtures that all tests share. No test sees the user's own vault, cache or settings."""

import shutil
from pathlib import Path

import pytest
from hypothesis import settings

REPOSITORY = Path(__file__).parents[1]

# A busy machine must not fail a property.
settings.register_profile("zibaldone", deadline=None)
settings.load_profile("zibaldone")


@pytest.fixture(autouse=True)
def private_environment(monkeypatch, tmp_path_factory):
    """Each test has its own cache, and no variable chooses its vault or its door."""
    monkeypatch.setenv("ZIBALDONE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    for name in ("ZIBALDONE_VAULT", "ZIBALDONE_STATE_DIR", "ZIBALDONE_AGENT"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def vault_dir(tmp_path):
    """An empty vault."""
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


@pytest.fixture
def sample_vault(tmp_path):
    """A copy of sample-vault, free to be changed."""
    return Path(shutil.copytree(REPOSITORY / "sample-vault", tmp_path / "sample-vault"))
