"""The MCP server: one definition for stdio and for HTTP."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextContent,
    ToolAnnotations,
)
from mcp.types import Tool as ListedTool
from pydantic import BaseModel, ValidationError

from carrel.client import Client
from carrel.client.http.errors import ClientError
from carrel.mcp import prompts, resources
from carrel.mcp.reading import READING
from carrel.mcp.tool import Result, Tool, ToolCall, ToolError
from carrel.mcp.writing import WRITING
from mcp import MCPError

Context = ServerRequestContext[Any, Any]
Connect = Callable[[Context], AbstractAsyncContextManager["Client"]]

_INSTRUCTIONS = (
    "Carrel keeps libraries of documents. Find a library with list_libraries, search it with"
    " search_library, and read the pages around a passage with read_document. Pages count from 0."
)


def mcp_server(connect: Connect, *, writes: bool, folder: Path | None = None) -> Server[Any]:
    """Make the server. `connect` returns a client with the rights of a request's caller.

    With `writes` it offers the tools that change data. Files of `folder` may be read.
    """
    tools = {**READING, **(WRITING if writes else {})}

    async def list_tools(context: Context, asked: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[_describe(tool) for tool in tools.values()])

    async def call_tool(context: Context, asked: CallToolRequestParams) -> CallToolResult:
        tool = tools.get(asked.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"There is no tool {asked.name[:80]}.")
        try:
            arguments = tool.arguments.model_validate(asked.arguments or {})
            async with connect(context) as client, _steps(context) as step:
                return _answer(await tool.run(ToolCall(client, step, folder), arguments))
        except ValidationError as error:
            return _failure(_wrong(error))
        except (ClientError, ToolError) as error:
            return _failure(str(error))

    async def list_resources(
        context: Context, asked: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        async with _refusals(), connect(context) as client:
            return await resources.page_of(client, asked.cursor if asked else None)

    async def read_resource(
        context: Context, asked: ReadResourceRequestParams
    ) -> ReadResourceResult:
        async with _refusals(), connect(context) as client:
            return await resources.read(client, str(asked.uri))

    async def list_templates(
        context: Context, asked: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=[resources.TEMPLATE])

    async def list_prompts(
        context: Context, asked: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        return prompts.list_prompts()

    async def get_prompt(context: Context, asked: GetPromptRequestParams) -> GetPromptResult:
        return prompts.fill(asked.name, asked.arguments or {})

    return Server(
        "carrel",
        title="Carrel",
        version=version("carrel"),
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
        on_list_resource_templates=list_templates,
    )


def _describe(tool: Tool[Any]) -> ListedTool:
    return ListedTool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.arguments.model_json_schema(),
        output_schema=tool.result.model_json_schema() if tool.result else None,
        annotations=ToolAnnotations(
            read_only_hint=not tool.writes, destructive_hint=tool.destroys, open_world_hint=False
        ),
    )


def _answer(result: Result) -> CallToolResult:
    if isinstance(result, str):
        return CallToolResult(content=[TextContent(text=result)])
    if isinstance(result, BaseModel):
        result = result.model_dump(mode="json", exclude_none=True)
    text = json.dumps(result, ensure_ascii=False)
    return CallToolResult(content=[TextContent(text=text)], structured_content=result)


def _failure(message: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=message)], is_error=True)


def _wrong(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    return "; ".join(
        f"{'.'.join(str(part) for part in problem['loc'])}: {problem['msg']}"
        for problem in problems
    )


@asynccontextmanager
async def _refusals() -> AsyncIterator[None]:
    """Convert a refusal of the service to an MCP error."""
    try:
        yield
    except ClientError as error:
        raise MCPError(INVALID_PARAMS, str(error)) from error


@asynccontextmanager
async def _steps(context: Context) -> AsyncIterator[Callable[[str], None]]:
    """Send the steps of a call to its caller in order, without repetitions."""
    steps: asyncio.Queue[str | None] = asyncio.Queue()

    async def send() -> None:
        count, last = 0, None
        while (step := await steps.get()) is not None:
            if step != last:
                count, last = count + 1, step
                await context.session.report_progress(count, None, step)

    sender = asyncio.create_task(send())
    try:
        yield steps.put_nowait
        steps.put_nowait(None)
        await sender
    finally:
        sender.cancel()
