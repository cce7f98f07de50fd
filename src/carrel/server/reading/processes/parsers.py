"""The processes that read documents: some ready, some with a document open for its next pages."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from carrel.server.reading.processes.child import Child
from carrel.server.reading.processes.pipes import PipeMessage

PARSERS = 2
"""How many documents are read at the same time."""
OPEN_DOCUMENTS = 3
"""How many documents stay open beside those that are being read."""
OPEN_SECONDS = 60
"""How long a document stays open that nobody asks about."""


class ParserUnavailable(Exception):
    """Parsers do not start; the log says why."""


@dataclass(frozen=True)
class ReadableDocument:
    """Bytes to read. Those with the same `hash` and `mimetype` are the same document."""

    path: Path = field(compare=False)
    mimetype: str | None
    hash: str | None = None
    """SHA-256; without it, the document is not known again."""


class OpenParser(NamedTuple):
    """A process to read with. `opened`: it has the document open already."""

    child: Child
    opened: bool


class _Open(NamedTuple):
    child: Child
    timer: asyncio.TimerHandle


class Parsers:
    """Starts parsers as they are needed, and ends them."""

    def __init__(self, open_seconds: float = OPEN_SECONDS) -> None:
        self._open_seconds = open_seconds
        self._places = asyncio.Semaphore(PARSERS)
        self._idle: list[Child] = []
        self._open: dict[ReadableDocument, _Open] = {}
        """The one that was used last at the end."""
        self._closing: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def parser(
        self, document: ReadableDocument, *, keep_open: bool
    ) -> AsyncIterator[OpenParser]:
        """A parser for a document, and nobody else's meanwhile; it is ended if something fails.

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
        """Ends every process that is not in use; documents in hand must have been cancelled."""
        for kept in self._open.values():
            kept.timer.cancel()
            await kept.child.end()
        self._open.clear()
        await asyncio.gather(*self._closing)
        while self._idle:
            await self._idle.pop().end()

    async def _take(self, document: ReadableDocument) -> OpenParser:
        if document.hash is not None and document in self._open:
            child = self._taken(document)
            if child.running:
                return OpenParser(child, opened=True)
            await child.end()
        while True:
            if not self._idle and len(self._open) >= OPEN_DOCUMENTS:
                await self._close(self._taken(next(iter(self._open))))
            if not self._idle:
                return OpenParser(await _start(), opened=False)
            child = self._idle.pop()
            try:
                if await child.receive() is not None:
                    return OpenParser(child, opened=False)
            except BaseException:
                await _end(child)
                raise
            # It ended, as it does with some documents, and on some systems with each.
            await child.end()

    async def _keep(self, document: ReadableDocument, child: Child) -> None:
        if document in self._open:  # two asked about it at the same time
            await self._close(self._taken(document))
        elif len(self._open) >= OPEN_DOCUMENTS:
            await self._close(self._taken(next(iter(self._open))))
        loop = asyncio.get_running_loop()
        timer = loop.call_later(self._open_seconds, self._forget, document)
        self._open[document] = _Open(child, timer)

    def _taken(self, document: ReadableDocument) -> Child:
        kept = self._open.pop(document)
        kept.timer.cancel()
        return kept.child

    def _forget(self, document: ReadableDocument) -> None:
        task = asyncio.ensure_future(self._close(self._taken(document)))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _close(self, child: Child) -> None:
        """Closes a parser's document; the parser waits for another if few others do."""
        if len(self._idle) < PARSERS:
            with suppress(ConnectionError):
                await child.send(PipeMessage({"close": True}))
                self._idle.append(child)
                return
        await _end(child)


async def _end(child: Child) -> None:
    # A cancelled caller must not leave the process behind.
    await asyncio.shield(asyncio.ensure_future(child.end()))


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
