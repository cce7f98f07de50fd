"""A server in threads of this process, which answers in JSON or as it likes."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Answering(BaseHTTPRequestHandler):
    """A request, of which nothing is logged."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *args: Any) -> None:
        pass

    def body(self) -> Any:
        """What was sent, parsed."""
        return json.loads(self.rfile.read(int(self.headers["content-length"])))

    def reply(self, status: int, content: Any) -> None:
        """Answers in JSON."""
        self.send(status, "application/json", json.dumps(content).encode())

    def send(self, status: int, kind: str, data: bytes) -> None:
        """Answers, unless the caller has left."""
        try:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except ConnectionError:
            self.close_connection = True


@contextmanager
def answering(handler: type[Answering]) -> Iterator[str]:
    """Runs a server; gives its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
