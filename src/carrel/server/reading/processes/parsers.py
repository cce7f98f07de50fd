"""Manages parsers: some idle, some with a document open for its next pages."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from carrel.server.processes.child import Child
from carrel.server.processes.pipes import PipeMessage

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


class OpenParser(NamedTuple):
    """A parser process. `opened`: it already has the document open."""

    child: Child
    opened: bool


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
    ) -> AsyncIterator[OpenParser]:
        """Lease a parser for a document exclusively; end it on failure.

        Raises:
            ParserUnavailable: none can be started.
        """
        async with self._places:
            parser = await self._take(document)
            try:
                yield parser
            except BaseException:
                await _end(parser.child)
                raise
            if keep_open and document.hash is not None:
                await self._keep(document, parser.child)
            else:
                await self._close(parser.child)

    async def stop(self) -> None:
        """End every idle process. Cancel the reads in progress before you call it."""
        for child, timer in self._open.values():
            timer.cancel()
            await child.end()
        self._open.clear()
        await asyncio.gather(*self._closing)
        while self._idle:
            await self._idle.pop().end()

    async def _take(self, document: ReadableDocument) -> OpenParser:
        if document.hash is not None and document in self._open:
            child = self._take_kept(document)
            if child.running:
                return OpenParser(child, opened=True)
            await child.end()
        while True:
            if not self._idle and len(self._open) >= OPEN_DOCUMENTS:
                await self._close(self._take_kept(next(iter(self._open))))
            if not self._idle:
                return OpenParser(await _start(), opened=False)
            child = self._idle.pop()
            try:
                if await child.receive() is not None:
                    return OpenParser(child, opened=False)
            except BaseException:
                await _end(child)
                raise
            # It exited, as after some documents, and on some systems after each.
            await child.end()

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


async def _start() -> Child:
    child = await Child.start("carrel.server.reading.parser")
    try:
        ready = await child.receive()
    except BaseException:
        await _end(child)
        raise
    if ready is None:
        await child.end()
        raise ParserUnavailable(f"no document can be read: {child.ending}")
    return child
