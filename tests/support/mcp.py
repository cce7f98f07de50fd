"""An agent's client of Carrel's tools, by the SDK, over each of the two doors."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

from mcp import Client, StdioServerParameters

Door = Literal["stdio", "http"]
DOORS: tuple[Door, ...] = ("stdio", "http")


@asynccontextmanager
async def agent_at(
    door: Door, url: str, key: str, *options: str, folder: Path | None = None, mode: Any = "auto"
) -> AsyncIterator[Client]:
    """A client of `carrel mcp OPTIONS` started in a folder, or of a server's /mcp."""
    if door == "stdio":
        command = StdioServerParameters(
            command=sys.executable,
            args=["-m", "carrel", "mcp", *options],
            env={**os.environ, "CARREL_URL": url, "CARREL_API_KEY": key},
            cwd=folder,
        )
        async with Client(command, mode=mode) as client:
            yield client
        return
    headers = {"authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


def said(result: CallToolResult) -> str:
    """The text of a tool's result."""
    [content] = result.content
    assert content.type == "text"
    return content.text


def data(result: CallToolResult) -> dict[str, Any]:
    """The data of a tool's result, which is no error."""
    assert not result.is_error, said(result)
    assert isinstance(result.structured_content, dict)
    return result.structured_content
