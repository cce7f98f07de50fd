"""An address that embeds: a vector counts the letters of a text."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODELS = ("letters", "mute")
"""Models of the address; the second offers no embeddings."""


class EmbeddingEngine:
    """Embeds texts in `dimensions` numbers, all of the same text in the same way."""

    def __init__(self) -> None:
        self.url = ""
        self.dimensions = 26
        self.away = False
        self.texts: list[str] = []
        """Texts in the order in which they came."""
        self._answered = 0
        self._open = threading.Event()
        self._open.set()

    def hold(self, after: int = 0) -> None:
        """Leaves requests of more than one text without an answer once `after` texts had one."""
        self._answered = len(self.texts) + after
        self._open.clear()

    def release(self) -> None:
        """Answers them."""
        self._open.set()

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        """The status and the body of an answer."""
        if self.away:
            return 503, {"error": {"message": "away"}}
        if path != "/v1/embeddings" or body["model"] != MODELS[0]:
            return 404, {}
        texts = body["input"]
        held = len(texts) > 1 and len(self.texts) >= self._answered
        if held and not self._open.wait(60):
            return 503, {}
        self.texts += texts
        data = [{"index": at, "embedding": self._vector(text)} for at, text in enumerate(texts)]
        return 200, {"data": data, "usage": {"prompt_tokens": len(texts)}}

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self.dimensions
        for letter in text.lower():
            if letter.isascii() and letter.isalpha():
                vector[(ord(letter) - ord("a")) % self.dimensions] += 1
        return vector


@contextmanager
def embedding_engine() -> Iterator[EmbeddingEngine]:
    """Runs an address in threads of this process."""
    engine = EmbeddingEngine()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args: Any) -> None:
            pass

        def do_GET(self) -> None:
            listed = self.path == "/v1/models" and not engine.away
            models = {"data": [{"id": model} for model in MODELS]}
            self._reply(*((200, models) if listed else (404, {})))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            self._reply(*engine.answer(self.path, body))

        def _reply(self, status: int, content: Any) -> None:
            data = json.dumps(content).encode()
            try:
                self.send_response(status)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
            except ConnectionError:
                self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    engine.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield engine
    finally:
        engine.release()
        server.shutdown()
        thread.join()
        server.server_close()
