"""The real server as a process of its own, for tests that talk to it over a socket."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from support import storage
from support.forks import ForkedProcess

Process = subprocess.Popen[bytes] | ForkedProcess
# Raised by /proc for a process or thread that ends while it is looked at.
GONE = (FileNotFoundError, ProcessLookupError)


@dataclass(frozen=True)
class RunningServer:
    """A server that answers at `url` for `api_key`, which is one of `organisation`."""

    url: str
    api_key: str
    data: Path
    process: Process
    organisation: str = "local"
    others: "tuple[RunningServer, ...]" = ()
    """Servers that answer in turn with it."""

    @property
    def each(self) -> "tuple[RunningServer, ...]":
        """It and the others."""
        return (self, *self.others)

    @property
    def log(self) -> str:
        """The log of each."""
        return "".join((one.data / "log" / "server.log").read_text() for one in self.each)

    @property
    def port(self) -> int:
        """Where it listens on this machine."""
        return urlsplit(self.url).port or 0


@contextmanager
def serve(
    data: Path, *arguments: str, port: int = 0, wait: float = 60, under: Sequence[str] = ()
) -> Iterator[RunningServer]:
    """Starts `carrel serve` on a data folder and stops it with SIGTERM at the end.

    `under` is a command that runs another, such as strace, and the server in its place. Without
    one it is forked from a process that has imported it: the imports are most of a start.
    """
    ready = data.parent / f"{data.name}.ready.json"
    ready.unlink(missing_ok=True)
    log = data.parent / f"{data.name}.log"
    command = ["serve", "--data", str(data), "--port", str(port), "--ready-file", str(ready)]
    command += [*([] if "--database" in arguments else storage.options(data)), *arguments]
    with log.open("ab") as output:
        process = _start(command, output, under)
    try:
        deadline = time.monotonic() + wait
        while not ready.exists():
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the server did not start:\n{log.read_text()}")
            time.sleep(0.02)
        answer = json.loads(ready.read_text())
        yield RunningServer(answer["url"], answer["api_key"], data, process)
    finally:
        _stop(process)


@contextmanager
def work(data: Path, *arguments: str, wait: float = 60) -> Iterator[Process]:
    """Starts `carrel worker` with a folder of its own and stops it with SIGTERM at the end."""
    log = data.parent / f"{data.name}.log"
    with log.open("wb") as output:
        process = _start(["worker", "--data", str(data), *arguments], output)
    try:
        deadline = time.monotonic() + wait
        while b"Carrel works as" not in log.read_bytes():
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the worker did not start:\n{log.read_text()}")
            time.sleep(0.02)
        yield process
    finally:
        _stop(process)


def environment() -> dict[str, str]:
    return os.environ | storage.environment()


def _start(arguments: Sequence[str], output: IO[bytes], under: Sequence[str] = ()) -> Process:
    if under:
        command = [*under, sys.executable, "-m", "carrel", *arguments]
        return subprocess.Popen(command, stdout=output, stderr=output, env=environment())
    with Path(os.devnull).open("rb") as nothing:
        streams = (nothing.fileno(), output.fileno(), output.fileno())
        return ForkedProcess(arguments, environment(), streams=streams)


def _stop(process: Process) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def processor_seconds(pid: int) -> float:
    """The processor time a process has used, without its children's; only Linux tells."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def family_seconds(pid: int) -> float:
    """The processor time of a process and of all below it, ended ones included."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    seconds = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    for child in children(pid):
        with suppress(*GONE):
            seconds += family_seconds(child)
    return seconds


def children(pid: int) -> set[int]:
    """The processes a process started and did not yet wait for; none once it has ended."""
    found = set[int]()
    for other in Path("/proc").glob("[0-9]*/stat"):
        # By each process's parent: a thread's list of children misses some while threads end.
        with suppress(*GONE):
            if int(other.read_text().rpartition(")")[2].split()[1]) == pid:
                found.add(int(other.parent.name))
    return found


def command(pid: int) -> str:
    """A process's command line; empty once it has ended."""
    with suppress(*GONE):
        return Path(f"/proc/{pid}/cmdline").read_text()
    return ""


def runs(pid: int) -> bool:
    """Whether a process has not ended; a zombie has."""
    with suppress(*GONE):
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    return False
