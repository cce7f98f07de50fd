"""A command of the settings that answers the calls of one function."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.config import KEY_VARIABLES
from carrel.store.tools.source import LONGEST_RESULT, as_result
from carrel.tool_settings import CommandSettings

if TYPE_CHECKING:
    from carrel.wire.tools import FunctionTool

logger = logging.getLogger(__name__)

_LONGEST_ERROR = 2000
_PIECE = 65536


class CommandTool:
    """Arguments go to its stdin as JSON, its stdout is the result.

    It runs in `folder`, so that a relative path in it means the same wherever the workbench is
    started, and without a shell. Its whole process group ends with the call.
    """

    def __init__(self, name: str, settings: CommandSettings, folder: Path) -> None:
        self._name = name
        self._settings = settings
        self._folder = folder

    async def list(self) -> Sequence[FunctionTool]:
        """Its one tool."""
        from carrel.wire.tools import Function, FunctionTool

        settings = self._settings
        parameters = {"type": "object", "properties": {}, **settings.parameters}
        function = Function(
            name=self._name, description=settings.description or None, parameters=parameters
        )
        return [FunctionTool(function=function)]

    async def call(self, name: str, arguments: str) -> str:
        """Runs the command once."""
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
            await asyncio.shield(asyncio.ensure_future(_end(process)))
        if code:
            logger.info("the command of %s ended with exit code %s", self._name, code)
            said = as_result((err or out)[-_LONGEST_ERROR:])
            return f"Error: the command ended with exit code {code}.\n{said}".strip()
        return as_result(out)

    async def close(self) -> None:
        """Nothing of it runs between calls."""

    async def _start(self) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *self._settings.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self._folder,
            env={**_environment(), **self._settings.env},
            start_new_session=sys.platform != "win32",
        )


def _environment() -> dict[str, str]:
    """This program's environment without its keys."""
    return {name: value for name, value in os.environ.items() if name not in KEY_VARIABLES}


async def _feed(process: asyncio.subprocess.Process, text: str) -> None:
    assert process.stdin is not None
    # A command may end without reading its arguments.
    with contextlib.suppress(ConnectionError):
        process.stdin.write(text.encode())
        await process.stdin.drain()
    process.stdin.close()


async def _read(stream: asyncio.StreamReader | None) -> str:
    """All that it says; kept are as many bytes as a result may have."""
    assert stream is not None
    kept = bytearray()
    while piece := await stream.read(_PIECE):
        kept += piece[: max(0, 4 * LONGEST_RESULT - len(kept))]
    return kept.decode(errors="replace")


async def _end(process: asyncio.subprocess.Process) -> None:
    """Ends the command and all that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
