"""Starts `carrel` by a fork of a process that has imported it.

A start imports the same every time, which takes longer than most commands.
"""

import _sqlite3
import contextlib
import ctypes
import gc
import importlib
import json
import os
import pkgutil
import random
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO

from support.ends import ENDS

_IMPORTED = ("carrel.cli", "carrel.client", "carrel.local", "carrel.mcp", "carrel.wire")
_SERVER = ("carrel.server.serve", "alembic.command", "sqlalchemy.dialects.sqlite")
_MESSAGE_BYTES = 1 << 17
_NUMBER_BYTES = 16


class ForkedProcess:
    """A command that runs with given streams, to the tests what a `subprocess.Popen` is."""

    def __init__(
        self, arguments: Sequence[str], environ: Mapping[str, str], *, streams: Sequence[int]
    ) -> None:
        """`streams` are the descriptors of its input, its output and its errors."""
        self._told, tell = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        job = json.dumps([list(arguments), str(Path.cwd()), dict(environ)]).encode()
        with tell:
            socket.send_fds(_parent(), [job], [*streams, tell.fileno()])
        self.pid = int(self._told.recv(_NUMBER_BYTES))
        weakref.finalize(self, self._told.close)

    def poll(self) -> int | None:
        """Its exit code, once it has ended."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        """Waits at most so many seconds for its end; returns its exit code."""
        end = select.poll()
        end.register(self._told, select.POLLIN)
        if not end.poll(None if timeout is None else timeout * 1000):
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
        # It stays there for the next who asks, in whatever thread.
        return int(self._told.recv(_NUMBER_BYTES, socket.MSG_PEEK))

    def send_signal(self, number: int) -> None:
        """Sends the command a signal, if it still runs."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Sends it SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Sends it SIGKILL."""
        self.send_signal(signal.SIGKILL)


class Forked:
    """A command that runs; its input and its output are files."""

    def __init__(self, arguments: Sequence[str], stdin: bytes, environ: Mapping[str, str]) -> None:
        self._files = contextlib.ExitStack()
        given = self._file()
        self._out = self._file()
        self._err = self._file()
        given.write(stdin)
        given.seek(0)
        streams = (given.fileno(), self._out.fileno(), self._err.fileno())
        self._process = ForkedProcess(arguments, environ, streams=streams)
        self.pid = self._process.pid
        self.send_signal = self._process.send_signal

    def _file(self) -> IO[bytes]:
        return self._files.enter_context(tempfile.TemporaryFile())

    def communicate(self) -> tuple[int, bytes, bytes]:
        """Waits for its end: the exit code, and what it printed."""
        with self._files:
            code = self._process.wait()
            self._out.seek(0)
            self._err.seek(0)
            return code, self._out.read(), self._err.read()


@cache
def _parent() -> socket.socket:
    """The socket of the process that forks, which ends with this one."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "support.forks", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env=environ,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    ENDS.callback(process.wait)
    ENDS.callback(ours.close)
    return ours


def _serve(jobs: socket.socket) -> None:
    """Forks for every job; returns in the process that is to run it."""
    while True:
        said, descriptors, _, _ = socket.recv_fds(jobs, _MESSAGE_BYTES, 4)
        if not said:
            sys.exit()
        if not os.fork():
            jobs.close()
            _watch(said, *descriptors)
            return
        for descriptor in descriptors:
            os.close(descriptor)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _watch(job: bytes, stdin: int, stdout: int, stderr: int, tell: int) -> None:
    """Runs a job in a process whose end this one tells; returns in that of the job."""
    if pid := os.fork():
        for descriptor in (stdin, stdout, stderr):
            os.close(descriptor)
        os.write(tell, b"%d\n" % pid)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.write(tell, b"%d\n" % code)
        os._exit(0)
    os.close(tell)
    for descriptor, place in ((stdin, 0), (stdout, 1), (stderr, 2)):
        os.dup2(descriptor, place)
        os.close(descriptor)
    arguments, folder, environ = json.loads(job)
    sys.argv = ["carrel", *arguments]
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environ)
    time.tzset()
    random.seed()


def _import() -> None:
    for name in _IMPORTED:
        package = importlib.import_module(name)
        for module in pkgutil.iter_modules(package.__path__, f"{name}."):
            importlib.import_module(module.name)
    for name in _SERVER:
        importlib.import_module(name)
    # SQLite begins anew in each command: it reads its environment then.
    ctypes.CDLL(_sqlite3.__file__).sqlite3_shutdown()
    gc.freeze()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _import()
    _serve(socket.socket(fileno=int(sys.argv[1])))

    from carrel.cli.main import main

    main()
