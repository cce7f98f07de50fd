"""Four sides of a comparison at once, 200 tokens a second each, in both faces.

A service in a process of its own says four characters at a time, on time, whatever the reader
does. The floor is the time that takes. How long the loop was kept busy at a stretch is measured in
the processor's time of its thread, as in `terminal_stream`: for the terminal its one loop, for the
notebook the loop that keeps the state and renders the panels. No token may be lost or change its
place: every side must end with what was said, and so must what the browser was sent.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import Iterable, Sequence
from unittest.mock import patch

from benchmarks.report import Figure
from benchmarks.terminal_stream import p99, watch_loop
from carrel.config.profiles import Profile
from carrel.notebook.html.markdown import to_blocks
from carrel.notebook.panels.compare import ComparePanel
from carrel.store.comparison.state import Side
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.store import Store
from support.panels import Wire
from support.peers import HOST, peer, serve_app
from support.speaker import END, TOKEN, speaker, speech
from support.workbench import workbench

CHARACTERS = 12_000
RATE = 200
"""Tokens a second of each side."""
SIDES = [Side("agent")] * 4
WIDE = (220, 50)


async def _terminal(url: str) -> list[Figure]:
    gaps: list[float] = []
    waits: list[float] = []
    async with workbench(Profile("test", url, "key"), WIDE) as bench:
        await bench.store.comparison.begin(SIDES)
        await bench.press("5")
        watching = asyncio.create_task(watch_loop(gaps, waits))
        began = time.perf_counter()
        await bench.store.comparison.send("Everything, please.")
        _check(chat.slice.value.turns[-1].text for chat in bench.store.comparison.chats)
        while bench.text().count(END) < len(SIDES):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        took = time.perf_counter() - began
        await asyncio.sleep(1)
        watching.cancel()
    return _figures("terminal", took, gaps, waits)


def _notebook(url: str) -> list[Figure]:
    gaps: list[float] = []
    waits: list[float] = []
    store = Store(Profile("test", url, "key"), OwnerLoop.in_thread())
    store.loop.run(store.start()).result(60)
    try:
        comparison = store.another_comparison()
        comparison.begin(SIDES).result(60)
        panel = ComparePanel(store, comparison)
        wires = [Wire(chat) for chat in panel.chats]
        watching = store.loop.run(watch_loop(gaps, waits))
        began = time.perf_counter()
        comparison.send("Everything, please.").result(120)
        took = time.perf_counter() - began
        for wire in wires:
            state = wire.wait_state(lambda state: len(state["turns"]) > 1 and not state["busy"])
            if state["turns"][-1]["blocks"] != to_blocks(speech(CHARACTERS)):
                raise RuntimeError("what the browser was sent is not what was said")
        watching.cancel()
        _check(chat.slice.value.turns[-1].text for chat in comparison.chats)
    finally:
        store.loop.run(store.close()).result(60)
        store.loop.close()
    return _figures("notebook", took, gaps, waits)


def _check(answers: Iterable[str]) -> None:
    if any(answer != speech(CHARACTERS) for answer in answers):
        raise RuntimeError("a token was lost or changed its place")


def _figures(face: str, took: float, gaps: Sequence[float], waits: Sequence[float]) -> list[Figure]:
    floor = len(speech(CHARACTERS)) / TOKEN / RATE
    longest = f"the longest {max(gaps) * 1000:.0f} ms"
    seconds = f"{took:.1f} s, the service takes {floor:.1f} s to say it"
    return [
        Figure(f"{face}: time against what saying it takes", took / floor, 1.1, "lower", seconds),
        Figure(f"{face}: ms busy at a stretch, p99", p99(sorted(gaps)), 200, "lower", longest),
        Figure(f"{face}: ms late by the clock, p99", p99(sorted(waits))),
    ]


def measure() -> Iterable[Figure]:
    with (
        tempfile.TemporaryDirectory() as home,
        patch.dict(os.environ, {"HOME": home, "XDG_STATE_HOME": home, "XDG_CACHE_HOME": home}),
        peer(serve_app, speaker, CHARACTERS, RATE) as port,
    ):
        yield from asyncio.run(_terminal(f"http://{HOST}:{port}"))
        yield from _notebook(f"http://{HOST}:{port}")
