import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import tomli_w

from carrel.config.settings import settings_file

SERVER = """
import os, sys
from mcp.server import MCPServer

if path := os.environ.get("PID"):
    with open(path, "w") as file:
        file.write(str(os.getpid()))

server = MCPServer("numbers")

@server.tool()
def add(a: int, b: int) -> int:
    "Adds two numbers."
    return a + b

@server.tool()
def fail() -> str:
    "Fails."
    raise ValueError("it broke")

print("started", file=sys.stderr)
server.run()
"""

Write = Callable[..., None]


@pytest.fixture
def settings() -> Write:
    """Writes the settings."""

    def write(**tables: object) -> None:
        path = settings_file()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(tomli_w.dumps(tables), encoding="utf-8")

    return write


@pytest.fixture
def numbers(tmp_path: Path) -> dict[str, object]:
    """The settings of an MCP server that adds."""
    path = tmp_path / "server.py"
    path.write_text(SERVER, encoding="utf-8")
    return {"command": [sys.executable, str(path)]}


@pytest.fixture
def weather(tmp_path: Path) -> dict[str, object]:
    """The settings of a command that tells the weather."""
    path = tmp_path / "weather.py"
    path.write_text(
        "import json, os, sys\n"
        "asked = json.load(sys.stdin)\n"
        "keys = [name for name in os.environ if name.endswith('API_KEY')]\n"
        "print('Fine in', asked['city'], keys, os.getcwd())\n",
        encoding="utf-8",
    )
    return {
        "command": [sys.executable, str(path)],
        "description": "The weather of a city.",
        "parameters": {"properties": {"city": {"type": "string"}}, "required": ["city"]},
    }
