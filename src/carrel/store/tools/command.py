"""A command of the settings as a function for agents."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.config.tools import CommandSettings
from carrel.store.tools.state import LONGEST_RESULT, as_result

if TYPE_CHECKING:
    from carrel.wire.generation.tools import FunctionTool

logger = logging.getLogger(__name__)

_LONGEST_ERROR = 2000
"""Letters of a failed command's output for the model: the last ones."""
_PIECE = 65536
_INHERITED = frozenset(
    [
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LANGUAGE", "TZ"),
        *("TMPDIR", "TMP", "TEMP", "PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH"),
        *("DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"),
        *("SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE"),
        *("APPDATA", "LOCALAPPDATA", "PROGRAMDATA"),
    ]
)


class CommandTool:
    """A command that gets its arguments as JSON on stdin and prints the result to stdout.

    It runs without a shell in `folder`, so that relative paths mean the same wherever the workbench
    starts. Its whole process group ends with the call.
    """

    def __init__(self, name: str, settings: CommandSettings, folder: Path) -> None:
        self._name = name
        self._settings = settings
        self._folder = folder

    async def list(self) -> Sequence[FunctionTool]:
        """Return the command's only tool."""
        from carrel.wire.generation.tools import Function, FunctionTool

        settings = self._settings
        parameters = {"type": "object", "properties": {}, **settings.parameters}
        function = Function(
            name=self._name, description=settings.description or None, parameters=parameters
        )
        return [FunctionTool(function=function)]

    async def call(self, name: str, arguments: str) -> str:
        """Run the command once."""
        try:
            if not isinstance(json.loads(arguments or "{}"), dict):
                raise ValueError
        except ValueError:
            return "Error: the arguments are not a JSON object."
        try:
            process = await self._start()
        except OSError as error:
            return f"Error: the command did not start: {error.strerror}."
        try:
            async with asyncio.timeout(self._settings.timeout):
                out, err, _ = await asyncio.gather(
                    _read(process.stdout), _read(process.stderr), _feed(process, arguments or "{}")
                )
                code = await process.wait()
        except TimeoutError:
            return f"Error: the command did not end within {self._settings.timeout:g} seconds."
        finally:
            # A stopped call must not leave its command alive.
            await asyncio.shield(asyncio.ensure_future(_end(process)))
        if code:
            logger.info("the command of %s ended with exit code %s", self._name, code)
            said = as_result((err or out)[-_LONGEST_ERROR:])
            return f"Error: the command ended with exit code {code}.\n{said}".strip()
        return as_result(out)

    async def close(self) -> None:
        """Do nothing: no process outlives its call."""

    async def _start(self) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *self._settings.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self._folder,
            env=environment(self._settings.env),
            start_new_session=sys.platform != "win32",
        )


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """Return a tool's environment: basic variables such as PATH, and those in `given`.

    A model chooses a tool's arguments, so no key of this machine may be within reach. A value such
    as `$TOKEN` stands for the variable of that name.
    """
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name.upper() in _INHERITED or name.startswith("LC_")
    }
    named = {
        name: os.environ.get(value[1:], "") if value.startswith("$") else value
        for name, value in given.items()
    }
    return inherited | named


async def _feed(process: asyncio.subprocess.Process, text: str) -> None:
    assert process.stdin is not None
    # A command may end without reading its arguments.
    with contextlib.suppress(ConnectionError):
        process.stdin.write(text.encode())
        await process.stdin.drain()
    process.stdin.close()


async def _read(stream: asyncio.StreamReader | None) -> str:
    """Read a stream to its end, but keep only the bytes that a result may have."""
    assert stream is not None
    kept = bytearray()
    while piece := await stream.read(_PIECE):
        kept += piece[: max(0, 4 * LONGEST_RESULT - len(kept))]
    return kept.decode(errors="replace")


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill the command's process group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
