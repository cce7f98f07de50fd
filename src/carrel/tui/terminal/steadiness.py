"""Widgets that outlive an error in one of their handlers, and errors that are too many."""

import time
import traceback
from collections import defaultdict, deque

from textual.message import Message
from textual.message_pump import MessagePump


class Steady(MessagePump):
    """A mixin. Textual ends a widget's message loop at the first exception: the widget would
    stay on screen and be deaf. This reports the exception to the app, which shows it, and goes on.
    """

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except Exception as error:
            self.app._handle_exception(error)


class Recent:
    """The errors of the last seconds, by kind: the same class from the same line."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._times: defaultdict[object, deque[float]] = defaultdict(deque)

    def add(self, error: BaseException) -> int:
        """Takes in an error; gives how many of its kind there were within the time."""
        frames = traceback.extract_tb(error.__traceback__)
        place = (frames[-1].filename, frames[-1].lineno) if frames else None
        times, now = self._times[type(error), place], time.monotonic()
        times.append(now)
        while now - times[0] > self._seconds:
            times.popleft()
        return len(times)
