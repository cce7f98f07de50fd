"""`/mcp`: the server's tools for the agents of other programs, over HTTP."""

import asyncio
from typing import TYPE_CHECKING

from starlette.types import Receive, Scope, Send

from carrel.server.assembly import Server

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

PATH = "/mcp"


class McpDoor:
    """The application at `/mcp`. Each request carries its key, and keeps no session.

    A tool calls this server over HTTP with the caller's key.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        # Without the lock, simultaneous first requests would open it more than once.
        self._opening = asyncio.Lock()
        self._manager: StreamableHTTPSessionManager | None = None
        self._runner: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    async def close(self) -> None:
        """End what the first request started."""
        self._closing.set()
        if self._runner is not None:
            await self._runner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._opening:
            manager = self._manager = self._manager or await self._open()
        await manager.handle_request(scope, receive, send)

    async def _open(self) -> "StreamableHTTPSessionManager":
        # Imported with the first request: most servers never have one.
        manager = await asyncio.to_thread(_manager, self._server.settings.mcp_write)
        opened = asyncio.Event()

        async def run() -> None:
            # Its tasks must end in the task that began them.
            async with manager.run():
                opened.set()
                await self._closing.wait()

        self._runner = asyncio.create_task(run())
        await opened.wait()
        return manager


def _manager(writes: bool) -> "StreamableHTTPSessionManager":
    from carrel.mcp.http import session_manager

    return session_manager(writes=writes)
