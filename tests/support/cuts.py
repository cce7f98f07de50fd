"""A line to a server that can be cut: what goes over it is lost, and nothing more gets through."""

import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from support.peers import HOST


class Line:
    """Passes bytes on to a port, both ways, until it is cut."""

    def __init__(self, listener: socket.socket, port: int) -> None:
        self.url = f"http://{HOST}:{listener.getsockname()[1]}"
        self.port = port
        """Where it leads to."""
        self._listener = listener
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._is_cut = False
        self._last: bytes | None = None
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Ends every connection, and each new one until it is mended."""
        with self._lock:
            self._is_cut = True
            for end in self._open:
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def cut_before_answer(self, request: bytes) -> None:
        """Cuts the line when the server answers the next request with this beginning."""
        self._last = request

    def mend(self) -> None:
        """Lets connections through again."""
        self._is_cut = False

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                threading.Thread(target=self._pass, args=(near,), daemon=True).start()

    def _pass(self, near: socket.socket) -> None:
        with near, suppress(OSError):
            if self._is_cut:
                return
            with socket.create_connection((HOST, self.port)) as far, self._kept(near, far):
                for end in (near, far):  # else each small answer waits for 40 ms
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                others, asked = {near: far, far: near}, False
                while True:
                    for end in select.select([near, far], [], [])[0]:
                        if not (data := end.recv(65536)):
                            return
                        if end is far and asked:
                            self.cut()
                            return
                        if self._last and data.startswith(self._last):
                            self._last, asked = None, True
                        others[end].sendall(data)

    @contextmanager
    def _kept(self, *ends: socket.socket) -> Iterator[None]:
        with self._lock:
            self._open.update(ends)
        try:
            yield
        finally:
            with self._lock:
                self._open.difference_update(ends)


@contextmanager
def line(port: int) -> Iterator[Line]:
    """A line to a port of this machine."""
    with socket.create_server((HOST, 0), backlog=512) as listener:
        made = Line(listener, port)
        try:
            yield made
        finally:
            made.cut()
