"""A purge while other processes read and write: the words are gone for all, and stay gone."""

import os
import subprocess
import sys
import time
from pathlib import Path

from zibaldone.tools.notes import get_note
from zibaldone.tools.purge import purge
from zibaldone.tools.recall import recall
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.vault import Vault

AGENT = """
import sys
from zibaldone.tools.recall import recall
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.search import search
from zibaldone.tools.vault import Caller, Vault

vault, name = sys.argv[1:]
written = 0
with Vault.open(vault, caller=Caller(name, origin="owner"), watch=True) as vault:
    print("ready", flush=True)
    while written < 25:
        remember_about_user(vault, f"{name} counts sheep up to {written}.", "taste")
        written += 1
        search(vault, "themes in editors")
        recall(vault, "themes in editors")
        vault.index.tidy()
print(written)
"""


def test_two_processes_that_write_do_not_bring_words_back(vault_dir):
    with Vault.open(vault_dir) as owner:
        made = remember_about_user(owner, "Likes zebra themes in editors.", "taste")
    agents = [
        subprocess.Popen(
            [sys.executable, "-c", AGENT, str(vault_dir), name],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("Ana", "Berta")
    ]
    assert [agent.stdout.readline() for agent in agents] == ["ready\n"] * 2
    time.sleep(0.3)
    with Vault.open(vault_dir) as owner:
        assert recall(owner, "themes in editors").sources
        purge(owner, made.observation_id)
    assert [agent.communicate(timeout=120)[0] for agent in agents] == ["25\n"] * 2
    tops = (vault_dir, Path(os.environ["ZIBALDONE_CACHE_DIR"]))
    files = [path for top in tops for path in top.rglob("*") if path.is_file()]
    assert [path for path in files if b"zebra" in path.read_bytes()] == []
    with Vault.open(vault_dir) as owner:
        assert owner.store.ledger.journal.verify() == []
        lines = get_note(owner, made.path).observations
        assert len(lines) == 50
        assert recall(owner, "themes in editors").sources == ()
