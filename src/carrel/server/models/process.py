"""The embedded model's process: started on first use, stopped when idle, restarted if it died."""

import asyncio
import logging
import secrets
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from carrel.server.errors import ApiError
from carrel.server.models.address import ModelAddress

log = logging.getLogger(__name__)

IDLE_SECONDS = 300.0


class EmbeddedProcess:
    """A process around the weights that `find_weights` finds."""

    def __init__(
        self,
        find_weights: Callable[[], Path],
        *options: str,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        """`options` are those of `carrel.server.models.embedded`."""
        self._find_weights = find_weights
        self._options = options
        self._idle_seconds = idle_seconds
        self._process: asyncio.subprocess.Process | None = None
        self._address = ModelAddress("")
        self._starting = asyncio.Lock()
        self._users = 0
        self._idle: asyncio.TimerHandle | None = None

    @property
    def pid(self) -> int | None:
        """The process's number while it runs."""
        if self._process is None or self._process.returncode is not None:
            return None
        return self._process.pid

    @asynccontextmanager
    async def address(self) -> AsyncIterator[ModelAddress]:
        """The address of the running model, which is kept from going idle meanwhile.

        Raises:
            ApiError: 503, there are no weights, or they cannot be loaded.
        """
        self._users += 1
        if self._idle is not None:
            self._idle.cancel()
        try:
            async with self._starting:
                if self.pid is None:
                    await self._start()
            yield self._address
        finally:
            self._users -= 1
            if not self._users:
                loop = asyncio.get_running_loop()
                self._idle = loop.call_later(self._idle_seconds, self._end_idle)

    async def stop(self) -> None:
        """Ends the process, if it runs, and waits for it."""
        if self._idle is not None:
            self._idle.cancel()
        process, self._process = self._process, None
        if process is not None:
            _kill(process)
            await process.wait()

    async def _start(self) -> None:
        weights = self._find_weights()
        key = secrets.token_urlsafe(32)
        began = time.perf_counter()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "carrel.server.models.embedded"),
            *self._options,
            str(weights),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            # Its own group: Ctrl-C in the server's terminal is handled by the server.
            start_new_session=True,
        )
        assert process.stdin is not None and process.stdout is not None
        try:
            # Not on the command line, which other users of the machine can read.
            process.stdin.write(f"{key}\n".encode())
            url = (await process.stdout.readline()).decode().strip()
        except BaseException:
            _kill(process)
            raise
        if not url:
            await process.wait()
            log.error("the model %s could not be loaded", weights)
            raise ApiError(
                503,
                f"The language model {weights.name} could not be loaded. Check that it is a whole"
                " GGUF file and that there is memory for it.",
            )
        self._process, self._address = process, ModelAddress(f"{url}/v1", key)
        log.info("loaded %s in %.2f s", weights.name, time.perf_counter() - began)

    def _end_idle(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            log.info("the language model ends: nobody has used it for %g s", self._idle_seconds)
            _kill(process)


def _kill(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()
