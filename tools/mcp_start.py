"""The start of a session for MCP clients that call no tool at their start: resources and a prompt.

What they load is what the tool `start_session` answers, as its text.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import unquote

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
)

from .definition import tool
from .wire import Json

START: Final = "start_session"
ADDRESS: Final = "zibaldone://start"
TEXT: Final = "text/markdown"
_SHORT = "What the user wants an agent to know before it begins, about them and the work at hand."
_OF_PROJECT = "The same with the notes, memory and plans of one project."


def resources() -> ListResourcesResult:
    """The start without a project, as a resource."""
    start = Resource(
        name="start", title="Start of a session", uri=ADDRESS, description=_SHORT, mime_type=TEXT
    )
    return ListResourcesResult(resources=[start])


def templates() -> ListResourceTemplatesResult:
    """The start of a session on one project, as a template of resources."""
    template = ResourceTemplate(
        name="start-project",
        title="Start of a session on a project",
        uri_template=f"{ADDRESS}/{{project}}",
        description=_OF_PROJECT,
        mime_type=TEXT,
    )
    return ListResourceTemplatesResult(resource_templates=[template])


def prompts() -> ListPromptsResult:
    """The start as a prompt, whose arguments are those of the tool."""
    start = tool(START)
    arguments = [
        PromptArgument(name=one.wire, description=one.description, required=one.required)
        for one in start.arguments
    ]
    prompt = Prompt(name=START, title=start.title, description=_SHORT, arguments=arguments)
    return ListPromptsResult(prompts=[prompt])


def asked_by_address(uri: str) -> Json:
    """The arguments of the tool that an address stands for. Raises `MCPError` for any other."""
    base, slash, project = uri.partition(f"{ADDRESS}/")
    if uri == ADDRESS:
        return {}
    if base or not slash or not project:
        raise MCPError(INVALID_PARAMS, f"There is no resource {uri!r}.")
    return {"project": unquote(project)}


def check_prompt(name: str) -> None:
    """Raise `MCPError` for a prompt that there is not."""
    if name != START:
        raise MCPError(INVALID_PARAMS, f"There is no prompt {name!r}; there is {START!r}.")


def as_resource(uri: str, text: str) -> ReadResourceResult:
    """The text as the contents of a resource."""
    contents = TextResourceContents(uri=uri, mime_type=TEXT, text=text)
    return ReadResourceResult(contents=[contents])


def as_prompt(text: str) -> GetPromptResult:
    """The text as a message to the agent."""
    message = PromptMessage(role="user", content=TextContent(type="text", text=text))
    return GetPromptResult(description=_SHORT, messages=[message])
