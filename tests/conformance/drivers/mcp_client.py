"""Carrel's tools through the client of the MCP SDK."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client

from conformance.drivers.operation import KEY, PDF, URL, library_with, operation
from mcp import Client


async def with_client(work: Callable[[Any], Awaitable[None]]) -> None:
    async with (
        httpx2.AsyncClient(headers={"authorization": f"Bearer {KEY}"}, timeout=60) as http,
        Client(streamable_http_client(f"{URL}/mcp", http_client=http)) as client,
    ):
        await work(client)


async def tools(client: Any) -> None:
    assert "search_library" in [tool.name for tool in (await client.list_tools()).tools]


async def search(client: Any) -> None:
    asked = {"library_id": library_with(PDF), "query": "carrel"}
    found = await client.call_tool("search_library", asked)
    assert json.loads(found.content[0].text)["passages"][0]["document_name"] == PDF.name


async def resource(client: Any) -> None:
    library_with(PDF)
    page = await client.list_resources()
    while not page.resources:
        page = await client.list_resources(cursor=page.next_cursor)
    assert (await client.read_resource(page.resources[0].uri)).contents[0].text


operation("MCP: tools")(lambda: asyncio.run(with_client(tools)))
operation("MCP: search")(lambda: asyncio.run(with_client(search)))
operation("MCP: resource")(lambda: asyncio.run(with_client(resource)))
