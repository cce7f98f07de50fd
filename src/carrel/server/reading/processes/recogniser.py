"""Server side of the OCR process: starts it on first need, ends it when idle."""

import asyncio
import contextlib
import logging
from typing import Any

from carrel.server.processes.child import Child
from carrel.server.processes.pipes import PipeMessage
from carrel.server.spans import span

log = logging.getLogger(__name__)

MAX_PIXELS = 40_000_000
"""Largest picture for OCR; larger ones are scaled down before."""


class OCRUnavailable(Exception):
    """The OCR process does not start, or ended twice on one picture."""


class Recogniser:
    """Looks at one picture at a time, in a process that ends when idle."""

    def __init__(self, idle_seconds: float = 300) -> None:
        self._idle_seconds = idle_seconds
        self._turn = asyncio.Lock()
        self._child: Child | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._ending: asyncio.Task[None] | None = None
        self.failed = False
        """Whether the OCR process did not start, or died twice, when it was last needed."""

    async def look(self, width: int, height: int, rgb: bytes) -> dict[str, Any]:
        """Read the text of a picture of `width * height` RGB pixels.

        In the answer, `turn` is how far it is turned clockwise: 0, 90, 180 or 270 degrees. Each of
        `lines` has `text`, `confidence` (0 to 1), `quad` (four corners in pixels of the page set
        upright, clockwise from the top left) and `words` (text, confidence, and where on the line
        they start and end, 0 to 1).

        Raises:
            ValueError: the bytes are not such a picture, or it is larger than `MAX_PIXELS`.
            OCRUnavailable: the OCR process does not work.
        """
        if width < 1 or height < 1 or len(rgb) != width * height * 3:
            raise ValueError("the pixels do not match the picture's size")
        if width * height > MAX_PIXELS:
            raise ValueError("the picture has too many pixels to recognise")
        # Shielded: a cancelled caller must not leave an unread answer on the pipe.
        return await asyncio.shield(self._ask(PipeMessage({"width": width, "height": height}, rgb)))

    async def _ask(self, message: PipeMessage) -> dict[str, Any]:
        async with self._turn:
            self._stop_timer()
            try:
                with span("recognition"):
                    return await self._answer(message)
            finally:
                loop = asyncio.get_running_loop()
                self._idle = loop.call_later(self._idle_seconds, self._stop_when_idle)

    async def _answer(self, message: PipeMessage) -> dict[str, Any]:
        self.failed = True
        for _ in range(2):
            child = await self._running_child()
            answer = await child.ask(message)
            if answer is not None:
                self.failed = False
                if loaded := answer.header.pop("loaded", None):
                    log.info("OCR loaded with %s in %.1f s", *loaded)
                return answer.header
            await child.end()
            log.warning("the OCR process died: %s", child.ending)
        raise OCRUnavailable("the OCR process ended while it read a page")

    async def _running_child(self) -> Child:
        if self._child is None or not self._child.running:
            self._child = await Child.start("carrel.server.reading.ocr.process")
            if await self._child.receive() is None:
                await self._child.end()
                raise OCRUnavailable(f"the OCR process does not start: {self._child.ending}")
        return self._child

    def _stop_timer(self) -> None:
        if self._idle is not None:
            self._idle.cancel()

    def _stop_when_idle(self) -> None:
        # Kept, since the loop does not hold its tasks.
        self._ending = asyncio.ensure_future(self.stop())

    async def stop(self) -> None:
        """End the process after the current picture; the next picture restarts it."""
        self._stop_timer()
        async with self._turn:
            child, self._child = self._child, None
            if child is not None:
                with contextlib.suppress(ProcessLookupError):
                    await child.end()
                log.info("OCR unloaded")
