"""Starts and ends the processes that read documents."""

import asyncio
import contextlib
import logging
import os
import signal
import sys
from types import TracebackType
from typing import Self

from carrel.server.reading.processes.pipes import PipeMessage, receive_message, send_message

log = logging.getLogger(__name__)

_ENDING_SECONDS = 5
_PASSED_ON = frozenset(
    [
        "PATH",
        "HOME",
        "TMPDIR",
        "TEMP",
        "TMP",
        "LANG",
        "LC_ALL",
        "PYTHONPATH",
        "VIRTUAL_ENV",
        "LD_LIBRARY_PATH",
        "SYSTEMROOT",
    ]
)


def _environment() -> dict[str, str]:
    """Nothing secret, no proxy, and few threads' worth of reserved memory."""
    passed = {name: value for name, value in os.environ.items() if name in _PASSED_ON}
    return {**passed, "NO_PROXY": "*", "MALLOC_ARENA_MAX": "2", "PYTHONUTF8": "1"}


def _kill(process: asyncio.subprocess.Process) -> None:
    """Ends a process and the copies it made of itself."""
    if os.name == "nt":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)


class Child:
    """A child process that exchanges messages. Leaving the context kills it."""

    def __init__(self, process: asyncio.subprocess.Process, name: str) -> None:
        self._process = process
        self._name = name

    @classmethod
    async def start(cls, module: str) -> "Child":
        """Starts `python -m module`."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            module,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=_environment(),
            limit=2**20,
            # Its own group: a Ctrl-C in the server's terminal is for the server to act on.
            start_new_session=True,
        )
        return cls(process, module)

    @property
    def running(self) -> bool:
        """Whether the process has not ended yet."""
        return self._process.returncode is None

    async def send(self, message: PipeMessage) -> None:
        """Raises ConnectionError when the process is gone."""
        assert self._process.stdin is not None
        await send_message(self._process.stdin, message)

    async def receive(self) -> PipeMessage | None:
        """Its next message, or None when it ended."""
        assert self._process.stdout is not None
        return await receive_message(self._process.stdout)

    async def ask(self, message: PipeMessage) -> PipeMessage | None:
        """Sends and waits for the answer; None when the process ended instead."""
        try:
            await self.send(message)
        except ConnectionError:
            return None
        return await self.receive()

    async def was_killed(self) -> bool:
        """Whether a signal ended it. For a process that has closed its pipes."""
        try:
            async with asyncio.timeout(_ENDING_SECONDS):
                return await self._process.wait() < 0
        except TimeoutError:
            return False

    async def end(self) -> None:
        """Kills the process, if it still runs, and waits for it."""
        with contextlib.suppress(ProcessLookupError):
            _kill(self._process)
        # The pipe may still be full of what nobody will read.
        await self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()

    @property
    def ending(self) -> str:
        """How it ended, for the log."""
        return f"{self._name} ended with {self._process.returncode}"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # A cancelled caller must not leave the process behind.
        await asyncio.shield(asyncio.ensure_future(self.end()))
