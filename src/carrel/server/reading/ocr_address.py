"""An address on the loopback interface, inside a parser, where liteparse asks for recognised text.

The text was recognised before; the address only hands it over, in the pixels of the picture that
liteparse sends.
"""

import json
import secrets
import struct
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import TracebackType
from typing import Any, ClassVar, Self

from carrel.server.reading.layout import Line

_PNG_HEADER = b"\x89PNG\r\n\x1a\n"


class OCRAddress:
    """Answers with the lines of the page in hand. A context manager."""

    def __init__(self) -> None:
        self._lines: Sequence[Line] = ()
        self._size = (1.0, 1.0)
        self._path = f"/{secrets.token_urlsafe(16)}"
        handler = type("Handler", (_Handler,), {"address": self})
        self._server = HTTPServer(("127.0.0.1", 0), handler)
        self._serving = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}{self._path}"

    def hand_over(self, lines: Sequence[Line], size: tuple[float, float]) -> None:
        """Sets what the next question is answered with: lines on a page of `size` points."""
        self._lines, self._size = lines, size
        if not self._serving:
            self._serving = True
            threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def answer(self, path: str, picture: bytes) -> dict[str, Any] | None:
        """The results in liteparse's form, or None for a stranger."""
        start = picture.find(_PNG_HEADER)
        if path != self._path or start < 0:
            return None
        width, height = struct.unpack_from("!II", picture, start + 16)
        across, down = width / self._size[0], height / self._size[1]
        return {
            "results": [
                {
                    "text": line.text,
                    "bbox": [
                        line.box.left * across,
                        line.box.top * down,
                        line.box.right * across,
                        line.box.bottom * down,
                    ],
                    "confidence": min((word.confidence for word in line.words), default=1.0),
                }
                for line in self._lines
            ]
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._serving:
            self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    address: ClassVar[OCRAddress]

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        answer = self.address.answer(self.path, self.rfile.read(length))
        body = json.dumps(answer).encode()
        self.send_response(404 if answer is None else 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: standard error belongs to the server's log."""
