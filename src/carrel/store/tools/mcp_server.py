"""The tools of one MCP server in the settings."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import threading
from collections import deque
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.config.tools import ServerSettings
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.tools.command import environment
from carrel.store.tools.state import as_result
from carrel.text import clean_text, redact

if TYPE_CHECKING:
    from carrel.wire.generation.tools import FunctionTool
    from mcp import Client

logger = logging.getLogger(__name__)

MOST_TOOLS = 128
_SAID_LINES = 5
"""Last lines of a server's stderr, shown as the reason when it fails."""


class McpServer:
    """Connects when its tools are first needed, and again after a lost connection.

    The connection lives in a task of its own, because it must end in the task that began it.
    """

    def __init__(self, name: str, settings: ServerSettings, folder: Path) -> None:
        self._name = name
        self._settings = settings
        self._folder = folder
        # Simultaneous calls share one connection.
        self._connecting = asyncio.Lock()
        self._client: Client | None = None
        self._task: asyncio.Task[None] | None = None
        self._leave = asyncio.Event()
        self._said: deque[str] = deque(maxlen=_SAID_LINES)

    async def list(self) -> Sequence[FunctionTool]:
        """Return the server's tools, at most MOST_TOOLS."""
        from carrel.wire.generation.tools import Function, FunctionTool

        found: list[FunctionTool] = []
        cursor: str | None = None
        client = await self._ensure_connected()
        try:
            async with asyncio.timeout(self._settings.timeout):
                while len(found) < MOST_TOOLS:
                    page = await client.list_tools(cursor=cursor)
                    found += (
                        FunctionTool(
                            function=Function(
                                name=tool.name,
                                description=clean_text(tool.description or "") or None,
                                parameters=tool.input_schema,
                            )
                        )
                        for tool in page.tools
                    )
                    cursor = page.next_cursor
                    if not cursor:
                        break
        except Exception as error:
            await self.close()
            raise ProblemError(self._problem(error)) from error
        return found[:MOST_TOOLS]

    async def call(self, name: str, arguments: str) -> str:
        """Call a tool of the server."""
        try:
            given = json.loads(arguments or "{}")
            if not isinstance(given, dict):
                raise ValueError
        except ValueError:
            return "Error: the arguments are not a JSON object."
        try:
            client = await self._ensure_connected()
            async with asyncio.timeout(self._settings.timeout):
                answer = await client.call_tool(name, given)
        except TimeoutError:
            return f"Error: no answer within {self._settings.timeout:g} seconds."
        except ProblemError as error:
            return f"Error: {error.problem}"
        except Exception as error:
            logger.info("a call of the MCP server %s failed", self._name, exc_info=error)
            if not _is_refusal(error):
                await self.close()
            return as_result(f"Error: {error}")
        text = as_result("\n".join(_words(one) for one in answer.content))
        if not text and answer.structured_content is not None:
            text = as_result(json.dumps(answer.structured_content, ensure_ascii=False))
        return f"Error: {text}" if answer.is_error else text

    async def close(self) -> None:
        """Disconnect, and end the server's process."""
        if self._task is not None:
            self._leave.set()
            await asyncio.wait([self._task])
            self._task = self._client = None

    async def _ensure_connected(self) -> Client:
        async with self._connecting:
            if self._task is not None and self._task.done():
                self._task = self._client = None
            if self._client is None:
                self._client = await self._connect()
            return self._client

    async def _connect(self) -> Client:
        ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._leave = asyncio.Event()
        self._said.clear()
        task = asyncio.create_task(self._hold(ready, self._leave))
        try:
            async with asyncio.timeout(self._settings.timeout):
                # `_hold` may set the client just as the time runs out.
                client = await asyncio.shield(ready)
        except BaseException as error:
            task.cancel()
            await asyncio.wait([task])
            ready.cancel()
            if isinstance(error, Exception):
                raise ProblemError(self._problem(error)) from error
            raise
        self._task = task
        return client

    async def _hold(self, ready: asyncio.Future[Client], leave: asyncio.Event) -> None:
        try:
            async with self._client_of_it() as client:
                ready.set_result(client)
                await leave.wait()
        except Exception as error:
            if not ready.done():
                ready.set_exception(error)
            else:
                logger.info("the connection to the MCP server %s ended", self._name, exc_info=error)

    @contextlib.asynccontextmanager
    async def _client_of_it(self) -> AsyncIterator[Client]:
        try:
            from mcp.client.stdio import stdio_client
            from mcp.client.streamable_http import streamable_http_client

            from mcp import Client, StdioServerParameters
        except ModuleNotFoundError as error:
            raise ProblemError(
                "The MCP SDK is not installed",
                f"The tools of {self._name} need it.",
                "Install it with: pip install 'carrel[mcp]'",
            ) from error
        settings = self._settings
        if settings.url:
            import httpx2

            async with (
                httpx2.AsyncClient(
                    headers=dict(settings.headers), timeout=settings.timeout
                ) as http,
                Client(streamable_http_client(settings.url, http_client=http)) as client,
            ):
                yield client
            return
        program, *arguments = settings.command
        command = StdioServerParameters(
            command=program, args=arguments, env=environment(settings.env), cwd=self._folder
        )
        with _open_stderr(self._said) as errors:
            async with Client(stdio_client(command, errlog=errors)) as client:
                yield client

    def _problem(self, error: BaseException) -> Problem:
        if isinstance(error, ProblemError):
            return error.problem
        if isinstance(error, TimeoutError):
            why = f"It did not answer within {self._settings.timeout:g} seconds."
        elif isinstance(error, FileNotFoundError):
            why = f"There is no program “{self._settings.command[0]}”."
        else:
            why = redact(clean_text(" ".join(filter(None, (_cause(error), *self._said)))))
        return Problem(
            f"The MCP server “{self._name}” did not start"
            if self._settings.command
            else f"The MCP server “{self._name}” was not reached",
            why,
            "Check it in the settings: carrel config edit",
        )


def _cause(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"


def _is_refusal(error: BaseException) -> bool:
    """Return whether the error is an answer of the server itself."""
    from mcp.shared.exceptions import MCPError
    from mcp.types import CONNECTION_CLOSED

    return isinstance(error, MCPError) and error.error.code != CONNECTION_CLOSED


def _words(content: Any) -> str:
    """Return a part of a result as text for the model."""
    if content.type == "text":
        return str(content.text)
    if content.type == "resource":
        return str(getattr(content.resource, "text", f"[{content.resource.uri}]"))
    if content.type == "resource_link":
        return f"[{content.name}]({content.uri})"
    return f"[{content.type}]"


@contextlib.contextmanager
def _open_stderr(said: deque[str]) -> Any:
    """Yield a file for a child's stderr and keep its last lines: the terminal app owns the
    screen."""
    reading, writing = os.pipe()

    def read() -> None:
        with os.fdopen(reading, errors="replace") as lines:
            said.extend(line.strip() for line in lines)

    listener = threading.Thread(target=read, daemon=True)
    listener.start()
    with os.fdopen(writing, "w") as errors:
        yield errors
