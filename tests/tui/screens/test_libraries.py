"""Libraries: what is asked of a hit, and of marked documents."""

from collections.abc import AsyncIterator

import pytest

from carrel.config.profiles import Profile
from support.states import fill, searched
from support.workbench import Workbench, workbench


@pytest.fixture
async def bench(offline: None) -> AsyncIterator[Workbench]:
    """A library of three documents, `0.pdf` to `2.pdf`."""
    async with workbench(Profile("local")) as bench:
        fill(bench.store)
        slice = bench.store.libraries.slice
        named = enumerate(slice.value.documents)
        documents = tuple(
            each.model_copy(update={"name": f"{number}.pdf"}) for number, each in named
        )
        slice.set(documents=documents)
        await bench.press("2")
        await bench.shows("0.pdf", "1.pdf", "2.pdf")
        yield bench


async def test_what_is_asked_of_a_hit_is_about_its_document(bench: Workbench) -> None:
    searched(bench.store)
    await bench.shows("search: notice period")
    await bench.press("tab", "j", "D")
    await bench.shows("Delete this document?", "1.pdf")
    await bench.leave("escape")
    await bench.press("e")
    await bench.shows("Edit document", "1.pdf")


async def test_hits_are_sorted_and_the_one_under_the_cursor_opens(bench: Workbench) -> None:
    searched(bench.store)
    bench.store.layout.sort("hits", "page")
    await bench.shows("Page↑")
    await bench.press("tab", "g")
    await bench.shows("▸   3")
    await bench.press("enter")
    await bench.until(lambda: bench.store.documents.slice.value.current == 4)


async def test_marked_documents_are_asked_about_and_esc_takes_the_marks_away(
    bench: Workbench,
) -> None:
    await bench.press("tab", "j", "j", "space", "g", "space")
    await bench.shows("2 marked", "✓ 0.pdf", "✓ 2.pdf")
    await bench.press("R")
    await bench.shows("Process these 2 documents again?", "Cancel")
    await bench.leave("escape")
    await bench.press("escape")
    await bench.until(lambda: "marked" not in bench.text())
