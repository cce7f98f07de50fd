"""The address of a running local server."""

import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

import httpx


@dataclass(frozen=True)
class Address:
    """The address of a running local server. `started` tells whether this call started it."""

    url: str
    api_key: str = field(repr=False)
    pid: int = 0
    started: bool = False


async def find(data: Path) -> Address | None:
    """Return the server running on a data folder, or None if none answers.

    A leftover file of a killed server is ignored.
    """
    try:
        said = json.loads((data / "server.json").read_text("utf-8"))
        address = Address(str(said["url"]), str(said["api_key"]), int(said["pid"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    # The port of a dead server may belong to another program now.
    return address if _is_alive(address.pid) and await _answers(address.url) else None


def loopback() -> httpx.AsyncClient:
    """Return a client for plain http on this machine, without proxies and certificates."""
    # Loading certificates takes longer than a request here.
    return httpx.AsyncClient(trust_env=False, verify=False, timeout=2)


async def _answers(url: str) -> bool:
    try:
        async with loopback() as http:
            return (await http.get(f"{url}/healthz")).is_success
    except (httpx.HTTPError, httpx.InvalidURL):
        return False


def _is_alive(pid: int) -> bool:
    if sys.platform == "win32":
        return True  # no side-effect-free request exists: the port must suffice
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True
