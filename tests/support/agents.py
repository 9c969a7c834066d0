"""Agents as the tests have them: the official MCP client, with a server of its own over pipes."""

import os
import sys
from contextlib import asynccontextmanager

import anyio
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.types import Implementation

SECONDS = 90


@asynccontextmanager
async def session(vault, name="tester", version="1.0", *, errlog=sys.stderr, **environment):
    """A client of that name that has shaken hands."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "zibaldone.tools", "mcp", "--vault", str(vault)],
        env=os.environ | environment,
    )
    me = Implementation(name=name, version=version)
    async with (
        stdio_client(server, errlog=errlog) as (incoming, outgoing),
        ClientSession(incoming, outgoing, client_info=me) as client,
    ):
        await client.initialize()
        yield client


class Agent:
    """Calls tools: as `agent(tool, …)` for the data of an answer that has to succeed."""

    def __init__(self, client):
        self.client = client

    async def __call__(self, tool, **arguments):
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content[0].text
        return result.structured_content

    async def text(self, tool, **arguments):
        """The text of an answer or an error."""
        return (await self.client.call_tool(tool, arguments)).content[0].text

    async def refused(self, tool, **arguments):
        """The error of a call that has to fail."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error, result.content[0].text
        return result.structured_content["error"]


@asynccontextmanager
async def agent(vault, name="tester", version="1.0"):
    """An agent of that name."""
    async with session(vault, name, version) as client:
        yield Agent(client)


def run(work, *arguments, seconds=SECONDS):
    """Run an asynchronous function to its end, and not for ever; returns what it returns."""

    async def limited():
        with anyio.fail_after(seconds):
            return await work(*arguments)

    return anyio.run(limited)
