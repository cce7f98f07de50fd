"""A small MCP server: `python tool_server.py [PORT]`, over stdin and stdout without a port.

Over HTTP it asks for the key that `TOOL_KEY` has in the environment.
"""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from starlette.types import ASGIApp, Receive, Scope, Send

# Without the folder of this file, where other modules have the names of packages.
COMMAND = [sys.executable, "-P", __file__]

server = MCPServer("tools", log_level="CRITICAL")


@server.tool(description="The weather of a city.\x1b[31m")
def forecast(city: str) -> str:
    if city == "Nowhere":
        raise ToolError("no such city")
    return f"It rains in {city}.\x1b[2J"


@server.tool(description="Many letters.")
def flood(letters: int) -> str:
    return "x" * letters


@server.tool(description="An answer that takes its time.")
def wait(seconds: float) -> str:
    time.sleep(seconds)
    return "done"


@server.tool(description="What the tool sees of its caller.")
def secrets(context: Context) -> str:
    headers = context.headers or {}
    return json.dumps({"env": dict(os.environ), "key": headers.get("authorization")})


def with_key(app: ASGIApp, key: str) -> ASGIApp:
    """Refuse requests without the key."""

    async def check(scope: Scope, receive: Receive, send: Send) -> None:
        given = dict(scope.get("headers") or []).get(b"authorization", b"").decode()
        if scope["type"] == "http" and given not in (f"Bearer {key}", "Bearer caller-token"):
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": key.encode()})
            return
        await app(scope, receive, send)

    return check


@contextmanager
def tool_server(key: str) -> Iterator[str]:
    """Run the server over HTTP in a process of its own; gives its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {**os.environ, "TOOL_KEY": key}
    process = subprocess.Popen([*COMMAND, str(port)], env=environment)
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                assert time.monotonic() < deadline and process.poll() is None
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        # A stop would wait for a tool that takes its time.
        process.kill()
        process.wait()


if __name__ == "__main__":
    if len(sys.argv) == 1:
        server.run("stdio")
    else:
        app = with_key(server.streamable_http_app(), os.environ["TOOL_KEY"])
        uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="critical")
