"""The MCP server over HTTP, whose callers send their own keys."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from carrel.client import Client
from carrel.mcp.server import Context, mcp_server


def session_manager(*, writes: bool) -> StreamableHTTPSessionManager:
    """Return a stateless manager: any server behind a load balancer can answer the next request."""
    return StreamableHTTPSessionManager(mcp_server(_connect, writes=writes), stateless=True)


@asynccontextmanager
async def _connect(context: Context) -> AsyncIterator[Client]:
    """Yield a client of this server with the request's key."""
    assert context.request is not None
    host, port = context.request.scope["server"]
    host = f"[{host}]" if ":" in host else host
    headers = context.request.headers
    _, _, key = headers.get("authorization", "").partition(" ")
    async with Client(f"http://{host}:{port}", key.strip() or headers["x-api-key"]) as client:
        yield client
