"""The write policy over real pipes: an agent is asked, decides, and the owner has the last word."""

import os
import subprocess
import sys

import pytest
from agents import agent, run

DARK = "Prefers dark themes in every editor."
LIGHT = "Prefers light themes in every editor."


def zib(vault, *arguments, agent_name=None):
    more = {"ZIBALDONE_AGENT": agent_name} if agent_name else {}
    command = [sys.executable, "-m", "zibaldone.tools", *arguments, "--vault", str(vault)]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **more}, check=False
    )
    return done.returncode, done.stdout, done.stderr


async def correct_a_memory(vault):
    async with agent(vault, "planner") as call:
        tools = (await call.client.list_tools()).tools
        (described,) = (one for one in tools if one.name == "remember_about_user")
        assert "needs_verdict" in described.description
        assert {"receipt", "verdict", "untrusted", "idempotencyKey"} <= set(
            described.input_schema["properties"]
        )
        made = await call("remember_about_user", observation=DARK, category="taste")
        asked = await call("remember_about_user", observation=LIGHT, category="taste")
        assert asked["outcome"] == "needs_verdict"
        assert [one["text"] for one in asked["similar"]] == [DARK]
        assert "observationId" not in asked
        wrong = await call.refused(
            "remember_about_user",
            observation="Prefers grey themes in every editor.",
            category="taste",
            receipt=asked["receipt"],
            verdict="new",
        )
        assert wrong["code"] == "receipt_refused"
        done = await call(
            "remember_about_user",
            observation=LIGHT,
            category="taste",
            receipt=asked["receipt"],
            verdict=f"supersedes:{asked['similar'][0]['observationId']}",
            idempotencyKey="k1",
        )
        assert (done["outcome"], done["version"]) == ("appended", 2)
        assert done["observationId"] == made["observationId"]
    async with agent(vault, "planner") as call:
        recalled = await call("recall", query="which themes for editors")
        assert "light" in recalled["context"]
        assert "dark" not in recalled["context"]
        (source,) = recalled["sources"]
        assert (source["observationId"], source["version"]) == (made["observationId"], 2)
        again = await call(
            "remember_about_user", observation=LIGHT, category="taste", idempotencyKey="k1"
        )
        assert {name: again[name] for name in done if name != "similar"} == {
            name: done[name] for name in done if name != "similar"
        }
        echo = await call("remember_about_user", observation=recalled["context"])
        assert (echo["outcome"], echo["observationId"]) == ("skipped", made["observationId"])
        verdict = {"verdict": f"supersedes:{made['observationId']}"}
        at_once = await call("remember_about_user", observation=DARK, category="taste", **verdict)
        assert (at_once["outcome"], at_once["version"]) == ("appended", 3)


def test_similar_verdict_supersedes_and_recall_gives_only_the_last(vault_dir):
    run(correct_a_memory, vault_dir)


async def propose(vault, found):
    async with agent(vault, "web-reader") as web, agent(vault, "planner") as planner:
        made = await web("remember_about_user", observation="The canary moves in May.")
        assert made["outcome"] == "pending"
        for call in (web, planner):
            assert (await call("recall", query="canary"))["sources"] == []
            assert (await call("search", query="canary"))["results"] == []
        refused = await web.refused("edit_note", ref="general", mode="append", content="x")
        assert refused["code"] == "client_untrusted"
        code, listed, _ = zib(vault, "review")
        assert code == 0
        assert "by web-reader 1.0" in listed
        ticket = listed.split()[0]
        code, _, told = zib(vault, "review", "accept", ticket, agent_name="planner")
        assert (code, "owner" in told) == (4, True)
        assert zib(vault, "review", "accept", ticket)[0] == 0
        recalled = await planner("recall", query="canary")
        assert [one["origin"] for one in recalled["sources"]] == ["untrusted"]
        assert zib(vault, "review", "reject", ticket)[0] == 5
        found.append(zib(vault, "review")[1])
        (vault / "agent-memory/hand.md").write_text("- Likes tea [status:: unreviewed]\n")
        assert "nobody knows since when (owner)" in zib(vault, "review")[1]


def test_what_an_untrusted_client_proposes_waits_for_the_owner(vault_dir):
    (vault_dir / "zibaldone.toml").write_text('[clients."web-reader"]\ntrust = "untrusted"\n')
    found = []
    run(propose, vault_dir, found)
    assert found == ["Nothing waits for review.\n"]


def test_commands_of_an_agent_pass_a_receipt_on(vault_dir):
    def remember(text, *more):
        return zib(
            vault_dir, "remember-about-user", text, "--category", "taste", *more, agent_name="shell"
        )

    assert remember(DARK)[0] == 0
    code, asked, _ = remember(LIGHT)
    assert (code, "Call again" in asked) == (0, True)
    receipt = asked.partition("receipt ")[2].split()[0]
    code, done, _ = remember(LIGHT, "--receipt", receipt, "--verdict", "new")
    assert (code, done.startswith("Remembered")) == (0, True)
    code, waits, _ = remember("Eats fish", "--untrusted")
    assert (code, waits.startswith("Waits for the owner's review")) == (0, True)


@pytest.mark.parametrize("tool", ["remember-about-user", "update-memory"])
def test_a_reader_is_refused(vault_dir, tool):
    (vault_dir / "zibaldone.toml").write_text('[clients.viewer]\ntrust = "read-only"\n')
    zib(vault_dir, "remember-about-user", DARK)
    more = [] if tool == "remember-about-user" else ["--observation", LIGHT]
    ref = (
        "general" if not more else (vault_dir / "agent-memory/general.md").read_text()[-7:].strip()
    )
    code, _, told = zib(vault_dir, tool, ref, *more, agent_name="viewer")
    assert (code, "read and not write" in told) == (4, True)
