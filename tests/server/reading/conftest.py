"""One reader for all tests of a module: loading OCR takes seconds."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from carrel.server.reading.options import Reading, ReadOptions
from carrel.server.reading.reader import Reader

Read = Callable[..., Awaitable[Reading]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def reader() -> AsyncIterator[Reader]:
    reader = Reader()
    await reader.start()
    yield reader
    await reader.stop()


@pytest.fixture
def read(reader: Reader) -> Read:
    """Reads a document with options given by name."""

    async def call(path: Path, mimetype: str | None = None, **options: Any) -> Reading:
        return await reader.read(path, mimetype=mimetype, options=ReadOptions(**options))

    return call
