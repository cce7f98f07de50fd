"""Stopping of the server on a data folder."""

import asyncio
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from carrel.local.address import find
from carrel.local.installed import LocalError
from carrel.system.locking import Locked, lock_file

_PATIENCE = 60.0
"""Timeout in seconds for a server to start and stop."""


async def stop(data: Path) -> None:
    """Stop the server that runs or starts on a data folder, whoever uses it.

    Raises:
        LocalError: it did not stop.
    """
    deadline = time.monotonic() + _PATIENCE
    while _is_served(data):
        if time.monotonic() > deadline:
            raise LocalError(f"The server on {data} does not stop.")
        if address := await find(data):
            with suppress(ProcessLookupError):
                os.kill(address.pid, signal.SIGTERM)
        await asyncio.sleep(0.1)


def _is_served(data: Path) -> bool:
    try:
        lock_file(data / "lock").close()
    except FileNotFoundError:
        return False
    except Locked:
        return True
    return False
