import gc
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Literal

import agents
import jsonschema
import pydantic
import pytest
from zibaldone.tools import mcp_server, serve
from zibaldone.tools.definition import BY_NAME, TOOLS
from zibaldone.tools.mcp_server import Door, call
from zibaldone.tools.vault import Caller, Vault
from zibaldone.vault.errors import VaultNotFound

SECONDS = 30


def command(vault, *options):
    return [sys.executable, "-m", "zibaldone.tools", "mcp", "--vault", str(vault), *options]


def session(vault, work, *, env=None):
    """Run `work` with a connected official client; return what it returns."""

    async def connected():
        async with agents.session(vault, **(env or {})) as client:
            return await work(client)

    return agents.run(connected)


class Raw:
    """A server process, spoken to line by line."""

    def __init__(self, vault, *options, env=None):
        self.process = subprocess.Popen(
            command(vault, *options),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(env or {})},
        )
        self.errors = b""
        self._reader = threading.Thread(target=self._read_errors, daemon=True)
        self._reader.start()

    def _read_errors(self):
        self.errors = self.process.stderr.read()

    def send(self, line):
        self.process.stdin.write(line.encode() if isinstance(line, str) else line)
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def request(self, number, method, **params):
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self.send(json.dumps(message))

    def answer(self):
        return json.loads(self.process.stdout.readline())

    def start(self):
        self.request(
            0,
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "raw", "version": "1"},
        )
        answer = self.answer()
        self.send('{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        return answer

    def end(self):
        """Close stdin; return the exit code, the rest of stdout and the seconds it took."""
        began = time.monotonic()
        self.process.stdin.close()
        rest = self.process.stdout.read()
        code = self.process.wait(SECONDS)
        self._reader.join(SECONDS)
        return code, rest, time.monotonic() - began


@pytest.fixture
def raw(vault_dir):
    servers = []

    def start(*options, vault=vault_dir, env=None):
        servers.append(Raw(vault, *options, env=env))
        return servers[-1]

    yield start
    for server in servers:
        if server.process.poll() is None:
            server.process.kill()
        server.process.wait(SECONDS)
        server.process.stdin.close()
        server.process.stdout.close()
        server.process.stderr.close()


# One call, without a process around it


@pytest.fixture
def vault(vault_dir):
    (vault_dir / "Tea.md").write_text("# Tea\n\nDarjeeling is a black tea.\n", "utf-8")
    with Vault.open(vault_dir, caller=Caller()) as opened:
        yield opened


def test_an_answer_is_text_and_data(vault) -> None:
    outcome = call(lambda: vault, Caller(), "search", {"query": "darjeeling"})
    assert not outcome.failed
    assert "Tea.md" in outcome.text
    assert "Darjeeling is a black tea." in outcome.text
    assert outcome.data["results"][0]["path"] == "Tea.md"
    assert outcome.data["results"][0]["noteId"] in outcome.text


def test_the_text_of_a_recall_is_exactly_its_context(vault) -> None:
    outcome = call(lambda: vault, Caller(), "recall", {"query": "darjeeling"})
    assert outcome.text == outcome.data["context"]
    assert "Darjeeling" in outcome.text


def test_an_empty_recall_says_so(vault) -> None:
    outcome = call(lambda: vault, Caller(), "recall", {"query": "xylophone"})
    assert outcome.data["context"] == ""
    assert "Nothing is known" in outcome.text


def test_an_error_is_an_outcome_with_its_facts(vault) -> None:
    outcome = call(lambda: vault, Caller(), "get_note", {"ref": "Coffee"})
    assert outcome.failed
    assert outcome.text.startswith("There is no note 'Coffee'.")
    assert outcome.data["error"]["code"] == "note_not_found"
    assert outcome.data["error"]["facts"]["ref"] == "Coffee"
    jsonschema.validate(outcome.data, BY_NAME["get_note"].output_schema())


def test_a_fault_inside_is_logged_and_not_told(vault, monkeypatch, caplog) -> None:
    def broken(*_):
        raise RuntimeError("words of a note")

    monkeypatch.setattr(mcp_server, "plain", broken)
    with caplog.at_level(logging.ERROR):
        outcome = call(lambda: vault, Caller(), "search", {"query": "tea"})
    assert outcome.failed
    assert "words of a note" not in json.dumps(outcome.data) + outcome.text
    assert "words of a note" in caplog.text


def test_half_a_surrogate_pair_is_refused_and_the_answer_can_be_sent(vault) -> None:
    for name, arguments in (
        ("remember_about_user", {"observation": "cut \ud83d"}),
        ("search", {"query": "cut \ud83d"}),
        ("get_note", {"ref": "cut \ud83d"}),
    ):
        outcome = call(lambda: vault, Caller(), name, arguments)
        json.dumps(outcome.data, ensure_ascii=False).encode("utf-8")
        outcome.text.encode("utf-8")
        assert outcome.failed is (name != "search")


def test_the_door_tries_again_when_a_vault_was_missing(tmp_path) -> None:
    door = Door(str(tmp_path / "later"))
    with pytest.raises(VaultNotFound):
        door.vault()
    (tmp_path / "later").mkdir()
    assert door.vault() is door.vault()
    door.close()


# The cheaper import


def pydantic_state():
    return pydantic.BaseModel.model_config, pydantic.TypeAdapter.__init__, gc.isenabled()


def test_quick_imports_put_everything_back() -> None:
    before = pydantic_state()
    with serve.quick_imports():
        assert pydantic_state() != before
    assert pydantic_state() == before
    with pytest.raises(ImportError), serve.quick_imports():
        raise ImportError
    assert pydantic_state() == before


def test_the_packages_of_the_sdk_are_whole_when_they_are_asked_for() -> None:
    python = """
import sys
from zibaldone.tools.serve import quick_imports
with quick_imports():
    from zibaldone.tools import mcp_server
print(sorted({"mcp.client", "mcp.server.mcpserver"} & {*sys.modules}))
import mcp.server
from mcp import Client, server
from mcp.server import MCPServer, Server
print(mcp.Client is Client, mcp.server is server, Server is mcp_server.Server)
"""
    found = subprocess.run([sys.executable, "-c", python], capture_output=True, text=True)
    assert (found.stdout, found.stderr) == ("[]\nTrue True True\n", "")


def test_what_is_defined_meanwhile_validates_all_the_same() -> None:
    with serve.quick_imports():

        class Cat(pydantic.BaseModel):
            kind: Literal["cat"]
            lives: int

        class Dog(pydantic.BaseModel):
            kind: Literal["dog"]

        class Household(pydantic.BaseModel):
            pets: list["Cat | Dog"]

        pets = pydantic.TypeAdapter(Cat | Dog)
        cats = pydantic.TypeAdapter(Cat)
        named = pydantic.TypeAdapter(list["Cat"])
        strict = pydantic.TypeAdapter(int, config={"strict": True})
    assert not Cat.__pydantic_complete__
    assert pets.validate_json('{"kind": "cat", "lives": 9}') == Cat(kind="cat", lives=9)
    assert cats.validate_python({"kind": "cat", "lives": "7"}).lives == 7
    assert named.validate_python([{"kind": "cat", "lives": 1}]) == [Cat(kind="cat", lives=1)]
    assert Household.model_validate({"pets": [{"kind": "dog"}]}).pets == [Dog(kind="dog")]
    for adapter, wrong in ((pets, {"kind": "cow"}), (cats, {"kind": "cat"}), (strict, "1")):
        with pytest.raises(pydantic.ValidationError):
            adapter.validate_python(wrong)
    with pytest.raises(pydantic.ValidationError):
        Cat(kind="cat", lives="many")


# Over the pipe


def test_tools_are_listed_as_they_are_defined(vault_dir) -> None:
    async def work(client):
        return (await client.list_tools()).tools

    listed = session(vault_dir, work)
    assert [one.name for one in listed] == [one.name for one in TOOLS]
    for one, defined in zip(listed, TOOLS, strict=True):
        assert one.input_schema == defined.input_schema()
        assert one.output_schema == defined.output_schema()
        assert one.description == defined.description
        assert one.annotations.read_only_hint is defined.read_only
        assert one.annotations.destructive_hint is defined.destructive
        assert one.annotations.idempotent_hint is defined.idempotent
        assert one.annotations.open_world_hint is False


def test_misspelt_names_are_answered_with_the_nearest(vault_dir) -> None:
    async def work(client):
        argument = await client.call_tool("recall", {"query": "x", "budget_tokens": 500})
        tool = await client.call_tool("get_notes", {"ref": "x"})
        return argument, tool

    argument, tool = session(vault_dir, work)
    assert argument.is_error
    assert "Did you mean 'budgetTokens'?" in argument.content[0].text
    assert argument.structured_content["error"]["facts"]["nearest"] == "budgetTokens"
    assert tool.is_error
    assert "Did you mean 'get_note'?" in tool.content[0].text


def test_the_client_names_itself_and_is_an_agent(vault_dir, raw) -> None:
    server = raw()
    started = server.start()["result"]
    assert started["serverInfo"]["name"] == "zibaldone"
    assert "search for it first" in started["instructions"]
    server.request(
        1,
        "tools/call",
        name="remember_about_user",
        arguments={"observation": "Prefers tea.", "category": "drinks"},
    )
    assert not server.answer()["result"].get("isError")
    server.request(2, "tools/call", name="get_note", arguments={"ref": "drinks"})
    observation = server.answer()["result"]["structuredContent"]["observations"][0]
    assert observation["origin"] == "agent"
    assert server.end()[0] == 0


def test_a_missing_vault_is_an_answer_and_not_a_crash(tmp_path, raw) -> None:
    server = raw(vault=tmp_path / "unmounted")
    assert "result" in server.start()
    server.request(1, "tools/list")
    assert len(server.answer()["result"]["tools"]) == len(TOOLS)
    server.request(2, "tools/call", name="search", arguments={"query": "x"})
    refused = server.answer()["result"]
    assert refused["isError"]
    assert refused["structuredContent"]["error"]["code"] == "vault_not_found"
    (tmp_path / "unmounted").mkdir()
    server.request(3, "tools/call", name="search", arguments={"query": "x"})
    assert not server.answer()["result"].get("isError")
    assert server.end()[0] == 0


def test_malformed_input_costs_only_itself(raw) -> None:
    server = raw()
    server.start()
    for line in ("not json", "{}", "[]", "7", b"\xff\xfe", "[" * 100_000, ""):
        server.send(line)
    server.request(1, "no/such/method")
    assert server.answer()["error"]["code"] == -32601
    server.request(2, "tools/call", name=["search"])
    assert server.answer()["error"]["code"] == -32602
    server.request(3, "tools/call", name="search", arguments="x")
    assert server.answer()["error"]["code"] == -32602
    server.request(4, "tools/call", name="search", arguments={"query": "x"})
    assert server.answer()["id"] == 4
    assert server.end()[0] == 0


def test_a_text_cut_inside_an_emoji_is_answered(raw) -> None:
    server = raw()
    server.start()
    server.request(
        1, "tools/call", name="remember_about_user", arguments={"observation": "a \ud83d"}
    )
    refused = server.answer()["result"]
    assert refused["isError"]
    assert refused["structuredContent"]["error"]["code"] == "observation_refused"
    assert server.end()[0] == 0


def test_stdout_is_only_protocol_whatever_happens(tmp_path, raw) -> None:
    # Case MC-01: banners, logs and warnings on stdout break the protocol.
    vault = tmp_path / "odd"
    vault.mkdir()
    (vault / "Bad.md").write_text("---\nx: [\n---\n", "utf-8")
    (vault / "latin.md").write_bytes("Café".encode("latin-1"))
    (vault / "binary.md").write_bytes(bytes(range(256)) * 40)
    (vault / "gone.md").symlink_to(tmp_path / "nowhere.md")
    server = raw("--log-level", "debug", vault=vault, env={"PYTHONWARNINGS": "always"})
    server.start()
    calls = [
        ("start_session", {"project": "p", "thread": "t"}),
        ("memory_summary", {}),
        ("create_progress", {"task": "Load", "steps": ["a"]}),
        ("start_step", {"task": "Load", "step": "a"}),
        ("complete_step", {"task": "Load", "step": "a"}),
        ("fail_step", {"task": "Load", "step": "a", "reason": "r"}),
        ("skip_step", {"task": "Load", "step": "nowhere"}),
        ("resume_point", {}),
        ("progress", {}),
        ("take_note", {"thread": "t", "text": "a"}),
        ("read_notes", {"thread": "t"}),
        ("consolidate", {"thread": "t"}),
        ("add_rule", {"name": "r", "level": "must", "text": "x < 2", "category": "c"}),
        ("get_rules", {}),
        ("check_rules", {"category": "c", "context": {"x": 3}}),
        ("list_notes", {}),
        ("search", {"query": "x"}),
        ("recall", {"query": "x"}),
        ("get_note", {"ref": "Bad"}),
        ("remember_about_user", {"observation": "Likes tea.", "category": "drinks"}),
        ("remember_about_project", {"project": "p", "observation": "Is new."}),
        ("create_note", {"project": "p", "title": "T", "body": "b"}),
        ("edit_note", {"ref": "T", "mode": "append", "content": "more"}),
        ("update_memory", {"ref": "drinks#^nowhere", "observation": "Likes coffee."}),
        ("forget", {"ref": "nowhere"}),
        ("delete_note", {"ref": "T"}),
        ("get_note", {"ref": "nowhere"}),
    ]
    assert {name for name, _ in calls} == set(BY_NAME)
    answers = {}
    for number, (name, arguments) in enumerate(calls, 1):
        server.request(number, "tools/call", name=name, arguments=arguments)
        answer = server.answer()
        assert (answer["jsonrpc"], answer["id"]) == ("2.0", number)
        answers[name] = answer["result"]
        jsonschema.validate(answers[name]["structuredContent"], BY_NAME[name].output_schema())
    assert not answers["delete_note"].get("isError"), answers["delete_note"]
    code, rest, _ = server.end()
    assert (code, rest) == (0, b"")
    assert b"DEBUG" in server.errors


def test_several_calls_run_at_once(vault_dir, raw) -> None:
    """A call that waits for a lock does not hold up one that reads."""
    from zibaldone.vault.layout import open_layout
    from zibaldone.vault.store import Store

    (vault_dir / "Tea.md").write_text("Darjeeling\n", "utf-8")
    server = raw()
    server.start()
    server.request(1, "tools/call", name="search", arguments={"query": "darjeeling"})
    assert server.answer()["result"]["structuredContent"]["total"] == 1
    with Store(open_layout(vault_dir)).transaction("Tea.md"):
        edit = {"ref": "Tea.md", "mode": "append", "content": "Assam"}
        server.request(2, "tools/call", name="edit_note", arguments=edit)
        server.request(3, "tools/list")
        assert server.answer()["id"] == 3
    assert server.answer()["id"] == 2
    assert "Assam" in (vault_dir / "Tea.md").read_text("utf-8")


# The end


def test_the_server_ends_with_its_input(raw) -> None:
    server = raw()
    server.start()
    server.request(1, "tools/call", name="search", arguments={"query": "x"})
    server.answer()
    code, rest, seconds = server.end()
    assert (code, rest) == (0, b"")
    assert seconds < 5
    assert b"Traceback" not in server.errors


def test_the_server_ends_before_anything_was_said(raw) -> None:
    assert raw().end()[0] == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_server_ends_when_told_to(raw, number) -> None:
    server = raw()
    server.start()
    server.process.send_signal(number)
    assert server.process.wait(5) == 0


def test_the_server_ends_quietly_when_its_client_is_gone(raw) -> None:
    server = raw()
    server.start()
    server.process.stdout.close()
    server.request(1, "tools/call", name="search", arguments={"query": "x"})
    server.process.stdin.close()
    assert server.process.wait(5) == 0
    server._reader.join(5)
    assert b"Traceback" not in server.errors
