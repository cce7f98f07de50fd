"""Parsers that keep documents open: known again by hash, few, for a while."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from carrel.server.processes.child import Child
from carrel.server.processes.pipes import PipeMessage
from carrel.server.reading.options import ReadOptions
from carrel.server.reading.processes.parsers import OPEN_DOCUMENTS, Parsers, ReadableDocument

OPTIONS = {"options": ReadOptions().as_json(), "ahead": True, "beyond": True}


@pytest_asyncio.fixture
async def parsers() -> AsyncIterator[Parsers]:
    parsers = Parsers()
    yield parsers
    await parsers.stop()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.txt"
    path.write_text("Whisper near the stairs.")
    return path


async def _markdown(child: Child, request: dict[str, object]) -> str:
    await child.send(PipeMessage(request))
    text = ""
    while (frame := await child.receive()) is not None and "done" not in frame.header:
        text += frame.body.decode()
    return text


async def _read(parsers: Parsers, document: ReadableDocument, *, keep_open: bool = True) -> bool:
    """Whether the document was open already."""
    async with parsers.parser(document, keep_open=keep_open) as (child, opened):
        request = {} if opened else {"path": str(document.path), "mimetype": document.mimetype}
        assert "Whisper" in await _markdown(child, {**request, **OPTIONS})
    return opened


async def test_a_document_is_known_again_by_its_bytes(parsers: Parsers, path: Path) -> None:
    document = ReadableDocument(path, "text/plain", "a")
    assert not await _read(parsers, document)
    # Where the bytes are now plays no part: they are not opened again.
    assert await _read(parsers, ReadableDocument(path.with_name("gone"), "text/plain", "a"))
    assert await _read(parsers, document)


async def test_what_has_no_hash_or_is_read_whole_is_closed(parsers: Parsers, path: Path) -> None:
    for document in (
        ReadableDocument(path, "text/plain"),
        ReadableDocument(path, "text/markdown", "a"),
    ):
        for _ in range(2):
            assert not await _read(parsers, document, keep_open=document.hash is None)


async def test_few_documents_stay_open(parsers: Parsers, path: Path) -> None:
    documents = [ReadableDocument(path, "text/plain", str(n)) for n in range(OPEN_DOCUMENTS + 1)]
    for document in documents:
        assert not await _read(parsers, document)
    assert await _read(parsers, documents[-1])
    assert await _read(parsers, documents[1])
    assert not await _read(parsers, documents[0])
    # That closed the one that had not been used for longest.
    assert not await _read(parsers, documents[2])


async def test_a_document_is_closed_when_nobody_asks_about_it(path: Path) -> None:
    parsers = Parsers(open_seconds=0.05)
    document = ReadableDocument(path, "text/plain", "a")
    await _read(parsers, document)
    async with asyncio.timeout(20):
        while await _read(parsers, document):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    await parsers.stop()


async def test_a_parser_that_died_meanwhile_is_replaced(parsers: Parsers, path: Path) -> None:
    document = ReadableDocument(path, "text/plain", "a")
    async with parsers.parser(document, keep_open=True) as (child, _):
        await _markdown(child, {"path": str(path), "mimetype": "text/plain", **OPTIONS})
    await child.end()
    assert not await _read(parsers, document)


async def test_a_failure_ends_the_parser_and_closes_the_document(
    parsers: Parsers, path: Path
) -> None:
    document = ReadableDocument(path, "text/plain", "a")
    await _read(parsers, document)
    with pytest.raises(ValueError, match="in the middle"):
        async with parsers.parser(document, keep_open=True) as (child, _):
            raise ValueError("in the middle")
    assert not child.running
    assert not await _read(parsers, document)


async def test_two_may_ask_about_the_same_document_at_once(parsers: Parsers, path: Path) -> None:
    document = ReadableDocument(path, "text/plain", "a")
    await _read(parsers, document)
    opened = await asyncio.gather(_read(parsers, document), _read(parsers, document))
    assert sorted(opened) == [False, True]
    assert await _read(parsers, document)
