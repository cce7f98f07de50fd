"""One reader for all tests of a module: loading OCR takes seconds."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from carrel.server.reading.options import ReadOptions, ReadResult
from carrel.server.reading.reader import Reader
from carrel.wire.ocr import Page

Read = Callable[..., Awaitable[ReadResult]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def reader() -> AsyncIterator[Reader]:
    reader = Reader()
    yield reader
    await reader.stop()


@pytest.fixture
def read(reader: Reader) -> Read:
    """Reads a document with options given by name; of words too, each of which must be in place."""

    async def call(path: Path, mimetype: str | None = None, **options: Any) -> ReadResult:
        wanted = ReadOptions(**{"granularity": "word", **options})
        reading = await reader.read(path, mimetype=mimetype, options=wanted)
        for page in reading.pages:
            _check_places(page)
        return reading

    return call


def _check_places(page: Page) -> None:
    """Every word stands in the Markdown where its score says, one after the other."""
    scores = page.confidence_scores
    texts = [(page.markdown, scores.word_confidence_scores if scores else None)]
    texts += [(table.content, table.word_confidence_scores) for table in page.tables]
    for text, words in texts:
        end = 0
        for word in words or []:
            assert end <= word.start_index and text.startswith(word.text, word.start_index)
            end = word.start_index + len(word.text)
