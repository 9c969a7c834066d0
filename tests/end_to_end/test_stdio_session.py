"""The main job over a real stdio pipe, with the official MCP client, while the owner edits."""

import time

import anyio
import pytest
from agents import agent, run

RELEASE_PLAN = """\
---
tags: [release]
---
# Release plan

Deploys need a quiet harbour; the pilot is told first. See [[Berth survey]].
"""

BERTH_SURVEY = """\
# Berth survey

The north berth silts up every spring and is dredged in April.
"""


@pytest.fixture
def vault(vault_dir):
    harbour = vault_dir / "projects" / "harbour"
    harbour.mkdir(parents=True)
    (harbour / "Release plan.md").write_text(RELEASE_PLAN, "utf-8")
    (harbour / "Berth survey.md").write_text(BERTH_SURVEY, "utf-8")
    return vault_dir


async def remember_both(call):
    """Search before write, remember for both axes, and be told of what is known already."""
    found = await call("search", query="how the owner likes reports")
    assert not [hit for hit in found["results"] if hit["class"] == "agent-memory"]
    liked = await call(
        "remember_about_user",
        observation="Prefers short reports with the figures first.",
        category="preferences",
        summary="How she likes her reports",
    )
    assert liked["outcome"] == "created"
    decided = await call(
        "remember_about_project",
        project="harbour",
        observation="Deploys happen on Tuesdays; see [[Release plan]].",
        category="decisions",
    )
    assert decided["path"] == "projects/harbour/agent-memory/decisions.md"
    again = await call(
        "remember_about_user",
        observation="prefers short reports with the figures first",
        category="Preferences",
    )
    assert again["outcome"] == "skipped"
    assert again["observationId"] == liked["observationId"]
    return liked, decided


async def correct(call, vault, liked):
    """Correct a fact on the version that was read; the same version does not do twice."""
    note = await call("get_note", ref=liked["noteId"])
    edit = {
        "ref": liked["noteId"],
        "mode": "findReplace",
        "find": "short reports",
        "content": "one-page reports",
        "versionToken": note["versionToken"],
    }
    assert (await call("edit_note", **edit))["outcome"] == "edited"
    on_disk = (vault / "agent-memory" / "preferences.md").read_text("utf-8")
    assert "- Prefers one-page reports with the figures first." in on_disk
    assert f"^{liked['observationId']}" in on_disk
    assert (await call.refused("edit_note", **edit))["code"] == "note_changed"


async def recall_with_neighbours(call):
    """Recall within a budget; notes come along of which no word was asked for."""
    question = {"query": "when do deploys happen", "project": "harbour", "depth": 2}
    bundle = await call("recall", **question)
    assert bundle["tokens"] <= bundle["budgetTokens"]
    assert await call.text("recall", **question) != ""
    hops = {source["path"]: source["hop"] for source in bundle["sources"]}
    assert hops["projects/harbour/agent-memory/decisions.md"] == 0
    assert hops["projects/harbour/Berth survey.md"] >= 1
    assert "dredged in April" in bundle["context"]
    small = await call("recall", query="when do deploys happen", budgetTokens=120)
    assert small["tokens"] <= 120
    assert "Tuesdays" in small["context"]


async def see_the_owners_edit(call, vault, decided):
    """The owner edits the same note in an editor; the next answer shows it, and nothing else."""
    note = vault / decided["path"]
    note.write_text(note.read_text("utf-8").replace("Tuesdays", "Thursdays"), "utf-8")
    bundle = await call("recall", query="when do deploys happen", project="harbour")
    assert "Thursdays" in bundle["context"]
    assert "Tuesdays" not in bundle["context"]
    found = await call("search", query="Thursdays")
    assert found["results"][0]["observationId"] == decided["observationId"]
    assert not (await call("search", query="Tuesdays"))["results"]


async def delete(call, vault, decided):
    """Take out a fact, then a note; the links into it are told of."""
    line = f"Deploys happen on Thursdays; see [[Release plan]]. ^{decided['observationId']}"
    edit = {"ref": decided["noteId"], "mode": "findReplace", "find": f"- {line}"}
    assert (await call("edit_note", **edit))["outcome"] == "edited"
    assert not (await call("search", query="Thursdays"))["results"]
    assert (await call("delete_note", ref="Berth survey"))["backlinks"] == 1
    assert not (vault / "projects/harbour/Berth survey.md").exists()
    assert (await call.refused("get_note", ref="Berth survey"))["code"] == "note_not_found"


def test_the_main_job(vault) -> None:
    async def work():
        async with agent(vault) as call:
            tools = (await call.client.list_tools()).tools
            assert {"recall", "edit_note", "remember_about_project"} <= {one.name for one in tools}
            liked, decided = await remember_both(call)
            await correct(call, vault, liked)
            await recall_with_neighbours(call)
            await see_the_owners_edit(call, vault, decided)
            await delete(call, vault, decided)
            summary = await call("memory_summary")
            assert [line["category"] for line in summary["user"]] == ["preferences"]
            assert summary["user"][0]["summary"] == "How she likes her reports"

    run(work)


def test_a_line_that_the_owner_adds_is_found_by_the_next_call(vault) -> None:
    async def work():
        async with agent(vault) as call:
            await call("remember_about_user", observation="Takes the ferry.", category="commute")
            note = vault / "agent-memory" / "commute.md"
            for bird in ("heron", "curlew", "dunlin", "redshank"):
                with note.open("a", encoding="utf-8") as file:
                    file.write(f"- Saw a {bird} from the ferry.\n")
                found = await call("search", query=bird)
                assert {hit["path"] for hit in found["results"]} == {"agent-memory/commute.md"}
                assert found["results"][0]["origin"] == "owner"

    run(work)


def test_two_clients_share_a_vault(vault) -> None:
    """What one has written, the other finds in its next call; no line is lost."""
    (vault / "zibaldone.toml").write_text('write_gate = "off"\n', "utf-8")

    async def work():
        async with agent(vault) as one, agent(vault) as other:

            async def write(call, words):
                for word in words:
                    await call(
                        "remember_about_user", observation=f"Knows {word}.", category="words"
                    )

            first, second = [f"alpha{n}" for n in range(6)], [f"beta{n}" for n in range(6)]
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(write, one, first)
                tasks.start_soon(write, other, second)
            lines = (vault / "agent-memory" / "words.md").read_text("utf-8").splitlines()
            known = {line.split()[2].rstrip(".") for line in lines if line.startswith("- Knows")}
            assert known == {*first, *second}
            assert len([line for line in lines if line.startswith("- ")]) == 12
            for call, words in ((one, second), (other, first)):
                for word in words:
                    assert (await call("search", query=word))["results"][0]["snippet"].startswith(
                        f"Knows {word}"
                    )

    run(work)


def test_the_handshake_does_not_wait_for_the_index(vault) -> None:
    # Case MC-05: the client gives up on a server that builds its first index before it answers.
    folder = vault / "many"
    folder.mkdir()
    for number in range(3000):
        (folder / f"Note {number}.md").write_text(f"# Note {number}\n\nquartz {number}\n", "utf-8")

    async def work():
        began = time.monotonic()
        async with agent(vault) as call:
            await call.client.list_tools()
            handshake = time.monotonic() - began
            early = await call("search", query="quartz")
            assert early["index"]["behind"] > 0 or early["index"]["notes"] > 3000
            assert early["index"]["fresh"] is (early["index"]["behind"] == 0)
            note = await call("get_note", ref="projects/harbour/Release plan.md")
            assert "quiet harbour" in note["content"]
            while not (await call("search", query="quartz"))["index"]["fresh"]:
                await anyio.sleep(0.2)
            assert (await call("search", query="quartz 2999"))["results"][0]["path"].startswith(
                "many/Note 2999"
            )
        assert handshake < 10  # seconds, on a machine that is busy with other tests

    run(work)


def test_an_index_that_is_up_to_date_is_not_built_again(vault) -> None:
    async def work():
        async with agent(vault) as call:
            while not (await call("search", query="harbour"))["index"]["fresh"]:
                await anyio.sleep(0.1)
        async with agent(vault) as call:
            found = await call("search", query="harbour")
            assert found["index"] == {"fresh": True, "notes": 2, "behind": 0}

    run(work)


def test_lists_come_in_pages(vault) -> None:
    # Case MC-10: a list without a limit floods the client.
    async def work():
        for number in range(7):
            (vault / f"Page {number}.md").write_text("#paged\n", "utf-8")
        async with agent(vault) as call:
            seen, cursor = [], None
            while True:
                page = await call("list_notes", tag="paged", limit=3, cursor=cursor)
                assert page["total"] == 7
                assert len(page["notes"]) <= 3
                seen += [note["path"] for note in page["notes"]]
                cursor = page.get("nextCursor")
                if cursor is None:
                    break
            assert seen == [f"Page {number}.md" for number in range(7)]

    run(work)


@pytest.mark.parametrize("form", ["path", "uri"])
def test_a_vault_with_odd_letters_in_its_path(tmp_path, form) -> None:
    # Case MC-08: a vault path with blanks given as a file URI is not decoded.
    folder = tmp_path / "my notes + 100% Café"
    folder.mkdir()
    (folder / "A.md").write_text("a\n", "utf-8")

    async def work():
        async with agent(folder.as_uri() if form == "uri" else folder) as call:
            assert (await call("get_note", ref="A"))["content"] == "a\n"

    run(work)
