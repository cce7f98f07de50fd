"""The `carrel` command as a process, the way a script runs it."""

import asyncio
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any


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


async def carrel(*arguments: str | Path, stdin: bytes = b"", **environ: str) -> Ended:
    """Runs `carrel ARGUMENTS` to its end."""
    process = await start(*arguments, **environ)
    out, err = await asyncio.wait_for(process.communicate(stdin), 90)
    return Ended(process.returncode, out.decode(), err.decode())
