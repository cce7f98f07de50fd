"""What the app writes to the terminal, and that the terminal then shows what it should."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pyte
from textual import events
from textual.app import App, ComposeResult
from textual.drivers.headless_driver import HeadlessDriver
from textual.geometry import Size
from textual.widgets import Static

from carrel.tui.terminal.textual_private import sparing_app

WIDTH, HEIGHT = 60, 20
LINES = [f"line {number} of a long answer" for number in range(18)]


class Paper(HeadlessDriver):
    """A terminal that notes what is written."""

    @property
    def is_headless(self) -> bool:
        return False

    def write(self, data: str) -> None:
        app: Any = self._app
        app.written += len(data)
        app.terminal.feed(data)


@sparing_app
class Probe(App[None]):
    CSS = """
    Screen { layers: below above; }
    #above { layer: above; width: 30; height: 5; offset: 10 0; display: none; }
    """

    def __init__(self) -> None:
        super().__init__(driver_class=Paper)
        self.written = 0
        self.paper = pyte.Screen(WIDTH, HEIGHT)
        self.terminal = pyte.Stream(self.paper)

    def compose(self) -> ComposeResult:
        yield Static("\n".join(LINES), markup=False)
        yield Static("over it", id="above")

    async def cost(self, change: Callable[[], object], *lines: str) -> int:
        """How many characters a change takes, until the terminal begins with these lines."""
        before = self.written
        self.call_later(change)
        for _ in range(100):
            shown = [line.rstrip() for line in self.paper.display][: len(lines)]
            # Once more when all is there: what is written too much comes, too.
            await asyncio.sleep(0.1)
            if shown == [*lines]:
                break
        assert shown == [*lines]
        return self.written - before


@contextlib.asynccontextmanager
async def running() -> AsyncIterator[Probe]:
    app = Probe()
    task = asyncio.create_task(app.run_async(size=(WIDTH, HEIGHT)))
    try:
        await app.cost(lambda: None, *LINES)
        yield app
    finally:
        app.exit()
        await task


async def test_a_changed_line_costs_that_line() -> None:
    async with running() as app:
        text = app.query_one(Static)
        whole = await app.cost(lambda: text.update("\n".join(LINES[::-1])), *LINES[::-1])
        ended = [*LINES[:0:-1], "the end"]
        assert await app.cost(lambda: text.update("\n".join(ended)), *ended) < whole / 5


async def test_what_was_covered_is_drawn_again() -> None:
    async with running() as app:
        above = app.query_one("#above")
        await app.cost(app.query_one(Static).refresh, *LINES)
        await app.cost(lambda: setattr(above, "display", True), "line 0 of over it")
        await app.cost(lambda: setattr(above, "display", False), *LINES)


async def test_all_is_drawn_after_a_change_of_size() -> None:
    async with running() as app:
        text = app.query_one(Static)
        await app.cost(text.refresh, *LINES)
        assert await app.cost(text.refresh, *LINES) < 200
        app.paper.reset()  # what a terminal may do to its rows then
        size = Size(WIDTH, HEIGHT)
        app.post_message(events.Resize(size, size))
        await app.cost(text.refresh, *LINES)
