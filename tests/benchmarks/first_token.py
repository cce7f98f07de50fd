"""The first token: how much later it comes through `carrel serve` than straight from the model.

The model is a scripted one that thinks for 20 ms, so that the figure is the way and not the
model. The embedded model, asked both ways in the same manner, is for information.
"""

import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from unittest.mock import patch
from urllib.parse import urlsplit

from benchmarks.report import Figure
from carrel.server.models.weights import built_in_weights
from support.model import serve_model
from support.peers import HOST, call, head, in_turn, peer
from support.process import serve

_THINKS = 0.02
_ROUNDS = 50
_SPOKEN = re.compile(rb'"content": ?"[^"]')


def measure() -> Iterable[Figure]:
    with peer(serve_model, 3, _THINKS) as port:
        yield _figure("scripted model", f"http://{HOST}:{port}/v1", "scripted", 3)
    with _embedded() as (url, key):
        yield _figure("embedded model", url, "mistral-small-latest", 4, key)


def _figure(name: str, url: str, model: str, bound: float, key: str = "") -> Figure:
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.dict(os.environ, {"CARREL_MODEL_KEY": key}),
        serve(Path(folder, "data"), "--model-url", url) as server,
    ):
        times = in_turn(
            _ROUNDS,
            partial(_first_token, urlsplit(url).port or 0, model, key),
            partial(_first_token, server.port, model, server.api_key),
        )
    straight = 1000 * median(straight for straight, _ in times)
    later = 1000 * median(carrel - straight for straight, carrel in times)
    detail = f"straight {straight:.1f} ms, the middle of {_ROUNDS} rounds"
    return Figure(f"{name}, ms later", later, bound, "lower", detail)


def _first_token(port: int, model: str, key: str) -> float:
    """Seconds from the request to the first word of the answer."""
    question = [{"role": "user", "content": "Speak."}]
    asked = {"model": model, "messages": question, "stream": True, "max_tokens": 3}
    body = json.dumps(asked).encode()
    lines = head(
        "POST",
        "/v1/chat/completions",
        key,
        content_type="application/json",
        content_length=len(body),
        connection="close",
    )
    with call(port) as connection:
        began = time.perf_counter()
        connection.sendall(lines + body)
        answer = b""
        while not _SPOKEN.search(answer):
            piece = connection.recv(65536)
            if not piece:
                raise RuntimeError(f"there was no word in the answer: {answer[:200]!r}")
            answer += piece
        took = time.perf_counter() - began
        while connection.recv(65536):
            pass
    return took


@contextmanager
def _embedded() -> Iterator[tuple[str, str]]:
    """The embedded model by itself: its address and its key."""
    key = secrets.token_urlsafe()
    command = [sys.executable, "-m", "carrel.server.models.embedded", str(built_in_weights())]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin and process.stdout
        process.stdin.write(f"{key}\n")
        process.stdin.flush()
        # It ends when its standard input does.
        yield f"{process.stdout.readline().strip()}/v1", key
