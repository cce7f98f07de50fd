"""The terminal app driven by a pilot: what it shows, and waiting until it does."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from textual._wait import wait_for_idle
from textual.pilot import Pilot
from textual.widgets import Input

from carrel.config.profiles import Profile
from carrel.config.settings import Settings
from carrel.store.store import Store
from carrel.tui.app import CarrelApp
from support.process import RunningServer


@dataclass(frozen=True)
class Workbench:
    """A running app."""

    app: CarrelApp
    pilot: Pilot[Profile]

    @property
    def store(self) -> Store:
        return self.app.store

    def text(self) -> str:
        """What is on the screen, with what lies over it."""
        strips = self.app.screen._compositor.render_strips(self.app.size)
        return "\n".join("".join(segment.text for segment in strip) for strip in strips)

    async def until(self, condition: Callable[[], object], wait: float = 30) -> None:
        """Asserts that something comes to be so."""
        deadline = time.monotonic() + wait
        while not condition():
            assert time.monotonic() < deadline, f"it never came to be so:\n{self.text()}"
            await asyncio.sleep(0.02)
        # Not the pilot's pause: a dialog that opens in the midst of it makes it wait for 30 s.
        await wait_for_idle(0)

    async def shows(self, *words: str, wait: float = 30) -> None:
        """Asserts that all the words come on the screen."""
        deadline = time.monotonic() + wait
        while missing := [word for word in words if word not in (screen := self.text())]:
            assert time.monotonic() < deadline, f"{missing} never came on the screen:\n{screen}"
            await asyncio.sleep(0.02)
        await wait_for_idle(0)

    async def press(self, *keys: str) -> None:
        """Presses keys one after the other, as a person does."""
        for key in keys:
            await self.pilot.press(key)
        await self.pilot.pause()

    async def leave(self, key: str) -> None:
        """Presses a key that closes a dialog: the pilot would wait for widgets that are gone."""
        await self.app._press_keys([key])
        await wait_for_idle(0)

    async def copies(self, letter: str, text: str) -> None:
        """Asserts that a letter of the copy menu puts the text on the clipboard."""
        self.app.copy_to_clipboard("")
        await self.press("y")
        await self.shows("a letter or enter chooses")
        await self.leave(letter)
        await self.until(lambda: self.app.clipboard == text)

    async def fill(self, text: str) -> None:
        """Puts a long text into the focused field; key by key that takes seconds."""
        field = self.app.focused
        assert isinstance(field, Input)
        field.insert_text_at_cursor(text)
        await wait_for_idle(0)

    async def type(self, text: str) -> None:
        """Types into the focused field."""
        await self.press(*("space" if letter == " " else letter for letter in text))


@asynccontextmanager
async def workbench(
    profile: Profile, size: tuple[int, int] = (120, 36), settings: Settings | None = None
) -> AsyncIterator[Workbench]:
    """The app on a profile, once it shows Files. No handler may fail in it."""
    app = CarrelApp(profile, settings)
    async with app.run_test(size=size) as pilot:
        running = Workbench(app, pilot)
        await running.until(lambda: app.place is not None)
        yield running
        assert not app.failures, app.failures


def profile_of(server: RunningServer) -> Profile:
    """A profile that speaks to a running server."""
    return Profile("test", server.url, server.api_key)
