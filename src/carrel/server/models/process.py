"""The embedded model's process: started on first use, stopped when idle, restarted if it died.

A hanging process is ended; the next use starts it again.
"""

import asyncio
import logging
import secrets
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from carrel.server.errors import ApiError
from carrel.server.models.address import ModelAddress

log = logging.getLogger(__name__)

IDLE_SECONDS = 300.0
"""Time after which an unused process ends and its memory is free."""
HUNG_SECONDS = 10.0
"""Seconds without a sign of life after which a process is taken for hung."""
_WATCH_SECONDS = 2.0
"""Interval of the checks of a process."""

Probe = Callable[[ModelAddress], Awaitable[None]]
"""Returns as soon as a running model gives a sign of life."""


class EmbeddedProcess:
    """A process around the weights that `find_weights` finds."""

    def __init__(
        self,
        find_weights: Callable[[], Path],
        *options: str,
        idle_seconds: float = IDLE_SECONDS,
        probe: Probe | None = None,
        hung_seconds: float = HUNG_SECONDS,
    ) -> None:
        """`options` are those of `carrel.server.models.embedded`.

        With a `probe`, a process that is in use is ended when it gives no sign of life.
        """
        self._find_weights = find_weights
        self._options = options
        self._idle_seconds = idle_seconds
        self._process: asyncio.subprocess.Process | None = None
        self._address = ModelAddress("")
        self._starting = asyncio.Lock()
        self._users = 0
        self._idle: asyncio.TimerHandle | None = None
        self._probe = probe
        self._hung_seconds = hung_seconds
        self._watching: asyncio.Task[None] | None = None
        self.failed = False
        """Whether the model could not be loaded when it was last needed."""

    @property
    def pid(self) -> int | None:
        """The process's number while it runs."""
        if self._process is None or self._process.returncode is not None:
            return None
        return self._process.pid

    @asynccontextmanager
    async def address(self) -> AsyncIterator[ModelAddress]:
        """Yield the address of the running model, which is kept from going idle meanwhile.

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
            if self._probe is not None and (self._watching is None or self._watching.done()):
                self._watching = asyncio.create_task(self._watch(self._probe))
            yield self._address
        finally:
            self._users -= 1
            if not self._users:
                loop = asyncio.get_running_loop()
                self._idle = loop.call_later(self._idle_seconds, self._end_idle)

    async def wait_for_end(self, address: ModelAddress, seconds: float) -> None:
        """Wait until the process at an address has ended, at most some seconds.

        The connections of a dying process break before the system reports its end.
        """
        if self._process is not None and self._address == address:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), seconds)

    async def stop(self) -> None:
        """End the process, if it runs, and wait for it."""
        if self._idle is not None:
            self._idle.cancel()
        if self._watching is not None:
            self._watching.cancel()
        process, self._process = self._process, None
        if process is not None:
            _kill(process)
            await process.wait()

    async def _watch(self, probe: Probe) -> None:
        """End the process if it hangs while it is used, or after its last user has left."""
        used = True
        while used:
            await asyncio.sleep(_WATCH_SECONDS)
            used = bool(self._users)
            process = self._process
            try:
                async with asyncio.timeout(self._hung_seconds):
                    await probe(self._address)
            except TimeoutError:
                # Another process may have been started meanwhile.
                if process is not None and process is self._process:
                    log.warning(
                        "the language model hangs for %g s: it is started anew", self._hung_seconds
                    )
                    _kill(process)
                    await process.wait()
            except ApiError:
                pass  # it died: the next use starts it

    async def _start(self) -> None:
        self.failed = True
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
        self.failed = False
        log.info("loaded %s in %.2f s", weights.name, time.perf_counter() - began)

    def _end_idle(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            log.info("the language model ends: nobody has used it for %g s", self._idle_seconds)
            _kill(process)


def _kill(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()
