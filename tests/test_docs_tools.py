"""The reference pages fail the build when they drift from the code."""

import importlib.util
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest
from zibaldone.tools.commands import app
from zibaldone.tools.definition import TOOLS
from zibaldone.tools.serve import LEVELS, LOG_VARIABLE
from zibaldone.tools.shell import AGENT_SHELLS, AGENT_VARIABLE, INSTANCE_VARIABLE
from zibaldone.tools.wire import wire
from zibaldone.vault import errors
from zibaldone.vault.settings import CACHE_VARIABLE

DOCS = Path(__file__).parents[1] / "docs"


def page(name: str) -> str:
    return (DOCS / name).read_text("utf-8")


def load_reference():
    spec = importlib.util.spec_from_file_location("docs_reference", DOCS / "reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def table(text: str, heading: str) -> list[list[str]]:
    """The cells of the first table under a heading, without its head."""
    lines = text.partition(f"## {heading}\n")[2].splitlines()
    rows = [line for line in lines if line.startswith("|")]
    end = next((n for n, line in enumerate(lines) if line.startswith("## ")), len(lines))
    rows = [line for line in lines[:end] if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[2:]]


# docs/tools.md


def test_tools_page_is_what_the_definitions_say() -> None:
    command = [sys.executable, str(DOCS / "reference.py")]
    written = subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout
    assert page("tools.md") == written, "run `python docs/reference.py > docs/tools.md`"


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_examples_are_valid(tool) -> None:
    arguments, answer = load_reference().EXAMPLES[tool.name]
    jsonschema.validate(arguments, tool.input_schema())
    assert isinstance(answer, tool.answer)
    jsonschema.validate(json.loads(json.dumps(wire(answer))), tool.output_schema())


# docs/cli.md


def classes(base: type = errors.ZibaldoneError):
    yield base
    for kind in base.__subclasses__():
        yield from classes(kind)


def test_exit_codes_are_those_of_the_errors() -> None:
    documented = {}
    for code, _, names in table(page("cli.md"), "Exit codes"):
        documented.update(dict.fromkeys(re.findall(r"`(\w+)`", names), int(code)))
    assert documented == {kind.code: kind.exit_code for kind in classes() if "code" in vars(kind)}


def test_agents_shells_are_those_that_are_known() -> None:
    rows = table(page("cli.md"), "Who is writing")
    known = {variable.strip("`"): agent for variable, agent, _ in rows}
    assert known == {name: agent or "its value" for name, agent in AGENT_SHELLS.items()}
    assert all(source.startswith("[") for _, _, source in rows)
    assert f"`{AGENT_VARIABLE}=<name>`" in page("cli.md")


def test_every_command_is_described() -> None:
    described = set(re.findall(r"^\| `zib ([a-z][a-z-]+)", page("cli.md"), re.MULTILINE))
    tools = {tool.name for tool in TOOLS}
    own = {command.name or command.callback.__name__ for command in app.registered_commands}
    own -= {name.replace("_", "-") for name in tools}
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text("utf-8"))["project"]
    assert described == own | set(project["entry-points"]["zibaldone.commands"])


# docs/clients.md


def test_clients_page_knows_the_variables() -> None:
    text = page("clients.md")
    for variable in ("ZIBALDONE_VAULT", INSTANCE_VARIABLE, CACHE_VARIABLE, LOG_VARIABLE):
        assert f"`{variable}`" in text
    assert all(f"`{level}`" in text for level in LEVELS)


def test_blocks_of_the_clients_page_parse() -> None:
    blocks = re.findall(r"```(json|toml)\n(.*?)```", page("clients.md"), re.DOTALL)
    assert len(blocks) == 3
    for kind, text in blocks:
        loaded = json.loads(text) if kind == "json" else tomllib.loads(text)
        (servers,) = loaded.values()
        assert servers["zibaldone"]["args"] == ["mcp", "--vault", "/home/you/notes"]
