"""The model is free again at once when its caller leaves, streamed or not.

The built-in model runs behind a real server. A caller asks, leaves while the prompt is read or the
answer is written, and the model's own account of its slots says when it works on nothing any more.
The same is done straight at the model, which notices by itself: that is the peer. Long prompts are
read from their middle on (the beginning is in the model's cache), where a step takes longest.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from benchmarks.report import Figure
from carrel.server.models.address import ModelAddress
from carrel.server.models.process import EmbeddedProcess
from carrel.server.models.weights import built_in_weights
from support.process import serve

DEPTHS = {"a prompt's beginning": 0, "on after 2,500 tokens": 2500}
ROUNDS = 5
BOUND_MS = 250.0


@dataclass
class Bench:
    """The model, the server in front of it, and how to ask either."""

    http: httpx.AsyncClient
    model: ModelAddress
    server: ModelAddress

    async def _post(self, address: ModelAddress, body: dict[str, Any]) -> None:
        headers = {"authorization": f"Bearer {address.key}"}
        await self.http.post(f"{address.url}/chat/completions", json=body, headers=headers)

    async def works(self) -> bool:
        """Whether the model works on anything."""
        headers = {"authorization": f"Bearer {self.model.key}"}
        url = f"{self.model.url.removesuffix('/v1')}/slots"
        slots = await self.http.get(url, headers=headers)
        return any(slot["is_processing"] for slot in slots.json())

    async def until(self, working: bool) -> None:
        while await self.works() is not working:  # noqa: ASYNC110
            await asyncio.sleep(0.002)

    async def read(self, text: str) -> None:
        """Has the model read a text, so that it has it in its cache."""
        await self._post(self.model, _body(self.model, text, max_tokens=1))

    async def leave(self, address: ModelAddress, body: dict[str, Any], after: float) -> float:
        """Asks, leaves so many seconds after the work began, and waits; ms until it is free."""
        await self.until(working=False)
        asking = asyncio.create_task(self._post(address, body))
        await self.until(working=True)
        await asyncio.sleep(after)
        asking.cancel()
        left = time.perf_counter()
        await self.until(working=False)
        return (time.perf_counter() - left) * 1000


def _body(address: ModelAddress, text: str, **options: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": text}]
    return {"model": "mistral-small-latest", "messages": messages, **options}


@asynccontextmanager
async def _bench() -> AsyncIterator[Bench]:
    process = EmbeddedProcess(built_in_weights)
    async with process.address() as model, httpx.AsyncClient(timeout=None) as http:
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "data"
            data.mkdir()
            settings = f'model_url = "{model.url}"\nmodel_key = "{model.key}"\n'
            (data / "settings.toml").write_text(settings)
            with serve(data) as server:
                yield Bench(http, model, ModelAddress(f"{server.url}/v1", server.api_key))
    await process.stop()


async def _rounds(bench: Bench, text: str, **options: Any) -> tuple[list[float], list[float]]:
    """Milliseconds until the model was free, behind the server and straight."""
    ours: list[float] = []
    straight: list[float] = []
    for number in range(ROUNDS):
        for address, times in ((bench.server, ours), (bench.model, straight)):
            # Other words each time: what a call before has read is in the cache.
            tail = f" {time.time_ns()}" + f" word{number}" * 200
            body = _body(address, text + tail, stream=number % 2 == 0, **options)
            if address is bench.model:
                body |= {"stream": True, "return_progress": True}
            times.append(await bench.leave(address, body, after=0.05 * number))
    return ours, straight


def _figures(name: str, ours: list[float], straight: list[float]) -> Iterable[Figure]:
    median, peer = statistics.median(ours), statistics.median(straight)
    spread = f"{min(ours):.0f} to {max(ours):.0f} ms in {ROUNDS} rounds; straight {peer:.0f} ms"
    yield Figure(f"{name}: ms until the model is free", median, BOUND_MS, "lower", spread)
    yield Figure(f"{name}: ratio to leaving the model itself", median / peer, 2.0, "lower")


async def _measure() -> list[Figure]:
    figures: list[Figure] = []
    async with _bench() as bench:
        writing = await _rounds(bench, "Tell a long story.", max_tokens=2000)
        figures += _figures("leaving while it writes", *writing)
        for name, depth in DEPTHS.items():
            text = "word " * depth
            if depth:
                await bench.read(text)
            figures += _figures(f"leaving while it reads {name}", *await _rounds(bench, text))
    return figures


def measure() -> Iterable[Figure]:
    return asyncio.run(_measure())
