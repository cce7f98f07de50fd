"""Local copies: fetched once, bounded, and never taken from under a reader."""

import asyncio
from pathlib import Path

import pytest

from carrel.server.blobs.copies import LocalCopies


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the copies are."""
    return tmp_path / "copies"


class Source:
    """Ten bytes for every hash, in two steps."""

    def __init__(self) -> None:
        self.fetched: list[str] = []

    async def fetch(self, hash: str, file: Path) -> None:
        self.fetched.append(hash)
        await asyncio.to_thread(file.write_bytes, b"01234")
        if hash == "broken":
            raise ConnectionError
        await asyncio.to_thread(file.write_bytes, b"0123456789")


async def _read(copies: LocalCopies, source: Source, *hashes: str) -> None:
    for hash in hashes:
        async with copies.read(hash, source.fetch) as path:
            assert path.read_bytes() == b"0123456789"


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


async def test_many_readers_fetch_once(folder: Path) -> None:
    copies, source = LocalCopies(folder), Source()
    await asyncio.gather(*(_read(copies, source, "a", "b") for _ in range(5)))
    assert sorted(source.fetched) == ["a", "b"]


async def test_the_one_used_longest_ago_goes_first(folder: Path) -> None:
    copies, source = LocalCopies(folder, limit=25), Source()
    await _read(copies, source, "a", "b", "a", "c")
    assert _names(folder) == {"a", "c"}
    await _read(copies, source, "b")
    assert source.fetched == ["a", "b", "c", "b"]


async def test_what_is_being_read_stays(folder: Path) -> None:
    copies, source = LocalCopies(folder, limit=15), Source()
    async with copies.read("a", source.fetch) as path:
        await _read(copies, source, "b", "c")
        copies.keep_only(())
        assert path.read_bytes() == b"0123456789"
    await _read(copies, source, "d")
    assert _names(folder) == {"d"}
    copies.keep_only(())
    assert _names(folder) == set()


async def test_what_could_not_be_fetched_leaves_nothing(folder: Path) -> None:
    copies, source = LocalCopies(folder), Source()
    with pytest.raises(ConnectionError):
        await _read(copies, source, "broken")
    assert _names(folder) == set()


def test_copies_of_an_earlier_process_are_not_trusted(folder: Path) -> None:
    folder.mkdir()
    (folder / "a").write_bytes(b"half of i")
    LocalCopies(folder)
    assert _names(folder) == set()
