"""Documents from addresses are fetched once a minute, whoever asks for how few pages."""

import asyncio
import hashlib
from pathlib import Path

import pytest

from carrel.server.errors import ApiError
from carrel.server.transfer.fetch import Fetcher
from carrel.server.transfer.fetched import FetchedDocuments

URL = "https://example.com/secret-of-the-address"


class Counting(Fetcher):
    """Fetches what it was given, and counts how often."""

    def __init__(self, content: bytes | ApiError) -> None:
        super().__init__(1000)
        self.times = 0
        self._content = content

    async def save(self, url: str, path: Path) -> None:
        self.times += 1
        await asyncio.sleep(0)
        if isinstance(self._content, ApiError):
            raise self._content
        await asyncio.to_thread(path.write_bytes, self._content)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "fetched"


async def test_an_address_is_fetched_once_by_all_who_ask(folder: Path) -> None:
    documents, fetcher = FetchedDocuments(folder, seconds=1e9), Counting(b"a page")

    async def read() -> bytes:
        async with documents.document(URL, fetcher) as fetched:
            assert fetched.hash == hashlib.sha256(b"a page").hexdigest()
            return await asyncio.to_thread(fetched.path.read_bytes)

    assert set(await asyncio.gather(read(), read(), read())) == {b"a page"}
    assert fetcher.times == 1
    assert "secret" not in "".join(path.name for path in folder.iterdir())  # noqa: ASYNC240
    async with documents.document(f"{URL}2", Counting(b"other")) as other:
        assert await asyncio.to_thread(other.path.read_bytes) == b"other"


async def test_after_a_while_it_is_fetched_anew_and_what_was_fetched_is_gone(
    folder: Path,
) -> None:
    documents, fetcher = FetchedDocuments(folder, seconds=0.05), Counting(b"a page")
    async with documents.document(URL, fetcher) as fetched:
        await asyncio.sleep(0.15)
        assert await asyncio.to_thread(fetched.path.exists), "it stays while it is read"
        async with documents.document(URL, fetcher):
            assert fetcher.times == 2
    async with asyncio.timeout(10):
        while [*folder.iterdir()]:  # noqa: ASYNC110, ASYNC240
            await asyncio.sleep(0.01)


async def test_what_was_not_fetched_is_tried_again(folder: Path) -> None:
    documents, fetcher = FetchedDocuments(folder), Counting(ApiError(400, "not reached"))
    for _ in range(2):
        with pytest.raises(ApiError, match="not reached"):
            async with documents.document(URL, fetcher):
                pass
    assert fetcher.times == 2
    assert not [*folder.iterdir()]  # noqa: ASYNC240
