"""A secret is refused at the door, and its characters are nowhere afterwards."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest
from agents import run, session
from zibaldone.tools.lifecycle import forget, update_memory
from zibaldone.tools.mcp_server import call
from zibaldone.tools.notes import edit_note
from zibaldone.tools.refusals import SecretRefused
from zibaldone.tools.remember import remember_about_project, remember_about_user
from zibaldone.tools.vault import Caller, Vault

KNOWN = runpy.run_path(str(Path(__file__).with_name("test_secrets.py")))
SECRETS = {name: secret for name, (_, secret) in KNOWN["SECRETS"].items()}
TOKEN = "ghp_" + "Zq7LmX2vNc9RtYbK4wHs8JdF3gPaQeUi1oTz"
AGENT = Caller("writer", "i1", "s1", "1.0", "agent")


def _files_below(*folders: Path) -> list[Path]:
    return [path for folder in folders for path in folder.rglob("*")]


def _holding(secret: str, *folders: Path) -> list[str]:
    """The files in which a secret is, as it is or as JSON or an index would write it."""
    lines = [line for line in secret.split("\n") if len(line) > 7] or [secret]
    forms = {form for line in lines for form in (line, line.lower(), json.dumps(line)[1:-1])}
    found = []
    for path in _files_below(*folders):
        held = path.name.encode() + (path.read_bytes() if path.is_file() else b"")
        found += [str(path) for form in forms if form.encode() in held]
    return found


@pytest.fixture(scope="module")
def vault(tmp_path_factory):
    folder = tmp_path_factory.mktemp("secrets") / "vault"
    folder.mkdir()
    (folder / "zibaldone.toml").write_text('write_gate = "off"\n')
    environment = pytest.MonkeyPatch()
    environment.setenv("ZIBALDONE_CACHE_DIR", str(folder.parent / "cache"))
    with Vault.open(folder) as opened:
        environment.undo()
        yield opened


def _attempts(vault: Vault, secret: str):
    """Every way in which an agent can hand over free text for the memory."""
    made = remember_about_user(vault, "Sails on Sundays.", category="sport")
    ref, line = made.observation_id, " ".join(secret.split())
    yield "remember_about_user", {"observation": f"It is {secret}"}
    yield "remember_about_user", {"observation": "Deploys.", "summary": f"It is {secret}"}
    yield "remember_about_user", {"observation": "Deploys.", "tags": [secret]}
    yield "remember_about_user", {"observation": "Deploys.", "category": secret}
    yield "remember_about_user", {"observation": "Deploys.", "derivedFrom": [secret]}
    yield "remember_about_project", {"project": "boat", "observation": f"It is {secret}"}
    yield "remember_about_project", {"project": secret, "observation": "Deploys."}
    yield "take_note", {"thread": "t1", "text": f"It is {secret}"}
    yield "add_rule", {"category": "keys", "name": "k", "level": "must", "text": secret}
    yield "create_progress", {"task": "deploy", "steps": [f"It is {secret}"]}
    yield "update_memory", {"ref": ref, "observation": f"It is {secret}"}
    yield "update_memory", {"ref": ref, "observation": "Sails.", "reason": f"It is {secret}"}
    yield "forget", {"ref": ref, "reason": f"It is {secret}"}
    for mode in ("append", "prepend", "replace"):
        yield "edit_note", {"ref": made.path, "mode": mode, "content": f"- It is {line}\n"}
    edit = {"mode": "findReplace", "find": "Sundays", "content": f"it is {line}"}
    yield "edit_note", {"ref": made.path, **edit}


@pytest.mark.parametrize("name", SECRETS)
def test_no_tool_takes_a_secret_of_any_kind_into_memory(vault, name, caplog):
    secret = SECRETS[name]
    for tool, arguments in _attempts(vault, secret):
        outcome = call(lambda: vault, AGENT, tool, arguments)
        assert outcome.failed, (tool, arguments)
        assert outcome.data["error"]["code"] == "secret_refused", (tool, outcome.text)
        assert secret not in outcome.text + json.dumps(outcome.data)
    assert secret not in caplog.text
    assert _holding(secret, vault.layout.root, vault.layout.cache_dir.parent) == []


def test_ordinary_lines_pass_by_every_tool(vault):
    for number, line in enumerate(KNOWN["ORDINARY"][:110]):
        made = remember_about_user(vault, f"{line} ({number})", category="ordinary")
        if number % 10 == 0:
            update_memory(vault, made.observation_id, f"{line} [{number}]", reason=line[:500])
            edit = {"find": f"[{number}]", "content": f"({number})"}
            edit_note(vault, made.path, "findReplace", **edit)
            forget(vault, made.observation_id, reason=line[:500])


def test_the_owners_own_lines_do_not_block_an_edit_beside_them(vault):
    made = remember_about_user(vault, "Keeps the key below.", category="own")
    note = vault.layout.root / made.path
    note.write_text(f"{note.read_text()}- It is {TOKEN}\n")
    edit = {"find": "below", "content": "beneath"}
    assert edit_note(vault, made.path, "findReplace", **edit).outcome == "edited"
    note.unlink()


def test_a_server_that_tells_all_tells_no_secret(vault_dir, tmp_path, monkeypatch):
    """Over a real pipe, with all that it and its libraries log."""
    monkeypatch.setenv("ZIBALDONE_LOG", "debug")
    log, cache = tmp_path / "log", tmp_path / "cache"
    monkeypatch.setenv("ZIBALDONE_CACHE_DIR", str(cache))

    async def work():
        with log.open("w") as told:
            async with session(vault_dir, errlog=told) as client:
                for secret in SECRETS.values():
                    arguments = {"observation": f"It is {secret}"}
                    result = await client.call_tool("remember_about_user", arguments)
                    assert result.is_error
                    assert secret not in result.content[0].text

    run(work)
    assert log.stat().st_size
    for secret in SECRETS.values():
        assert _holding(secret, vault_dir, cache) == []
        assert secret not in log.read_text()


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
    assert _holding(TOKEN, vault_dir, cache) == []
    assert not (vault_dir / "projects").exists()


def test_a_sentence_about_secrets_passes(vault_dir):
    with Vault.open(vault_dir) as vault:
        answer = remember_about_user(vault, "The API key is in the password manager, ask Ops.")
    assert answer.outcome == "created"
