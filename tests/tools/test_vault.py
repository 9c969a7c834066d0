"""An open vault: where it is found, who asks, and what opening and closing leave behind."""

import os

import pytest
from zibaldone.tools.notes import create_note, edit_note, get_note
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.search import search
from zibaldone.tools.vault import OWNER, Caller, Vault
from zibaldone.vault.errors import LockTimeout, SettingsInvalid, VaultEmptied, VaultNotFound


def test_the_path_then_the_variable_then_the_nearest_above(fill, vault_dir, monkeypatch, tmp_path):
    fill({"a.md": "a\n", "zibaldone.toml": "", "deep/er/b.md": "b\n"})
    monkeypatch.chdir(vault_dir / "deep/er")
    with Vault.open() as vault:
        assert vault.layout.root == vault_dir.resolve()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(VaultNotFound):
        Vault.open()
    monkeypatch.setenv("ZIBALDONE_VAULT", str(vault_dir))
    with Vault.open() as vault:
        assert get_note(vault, "a").content == "a\n"
    with pytest.raises(VaultNotFound):
        Vault.open(tmp_path / "nowhere")


def test_settings_that_cannot_be_read_are_a_typed_failure(fill, vault_dir):
    fill({"zibaldone.toml": 'memory_foldr = "x"\n'})
    with pytest.raises(SettingsInvalid, match="memory_folder"):
        Vault.open(vault_dir)


def test_whoever_opens_it_is_the_owner_unless_a_door_says_otherwise(vault_dir):
    with Vault.open(vault_dir) as vault:
        assert vault.caller == OWNER
        agent = vault.with_caller(Caller(agent="helper"))
        assert (agent.caller.origin, agent.store, agent.index) == (
            "agent",
            vault.store,
            vault.index,
        )
        remember_about_user(vault, "Owner's fact")
        remember_about_user(agent, "Agent's fact")
        kept = get_note(vault, "general").observations
        assert [one.origin for one in kept] == ["owner", "agent"]


def test_opening_and_reading_write_nothing_into_the_vault(fill, vault_dir):
    fill({"a.md": "quince\n", "agent-memory/b.md": "- quince\n"})
    before = {path: path.stat().st_mtime_ns for path in [vault_dir, *vault_dir.rglob("*")]}
    with Vault.open(vault_dir) as vault:
        search(vault, "quince")
        get_note(vault, "a")
    assert {path: path.stat().st_mtime_ns for path in [vault_dir, *vault_dir.rglob("*")]} == before


def test_the_index_is_disposable(opened, fill):
    vault = opened({"a.md": "quince [[b]]\n", "b.md": "pear\n", "agent-memory/c.md": "- quince\n"})
    before = search(vault, "quince"), get_note(vault, "b")
    vault.index.refresh(rebuild=True)
    assert (search(vault, "quince"), get_note(vault, "b")) == before


def test_a_vault_that_is_suddenly_empty_is_no_mass_deletion(opened, vault_dir):
    vault = opened({"a.md": "quince\n"})
    assert search(vault, "quince").total == 1
    (vault_dir / "a.md").rename(vault_dir.parent / "kept.md")
    with pytest.raises(VaultEmptied):
        search(vault, "quince")
    (vault_dir.parent / "kept.md").rename(vault_dir / "a.md")
    assert search(vault, "quince").total == 1


def test_a_write_stands_though_the_index_fails(opened, monkeypatch):
    vault = opened({"a.md": "a\n"})
    search(vault, "a")

    def busy(paths):
        raise LockTimeout("index", 1.0)

    # Reading and writing want the index before; what comes after the write is what fails here.
    with monkeypatch.context() as patched:
        patched.setattr(vault.index, "_look_at", busy)
        assert edit_note(vault, "a", "append", "quince").outcome == "edited"
        assert create_note(vault, "x", "B", "quince").outcome == "created"
        assert remember_about_user(vault, "Likes quince").outcome == "created"
    assert search(vault, "quince").total == 3


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_vault_can_be_read(fill, vault_dir):
    fill({"a.md": "quince\n"})
    vault_dir.chmod(0o500)
    try:
        with Vault.open(vault_dir) as vault:
            assert search(vault, "quince").total == 1
    finally:
        vault_dir.chmod(0o700)


def test_a_watching_vault_sees_what_the_owner_does(opened, fill):
    vault = opened({"a.md": "pear\n"}, watch=True)
    assert vault.index.ready.wait(20)
    assert search(vault, "pear").total == 1
    remember_about_user(vault, "Likes quince")
    assert search(vault, "quince").total == 1
