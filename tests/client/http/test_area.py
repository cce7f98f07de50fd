"""Whole lists, page after page."""

from collections.abc import Sequence

import pytest

from carrel.client.http.area import PAGE, every


@pytest.mark.parametrize(
    ("count", "pages"), [(0, 1), (1, 1), (PAGE, 2), (PAGE + 1, 2), (3 * PAGE, 4)]
)
async def test_every_page_is_asked_for_once(count: int, pages: int) -> None:
    asked: list[int] = []

    async def load(page: int, page_size: int) -> Sequence[int]:
        asked.append(page)
        return range(count)[page_size * page : page_size * (page + 1)]

    assert [item async for item in every(load, lambda item: item)] == [*range(count)]
    assert asked == [*range(pages)]


async def test_a_service_that_knows_no_pages_ends_it_too() -> None:
    async def load(page: int, page_size: int) -> Sequence[int]:
        return range(PAGE + 5)

    assert [item async for item in every(load, lambda item: item)] == [*range(PAGE + 5)]


async def test_what_moves_to_the_next_page_meanwhile_comes_once() -> None:
    async def load(page: int, page_size: int) -> Sequence[int]:
        return range(PAGE) if page == 0 else range(PAGE - 1, PAGE + 4)

    assert [item async for item in every(load, lambda item: item)] == [*range(PAGE + 4)]
