"""The terminal app's own costs: first paint, headless commands, long tables, steps, doing nothing.

First paint is held against a bare Textual app in the same kind of terminal, a headless command
(up to its first request) against importing what any client needs; each pair is measured in turn.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median
from unittest.mock import patch

from textual.app import App, ComposeResult
from textual.content import Content

from benchmarks.report import Figure
from carrel.client import Client
from carrel.tui.widgets.tables.columns import Column
from carrel.tui.widgets.tables.table import Row, VirtualTable
from support.documents import digital_pdf
from support.peers import in_turn
from support.process import RunningServer, family_seconds, serve
from support.terminal import terminal

_ROUNDS = 7
_ROWS = 100_000
_STEPS = 200
_IDLE_SECONDS = 30
_FILES = 120
_REPEAT = 1 / 30
"""Seconds between two keys of one that is held."""
_SIZES = ((80, 24), (120, 36), (200, 60))
_TICKS = os.sysconf("SC_CLK_TCK")

_BARE = """
from textual.app import App
from textual.widgets import Static

class Bare(App):
    def compose(self):
        yield Static("1 Files")

Bare().run()
"""
_CARREL = (sys.executable, "-m", "carrel")
_NOBODY = "http://127.0.0.1:9"


def measure() -> Iterable[Figure]:
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, home(Path(folder))):
        yield from _first_paint()
        yield from _commands()
        yield from asyncio.run(_long_table())
        yield from _held_key(Path(folder))
        yield from _idle(Path(folder))


def home(folder: Path) -> dict[str, str]:
    """An environment with a home of its own."""
    kinds = ("CONFIG", "DATA", "STATE", "CACHE")
    return {"HOME": str(folder)} | {
        f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in kinds
    }


def _ratio(
    name: str, bound: float, floor: Callable[[], float], ours: Callable[[], float]
) -> Figure:
    times = in_turn(_ROUNDS, floor, ours)
    ratio = median(mine for _, mine in times) / median(bare for bare, _ in times)
    detail = f"{1000 * median(mine for _, mine in times):.0f} ms, the middle of {_ROUNDS} rounds"
    return Figure(name, ratio, bound, "lower", detail)


def _first_paint() -> Iterable[Figure]:
    def paint(command: Sequence[str]) -> float:
        start = time.perf_counter()
        with terminal(command, CARREL_URL=_NOBODY, CARREL_API_KEY="none") as screen:
            while b"Files" not in screen.raw:
                assert screen.process.poll() is None and screen.text is not None
                time.sleep(0.001)
            took = time.perf_counter() - start
            screen.process.kill()
        return took

    yield _ratio(
        "first paint, of a bare Textual app's",
        1.9,
        lambda: paint((sys.executable, "-c", _BARE)),
        lambda: paint(_CARREL),
    )


def _commands() -> Iterable[Figure]:
    def run(*command: str) -> float:
        start = time.perf_counter()
        nobody = {**os.environ, "CARREL_URL": _NOBODY, "CARREL_API_KEY": "none"}
        subprocess.run(command, env=nobody, capture_output=True, check=False)
        return time.perf_counter() - start

    yield _ratio(
        "a headless command, of importing httpx and pydantic",
        1.8,
        lambda: run(sys.executable, "-c", "import httpx, pydantic"),
        lambda: run(*_CARREL, "files", "list"),
    )


class _Table(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.table = VirtualTable(Column("Name"), Column("Size", 8, right=True), Column("Age", 9))

    def get_css_variables(self) -> dict[str, str]:
        return {**super().get_css_variables(), "muted": "#888888"}

    def compose(self) -> ComposeResult:
        yield self.table


async def _long_table() -> list[Figure]:
    rows = [
        Row(str(n), (Content(f"a document {n}.pdf"), Content(f"{n} kB"), Content("now")))
        for n in range(_ROWS)
    ]
    app = _Table()
    async with app.run_test(size=(120, 36)) as pilot:

        def drawn(change: Callable[[], object]) -> float:
            start = time.thread_time()
            change()
            app.screen._compositor.render_strips(app.size)
            return 1000 * (time.thread_time() - start)

        await pilot.pause()
        opened = drawn(lambda: app.table.show(rows))
        steps = []
        for number in range(_STEPS):
            way = app.table.action_page if number % 2 else app.table.action_move
            steps.append(drawn(lambda way=way: way(1)))  # type: ignore[misc]
            await asyncio.sleep(0)
    worst = max(steps)
    detail = f"the middle {median(steps):.1f} ms, the longest {worst:.1f} ms of {_STEPS}"
    p95 = sorted(steps)[int(0.95 * len(steps))]
    return [
        Figure(f"{_ROWS:,} rows open, ms of processor", opened, 150, "lower"),
        Figure("a step of scrolling, ms of processor (95 %)", p95, 16, "lower", detail),
    ]


def _held_key(folder: Path) -> Iterable[Figure]:
    """What a step of the cursor costs over files that each have a preview."""
    with serve(folder / "held") as server:
        paths = [
            digital_pdf(folder / f"document {number:03}.pdf", 1, f"Document {number}.")
            for number in range(_FILES)
        ]
        asyncio.run(_upload(server, paths))
        there = {"CARREL_URL": server.url, "CARREL_API_KEY": server.api_key}
        for columns, rows in _SIZES:
            with terminal(_CARREL, columns=columns, rows=rows, **there) as screen:
                screen.wait_for(f"of {_FILES}", 60)
                drain(screen.wait_for, 3)
                pid = screen.process.pid
                before = family_seconds(pid)
                screen.hold("j", _FILES - 1, _REPEAT)
                close_service = stood = time.monotonic()
                text = ""
                while time.monotonic() - stood < 2:
                    drain(screen.wait_for, 0.05)
                    if screen.text != text:
                        text, stood = screen.text, time.monotonic()
                steps = int(re.findall(r"▸ document (\d+)", text)[0])
                spent = 1000 * (family_seconds(pid) - before) / steps
                screen.press("ctrl+q")
                screen.wait_for_end()
            name = f"a held j at {columns}×{rows}, ms of processor a step"
            yield Figure(name, spent, 16, "lower", f"{steps} of {_FILES - 1} steps")
            name = f"a held j at {columns}×{rows}, seconds until it stops after it is let go"
            yield Figure(name, stood - close_service, 0.6, "lower")


async def _upload(server: RunningServer, paths: Sequence[Path]) -> None:
    async with Client(server.url, server.api_key) as client:
        for path in reversed(paths):  # the newest is listed first
            await client.files.upload(path)


def _idle(folder: Path) -> Iterable[Figure]:
    with terminal(_CARREL) as screen:
        screen.wait_for("● ready", 90)
        said = json.loads((folder / "data/carrel/server/server.json").read_text())
        pids = (screen.process.pid, int(said["pid"]))
        drain(screen.wait_for, 10)
        before, start = [_cpu(pid) for pid in pids], time.perf_counter()
        drain(screen.wait_for, _IDLE_SECONDS)
        seconds = time.perf_counter() - start
        app, server = (
            100 * (_cpu(pid) - was) / seconds for pid, was in zip(pids, before, strict=True)
        )
        screen.press("ctrl+q")
        screen.wait_for_end()
        os.kill(pids[1], 15)
    yield Figure("idle app, % of a core", app, 1, "lower")
    yield Figure("its idle server, % of a core", server, 0.7, "lower")


def drain(wait_for: Callable[..., str], seconds: float) -> None:
    """Reads what the app draws meanwhile, as a terminal does."""
    end = time.monotonic() + seconds
    wait_for(lambda text: time.monotonic() > end, seconds + 10)


def _cpu(pid: int) -> float:
    """Seconds of CPU that a process and its children that ended have used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(field) for field in fields[11:13]) / _TICKS
