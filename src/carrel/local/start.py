"""Starting of the local server, unless it is running."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from carrel.config.profiles import KEY_VARIABLES, folders
from carrel.local.address import Address, find
from carrel.local.installed import LocalError, require_server
from carrel.text import clean_text

_PATIENCE = 60.0
"""Start timeout in seconds; the first start after an install compiles bytecode."""
_EXIT_IN_USE = 3
"""Exit code of `carrel serve` if another server has the data folder."""
_LOG_BYTES = 1_000_000
"""Size at which the next start begins a new log."""


async def ensure(
    data: Path | None = None, *, on_start: Callable[[], None] | None = None
) -> Address:
    """Return the server on a data folder (by default the profile `local`'s), started if necessary.

    It is a detached process that stops once no lease holds it. Concurrent calls of any number of
    processes start only one server. `on_start` is called before a start.

    Raises:
        NotInstalled: the server is not running, and its packages are not installed.
        LocalError: the server did not start; the message has the last line of its log.
    """
    data = (data or folders().server).absolute()
    deadline = time.monotonic() + _PATIENCE
    start: _Start | None = None
    while True:
        if address := await find(data):
            return replace(address, started=start is not None)
        if start is None:
            require_server()
            if on_start is not None:
                on_start()
                on_start = None
            start = _Start(data)
        code = start.process.poll()
        if code not in (None, _EXIT_IN_USE):
            raise LocalError(start.complaint("did not start"))
        if time.monotonic() > deadline:
            start.process.terminate()
            raise LocalError(start.complaint(f"did not answer within {_PATIENCE:.0f} s"))
        if code == _EXIT_IN_USE:
            # The other server is starting (it will be found) or stopping (start ours).
            start = None
            await asyncio.sleep(0.25)
        await asyncio.sleep(0.05)


class _Start:
    """One attempt to start a detached server."""

    def __init__(self, data: Path) -> None:
        self.log = folders().state / "local-server.log"
        try:
            data.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self.log.exists() and self.log.stat().st_size > _LOG_BYTES:
                self.log.replace(self.log.with_suffix(".old.log"))
            with self.log.open("ab") as output:
                self._from = output.tell()
                self.process = _start_detached(data, output.fileno())
        except OSError as error:
            raise LocalError(
                "The server of this machine cannot be started: "
                f"{error.filename or sys.executable}: {error.strerror}."
            ) from error
        # Reaped in a thread: a server that ends during a long session leaves no zombie.
        threading.Thread(target=self.process.wait, name="local-server", daemon=True).start()

    def complaint(self, what: str) -> str:
        """Return the failure with the last line of the log and the log's path."""
        try:
            with self.log.open("rb") as log:
                log.seek(self._from)
                lines = log.read().decode("utf-8", "replace").split("\n")
        except OSError:
            lines = []
        last = next((clean_text(line).strip() for line in reversed(lines) if line.strip()), "")
        return f"The server of this machine {what}{f': {last}' if last else '.'} Log: {self.log}"


def _start_detached(data: Path, output: int) -> "subprocess.Popen[bytes]":
    # -P: modules in the current folder must not shadow the server's.
    command = [sys.executable, "-P", "-m", "carrel", "serve", "--data", str(data)]
    command += ["--port", "0", "--until-unused"]
    flags = 0
    if sys.platform == "win32":
        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        cwd=data,
        env={name: value for name, value in os.environ.items() if name not in KEY_VARIABLES},
        # In the same session, ctrl+c in this terminal would end a server that other programs use.
        start_new_session=True,
        creationflags=flags,
    )
