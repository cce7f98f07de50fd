"""Typeahead: each key waits until the effect of the one before is complete.

A key that is held down stops when it is let go: of its repeats, those are dropped that wait longer
than a person would see them as one movement.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from textual import events
from textual.app import App
from textual.message import Message
from textual.message_pump import MessagePump

PATIENCE = 2.0
"""Timeout in seconds after which a held key is passed on; time in which the app is busy does not
count."""
TICK = 0.1
"""Seconds between two looks at the timeout; one that comes a tick late finds the app busy."""
OPENING = 10.0
"""Timeout in seconds while a dialog or screen waits for the service."""
URGENT = {"ctrl+c", "ctrl+q"}
"""Keys that are never held for an opening dialog or screen."""
MOVING = {
    "up", "down", "left", "right", "pageup", "pagedown", "ctrl+u", "ctrl+d",
    *"hjkl", "left_square_bracket", "right_square_bracket", "plus", "minus",
}  # fmt: skip
"""Keys whose repeats may be dropped, where they are not typed as text."""
HELD, GAP = 5, 0.5
"""A key is held down after so many repeats, each within so many seconds after the one before."""
LATE = 0.3
"""Seconds that a repeat of a key that is held down waits at most."""
LISTING = 3.0
"""Timeout in seconds for a list to load."""
LEAVING = {
    *"123456", *(f"alt+{n}" for n in range(1, 7)), "f1", "question_mark", "f3", "f5",
    "ctrl+p", "colon", "at", "escape", "alt+left", "alt+right",
}  # fmt: skip
"""Keys that are never held for a list: they do not act on it."""


@dataclass(frozen=True)
class _Typed:
    """A waiting key or pasted text; `repeats` counts equal ones directly before it."""

    event: events.Key | events.Paste
    at: float
    repeats: int

    @property
    def key(self) -> str | None:
        return self.event.key if isinstance(self.event, events.Key) else None

    def followed_by(self, event: events.Key | events.Paste) -> "_Typed":
        """Return the next waiting key or text, typed after this one."""
        now = time.monotonic()
        same = isinstance(event, events.Key) and event.key == self.key and now - self.at < GAP
        return _Typed(event, now, self.repeats + 1 if same else 0)

    @property
    def is_late(self) -> bool:
        """Whether this is a repeat of a key that is held down, and waited too long."""
        held = self.key in MOVING and self.repeats >= HELD
        return held and time.monotonic() - self.at > LATE


class TypeAhead:
    """Passes keys and pasted text on one at a time.

    Textual sends a key at once to the focused widget. A key typed right after one that opens a
    dialog or another screen would be lost on the old screen.
    """

    class Handled(Message):
        """A marker behind a key: its arrival means that the key was handled."""

        def __init__(self, step: object, target: MessagePump, *, again: bool) -> None:
            super().__init__()
            self.step = step
            self.target = target
            self.again = again

    def __init__(self, app: App[Any], pass_on: Callable[[events.Event], Awaitable[None]]) -> None:
        """Make the typeahead of an app. `pass_on` handles an event as Textual does."""
        self._app = app
        self._to_textual = pass_on
        self._typed: deque[_Typed] = deque()
        self._last = _Typed(events.Paste(""), 0, 0)
        self._step: object | None = None
        """The step that keys wait for, or None if they pass."""
        self._opening: dict[object, float] = {}
        """Everything that is opening, with the timeout in seconds for held keys."""
        self._listing: object | None = None
        """The entry that is only a list, or None."""

    def start(self) -> None:
        """Pass held keys on whenever the top screen changes."""
        self._app.screen_change_signal.subscribe(self._app, lambda _: self._await_screen())

    @property
    def is_done(self) -> bool:
        """Whether every key was handled and nothing is opening."""
        return self._step is None and not self._typed

    def hold(self, opening: object) -> None:
        """Hold keys back: their target is about to open or to get the focus."""
        self._wait_for(opening, OPENING)

    def hold_for_list(self, listing: object, *, starting: bool) -> None:
        """Hold keys back for a list without loaded rows.

        The timeout is longer while the service is `starting`.
        """
        patience = OPENING if starting else LISTING
        if self._opening.get(listing) != patience:
            self._listing = listing
            self._wait_for(listing, patience)

    def _wait_for(self, opening: object, patience: float) -> None:
        self._opening[opening] = patience
        self._step = self._new_step()

    def release(self, opening: object) -> None:
        """Release the keys held for a target, which is open or will not open."""
        if opening in self._opening:
            del self._opening[opening]
            self._await_screen()

    @contextmanager
    def discard(self, opening: object) -> Iterator[None]:
        """Discard the keys typed while a list opens: their target is not known yet."""
        self.hold(opening)
        try:
            yield
        finally:
            self._typed.clear()
            self.release(opening)

    async def take(self, event: events.Event) -> None:
        """Pass an event on: keys and pastes in their turn, others at once."""
        if isinstance(event, events.Key) and event.key.startswith("alt+"):
            # A field would type it: to Textual alt with a digit is a digit, too.
            event.character = None
        if isinstance(event, events.Paste):
            # Most terminals send a line break as CR, which cleaning would remove.
            event.text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            if self._opening and isinstance(event, events.Key) and event.key in URGENT:
                self._typed.clear()
                self._opening.clear()
                self._step = None
            elif self._opening.keys() == {self._listing} and not self._typed and _leaves(event):
                self._opening.clear()
                self._step = None
            self._last = self._last.followed_by(event)
            self._typed.append(self._last)
            await self._pass_on()
        else:
            await self._to_textual(event)

    async def _pass_on(self) -> None:
        if self._step is not None:
            return
        while self._typed and self._typed[0].is_late and not self._is_text(self._typed[0].event):
            self._typed.popleft()
        if not self._typed:
            return
        step = self._step = self._new_step()
        target = self._app.focused or self._app.screen
        await self._to_textual(self._typed.popleft().event)
        target.post_message(self.Handled(step, target, again=True))

    def _is_text(self, event: events.Event) -> bool:
        """Whether a key is text for the field that has the focus."""
        focused = self._app.focused
        return (
            isinstance(event, events.Key)
            and focused is not None
            and focused.check_consume_key(event.key, event.character)
        )

    def _new_step(self) -> object:
        step = object()
        self._count_down(step, max(self._opening.values(), default=PATIENCE))
        return step

    def _count_down(self, step: object, left: float) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time() + TICK

        def look() -> None:
            if step is not self._step:
                return
            idle = TICK if loop.time() - due < TICK else 0.0
            if left > idle:
                self._count_down(step, left - idle)
            else:
                self._app.call_next(self._end, step, True)

        loop.call_later(TICK, look)

    def end_step(self, message: Handled) -> None:
        """Pass on the next key after the marker of the last one."""
        if message.step is not self._step:
            return
        if message.again:
            # After messages posted by the key's handler, such as a field's Submitted.
            target = message.target
            target.post_message(self.Handled(message.step, target, again=False))
        else:
            self._await_screen()

    def _await_screen(self) -> None:
        """Pass keys on once the top screen is mounted and focused."""
        if self._step is not None:
            # Earlier openings on the way to this screen no longer count.
            self._step = self._new_step()
            self._app.screen.call_next(self._app.call_next, self._end, self._step)

    async def _end(self, step: object, impatient: bool = False) -> None:
        if step is not self._step or (self._opening and not impatient):
            return
        self._step = None
        self._opening.clear()
        await self._pass_on()


def _leaves(event: events.Event) -> bool:
    return isinstance(event, events.Key) and event.key in LEAVING
