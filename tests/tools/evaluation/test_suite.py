"""`zib eval` measures a copy, says what came out, and leaves the vault and its cache alone."""

import json
import os
import re
from pathlib import Path

import pytest
from zibaldone.tools.cli import run
from zibaldone.tools.evaluation.labels import load_labels
from zibaldone.tools.evaluation.suite import copied, evaluate
from zibaldone.tools.vault import layout_of

REPOSITORY = Path(__file__).parents[3]
SAMPLE = REPOSITORY / "sample-vault"
LABELS = REPOSITORY / "tests/data/sample_labels.toml"
PAGE = (REPOSITORY / "docs/evaluation.md").read_text(encoding="utf-8")


def state(folder):
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def sample():
    return evaluate(layout_of(SAMPLE), load_labels(LABELS))


@pytest.mark.slow
def test_the_page_tells_what_comes_out_for_the_sample_vault(sample):
    rows = re.findall(r"^\| ([\w@ -]+) \| ([\d.]+) \| \d+ \|$", PAGE, re.MULTILINE)
    told = {name: float(value) for name, value in rows}
    assert told == {one.name: pytest.approx(one.value, abs=0.1) for one in sample.figures}


@pytest.mark.slow
def test_every_figure_is_defined_on_the_page(sample):
    for one in sample.figures:
        name = "recall@k" if one.name.startswith("recall@") else one.name
        assert f"**{name}**" in PAGE, one.name


@pytest.fixture
def small(fill, tmp_path):
    fill(
        {
            "agent-memory/food.md": "- Drinks tea with milk. ^aaaaaa\n- Hates kale. ^bbbbbb\n",
            "zibaldone.toml": 'ignore = ["old"]\n',
            "old/a.md": "# Old\n",
        }
    )
    labels = tmp_path / "labels.toml"
    labels.write_text(
        '[[writes]]\ntext = "Keeps bees."\nexpect = "written"\n'
        '[[questions]]\nquery = "tea"\nexpect = ["agent-memory/food.md#^bbbbbb"]\n'
        '[[deletions]]\nref = "agent-memory/food.md#^aaaaaa"\nquery = "tea"\n'
        '[[plans]]\ntask = "t"\nsteps = ["a", "b"]\nstop_after = [1]\n'
    )
    return labels


def test_the_vault_its_state_and_its_cache_are_left_alone(
    small, vault_dir, tmp_path_factory, monkeypatch
):
    elsewhere = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("ZIBALDONE_STATE_DIR", str(elsewhere))
    before = state(vault_dir)
    answer = evaluate(layout_of(vault_dir), load_labels(small))
    assert answer.notes == 1
    assert state(vault_dir) == before
    assert state(elsewhere) == state(Path(os.environ["ZIBALDONE_CACHE_DIR"])) == {}


def test_the_copy_has_notes_settings_and_history_and_is_gone_in_the_end(small, vault_dir):
    run(["remember-about-user", "Likes figs.", "--category", "food", "--vault", str(vault_dir)])
    with copied(layout_of(vault_dir)) as copy:
        assert not copy.root.is_relative_to(vault_dir)
        files = {str(path.relative_to(copy.root)) for path in copy.root.rglob("*.*")}
        assert {"agent-memory/food.md", "zibaldone.toml"} <= files
        assert "old/a.md" not in files and any("jsonl" in name for name in files)
        assert copy.settings.ignore == ("old",)
        folder = copy.root.parent
    assert not folder.exists()


def test_the_command_says_what_came_out(small, vault_dir, capsys):
    assert run(["eval", str(small), "--vault", str(vault_dir)]) == 0
    said = capsys.readouterr().out
    assert "write precision         1.000  of 1\n" in said
    assert "recall@10               0.000  of 1\n    tea\n" in said
    assert "conflict accuracy           –  of 0\n" in said
    assert said.endswith("1 note, measured on a copy.\n")
    assert run(["eval", str(small), "--vault", str(vault_dir), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["notes"] == 1
    assert told["figures"][0] == {
        "name": "write precision",
        "value": 1.0,
        "cases": 1,
        "wrong": [],
        "better": "higher",
    }


def test_the_command_is_the_owners(small, vault_dir, monkeypatch, capsys):
    monkeypatch.setenv("ZIBALDONE_AGENT", "planner")
    assert run(["eval", str(small), "--vault", str(vault_dir)]) == 4
    assert "Only the owner" in capsys.readouterr().err
    monkeypatch.delenv("ZIBALDONE_AGENT")
    assert run(["eval", "none.toml", "--vault", str(vault_dir)]) == 2
    assert "none.toml cannot be read" in capsys.readouterr().err
