"""Libraries: what is asked of a hit, and of marked documents."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from carrel.config.profiles import Profile
from support.process import RunningServer
from support.states import fill, searched
from support.workbench import Workbench, profile_of, workbench


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


async def test_the_path_the_link_and_the_text_of_a_synced_document_are_copied(
    server: RunningServer, tmp_path: Path
) -> None:
    # Beside it lies the workbench's own data, which changes.
    note = tmp_path / "flat" / "note.md"
    note.parent.mkdir()
    note.write_text("The rent is 1,200.")
    async with workbench(profile_of(server)) as bench:
        library = await bench.store.libraries.create("flat")
        await bench.store.sync.sync(library.id, note.parent)
        await bench.store.libraries.wait_all_processed(library.id)
        await bench.press("2")
        await bench.shows("note.md", "Ready")
        copied = {"i": library.id, "n": "flat"}
        for letter, text in copied.items():
            await bench.copies(letter, text)
        await bench.press("tab")
        document = bench.store.libraries.slice.value.documents[0]
        for letter, text in {"p": str(note), "i": document.id, "n": "note.md"}.items():
            await bench.copies(letter, text)
        await bench.copies("t", "The rent is 1,200.")
        await bench.press("y", "l")
        await bench.shows("The link works until")
        async with httpx.AsyncClient() as client:
            assert (await client.get(bench.app.clipboard)).text == "The rent is 1,200."


async def test_the_passage_of_a_hit_is_copied(bench: Workbench) -> None:
    searched(bench.store)
    await bench.shows("search: notice period")
    await bench.press("tab")
    await bench.copies("b", bench.store.libraries.slice.value.hits[0].snippet)


async def test_in_a_wide_window_a_passage_has_more_room_than_the_details(offline: None) -> None:
    async with workbench(Profile("local"), (160, 50)) as bench:
        fill(bench.store)
        await bench.press("2")
        await bench.shows("[2 Libraries]", "lease-2024.pdf")
        middle, details = (bench.app.screen.query_one(id) for id in ("#middle", "#details"))
        assert middle.size.width > details.size.width


@pytest.mark.usefixtures("offline")
async def test_a_narrow_window_leaves_room_for_the_documents() -> None:
    async with workbench(Profile("local"), (100, 30)) as bench:
        fill(bench.store)
        await bench.press("2")
        await bench.shows("3 documents · 2 not", "Added", "2 min ago")
