"""An address that embeds: a vector counts the letters of a text."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from support.answering import Answering, answering

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

    class Handler(Answering):
        def do_GET(self) -> None:
            listed = self.path == "/v1/models" and not engine.away
            models = {"data": [{"id": model} for model in MODELS]}
            self.reply(*((200, models) if listed else (404, {})))

        def do_POST(self) -> None:
            self.reply(*engine.answer(self.path, self.body()))

    with answering(Handler) as url:
        engine.url = f"{url}/v1"
        try:
            yield engine
        finally:
            engine.release()
