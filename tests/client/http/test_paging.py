"""Whole lists, page after page."""

from collections.abc import Sequence

import pytest

from carrel.client.http.paging import PAGE, every


@pytest.mark.parametrize(
    ("count", "pages"), [(0, 1), (1, 1), (PAGE, 2), (PAGE + 1, 2), (3 * PAGE, 4)]
)
async def test_every_page_is_asked_for_once(count: int, pages: int) -> None:
    asked: list[int] = []

    async def page(number: int) -> Sequence[int]:
        asked.append(number)
        return range(count)[PAGE * number : PAGE * (number + 1)]

    assert [item async for item in every(page, lambda item: item)] == [*range(count)]
    assert asked == [*range(pages)]


async def test_a_service_that_knows_no_pages_ends_it_too() -> None:
    async def page(number: int) -> Sequence[int]:
        return range(PAGE + 5)

    assert [item async for item in every(page, lambda item: item)] == [*range(PAGE + 5)]


async def test_what_moves_to_the_next_page_meanwhile_comes_once() -> None:
    async def page(number: int) -> Sequence[int]:
        return range(PAGE) if number == 0 else range(PAGE - 1, PAGE + 4)

    assert [item async for item in every(page, lambda item: item)] == [*range(PAGE + 4)]
