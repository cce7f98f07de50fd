"""What a benchmark holds the server against: peers in processes of their own, asked in turn."""

import multiprocessing
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.types import ASGIApp

HOST = "127.0.0.1"


@contextmanager
def peer(serve: Callable[..., None], *arguments: Any) -> Iterator[int]:
    """Runs `serve(listener, *arguments)` in a process of its own; gives the listener's port."""
    with socket.create_server((HOST, 0), backlog=512) as listener:
        # As asyncio would on a listener of its own; connections inherit it.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        spawn = multiprocessing.get_context("spawn")
        process = spawn.Process(target=serve, args=(listener, *arguments), daemon=True)
        process.start()
        try:
            yield listener.getsockname()[1]
        finally:
            process.terminate()
            process.join()


def serve_app(listener: socket.socket, make: Callable[..., ASGIApp], *arguments: Any) -> None:
    """A peer that is an application: uvicorn without its extras, without a line in a log."""
    config = uvicorn.Config(make(*arguments), http="h11", log_config=None, access_log=False)
    uvicorn.Server(config).run(sockets=[listener])


def in_turn(rounds: int, *measures: Callable[[], float]) -> list[tuple[float, ...]]:
    """What each of `measures` gave in each round, after one round that does not count.

    A machine that is slow for a while is slow for all of a round, so that what is compared is
    the figures of one round.
    """
    results = [tuple(measure() for measure in measures) for _ in range(rounds + 1)]
    return results[1:]


def call(port: int) -> socket.socket:
    """A connection to a port of this machine."""
    connection = socket.create_connection((HOST, port), timeout=120)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def head(method: str, path: str, key: str = "", **headers: object) -> bytes:
    """The first lines of a request, with a key if there is one."""
    fields = {"host": HOST, **({"authorization": f"Bearer {key}"} if key else {}), **headers}
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
    return f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode()


class Answers:
    """Reads answers of a known length off a connection, as cheaply as Python can."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._buffer = memoryview(bytearray(1024 * 1024))

    def read(self) -> int:
        """Reads the next answer, which must be a success; gives the bytes of its body."""
        received = self._receive(0)
        while (end := bytes(self._buffer[:received]).find(b"\r\n\r\n")) < 0:
            received += self._receive(received)
        first, *lines = bytes(self._buffer[:end]).decode("latin-1").lower().split("\r\n")
        if first.split()[1] != "200":
            raise RuntimeError(f"the answer is {first}")
        fields = dict(line.split(": ", 1) for line in lines)
        size = int(fields["content-length"])
        missing = size - (received - end - 4)
        while missing:
            missing -= self._receive(0)
        return size

    def _receive(self, offset: int) -> int:
        count = self._connection.recv_into(self._buffer[offset:])
        if not count:
            raise RuntimeError("the connection was closed before the answer was whole")
        return count
