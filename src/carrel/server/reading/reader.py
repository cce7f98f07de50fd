"""Reading documents: starts a parser for each, gives it OCR, and collects the pages."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import ValidationError

from carrel.server.reading.children import Child
from carrel.server.reading.frames import BrokenFrame, Frame
from carrel.server.reading.options import (
    INVALID_FILE,
    BrokenOff,
    NoSuchPage,
    Reading,
    ReadOptions,
    UnreadableDocument,
)
from carrel.server.reading.recogniser import Recogniser
from carrel.wire.ocr import Page

log = logging.getLogger(__name__)

PARSERS = 2
"""How many documents are read at the same time."""
SILENCE_SECONDS = 90
"""A parser that says nothing for so long is ended. Time spent on OCR does not count."""


class ParserUnavailable(Exception):
    """Parsers do not start; the log says why."""


class Reader:
    """Reads documents of every supported kind. One for a server; start, then stop."""

    def __init__(self) -> None:
        self._recogniser = Recogniser()
        self._places = asyncio.Semaphore(PARSERS)
        self._idle: list[Child] = []

    async def start(self) -> None:
        """Starts nothing yet: parsers and OCR come with the first document."""

    async def stop(self) -> None:
        """Ends every process that is not in use; documents in hand must have been cancelled."""
        await self._recogniser.stop()
        while self._idle:
            await self._idle.pop().end()

    @property
    def ocr_loaded(self) -> bool:
        """Whether the OCR process runs now."""
        return self._recogniser.loaded

    async def read(self, path: Path, *, mimetype: str | None, options: ReadOptions) -> Reading:
        """Reads the selected pages of a document. Cancelling ends the work at once.

        The kind is found from the content; `mimetype` helps where that says too little.

        Raises:
            UnreadableDocument: it is damaged, protected, hostile or of an unknown kind.
            NoSuchPage: a selected page is beyond the end.
            OCRUnavailable: a page needs OCR, and that does not work.
            ParserUnavailable: nothing can be read.
        """
        async with self._places, self._parser() as child:
            request = {"path": str(path), "mimetype": mimetype, "options": options.as_json()}
            try:
                await child.send(Frame(request))
                return await self._collect(child)
            except (ConnectionError, BrokenFrame, ValidationError) as error:
                log.warning("a parser broke off: %s", type(error).__name__)
                raise _broke_off() from error
            except TimeoutError:
                raise UnreadableDocument(
                    "This document takes too long to read. Ask for fewer pages, or simplify it."
                ) from None

    async def _collect(self, child: Child) -> Reading:
        pages: list[Page] = []
        while True:
            async with asyncio.timeout(SILENCE_SECONDS):
                frame = await child.receive()
            if frame is None:
                log.warning("a document ended its parser: %s", child.ending)
                raise _broke_off()
            header = frame.header
            if "page" in header:
                pages.append(Page.model_validate(header["page"]))
            elif "recognise" in header:
                text = await self._recogniser.read(header["width"], header["height"], frame.body)
                await child.send(Frame(text))
            elif "done" in header:
                return Reading(pages, header["page_count"], header["size"], header["ocr"])
            else:
                raise _refusal(header)

    @asynccontextmanager
    async def _parser(self) -> AsyncIterator[Child]:
        """A parser that is ready; it is used again unless something went wrong."""
        child = await self._ready_parser()
        try:
            yield child
        except BaseException:
            # A cancelled caller must not leave the process behind.
            await asyncio.shield(asyncio.ensure_future(child.end()))
            raise
        self._idle.append(child)

    async def _ready_parser(self) -> Child:
        while self._idle:
            child = self._idle.pop()
            try:
                if await child.receive() is not None:
                    return child
            except BaseException:
                await child.end()
                raise
            # It ended, as it does with some documents, and on some systems with each.
            await child.end()
        return await _start_parser()


async def _start_parser() -> Child:
    child = await Child.start("carrel.server.reading.parser")
    try:
        ready = await child.receive()
    except BaseException:
        await child.end()
        raise
    if ready is None:
        await child.end()
        raise ParserUnavailable(f"no document can be read: {child.ending}")
    return child


def _refusal(header: dict[str, object]) -> UnreadableDocument:
    if "trace" in header:
        log.warning("a document cannot be read: %s", header["trace"])
    message = str(header.get("error", "This document cannot be read."))
    if header.get("beyond"):
        return NoSuchPage(message)
    return UnreadableDocument(message, str(header.get("code", INVALID_FILE)))


def _broke_off() -> BrokenOff:
    return BrokenOff(
        "This document cannot be read within the limits of memory and time. It may be damaged."
    )
