"""Manages parsers: some idle, some with a document open for its next pages."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from carrel.server.processes.child import Child
from carrel.server.processes.pipes import PipeMessage

_PARSER = "carrel.server.reading.parser"
PARSERS = 2
"""Maximum documents read at the same time."""
OPEN_DOCUMENTS = 3
"""Maximum documents kept open beside those being read."""
OPEN_SECONDS = 60
"""Idle time-out of an open document."""


class ParserUnavailable(Exception):
    """No parser can be started; the log says why."""


@dataclass(frozen=True)
class ReadableDocument:
    """Bytes to read. The same `hash` and `mimetype` identify the same document."""

    path: Path = field(compare=False)
    mimetype: str | None
    hash: str | None = None
    """SHA-256; without it, the document is not recognised again."""


class Parsers:
    """Starts parsers on demand and ends them."""

    def __init__(self, open_seconds: float = OPEN_SECONDS) -> None:
        self._open_seconds = open_seconds
        self._places = asyncio.Semaphore(PARSERS)
        self._idle: list[Child] = []
        self._open: dict[ReadableDocument, tuple[Child, asyncio.TimerHandle]] = {}
        """Ordered by last use, the most recent at the end."""
        self._closing: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def parser(
        self, document: ReadableDocument, *, keep_open: bool
    ) -> AsyncIterator[tuple[Child, bool]]:
        """Lease a parser, and whether it has the document open, to one; end it on failure.

        Raises:
            ParserUnavailable: none can be started.
        """
        async with self._places:
            child, opened = await self._take(document)
            try:
                yield child, opened
            except BaseException:
                await _end(child)
                raise
            if keep_open and document.hash is not None:
                await self._keep(document, child)
            else:
                await self._close(child)

    async def stop(self) -> None:
        """End every idle process. Cancel the reads in progress before you call it."""
        for child, timer in self._open.values():
            timer.cancel()
            await child.end()
        self._open.clear()
        await asyncio.gather(*self._closing)
        while self._idle:
            await self._idle.pop().end()

    async def _take(self, document: ReadableDocument) -> tuple[Child, bool]:
        if document in self._open:
            child = self._take_kept(document)
            if child.running:
                return child, True
            await child.end()
        while True:
            if not self._idle and len(self._open) >= OPEN_DOCUMENTS:
                await self._close(self._take_kept(next(iter(self._open))))
            is_new = not self._idle
            child = await Child.start(_PARSER) if is_new else self._idle.pop()
            try:
                if await child.receive() is not None:
                    return child, False
            except BaseException:
                await _end(child)
                raise
            await child.end()
            if is_new:
                raise ParserUnavailable(f"no document can be read: {child.ending}")
            # Go on: an idle one exits after some documents, and on some systems after each.

    async def _keep(self, document: ReadableDocument, child: Child) -> None:
        if document in self._open:  # opened by two concurrent requests
            await self._close(self._take_kept(document))
        elif len(self._open) >= OPEN_DOCUMENTS:
            await self._close(self._take_kept(next(iter(self._open))))
        loop = asyncio.get_running_loop()
        timer = loop.call_later(self._open_seconds, self._forget, document)
        self._open[document] = child, timer

    def _take_kept(self, document: ReadableDocument) -> Child:
        child, timer = self._open.pop(document)
        timer.cancel()
        return child

    def _forget(self, document: ReadableDocument) -> None:
        task = asyncio.ensure_future(self._close(self._take_kept(document)))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _close(self, child: Child) -> None:
        """Close a parser's document and keep the parser idle unless enough already are."""
        if len(self._idle) < PARSERS:
            with suppress(ConnectionError):
                await child.send(PipeMessage({"close": True}))
                self._idle.append(child)
                return
        await _end(child)


async def _end(child: Child) -> None:
    # Shield: a cancelled caller must not leave the process behind.
    await asyncio.shield(child.end())
