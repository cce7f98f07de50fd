"""The `carrel` command as a process, the way a script runs it."""

import asyncio
import json
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.forks import Forked


@dataclass(frozen=True)
class Ended:
    """A command that has ended: its exit code and what it printed."""

    code: int | None
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed, parsed."""
        return json.loads(self.out)


async def start(*arguments: str | Path, **environ: str) -> asyncio.subprocess.Process:
    """Starts `carrel ARGUMENTS` with more in its environment; all three streams are pipes."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "carrel",
        *(str(argument) for argument in arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **environ},
    )


def fork(*arguments: str | Path, stdin: bytes = b"", **environ: str) -> Forked:
    """The same with files instead of pipes, and without the imports of a start."""
    given = [str(argument) for argument in arguments]
    return Forked(given, stdin, {**os.environ, **environ})


async def carrel(*arguments: str | Path, stdin: bytes = b"", **environ: str) -> Ended:
    """Runs `carrel ARGUMENTS` to its end."""
    process = await asyncio.to_thread(fork, *arguments, stdin=stdin, **environ)
    try:
        code, out, err = await asyncio.wait_for(asyncio.to_thread(process.communicate), 90)
    except BaseException:
        # Its end is waited for in a thread, which nothing else would end.
        process.send_signal(signal.SIGKILL)
        raise
    return Ended(code, out.decode(), err.decode())
