"""Reading never writes into a vault, and writing stays inside the vault and the cache.

A real process runs with an audit hook of the interpreter, which sees every file that Python opens,
moves or removes, whatever module or library does it.
"""

import json
import subprocess
import sys

import pytest

WATCHED = r"""
import json, os, sys

CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "os.symlink"}
CHANGES |= {"os.chmod", "os.utime", "sqlite3.connect", "shutil.rmtree", "shutil.move"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
seen = set()

def hook(event, args):
    if event == "open":
        path, _, flags = args
        touched = [path] if flags & WRITING else []
    else:
        touched = args[:2] if event in CHANGES else []
    for path in touched:
        if isinstance(path, (str, bytes, os.PathLike)):
            seen.add(os.path.realpath(os.fsdecode(path)))

sys.dont_write_bytecode = True
sys.addaudithook(hook)

from zibaldone.tools.notes import edit_note, get_note, list_notes
from zibaldone.tools.recall import recall
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.search import search
from zibaldone.tools.summary import memory_summary
from zibaldone.tools.vault import Vault

with Vault.open(sys.argv[1]) as vault:
    listed = list_notes(vault)
    search(vault, "deadline report")
    recall(vault, "deadline report", depth=2)
    get_note(vault, listed.notes[0].path)
    memory_summary(vault)
    if "write" in sys.argv:
        done = remember_about_user(vault, "Drinks coffee with oat milk.", "breakfast")
        edit_note(vault, done.note_id, "findReplace", "with soy milk", find="with oat milk")
print(json.dumps(sorted(seen - {os.devnull})))
"""


def state(vault):
    """Everything in a vault that a change would show in: names, bytes, times and modes."""
    return {
        path.relative_to(vault).as_posix(): (
            path.read_bytes() if path.is_file() else None,
            path.stat().st_mtime_ns,
            path.stat().st_mode,
        )
        for path in [vault, *vault.rglob("*")]
    }


def changed_paths(vault, *what):
    command = [sys.executable, "-c", WATCHED, str(vault), *what]
    done = subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def cache(monkeypatch, tmp_path):
    folder = tmp_path.resolve() / "cache"
    monkeypatch.setenv("ZIBALDONE_CACHE_DIR", str(folder))
    return str(folder)


def test_reading_changes_nothing_in_a_vault(sample_vault, cache):
    before = state(sample_vault)
    touched = changed_paths(sample_vault)
    assert state(sample_vault) == before
    assert [path for path in touched if not path.startswith(cache)] == []
    assert touched, "the hook saw nothing, not even the index being written"


def test_writing_stays_inside_the_vault_and_the_cache(sample_vault, cache):
    touched = changed_paths(sample_vault, "write")
    ours = (cache, str(sample_vault.resolve()))
    assert [path for path in touched if not path.startswith(ours)] == []
    in_vault = {p for p in touched if p.startswith(ours[1])}
    assert any(path.endswith("breakfast.md") for path in in_vault)
    assert all("agent-memory" in path for path in in_vault), in_vault
