"""The main job through an independent client: the TypeScript SDK from the npm registry."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CLIENTS = Path(__file__).parents[1] / "clients"
TOOLS = {
    "remember_about_user",
    "remember_about_project",
    "search",
    "recall",
    "get_note",
    "list_notes",
    "create_note",
    "edit_note",
    "update_memory",
    "forget",
    "delete_note",
    "memory_summary",
}

pytestmark = [
    pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed"),
    pytest.mark.skipif(
        not (CLIENTS / "node_modules" / "@modelcontextprotocol" / "sdk").is_dir(),
        reason="the TypeScript client is not installed: `make test` does it where npm is there",
    ),
]


def contents(vault):
    """The notes of a vault by their path in it; dot folders hold none."""
    paths = ((p, p.relative_to(vault).as_posix()) for p in vault.rglob("*.md"))
    return {name: p.read_bytes() for p, name in paths if not name.startswith(".")}


class Run:
    """One main job on a copy of sample-vault: the files before and after, and its report."""

    def __init__(self, folder):
        self.vault = folder / "vault"
        shutil.copytree(CLIENTS.parents[1] / "sample-vault", self.vault)
        self.before = contents(self.vault)
        command = ["node", str(CLIENTS / "main_job.mjs"), sys.executable, str(self.vault)]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
            env={**os.environ, "ZIBALDONE_CACHE_DIR": str(folder / "cache")},
        )
        assert done.returncode == 0, done.stderr
        self.report = json.loads(done.stdout)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return Run(tmp_path_factory.mktemp("typescript"))


def test_the_main_job_works_from_typescript(run):
    answers = run.report["answers"]

    # Remembered, recognised when said again, found by the next search.
    assert not any("quokka" in hit["snippet"] for hit in answers["before"]["results"])
    assert answers["user"]["outcome"] == "created"
    assert answers["again"]["outcome"] == "skipped"
    assert answers["again"]["observationId"] == answers["user"]["observationId"]
    assert answers["ofProject"]["outcome"] in {"appended", "created"}
    found = {hit["path"] for hit in answers["after"]["results"]}
    assert found >= {answers["user"]["path"], answers["ofProject"]["path"]}
    assert {hit["class"] for hit in answers["after"]["results"]} == {"agent-memory"}

    # Corrected: on disk, in the note that is read back, and in what is recalled.
    assert answers["edited"]["outcome"] == "edited"
    memory = (run.vault / answers["user"]["path"]).read_text(encoding="utf-8")
    corrected = (
        f"- Takes the quokka ferry at 8:15 on Mondays. ^{answers['user']['observationId']}\n"
    )
    assert corrected in memory
    assert "at 8:15 on Mondays" in answers["note"]["content"]
    recalled = answers["recalled"]
    assert "at 8:15 on Mondays" in recalled["context"]
    assert "7:40" not in recalled["context"]

    # Within the budget, each source within its share, a neighbour of the hit among them.
    assert recalled["tokens"] <= recalled["budgetTokens"] == 1500
    per_note = {}
    for source in recalled["sources"]:
        per_note[source["noteId"]] = per_note.get(source["noteId"], 0) + source["tokens"]
    assert max(per_note.values()) <= 600
    assert {s["hop"] for s in recalled["sources"]} >= {0, 1}
    assert run.report["neighbour"] in {s["path"] for s in recalled["sources"]}

    # Of the owner's files, only the two memory notes have changed.
    after = contents(run.vault)
    changed = {path for path in after if run.before.get(path) != after[path]}
    assert changed == {answers["user"]["path"], answers["ofProject"]["path"]}
    assert run.before.keys() <= after.keys()


def test_the_tools_describe_themselves_to_typescript(run):
    tools = {tool["name"]: tool for tool in run.report["tools"]}
    assert tools.keys() >= TOOLS
    for name, tool in tools.items():
        assert tool["closed"], name
        assert tool["hasOutputSchema"], name
        assert {"readOnlyHint", "destructiveHint", "idempotentHint"} <= tool[
            "annotations"
        ].keys(), name
        assert not any("_" in argument for argument in tool["arguments"]), name
    assert {"query", "budgetTokens", "maxPerSource", "depth"} <= set(tools["recall"]["arguments"])
    assert tools["search"]["annotations"]["readOnlyHint"] is True
    assert tools["delete_note"]["annotations"]["destructiveHint"] is True


def test_refusals_reach_typescript_with_what_to_do(run):
    refusals = run.report["refusals"]
    assert all(refusal["refused"] for refusal in refusals.values()), refusals
    assert "budgetTokens" in refusals["misspelt"]["text"]
    assert all(refusal["text"] for refusal in refusals.values())
