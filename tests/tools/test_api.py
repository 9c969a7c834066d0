"""The Python API as the README shows it, and that it has every tool."""

from __future__ import annotations

import re
from pathlib import Path

from zibaldone.tools import api
from zibaldone.tools.definition import TOOLS

README = Path(__file__).parents[2] / "README.md"


def test_every_tool_is_there_and_callable():
    for tool in TOOLS:
        assert tool.name in api.__all__
        assert callable(getattr(api, tool.name))


def test_the_example_of_the_readme_runs(vault_dir, capsys):
    example = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.S)
    assert example is not None
    exec(example[1].replace("~/notes", str(vault_dir)), {})
    assert "Prefers short reports." in capsys.readouterr().out
