"""Starts and ends the processes that read documents."""

import asyncio
import contextlib
import logging
import os
import signal
import sys

from carrel.server.processes.pipes import PipeMessage, receive_message, send_message

log = logging.getLogger(__name__)

_ENDING_SECONDS = 5
"""Time between the end of a process's pipes and its own."""
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
    """Return the environment without secrets and proxies, with few malloc arenas to save memory."""
    passed = {name: value for name, value in os.environ.items() if name in _PASSED_ON}
    # A page is too small for threads of numpy's to help.
    alone = {"OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
    # A page touches megabytes of fresh memory: fetching it in small pieces takes a tenth longer.
    large = {"MALLOC_TOP_PAD_": f"{2**26}", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
    return {**passed, **alone, **large, "NO_PROXY": "*", "PYTHONUTF8": "1"}


def _kill(process: asyncio.subprocess.Process) -> None:
    """Kill a process and its forked copies."""
    if os.name == "nt":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)


class Child:
    """A child process that exchanges messages."""

    def __init__(self, process: asyncio.subprocess.Process, name: str) -> None:
        self._process = process
        self._name = name

    @classmethod
    async def start(cls, module: str) -> "Child":
        """Start `python -m module`."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            module,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=_environment(),
            limit=2**20,
            # Own session: on Ctrl-C in the server's terminal, the server decides.
            start_new_session=True,
        )
        return cls(process, module)

    @property
    def running(self) -> bool:
        """Whether the process is running."""
        return self._process.returncode is None

    async def send(self, message: PipeMessage) -> None:
        """Send a message, or raise ConnectionError when the process is gone."""
        assert self._process.stdin is not None
        await send_message(self._process.stdin, message)

    async def receive(self) -> PipeMessage | None:
        """Receive the next message, or None if the process ended."""
        assert self._process.stdout is not None
        return await receive_message(self._process.stdout)

    async def ask(self, message: PipeMessage) -> PipeMessage | None:
        """Send a message and receive the answer, or None if the process ended."""
        try:
            await self.send(message)
        except ConnectionError:
            return None
        return await self.receive()

    async def was_killed(self) -> bool:
        """Return whether a signal ended the process. Call after it has closed its pipes."""
        try:
            async with asyncio.timeout(_ENDING_SECONDS):
                return await self._process.wait() < 0
        except TimeoutError:
            return False

    async def end(self) -> None:
        """Kill the process, if it still runs, and wait for it."""
        with contextlib.suppress(ProcessLookupError):
            _kill(self._process)
        # The pipe may still hold data that nobody will read.
        await self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()

    @property
    def ending(self) -> str:
        """Exit status, for the log."""
        return f"{self._name} ended with {self._process.returncode}"
