"""Fixtures that all tests share. No test sees the user's own vault, cache or settings."""

import base64
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings
from zibaldone.tools.shell import AGENT_SHELLS, AGENT_VARIABLE, INSTANCE_VARIABLE

REPOSITORY = Path(__file__).parents[1]

# A busy machine must not fail a property, and each run is like the last. `quick` is for the second
# and third run of `.ci/run`; `long` looks at new cases each time, for as long as one has.
settings.register_profile("zibaldone", deadline=None, derandomize=True)
settings.register_profile("quick", deadline=None, derandomize=True, max_examples=20)
settings.register_profile("long", deadline=None, max_examples=400)
settings.load_profile("zibaldone")

# What chooses a vault or a door must not come from the shell of whoever runs the tests.
for name in (
    "ZIBALDONE_VAULT",
    "ZIBALDONE_STATE_DIR",
    AGENT_VARIABLE,
    INSTANCE_VARIABLE,
    *AGENT_SHELLS,
):
    os.environ.pop(name, None)


@pytest.fixture(autouse=True)
def private_cache(monkeypatch, tmp_path_factory):
    """Each test has a cache of its own."""
    monkeypatch.setenv("ZIBALDONE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))


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
