"""Uploads: 512 MiB to `carrel serve`, against the least that keeps a file's bytes safe.

The floor is a process that reads a socket, hashes, writes and syncs, and does nothing else.
Both get the same bytes from the same sender, in turn. The memory is the most that the server
held during its uploads beyond what it held before them.
"""

import hashlib
import os
import re
import socket
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import median

from benchmarks.report import Figure
from support.peers import Answers, call, head, in_turn, peer
from support.process import RunningServer, serve

_MIB = 1024 * 1024
SIZE = 512
"""MiB."""
_BLOCK = os.urandom(_MIB)
_ROUNDS = 5
_BOUNDARY = "carrel-benchmark".ljust(32, "0")
"""As long as those of httpx and requests: the search for it is a good part of the loop's work."""
_HEAD = (
    f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n'
).encode()
_TAIL = f"\r\n--{_BOUNDARY}--\r\n".encode()


def measure() -> Iterable[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with serve(folder / "data") as server, peer(_floor, folder / "floor") as floor:
            to_carrel(server)
            before = memory(server, "VmRSS")
            Path(f"/proc/{server.process.pid}/clear_refs").write_text("5")
            times = in_turn(_ROUNDS, lambda: _to_floor(floor), lambda: to_carrel(server))
            grown = memory(server, "VmHWM") - before
    ours = SIZE / median(carrel for _, carrel in times)
    yield Figure(
        "share of the floor's speed",
        median(bare / carrel for bare, carrel in times),
        0.85,
        detail=f"{SIZE} MiB at {ours:.0f} MiB/s, the middle of {_ROUNDS} rounds",
    )
    yield Figure("memory, MiB more", grown, 64, "lower")


def _floor(listener: socket.socket, path: Path) -> None:
    """Keeps what each connection sends, then says so."""
    buffer = memoryview(bytearray(_MIB))
    while True:
        connection, _ = listener.accept()
        with connection, path.open("wb", buffering=0) as file:
            hash = hashlib.sha256()
            while count := connection.recv_into(buffer):
                hash.update(buffer[:count])
                file.write(buffer[:count])
            os.fsync(file.fileno())
            connection.sendall(hash.digest())


def _to_floor(port: int) -> float:
    began = time.perf_counter()
    with call(port) as connection:
        _send(connection)
        connection.shutdown(socket.SHUT_WR)
        if len(connection.recv(32)) != 32:
            raise RuntimeError("the floor did not take the file")
    return time.perf_counter() - began


def to_carrel(server: RunningServer) -> float:
    """Uploads the file; returns the seconds it took."""
    began = time.perf_counter()
    with call(server.port) as connection:
        connection.sendall(
            head(
                "POST",
                "/v1/files",
                server.api_key,
                content_type=f"multipart/form-data; boundary={_BOUNDARY}",
                content_length=len(_HEAD) + SIZE * _MIB + len(_TAIL),
            )
        )
        connection.sendall(_HEAD)
        _send(connection)
        connection.sendall(_TAIL)
        Answers(connection).read()
    return time.perf_counter() - began


def _send(connection: socket.socket) -> None:
    for _ in range(SIZE):
        connection.sendall(_BLOCK)


def memory(server: RunningServer, kind: str) -> float:
    """One of the sizes that Linux keeps of a process, in MiB."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    found = re.search(rf"{kind}:\s+(\d+) kB", status)
    assert found
    return int(found[1]) / 1024
