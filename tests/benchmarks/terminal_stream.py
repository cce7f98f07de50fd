"""A long answer in the terminal: 100 kB of Markdown at 1,000 tokens a second, in the real app.

The app runs headless over a service in a process of its own, which says four characters at a
time, on time, whatever the app does. The floor is the time that takes. Beside it stand how long
the app's loop was kept busy at a stretch, as a task tells that wants to run every 10 ms, and how
many widgets the screen holds at the end. A stretch is measured in the processor's time of the
loop's thread, which others on the machine do not prolong; on an idle one the clock shows the same.
"""

import asyncio
import math
import os
import tempfile
import time
from collections.abc import Iterable
from unittest.mock import patch

from benchmarks.report import Figure
from carrel.config.profiles import Profile
from support.peers import HOST, peer, serve_app
from support.speaker import END, TOKEN, speaker, speech
from support.workbench import Workbench, workbench

CHARACTERS = 100_000
RATE = 1_000
"""Tokens a second."""
TICK = 0.01
"""Seconds."""


async def watch_loop(gaps: list[float], waits: list[float]) -> None:
    """Notes how long the loop works at a stretch, and how late it is by the clock, in seconds."""
    while True:
        worked, began = time.thread_time(), time.perf_counter()
        await asyncio.sleep(TICK)
        gaps.append(time.thread_time() - worked)
        waits.append(time.perf_counter() - began - TICK)


async def _listen(bench: Workbench) -> tuple[float, list[float], list[float]]:
    """Seconds from asking until the end is on the screen; how long the loop worked at a
    stretch, and how late it was by the clock."""
    await bench.store.chat.new("agent")
    await bench.press("5")
    gaps: list[float] = []
    waits: list[float] = []
    watching = asyncio.create_task(watch_loop(gaps, waits))
    began = time.perf_counter()
    await bench.store.chat.send("Everything, please.")
    assert bench.store.chat.slice.value.turns[-1].text == speech(CHARACTERS)
    while END not in bench.text():  # noqa: ASYNC110
        await asyncio.sleep(TICK)
    took = time.perf_counter() - began
    # What follows the end, such as one more drawing of the whole, counts too.
    await asyncio.sleep(1)
    watching.cancel()
    return took, sorted(gaps), sorted(waits)


async def _measure(url: str) -> list[Figure]:
    async with workbench(Profile("test", url, "key")) as bench:
        took, gaps, waits = await _listen(bench)
        widgets = len(bench.app.screen.query("*"))
    floor = len(speech(CHARACTERS)) / TOKEN / RATE
    longest = f"the longest {gaps[-1] * 1000:.0f} ms"
    seconds = f"{took:.1f} s, the service takes {floor:.1f} s to say it"
    return [
        Figure("time against what saying it takes", took / floor, 1.05, "lower", seconds),
        Figure("ms the loop was busy at a stretch, p99", p99(gaps), 200, "lower", longest),
        Figure("ms it was late by the clock, p99", p99(waits)),
        Figure("widgets on the screen at the end", widgets, 400, "lower"),
    ]


def p99(seconds: list[float]) -> float:
    """In milliseconds."""
    return seconds[math.ceil(0.99 * len(seconds)) - 1] * 1000


def measure() -> Iterable[Figure]:
    with (
        tempfile.TemporaryDirectory() as home,
        patch.dict(os.environ, {"HOME": home, "XDG_STATE_HOME": home, "XDG_CACHE_HOME": home}),
        peer(serve_app, speaker, CHARACTERS, RATE) as port,
    ):
        return asyncio.run(_measure(f"http://{HOST}:{port}"))
