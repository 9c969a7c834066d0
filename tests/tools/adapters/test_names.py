"""A program declares the name of its memory, once and before anything is done."""

import subprocess
import sys

import pytest
from zibaldone.tools.adapters import categories, close, general, names, require
from zibaldone.tools.refusals import MemoryNameRefused, MemoryUndeclared
from zibaldone.vault.errors import InvalidArgument, SettingsInvalid, VaultNotFound

USES = [
    lambda: general.remember("Prefers short reports."),
    lambda: general.recall("reports"),
    lambda: general.search("reports"),
    lambda: categories.remember("decision", "Reports are short."),
    lambda: categories.remember("rule", "must: pages <= 2"),
    lambda: categories.recall(),
]


def everything(folder):
    return sorted(path for path in folder.rglob("*"))


@pytest.mark.parametrize("use", USES)
def test_undeclared_use_names_the_line_to_add_and_creates_nothing(
    use, program, vault_dir, tmp_path_factory, monkeypatch
):
    cache = tmp_path_factory.mktemp("untouched")
    monkeypatch.setenv("ZIBALDONE_CACHE_DIR", str(cache))
    monkeypatch.setenv("ZIBALDONE_VAULT", str(vault_dir))
    monkeypatch.setattr(sys, "argv", ["/srv/support desk.py"])
    with pytest.raises(MemoryUndeclared) as refused:
        use()
    line = refused.value.next_step.removeprefix("Add this line: ")
    assert line.endswith('require("support-desk")')
    assert (everything(vault_dir), everything(cache)) == ([], [])
    exec(line)
    assert use() is not None


@pytest.mark.parametrize(
    ("called", "name"),
    [("/a/nightly_report.py", "nightly-report"), ("-c", "my-agent"), ("", "my-agent")],
)
def test_the_line_to_add_names_the_program(called, name, program, monkeypatch):
    monkeypatch.setattr(sys, "argv", [called])
    with pytest.raises(MemoryUndeclared, match=f'require\\("{name}"\\)'):
        names.declared()


@pytest.mark.parametrize("name", ["", "a b", "a/b", "..", "café", "a\n", "x" * 65, 'a"b', "a.b"])
def test_a_malformed_name_is_refused(name, program, vault_dir):
    with pytest.raises(MemoryNameRefused, match="1 to 64"):
        require(name, vault_dir)
    with pytest.raises(MemoryUndeclared):
        names.declared()


def test_a_program_has_one_name_and_may_repeat_it(program, vault_dir, tmp_path):
    require("support-agent", vault_dir)
    require("support-agent")
    require("support-agent", vault_dir)
    with pytest.raises(MemoryNameRefused, match="has declared 'support-agent' already"):
        require("sales-agent", vault_dir)
    with pytest.raises(InvalidArgument, match="declared that it uses"):
        require("support-agent", tmp_path)
    assert names.declared().caller.agent == "support-agent"


def test_a_name_opens_nothing_before_the_first_use(program, vault_dir, fill):
    fill({"a.md": "# A\n"})
    before = everything(vault_dir)
    require("support-agent", vault_dir)
    assert everything(vault_dir) == before
    with pytest.raises(VaultNotFound):
        names.Program().require("support-agent", vault_dir / "none")


def test_settings_deny_names_and_limit_them_by_their_beginning(program, vault_dir, fill):
    fill({"zibaldone.toml": '[memory_names]\nallow = ["support-*"]\ndeny = ["Support-Test*"]\n'})
    for name in ("sales-agent", "support", "support-test", "support-tests"):
        with pytest.raises(MemoryNameRefused, match="settings of the vault do not allow"):
            require(name, vault_dir)
    require("Support-agent", vault_dir)
    fill({"zibaldone.toml": "[memory_names]\nalow = []\n"})
    with pytest.raises(SettingsInvalid, match="'alow'; the nearest is 'allow'"):
        names.Program().require("support-agent", vault_dir)


def test_what_is_written_is_an_agents_under_its_name(declared, vault_dir):
    owner = declared({"zibaldone.toml": '[clients.support-agent]\ntrust = "untrusted"\n'})
    kept = general.remember("Prefers short reports.", "user/preferences")
    assert kept.outcome == "pending"
    state = owner.history().observation(kept.id)
    assert (state.actor.agent, state.actor.origin) == ("support-agent", "untrusted")


def test_the_vault_opens_again_after_it_was_closed(declared):
    declared()
    first = general.remember("Prefers short reports.")
    close()
    assert general.remember("Prefers short reports.").id == first.id


def test_a_program_of_its_own_keeps_its_memory(vault_dir):
    text = (
        "from zibaldone.tools.adapters import require\n"
        "from zibaldone.tools.adapters.categories import recall, remember\n"
        f"require('support-agent', {str(vault_dir)!r})\n"
        "remember('learning', 'Customers ask for the invoice first.')\n"
        "print(*[one.content for one in recall('learning').memories])\n"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("Customers ask for the invoice first.\n", "")
    assert "Customers ask" in (vault_dir / "agent-memory/learnings.md").read_text()
