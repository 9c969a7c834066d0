"""The start of a session as MCP clients load it: by the tool, as a resource and as a prompt."""

import re

import pytest
from agents import agent, run
from mcp.shared.exceptions import MCPError

FILES = {
    "Welcome.md": "Begin with the tide table. #always-load\n",
    "agent-memory/preferences.md": "- Likes short reports. ^aaaaaa\n",
    "projects/north pier/Plan.md": "---\ntags: [always-load]\n---\nThe pier is mended in May.\n",
}


def nonceless(text):
    return re.sub(r"recalled \d{8}", "recalled", text)


def test_tool_resource_and_prompt_give_the_same(fill) -> None:
    vault = fill(FILES)

    async def work():
        async with agent(vault) as call:
            client = call.client
            told = await call("start_session", project="north pier")
            wanted = nonceless(told["context"])
            assert "mended in May" in wanted

            (listed,) = (await client.list_resources()).resources
            assert listed.uri == "zibaldone://start"
            (template,) = (await client.list_resource_templates()).resource_templates
            assert template.uri_template == "zibaldone://start/{project}"
            (of_all,) = (await client.read_resource(listed.uri)).contents
            assert "tide table" in of_all.text
            assert "pier" not in of_all.text
            (read,) = (await client.read_resource("zibaldone://start/north%20pier")).contents
            assert nonceless(read.text) == wanted

            (prompt,) = (await client.list_prompts()).prompts
            assert [one.name for one in prompt.arguments] == ["project", "thread"]
            given = await client.get_prompt("start_session", {"project": "north pier"})
            assert [nonceless(one.content.text) for one in given.messages] == [wanted]

            with pytest.raises(MCPError, match="There is no resource"):
                await client.read_resource("zibaldone://elsewhere")
            with pytest.raises(MCPError, match="not a usable name"):
                await client.read_resource("zibaldone://start/..%2Fetc")
            with pytest.raises(MCPError, match="There is no prompt"):
                await client.get_prompt("begin")

    run(work)
    (log,) = (vault / ".zibaldone/audit").rglob("*.jsonl")
    assert log.read_text().count('"tool":"start_session"') == 5


def test_the_owners_edits_in_an_editor_change_the_next_start(fill) -> None:
    vault = fill(FILES)

    async def work():
        async with agent(vault) as call:
            assert "tide table" in (await call("start_session"))["context"]
            (vault / "Welcome.md").write_text("Begin with the tide table.\n", "utf-8")
            memory = vault / "agent-memory"
            (memory / "first.md").write_text(
                "---\nkind: context-set\n---\n[[preferences]] [[Nowhere]]\n", "utf-8"
            )
            after = await call("start_session")
            assert "tide table" not in after["context"]
            assert after["parts"][0]["kind"] == "context-set"
            assert after["omitted"] == [
                {"part": "personal", "kind": "context-set", "title": "first, line 4",
                 "reason": "missing", "tokens": 0, "path": "agent-memory/first.md",
                 "noteId": after["omitted"][0]["noteId"]}
            ]  # fmt: skip

    run(work)
