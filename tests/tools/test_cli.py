import dataclasses
import json
import os
import pty
import re
import shlex
import subprocess
import sys
import tomllib

import pytest
from zibaldone.tools import cli, commands
from zibaldone.tools.definition import BY_NAME, TOOLS
from zibaldone.tools.setup import SETTINGS
from zibaldone.tools.shell import AGENT_SHELLS, caller_of
from zibaldone.vault.settings import Settings, parse_settings

ZIB = [sys.executable, "-m", "zibaldone.tools"]
AGENT_VARIABLES = [*AGENT_SHELLS, "ZIBALDONE_AGENT"]


@pytest.fixture(autouse=True)
def owners_shell(monkeypatch):
    for name in AGENT_VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def vault(vault_dir):
    harbour = vault_dir / "projects" / "harbour"
    harbour.mkdir(parents=True)
    (harbour / "Plan.md").write_text("# Plan\n\nThe quay is dredged in April. #quay\n", "utf-8")
    return vault_dir


@pytest.fixture
def zib(vault):
    """Run `zib` as a process in a vault."""

    def run(*arguments, stdin="", folder=vault, **environment):
        return subprocess.run(
            [*ZIB, *arguments],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            cwd=folder,
            env={**os.environ, "ZIBALDONE_VAULT": str(vault), **environment},
            timeout=60,
            check=False,
        )

    return run


def answered(done):
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


# Tools


def test_remember_search_and_recall(zib, vault) -> None:
    fact = "Prefers short reports."
    written = answered(
        zib("remember-about-user", fact, "--category", "preferences", "--tag", "a,b", "--json")
    )
    assert written["outcome"] == "created"
    note = (vault / "agent-memory" / "preferences.md").read_text("utf-8")
    assert fact in note
    assert "#a" in note
    assert "#b" in note
    found = answered(zib("search", "reports", "--class", "agent-memory", "--limit", "3", "--json"))
    assert [hit["observationId"] for hit in found["results"]] == [written["observationId"]]
    bundle = answered(zib("recall", "reports", "--budget-tokens", "200", "--depth", "2", "--json"))
    assert fact in bundle["context"]
    assert bundle["tokens"] <= bundle["budgetTokens"] == 200


def test_every_tool_is_a_command(vault, capsys) -> None:
    (vault / "agent-memory").mkdir()
    (vault / "agent-memory" / "boats.md").write_text("- Has one boat. ^boat01\n", "utf-8")
    calls = {
        "remember_about_user": ["Likes tea."],
        "remember_about_project": ["Uses boats.", "--project", "harbour", "--tags", "one"],
        "search": ["quay"],
        "recall": ["quay", "--project", "harbour"],
        "get_note": ["Plan"],
        "list_notes": ["--tag", "quay"],
        "create_note": ["Survey", "--project", "harbour", "--body", "North berth."],
        "edit_note": ["Survey", "--mode", "append", "--content", "South berth."],
        "update_memory": ["boat01", "--observation", "Has two boats."],
        "forget": ["boat01", "--reason", "sold"],
        "delete_note": ["Survey"],
        "memory_summary": ["--project", "harbour"],
        "create_progress": ["Load", "--steps", "ingest,check", "--step", "publish"],
        "start_step": ["Load", "--step", "ingest"],
        "complete_step": ["Load", "--step", "ingest", "--result", "100 rows"],
        "fail_step": ["Load", "--step", "check", "--reason", "row 7"],
        "skip_step": ["Load", "--step", "publish"],
        "resume_point": ["Load"],
        "start_session": ["--thread", "berths", "--project", "harbour"],
        "progress": [],
        "take_note": ["berths", "--text", "Row 7 is empty.", "--kind", "decision"],
        "read_notes": ["berths"],
        "consolidate": ["berths"],
        "add_rule": ["max", "--level=must", "--text=x <= 2", "--category=pricing"],
        "get_rules": ["--category", "pricing"],
        "check_rules": ["--category", "pricing", "--context", "x=3,y=4", "--context", "z=1"],
    }
    assert set(calls) == set(BY_NAME)
    for name, arguments in calls.items():
        code = cli.run([name.replace("_", "-"), *arguments, "--vault", str(vault)])
        shown = capsys.readouterr()
        assert (code, shown.err) == (0, ""), name
        assert shown.out.endswith("\n")
        assert "\x1b" not in shown.out


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_help_shows_every_argument(tool, monkeypatch, capsys) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    assert cli.run([tool.name.replace("_", "-"), "--help"]) == 0
    shown = capsys.readouterr().out
    for argument in tool.arguments:
        names = commands.option_names(argument)
        assert (argument.name.upper() if argument == tool.subject else names[-1]) in shown
        assert argument.description[:40] in shown


def test_edit_deletes_without_content(zib, vault) -> None:
    # Case ED-05.
    edited = answered(
        zib("edit-note", "Plan", "--mode", "findReplace", "--find", " #quay", "--json")
    )
    assert edited["outcome"] == "edited"
    assert (vault / "projects/harbour/Plan.md").read_text("utf-8") == (
        "# Plan\n\nThe quay is dredged in April.\n"
    )


def test_long_text_comes_from_stdin_unchanged(zib, vault) -> None:
    body = "# Survey\r\n\r\nÑandú — 北\r\n"
    made = answered(
        zib("create-note", "Survey", "--project", "harbour", "--body", "-", "--json", stdin=body)
    )
    assert body.encode() in (vault / made["path"]).read_bytes()


def test_stdin_that_is_no_text_is_refused(zib) -> None:
    done = zib("remember-about-user", "-", stdin=b"Caf\xe9")
    assert done.returncode == 2
    assert b"byte 3" in done.stderr


def test_text_that_begins_with_a_dash(zib) -> None:
    written = answered(zib("remember-about-user", "--json", "--", "--verbose is her habit"))
    assert written["outcome"] == "created"


# Which vault


def test_the_nearest_vault_above_the_folder(zib, vault) -> None:
    (vault / "zibaldone.toml").write_text("", "utf-8")
    listed = answered(
        zib("list-notes", "--json", folder=vault / "projects" / "harbour", ZIBALDONE_VAULT="")
    )
    assert listed["total"] == 1


def test_the_option_goes_before_the_variable(zib, tmp_path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    assert answered(zib("list-notes", "--vault", str(other), "--json"))["total"] == 0


def test_no_vault_is_an_error_with_a_next_step(zib, tmp_path) -> None:
    done = zib("search", "x", folder=tmp_path, ZIBALDONE_VAULT="")
    assert done.returncode == 3
    assert b"zib init" in done.stderr
    assert done.stderr.count(b"\n") == 1


# Failures


def test_an_error_is_one_line_with_its_exit_code(zib) -> None:
    done = zib("get-note", "No such note")
    assert done.returncode == 3
    assert done.stdout == b""
    assert done.stderr.startswith(b"zib: There is no note 'No such note'.")
    assert done.stderr.count(b"\n") == 1


def test_with_json_the_error_is_json(zib) -> None:
    done = zib("get-note", "No such note", "--json")
    assert done.returncode == 3
    assert done.stderr == b""
    assert json.loads(done.stdout)["error"]["code"] == "note_not_found"


def test_json_behind_two_dashes_is_a_text(zib) -> None:
    assert zib("get-note", "--", "--json").stderr.startswith(b"zib: There is no note '--json'.")


def test_a_value_out_of_bounds_is_a_fact(zib) -> None:
    done = zib("search", "x", "--limit", "0")
    assert done.returncode == 2
    assert b"from 1 to 100, not 0" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["serch", "x"], b"search"),
        (["search", "x", "--limt", "3"], b"--limit"),
        (["search"], b"QUERY"),
        (["edit-note", "Plan", "--mode", "findreplace"], b"findReplace"),
    ],
)
def test_usage_errors_say_what_is_near(zib, arguments, hint) -> None:
    done = zib(*arguments)
    assert done.returncode == 2
    assert hint in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_reader_that_leaves_early_gets_no_words(zib, vault) -> None:
    (vault / "Long.md").write_text("word " * 100_000, "utf-8")
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run(
            [*ZIB, "get-note", "Long", "--vault", str(vault)],
            stdout=closed,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert done.stderr == b""
    assert done.returncode != 0


# For people


def on_a_terminal(arguments, environment):
    """What a terminal gets of a command."""
    controller, terminal = pty.openpty()
    with subprocess.Popen(
        [*ZIB, *arguments], stdout=terminal, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        os.close(terminal)
        shown = b""
        while True:
            try:
                part = os.read(controller, 65536)
            except OSError:  # Linux says this at the end of a terminal
                break
            if not part:
                break
            shown += part
        process.wait(60)
    os.close(controller)
    return shown.decode()


def test_a_terminal_gets_colours_and_no_steering(vault) -> None:
    (vault / "Evil.md").write_text("# Evil\n\nred \x1b[31m and a bell \x07 \x9b2J\n", "utf-8")
    environment = {**os.environ, "TERM": "xterm-256color", "ZIBALDONE_VAULT": str(vault)}
    environment.pop("NO_COLOR", None)
    shown = on_a_terminal(["get-note", "Evil"], environment)
    assert "\x1b[1mEvil\x1b[0m" in shown
    for steering in ("\x1b[31m and", "\x07", "\x9b"):
        assert steering not in shown
    plain = on_a_terminal(["get-note", "Evil"], {**environment, "NO_COLOR": "1"})
    assert "\x1b[3" not in plain


def test_a_pipe_gets_no_control_characters(zib, vault) -> None:
    (vault / "Evil.md").write_text("red \x1b[31m\n", "utf-8")
    assert b"\x1b" not in zib("get-note", "Evil").stdout


def test_output_survives_a_narrow_encoding(zib, vault) -> None:
    (vault / "Wide.md").write_text("北 Ñ\n", "utf-8")
    done = zib("get-note", "Wide", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"")
    done = zib("get-note", "Wide", "--json", PYTHONIOENCODING="ascii")
    assert json.loads(done.stdout)["content"] == "北 Ñ\n"


# Who is asking


def test_the_owner_by_default() -> None:
    assert caller_of({}).origin == "owner"
    assert caller_of({"CLAUDECODE": "", "ZIBALDONE_AGENT": ""}).origin == "owner"


def test_a_blank_name_is_an_agents_all_the_same_and_a_name_is_one_line():
    assert caller_of({"ZIBALDONE_AGENT": " "}).origin == "agent"
    named = caller_of({"ZIBALDONE_AGENT": "a\n\x1b[2Jb\u202ec " + "x" * 9000})
    assert named.agent == "a \ufffd[2Jb\ufffdc " + "x" * 89 + "…"


@pytest.mark.parametrize("variable", AGENT_VARIABLES)
def test_an_agents_shell_is_an_agents_door(variable) -> None:
    caller = caller_of({variable: "1", "ZIBALDONE_AGENT_INSTANCE": "two"})
    assert caller.origin == "agent"
    assert caller.agent == (AGENT_SHELLS.get(variable) or "1")
    assert caller.instance == "two"
    assert caller.session


def test_zibaldone_agent_names_the_agent() -> None:
    assert caller_of({"CLAUDECODE": "1", "ZIBALDONE_AGENT": "planner"}).agent == "planner"


def test_what_an_agent_writes_is_marked(zib, vault) -> None:
    answered(zib("remember-about-user", "Said by an agent.", "--json", CLAUDECODE="1"))
    answered(zib("remember-about-user", "Said by the owner.", "--json"))
    observations = answered(zib("get-note", "general", "--json"))["observations"]
    assert [one["origin"] for one in observations] == ["agent", "owner"]


# init, index, the rest


def test_init_writes_settings_that_are_all_defaults(tmp_path, zib) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    done = zib("init", str(folder), ZIBALDONE_VAULT="")
    assert done.returncode == 0, done.stderr
    assert (folder / "zibaldone.toml").read_text("utf-8") == SETTINGS
    assert tomllib.loads(SETTINGS) == {}
    assert str(folder) in done.stdout.decode()
    for client in ("claude mcp add", "codex mcp add", "mcpServers", "VS Code"):
        assert client in done.stdout.decode()
    assert sorted(path.name for path in folder.iterdir()) == ["zibaldone.toml"]
    tried = [line for line in done.stdout.decode().splitlines() if " zib re" in line]
    assert len(tried) == 2
    for line in tried:  # From wherever it is typed.
        words = shlex.split(line.removeprefix("Try it:"))
        assert zib(*words[1:], folder=folder.parent, ZIBALDONE_VAULT="").returncode == 0


def test_init_never_overwrites(tmp_path, zib) -> None:
    mine = tmp_path / "zibaldone.toml"
    mine.write_text('ignore = ["x"]\n', "utf-8")
    done = zib("init", str(tmp_path))
    assert done.returncode == 0
    assert b"nothing was changed" in done.stdout
    assert mine.read_text("utf-8") == 'ignore = ["x"]\n'


def test_init_of_no_folder(tmp_path, zib) -> None:
    assert zib("init", str(tmp_path / "missing")).returncode == 2


def test_every_setting_is_in_the_template_with_its_default() -> None:
    own = SETTINGS.partition("#[clients")[0]
    shown = "\n".join(re.findall(r"^#(\w+ = .*)$", own, re.MULTILINE))
    table = tomllib.loads(shown)
    assert {*table, "clients"} == {field.name for field in dataclasses.fields(Settings)}
    assert '#[clients."name of a client"]' in SETTINGS
    assert parse_settings(table, "zibaldone.toml") == Settings()


def test_index(zib, vault) -> None:
    assert answered(zib("index", "--json")) == {"fresh": True, "notes": 1, "behind": 0}
    (vault / "New.md").write_text("new\n", "utf-8")
    assert zib("index").stdout.startswith(b"2 notes indexed")
    assert answered(zib("index", "--rebuild", "--json"))["notes"] == 2


def test_a_long_build_shows_its_progress_only_on_a_terminal(monkeypatch, capsys) -> None:
    with commands.ProgressBar() as bar:
        bar.show(300, 1000)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with commands.ProgressBar() as bar:
        bar.show(300, 1000)
        bar.show(1000, 1000)
    assert "Indexing notes" in capsys.readouterr().err


def test_version(zib) -> None:
    assert zib("--version").stdout.startswith(b"zibaldone 0.")


def test_commands_of_other_rooms_are_listed_and_run(zib) -> None:
    assert b"doctor" in zib("--help").stdout
    assert b"Usage: zib doctor" in zib("doctor", "--help").stdout


def test_mcp_has_help_of_its_own(zib) -> None:
    done = zib("mcp", "--help")
    assert done.returncode == 0
    assert b"--vault" in done.stdout


def test_run_returns_the_exit_code(vault, capsys) -> None:
    assert cli.run(["get-note", "Plan", "--vault", str(vault)]) == 0
    assert cli.run(["get-note", "Nope", "--vault", str(vault)]) == 3
    assert "There is no note 'Nope'" in capsys.readouterr().err
    assert cli.run(["search"]) == 2
