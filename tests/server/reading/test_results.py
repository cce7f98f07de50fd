"""Pages that are remembered: found again as they were, bounded, and forgotten when they should."""

import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from carrel.server.reading.options import ReadOptions, ReadPage
from carrel.server.reading.processes.parsers import ReadableDocument
from carrel.server.reading.results import Results, Task
from carrel.wire.ocr import Page
from support.naming import naming

MIB = 2**20
HOUR = 3600
TASK = Task("hash", "manner")

pytestmark = pytest.mark.asyncio


@pytest_asyncio.fixture
async def results(tmp_path: Path) -> AsyncIterator[Results]:
    results = Results(tmp_path / "pages.db", lambda: MIB)
    yield results
    results.close()


def _page(index: int, markdown: str = "Text", *, ocr_used: bool = False) -> ReadPage:
    return ReadPage(Page(index=index, markdown=markdown, dimensions=None), ocr_used)


async def _numbers(results: Results, task: Task = TASK, among: int = 100) -> list[int]:
    return [read.page.index for read in await results.pages(task, range(among))]


async def test_pages_come_back_as_they_were_after_a_restart(tmp_path: Path) -> None:
    pages = [_page(3, "Größe\n\n| a |", ocr_used=True), _page(0)]
    before = Results(tmp_path / "pages.db", lambda: MIB)
    await before.put(TASK, 5, pages)
    before.close()
    after = Results(tmp_path / "pages.db", lambda: MIB)
    assert await after.pages(TASK, [0, 1, 3]) == [pages[1], pages[0]]
    assert {*(await after.known(TASK)).values()} == {5}
    after.close()
    assert (tmp_path / "pages.db").stat().st_mode & 0o077 == 0


async def test_another_manner_is_another_page(results: Results) -> None:
    await results.put(TASK, 1, [_page(0)])
    other = TASK._replace(manner="other")
    assert not await results.known(other)
    assert await _numbers(results, other) == []


@pytest.mark.parametrize(
    "change",
    [{"include_blocks": True}, {"table_format": "html"}, {"granularity": "word"},
     {"image_min_size": 9}, {"include_image_base64": True}, {"extract_header": True}],
)  # fmt: skip
async def test_every_option_that_changes_a_page_is_part_of_the_manner(change: Any) -> None:
    document = ReadableDocument(Path("a"), "text/plain", "hash")
    assert Task.of(document, ReadOptions()) != Task.of(document, ReadOptions(**change))


async def test_which_pages_are_asked_for_and_where_the_bytes_are_is_not() -> None:
    here, there = (ReadableDocument(Path(name), "text/plain", "hash") for name in "ab")
    some = ReadOptions([range(3)], page_limit=9, image_limit=2)
    assert Task.of(here, ReadOptions()) == Task.of(there, some)
    as_markdown = ReadableDocument(Path("a"), "text/markdown", "hash")
    assert Task.of(here, some) != Task.of(as_markdown, some)


async def test_what_was_used_least_recently_makes_room(tmp_path: Path) -> None:
    text = random.Random(1).randbytes(400).hex()
    results = Results(tmp_path / "pages.db", lambda: 2000)
    for number in range(4):
        await results.put(TASK, 9, [_page(number, f"{number}{text}")])
        assert 0 in await _numbers(results, among=1), "it was used just now"
    kept = await _numbers(results)
    assert kept[0] == 0 and kept[-1] == 3 and len(kept) < 4
    results.close()


async def test_a_limit_of_nothing_remembers_nothing(tmp_path: Path) -> None:
    limit = MIB
    results = Results(tmp_path / "pages.db", lambda: limit)
    await results.put(TASK, 1, [_page(0)])
    limit = 0
    assert not await results.known(TASK)
    await results.put(TASK, 1, [_page(1)])
    await results.collect(naming("hash"), HOUR)
    limit = MIB
    assert await _numbers(results) == []
    results.close()


async def test_a_document_that_nothing_names_is_forgotten(results: Results) -> None:
    await results.put(TASK, 1, [_page(0)])
    await results.put(Task("live", "manner"), 1, [_page(0)])
    await results.collect(naming("live"), HOUR)
    assert await _numbers(results) == [0], "it was read just now"
    await results.collect(naming("live"), -1)
    assert await _numbers(results) == []
    assert await _numbers(results, Task("live", "manner")) == [0]


async def test_a_damaged_file_begins_anew(tmp_path: Path) -> None:
    (tmp_path / "pages.db").write_bytes(b"no database" * 1000)
    results = Results(tmp_path / "pages.db", lambda: MIB)
    assert await _numbers(results) == []
    await results.put(TASK, 1, [_page(0)])
    assert await _numbers(results) == [0]
    results.close()


async def test_reading_goes_on_where_nothing_can_be_remembered(tmp_path: Path) -> None:
    results = Results(tmp_path / "no" / "folder" / "pages.db", lambda: MIB)
    await results.put(TASK, 1, [_page(0)])
    assert await _numbers(results) == []
    results.close()
