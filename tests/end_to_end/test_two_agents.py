"""The life of one observation between two MCP clients of different names and its owner."""

import os
from dataclasses import replace
from pathlib import Path

from agents import agent, run
from zibaldone.tools import history
from zibaldone.tools.purge import purge
from zibaldone.tools.vault import Vault

WORDS = ("dark", "sepia", "light")
"""A word of each version, which stands nowhere else."""
CORRECTED = "Likes [-dark-]{+light+} themes in editors."


def holding(vault, *words):
    """The files of vault and cache that hold one of the words, in any form of a raw scan."""
    tops = (vault, Path(os.environ["ZIBALDONE_CACHE_DIR"]))
    files = [path for top in tops for path in top.rglob("*") if path.is_file()]
    forms = [form for word in words for form in (word.encode(), word.encode("utf-16-le"))]
    return [path for path in files if any(form in path.read_bytes() for form in forms)]


async def recalled(call):
    """What one agent is given: the citation of each source, and the words."""
    answer = await call("recall", query="which themes for editors")
    return [(each["observationId"], each["version"]) for each in answer["sources"]], answer[
        "context"
    ]


async def walk(vault):
    async with agent(vault, "planner", "1.2") as planner, agent(vault, "writer", "3.4") as writer:
        made = await planner("remember_about_user", observation="Likes dark themes in editors.")
        name = made["observationId"]
        found, words = await recalled(writer)
        assert (found, made["version"]) == ([(name, 1)], 1)
        assert f"^{name}" in words

        note = vault / made["path"]
        note.write_text(note.read_text("utf-8").replace("dark", "light"), "utf-8")
        for call in (planner, writer):
            found, words = await recalled(call)
            assert found == [(name, 2)]
            assert "light" in words

        update = {"ref": f"{name}@v2", "observation": "Likes sepia themes in editors."}
        updated = await writer("update_memory", **update, reason="She said so.")
        assert updated["receipt"] == f"{name}@v3"
        assert updated["diff"] == "Likes [-light-]{+sepia+} themes in editors."
        for call in (planner, writer):
            found, words = await recalled(call)
            assert found == [(name, 3)]
            assert "sepia" in words
            assert "light" not in words

        await planner("forget", ref=name)
        for call in (planner, writer):
            assert (await recalled(call))[0] == []
            assert (await call("search", query="sepia themes"))["results"] == []

        with Vault.open(vault) as owner:
            assert history.restore(owner, name).version == 5
            told = history.history(owner, name)
            assert history.diff(owner, name, "1", "2") == CORRECTED
        for call in (planner, writer):
            found, words = await recalled(call)
            assert found == [(name, 5)]
            assert "sepia" in words

        assert holding(vault, *WORDS)
        with Vault.open(vault) as owner:
            proof = purge(owner, name).proof
        assert (proof.lines, proof.elsewhere, proof.unseen) == (3, (), ())
        for call, text in ((planner, "Sails on Sundays."), (writer, "Drinks tea at noon.")):
            assert (await recalled(call))[0] == []
            assert (await call("search", query="which themes for editors"))["results"] == []
            await call("remember_about_user", observation=text)
        assert holding(vault, *WORDS) == []
        return told


def test_the_walk_of_one_observation(vault_dir):
    answer = run(walk, vault_dir)
    told = answer.revisions
    with Vault.open(vault_dir) as owner:
        now = history.history(owner, answer.observation_id).revisions
        assert owner.store.ledger.journal.verify() == []
    assert now[:-1] == tuple(replace(one, reason=None) for one in told)
    assert (now[-1].op, now[-1].origin, now[-1].version) == ("purge", "owner", 6)
    assert [(one.op, one.agent, one.client_version, one.version, one.parent) for one in told] == [
        ("create", "planner", "1.2", 1, None),
        ("update", "editor", None, 2, 1),
        ("update", "writer", "3.4", 3, 2),
        ("forget", "planner", "1.2", 4, 3),
        ("restore", "owner", None, 5, 4),
    ]
    assert [one.origin for one in told] == ["agent", "owner", "agent", "agent", "owner"]
