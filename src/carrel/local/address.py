"""The address of a running local server."""

import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

import httpx


@dataclass(frozen=True)
class Address:
    """A local server that answers. `started` says whether this call started it."""

    url: str
    api_key: str = field(repr=False)
    pid: int = 0
    started: bool = False


async def find(data: Path) -> Address | None:
    """Return the server that runs on a data folder; None if none answers.

    The file of a killed server is ignored.
    """
    try:
        said = json.loads((data / "server.json").read_text("utf-8"))
        address = Address(str(said["url"]), str(said["api_key"]), int(said["pid"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    # A dead server's port may belong to another program by now.
    return address if _alive(address.pid) and await _answers(address.url) else None


def loopback() -> httpx.AsyncClient:
    """Return a client for plain http on this machine: no proxy sees it, no certificates are
    loaded.
    """
    return httpx.AsyncClient(trust_env=False, verify=False, timeout=2)


async def _answers(url: str) -> bool:
    try:
        async with loopback() as http:
            return (await http.get(f"{url}/healthz")).is_success
    except (httpx.HTTPError, httpx.InvalidURL):
        return False


def _alive(pid: int) -> bool:
    if sys.platform == "win32":
        return True  # no harmless way to ask; the port must suffice
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True
