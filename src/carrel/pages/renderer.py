"""Drawing of pages in a separate process, so that a hostile PDF crashes only that process."""

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from carrel.pages.errors import NoPicture

logger = logging.getLogger(__name__)

TIMEOUT = 30.0
"""Timeout of a page in seconds."""
MAX_REPLY = 128 * 1024 * 1024
"""Largest answer of a worker in bytes."""
MAX_CACHE = 48 * 1024 * 1024
"""Most bytes of pictures in the cache."""

Part = tuple[float, float, float, float]

# The process parses untrusted documents: its environment has no keys.
_ENVIRONMENT = ("PATH", "PYTHONPATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "LANG", "LC_ALL")


class Bookmark(NamedTuple):
    """An entry of a document's own table of contents: its level from 1, and its page from 0."""

    level: int
    title: str
    page: int


class Renderer:
    """Draws pages of PDF files and pictures as PNG, one at a time. Use it on one event loop."""

    def __init__(self) -> None:
        self._worker: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self._closed = False
        self._pictures: OrderedDict[tuple[Path, int, int, Part | None], bytes] = OrderedDict()

    async def page_count(self, path: Path) -> int:
        """Return the number of pages; a picture has one, or one per frame.

        Raises:
            NoPicture: the document has no page that can be drawn.
        """
        head, _ = await self._ask({"do": "count", "path": str(path)})
        return int(head["pages"])

    async def bookmarks(self, path: Path) -> list[Bookmark]:
        """Return the document's bookmarks that lead to a page, in order.

        Raises:
            NoPicture: the document has no page that can be drawn.
        """
        _, body = await self._ask({"do": "bookmarks", "path": str(path)})
        return [Bookmark(*entry) for entry in json.loads(body)]

    async def render(self, path: Path, page: int, width: int, part: Part | None = None) -> bytes:
        """Return a page, counted from 0, as PNG `width` pixels wide, or less for a very tall one.

        With `part` (left, top, width and height as fractions of the page), only that part is drawn,
        at the same width.

        Raises:
            NoPicture: the page cannot be drawn.
        """
        key = (path, page, width, part)
        if key not in self._pictures:
            request = {"do": "render", "path": str(path), "page": page}
            request |= {"width": width, "part": part}
            _, png = await self._ask(request)
            self._pictures[key] = png
            while sum(map(len, self._pictures.values())) > MAX_CACHE and len(self._pictures) > 1:
                self._pictures.popitem(last=False)
            return png
        self._pictures.move_to_end(key)
        return self._pictures[key]

    async def render_word(
        self, path: Path, page: int, width: int, part: Part, words: Sequence[str], index: int
    ) -> bytes:
        """Return one of the `words` of a part of a page as PNG, upright and `width` pixels wide.

        The words stand in reading order. A word that is not found is the whole part.

        Raises:
            NoPicture: the page cannot be drawn.
        """
        request = {"do": "word", "path": str(path), "page": page, "part": part, "width": width}
        _, png = await self._ask(request | {"words": [*words], "index": index})
        return png

    async def close(self) -> None:
        """End the process at once and draw no more pages."""
        self._closed = True
        if self._worker is not None:
            _kill(self._worker)
        async with self._turn:
            await self._end()

    async def _ask(self, request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        # A request that is cancelled before its turn is never drawn.
        await self._turn.acquire()
        exchange = asyncio.ensure_future(self._exchange(request))
        exchange.add_done_callback(lambda _: self._turn.release())
        # Shielded: a cancelled request must still read its answer, or the next would get it.
        head, body = await asyncio.shield(exchange)
        if "error" in head:
            raise NoPicture(str(head["error"]))
        return head, body

    async def _exchange(self, request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        if self._closed:
            return {"error": "The workbench is closing."}, b""
        try:
            async with asyncio.timeout(TIMEOUT):
                worker = await self._start()
                return await _exchange(worker, request)
        except TimeoutError:
            await self._end()
            return {"error": "Drawing this page takes too long."}, b""
        except (OSError, EOFError, ValueError) as error:
            logger.warning("the page worker ended: %s", error)
            await self._end()
            return {"error": "This document cannot be drawn: it may be damaged."}, b""
        except BaseException:
            await self._end()
            raise

    async def _start(self) -> asyncio.subprocess.Process:
        if self._worker is not None and self._worker.returncode is not None:
            await self._end()
        if self._worker is None:
            self._worker = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "carrel.pages.worker"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
            )
        return self._worker

    async def _end(self) -> None:
        worker, self._worker = self._worker, None
        if worker is None:
            return
        _kill(worker)
        # This reads the remaining output, closes the pipes and waits.
        await worker.communicate()


def _kill(worker: asyncio.subprocess.Process) -> None:
    # worker.kill() would take the exit status of a dead process from the loop, which complains.
    with contextlib.suppress(ProcessLookupError):
        os.kill(worker.pid, getattr(signal, "SIGKILL", signal.SIGTERM))


async def _exchange(
    worker: asyncio.subprocess.Process, request: dict[str, Any]
) -> tuple[dict[str, Any], bytes]:
    assert worker.stdin is not None and worker.stdout is not None
    worker.stdin.write(json.dumps(request).encode() + b"\n")
    await worker.stdin.drain()
    line = await worker.stdout.readline()
    if not line:
        raise EOFError("no answer")
    head = json.loads(line)
    size = int(head.get("size", 0))
    if not 0 <= size <= MAX_REPLY:
        raise ValueError(f"an answer of {size} bytes")
    return head, await worker.stdout.readexactly(size)
