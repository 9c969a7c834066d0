"""Reading never writes into a vault, and writing stays inside the vault and the cache.

A real process runs with an audit hook of the interpreter, which sees every file that Python opens,
moves or removes, whatever module or library does it.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/fd").is_dir(), reason="what a descriptor leads to is only known on Linux"
)

WATCHED = r"""
import json, os, sys

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# Where each event has its paths, and the descriptors of the folders that they are relative to.
PLACES = {
    "os.rename": ((0, 2), (1, 3)),
    "os.link": ((0, 2), (1, 3)),
    "os.symlink": ((1, 2),),
    "os.remove": ((0, 1),),
    "os.rmdir": ((0, 1),),
    "os.mkdir": ((0, 2),),
    "os.chmod": ((0, 2),),
    "os.utime": ((0, 3),),
    "os.truncate": ((0, None),),
    "sqlite3.connect": ((0, None),),
}
seen = set()

def note(path, folder=-1):
    if isinstance(path, (str, bytes, os.PathLike)):
        base = os.getcwd() if folder in (None, -1) else os.readlink(f"/proc/self/fd/{folder}")
        seen.add(os.path.realpath(os.path.join(base, os.fsdecode(path))))

def hook(event, args):
    if event == "open" and args[1] is not None and args[2] & WRITING:
        note(args[0])
    for path, folder in PLACES.get(event, ()):
        note(args[path], -1 if folder is None else args[folder])

def watched_open(path, flags, *rest, dir_fd=None, real=os.open, **more):
    if flags & WRITING:  # the event does not tell the folder
        note(path, dir_fd)
    return real(path, flags, *rest, dir_fd=dir_fd, **more)

sys.dont_write_bytecode = True
os.open = watched_open
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
    in_vault = {path[len(ours[1]) + 1 :] for path in touched if path.startswith(ours[1])}
    assert "agent-memory/breakfast.md" in in_vault
    assert {path.split("/")[0] for path in in_vault} <= {"agent-memory", ".zibaldone"}, in_vault
