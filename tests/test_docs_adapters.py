"""The page on adapters is true: its examples run one after the other, and its tables are whole."""

import re
from pathlib import Path
from typing import get_args

from zibaldone.tools.adapters import categories, names
from zibaldone.tools.events import NAME_LENGTH, TEXT_LENGTH, TYPES

PAGE = (Path(__file__).parents[1] / "docs/adapters.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_examples_run(vault_dir, monkeypatch, capsys):
    monkeypatch.setattr(names, "PROGRAM", names.Program())
    for example in EXAMPLES:
        exec(example.replace("~/notes", str(vault_dir)), {})
    names.close()
    printed = capsys.readouterr().out
    assert "created " in printed and printed.count("Parcels get lost in August. #post") == 1
    decisions = (vault_dir / "projects/shop/agent-memory/decisions.md").read_text()
    assert "Use SQLite (because it is one file)" in decisions
    assert "[status:: unreviewed]" in (vault_dir / "agent-memory/rules.md").read_text()


def test_the_tables_name_all_that_there_is():
    rows = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert set(get_args(categories.Category)) | set(TYPES) <= set(rows)
    assert f"{TEXT_LENGTH} characters" in PAGE and f"at most {NAME_LENGTH}." in PAGE
