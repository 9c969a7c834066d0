import math
import os
from pathlib import Path

import pytest
from zibaldone.vault.errors import SettingsInvalid
from zibaldone.vault.settings import (
    Client,
    MemoryNames,
    Settings,
    cache_folder,
    load_settings,
    state_folder,
    vault_key,
)


def load(folder, text):
    data = text if isinstance(text, bytes) else text.encode()
    (folder / "zibaldone.toml").write_bytes(data)
    return load_settings(folder)


def test_a_vault_without_a_settings_file_has_the_defaults(vault_dir):
    assert load_settings(vault_dir) == Settings(
        memory_folder="agent-memory",
        projects_folder="projects",
        ignore=(),
        write_gate="similar",
        watch="native",
        poll_seconds=1.0,
        thread_days=14,
    )


def test_every_setting_can_be_given(vault_dir):
    assert load(
        vault_dir,
        """
        memory_folder = "memoria"
        projects_folder = "proyectos"
        ignore = ["plantillas/", "*.excalidraw.md"]
        write_gate = "always"
        watch = "polling"
        poll_seconds = 2
        thread_days = 3
        personal_tokens = 0
        project_tokens = 4000
        work_tokens = 200000
        [memory_names]
        allow = ["support-*"]
        deny = ["support-test"]
        [clients.Planner]
        trust = "read-only"
        [clients." Web  reader "]
        trust = "untrusted"
        write_gate = "off"
        [clients."*"]
        """,
    ) == Settings(
        memory_folder="memoria",
        projects_folder="proyectos",
        ignore=("plantillas", "*.excalidraw.md"),
        write_gate="always",
        watch="polling",
        poll_seconds=2.0,
        thread_days=3,
        personal_tokens=0,
        project_tokens=4000,
        work_tokens=200_000,
        memory_names=MemoryNames(("support-*",), ("support-test",)),
        clients={
            "planner": Client("read-only"),
            "web reader": Client("untrusted", "off"),
            "*": Client("agent"),
        },
    )


@pytest.mark.parametrize(
    ("allow", "deny", "admitted", "refused"),
    [
        ((), (), ["a", "A-1_b"], []),
        (("support-*", "Planner"), (), ["support-1", "SUPPORT-x", "planner"], ["planners", "a"]),
        (("support-*",), ("support-test*",), ["support-a"], ["support-test", "Support-Tests"]),
        ((), ("*",), [], ["a"]),
    ],
)
def test_names_are_allowed_and_denied_also_by_their_beginning(allow, deny, admitted, refused):
    names = MemoryNames(allow, deny)
    assert all(map(names.admits, admitted))
    assert not any(map(names.admits, refused))


@pytest.mark.parametrize(
    "value",
    ["[]", "true", "{ allow = 1 }", '{ allow = ["a b"] }', '{ deny = ["*-x"] }', "{ only = [] }"],
)
def test_a_list_of_names_that_cannot_be_meant_is_refused(value, vault_dir):
    with pytest.raises(SettingsInvalid):
        load(vault_dir, f"memory_names = {value}")


def test_a_client_is_found_by_its_name_in_any_spelling_else_as_any():
    known = Settings(clients={"café bot": Client("untrusted"), "*": Client("read-only")})
    assert known.client("  CAFE\u0301  Bot").trust == "untrusted"
    assert known.client("another").trust == "read-only"
    assert Settings().client("another") == Client("agent", None)


@pytest.mark.parametrize(
    "text",
    [
        "clients = 3",
        "[[clients]]",
        "[clients]\nplanner = 'agent'",
        "[clients.' ']",
        "[clients.planner]\n[clients.PLANNER]",
        "[clients.planner]\ntrust = 'owner'",
        "[clients.planner]\ntrust = true",
        "[clients.planner]\nwrite_gate = 'never'",
    ],
)
def test_what_is_no_table_for_a_client_is_refused(vault_dir, text):
    with pytest.raises(SettingsInvalid):
        load(vault_dir, text)


def test_an_unknown_key_of_a_client_is_refused_with_the_nearest_known(vault_dir):
    with pytest.raises(SettingsInvalid, match=r'clients\."planner".*trusted.*is .trust'):
        load(vault_dir, "[clients.planner]\ntrusted = 'agent'")


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(vault_dir):
    assert load(vault_dir, b'\xef\xbb\xbfwatch = "off"\r\n').watch == "off"


@pytest.mark.parametrize(
    ("key", "nearest"),
    [
        ("ignored", "ignore"),
        ("memoryFolder", "memory_folder"),
        ("writegate", "write_gate"),
        ("WATCH", "watch"),
        ("zzz", "'"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_known(vault_dir, key, nearest):
    with pytest.raises(SettingsInvalid, match=f"{key}.*nearest is .*{nearest}") as caught:
        load(vault_dir, f'{key} = "x"')
    assert caught.value.path == str(vault_dir / "zibaldone.toml")


@pytest.mark.parametrize(
    "line",
    [
        "memory_folder = 3",
        "memory_folder = ''",
        "memory_folder = '../elsewhere'",
        "memory_folder = '/tmp'",
        "memory_folder = 'a/b'",
        "memory_folder = '.hidden'",
        "projects_folder = '..'",
        "projects_folder = 'con'",
        "projects_folder = 'Agent-Memory'",
        "ignore = 'drafts'",
        "ignore = [1]",
        "ignore = ['/']",
        "write_gate = 'maybe'",
        "write_gate = true",
        "watch = 'inotify'",
        "watch = ['native']",
        "thread_days = 0",
        "thread_days = 1.5",
        "thread_days = true",
        "personal_tokens = -1",
        "project_tokens = 200001",
        "work_tokens = '1000'",
        "poll_seconds = '1'",
        "poll_seconds = true",
        "poll_seconds = 0",
        "poll_seconds = -1",
        "poll_seconds = nan",
        "poll_seconds = inf",
        "[settings]",
    ],
)
def test_a_value_of_the_wrong_type_or_range_is_refused(vault_dir, line):
    with pytest.raises(SettingsInvalid):
        load(vault_dir, line)


@pytest.mark.parametrize(
    "data",
    [
        b"watch = ",
        b"watch = 'off'\nwatch = 'off'",
        b"\xff\xfe",
        b"ignore = " + b"[" * 20_000,
        b"#" * 70_000,
    ],
)
def test_a_file_that_is_not_toml_is_refused(vault_dir, data):
    with pytest.raises(SettingsInvalid):
        load(vault_dir, data)


def test_what_is_no_regular_file_is_refused_and_not_waited_for(vault_dir):
    os.mkfifo(vault_dir / "zibaldone.toml")
    with pytest.raises(SettingsInvalid, match="regular"):
        load_settings(vault_dir)


def test_a_dangling_settings_link_is_not_taken_for_no_settings(vault_dir):
    (vault_dir / "zibaldone.toml").symlink_to(vault_dir / "gone.toml")
    with pytest.raises(SettingsInvalid):
        load_settings(vault_dir)


def test_the_vault_key_is_readable_and_one_per_path():
    key = vault_key(Path("/home/ines/Diario de Inés (2024)"))
    slug, digits = key.rsplit("-", 1)
    assert slug == "diario-de-ines-2024"
    assert len(digits) == 12
    assert int(digits, 16) >= 0
    assert vault_key(Path("/home/ines/notes")) != vault_key(Path("/home/olga/notes"))
    assert vault_key(Path("/笔记")).startswith("vault-")
    assert len(vault_key(Path("/" + "long" * 60))) <= 53


def test_the_state_lies_in_the_vault_unless_moved(vault_dir, tmp_path, monkeypatch):
    assert state_folder(vault_dir) == vault_dir / ".zibaldone"
    monkeypatch.setenv("ZIBALDONE_STATE_DIR", str(tmp_path / "state"))
    assert state_folder(vault_dir) == tmp_path / "state"
    monkeypatch.setenv("ZIBALDONE_STATE_DIR", "~/state")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert state_folder(vault_dir) == tmp_path / "state"


def test_a_vault_is_not_its_own_state_folder(vault_dir, monkeypatch):
    monkeypatch.setenv("ZIBALDONE_STATE_DIR", f"{vault_dir}/")
    with pytest.raises(SettingsInvalid, match="ZIBALDONE_STATE_DIR"):
        state_folder(vault_dir)


def test_each_vault_has_its_own_cache(vault_dir, tmp_path, monkeypatch):
    monkeypatch.setenv("ZIBALDONE_CACHE_DIR", str(tmp_path / "cache"))
    assert cache_folder(vault_dir) == tmp_path / "cache" / vault_key(vault_dir)
    monkeypatch.delenv("ZIBALDONE_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HOME", str(tmp_path))
    default = cache_folder(vault_dir)
    assert default.name == vault_key(vault_dir)
    assert default.parent.name == "zibaldone"
    assert default.is_relative_to(tmp_path)
    assert not default.exists()


def test_a_cache_inside_the_vault_is_refused(vault_dir, tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to(vault_dir)
    for inside in (vault_dir, vault_dir / ".cache", tmp_path / "link" / "deep"):
        monkeypatch.setenv("ZIBALDONE_CACHE_DIR", str(inside))
        with pytest.raises(SettingsInvalid, match="in the vault"):
            cache_folder(vault_dir)
    monkeypatch.setenv("ZIBALDONE_CACHE_DIR", str(tmp_path / "vault-cache"))
    assert not cache_folder(vault_dir).is_relative_to(vault_dir)


def test_poll_seconds_is_a_finite_float(vault_dir):
    seconds = load(vault_dir, "poll_seconds = 0.5").poll_seconds
    assert math.isclose(seconds, 0.5)
    assert isinstance(load(vault_dir, "poll_seconds = 3").poll_seconds, float)
