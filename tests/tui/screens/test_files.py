"""Files, libraries and activity: looking into files, narrowing, links, retries, the sample."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from carrel import samples
from carrel.tui.widgets.inputs.fields import Field, MultilineField
from carrel.tui.widgets.tables.table import VirtualTable
from carrel.wire.documents import DocumentUpdate
from carrel.wire.files import File
from carrel.wire.libraries import Library
from support.documents import digital_pdf, picture
from support.process import RunningServer, serve
from support.workbench import Workbench, profile_of, workbench


@pytest.fixture
async def bench(server: RunningServer) -> AsyncIterator[Workbench]:
    async with workbench(profile_of(server)) as bench:
        await bench.until(lambda: bench.store.session.slice.value.connection == "ready")
        yield bench


@pytest.fixture
def name() -> str:
    """A part of a name that no other test has."""
    return uuid4().hex[:8]


async def upload(bench: Workbench, path: Path) -> File:
    file = await bench.store.files.upload(path)
    assert file is not None
    return file


async def only(bench: Workbench, name: str) -> None:
    """Shows only the files with this in their name."""
    await bench.until(lambda: bench.store.files.slice.value.total)
    await bench.press("slash")
    await bench.type(name)
    await bench.press("enter")
    await bench.shows(f"filter: {name}", f"▸ {name.split()[0]}")


async def test_files_are_looked_into(bench: Workbench, tmp_path: Path, name: str) -> None:
    (tmp_path / f"{name}.jsonl").write_text('{"question": 1}\n{"question": 2}\n')
    await upload(bench, digital_pdf(tmp_path / f"{name}.pdf"))
    await upload(bench, tmp_path / f"{name}.jsonl")
    await only(bench, name)
    await bench.press("home")
    await bench.shows('1  {"question": 1}', '2  {"question": 2}', "2 lines")
    await bench.press("j")
    await bench.shows("2 pages", "▀▀▀▀", "application/pdf", "▸ " + name)


async def test_files_are_narrowed_by_kind_and_by_words_to_leave_out(
    bench: Workbench, tmp_path: Path, name: str
) -> None:
    for suffix in (".txt", "-draft.txt", ".md"):
        (tmp_path / f"{name}{suffix}").write_text("x")
        await upload(bench, tmp_path / f"{name}{suffix}")
    await only(bench, f"{name} !draft")
    await bench.until(lambda: "draft.txt" not in bench.text() and f"{name}.md" in bench.text())
    await bench.press("f")
    await bench.shows("Show only", "Purpose: ocr", "Type: PDF")
    await bench.press(*["down"] * 7, "enter")
    await bench.shows(f"filter: {name} !draft · PDF", f"No file matches “{name} !draft · PDF”.")
    await bench.press("escape")
    await bench.shows(f"{name}.md", f"{name}-draft.txt")


async def test_a_link_works_for_the_hours_that_are_typed(
    bench: Workbench, tmp_path: Path, name: str
) -> None:
    (tmp_path / f"{name}.txt").write_text("content")
    await upload(bench, tmp_path / f"{name}.txt")
    await only(bench, name)
    await bench.press("y")
    await bench.shows("Copy link, hours…")
    await bench.press("down", "down", "down", "enter")
    await bench.type("169")
    await bench.press("enter")
    await bench.shows("A link works for 1 to 168 whole hours.", "169")
    await bench.press("backspace", "backspace", "backspace")
    await bench.type("5")
    await bench.press("enter")
    await bench.shows("Copied. The link works until", "on this machine alone")
    async with httpx.AsyncClient() as client:
        assert (await client.get(bench.app.clipboard)).text == "content"
    assert bench.app.clipboard not in bench.text()


async def test_many_files_are_scrolled_marked_saved_and_deleted(
    bench: Workbench, tmp_path: Path, name: str
) -> None:
    bench.store.files.slice.set(page_size=5)
    client = await bench.store.session.client()
    for number in range(40):
        (tmp_path / f"{name}-{number:02}.txt").write_text(str(number))
        await client.files.upload(tmp_path / f"{name}-{number:02}.txt")
    await only(bench, name)
    await bench.press("g")
    await bench.shows("1–29 of 40", *(f"{name}-{number}.txt" for number in range(11, 40)))
    await bench.press("G")
    await bench.shows("12–40 of 40", f"▸ {name}-00.txt", f"{name}-28.txt")
    await bench.press("k", "space", "space", "g", "space")
    await bench.shows("3 marked", f"✓ {name}-39.txt")
    await bench.press("w")
    field = bench.app.screen.query_one(Field)
    (tmp_path / "saved").mkdir()
    field.value = str(tmp_path / "saved")
    await bench.press("enter")
    names = {f"{name}-{number}.txt" for number in ("39", "01", "00")}
    await bench.until(lambda: {each.name for each in (tmp_path / "saved").iterdir()} == names)
    await bench.press("D")
    await bench.shows("Delete these 3 files?", *names)
    await bench.press("enter")
    await bench.shows("Deleted 3 files.", "of 37")


async def test_marked_files_go_to_a_hosted_service_as_one_job(
    bench: Workbench, tmp_path: Path, name: str
) -> None:
    for number in range(2):
        await upload(bench, picture(tmp_path / f"{name}-{number}.png"))
    await only(bench, name)
    bench.store.session.slice.set(hosted=True)
    await bench.press("ctrl+a", "o")
    await bench.shows("Run OCR of 2 files", "Now, file by file", "As one batch job")
    await bench.press("down", "enter")
    await bench.shows("as one batch job?", f"{name}-0.png", "bills")
    await bench.press("enter")
    await bench.shows("The batch job is on its way")
    jobs = bench.store.batches.slice.value.jobs
    assert [(job.endpoint, job.total_requests) for job in jobs] == [("/v1/ocr", 2)]
    await bench.press("6")
    await bench.shows("OCR of 2 files", "● Done")


async def test_marks_of_all_of_none_and_of_a_range(
    bench: Workbench, tmp_path: Path, name: str
) -> None:
    for number in range(5):
        (tmp_path / f"{name}-{number}.txt").write_text(f"{name} {number}")
        await upload(bench, tmp_path / f"{name}-{number}.txt")
    await only(bench, name)
    await bench.press("g", "j", "space", "j", "ctrl+@")
    await bench.shows("3 marked", *(f"✓ {name}-{number}.txt" for number in (1, 2, 3)))
    await bench.press("asterisk")
    await bench.shows("2 marked", f"✓ {name}-0.txt", f"✓ {name}-4.txt")
    await bench.press("ctrl+a")
    await bench.shows("5 marked")
    await bench.press("w")
    await bench.shows("Save 5 files to")
    await bench.leave("escape")
    await bench.until(lambda: bench.app.screen is bench.app.place)
    await bench.press("ctrl+backslash")
    await bench.until(lambda: "marked" not in bench.text())


async def test_files_are_sorted_and_their_columns_chosen(
    bench: Workbench, tmp_path: Path, name: str
) -> None:
    for number, size in enumerate((20, 30, 10)):
        (tmp_path / f"{name}-{number}.txt").write_text("x" * size)
        await upload(bench, tmp_path / f"{name}-{number}.txt")
    await only(bench, name)
    await bench.press("comma")
    await bench.shows("Columns", "enter sorts")
    await bench.press("down", "space", "down", "enter", "enter", "right", "right")
    await bench.shows("Size↓")
    await bench.leave("escape")
    await bench.until(lambda: bench.app.screen is bench.app.place)
    assert bench.app.screen.query_one("#files", VirtualTable).widths["purpose"] == 0
    assert _order(bench, name) == ["1", "0", "2"]
    await bench.pilot.click("#files", offset=(4, 1))
    await bench.shows("Name↑")
    await bench.until(lambda: _order(bench, name) == ["0", "1", "2"])
    await bench.press("2", "3", "comma")
    await bench.shows("There are no columns here")


def _order(bench: Workbench, name: str) -> list[str]:
    """The numbers of the files in the order of their rows."""
    return re.findall(rf"{name}-(\d)\.txt +\d+ B", bench.text())


async def test_a_documents_name_and_attributes_are_edited(
    bench: Workbench, tmp_path: Path, name: str
) -> None:
    library = await made_library(bench, name)
    (tmp_path / "note.txt").write_text("The lamp is green.")
    document = await bench.store.libraries.upload(library.id, tmp_path / "note.txt")
    assert document is not None
    client = await bench.store.session.client()
    await client.documents.update(
        library.id, document.id, DocumentUpdate(attributes={"shelf": "north", "year": 2024})
    )
    await bench.press("2")
    await bench.shows(name, "note.txt", "● Ready", "Documents", wait=60)
    await bench.press("tab")
    await bench.shows("shelf", "north", "2024", "text/plain")
    await bench.press("e")
    await bench.shows("Edit document", "shelf: north")
    await bench.press("ctrl+u")
    await bench.type("lamp.txt")
    area = bench.app.screen.query_one(MultilineField)
    area.text = "shelf: south\ncolours"
    await bench.press("f2")
    await bench.shows("Line 2 is not an attribute.")
    area.text = 'shelf: south\ncolours: ["green", "red"]'
    await bench.press("f2")
    await bench.shows("lamp.txt", "south", "green, red")
    changed = await client.documents.get(library.id, document.id)
    assert (changed.name, changed.attributes) == (
        "lamp.txt",
        {"shelf": "south", "colours": ["green", "red"]},
    )
    await bench.store.libraries.delete([library.id])


async def test_several_files_are_added_processed_again_and_deleted_in_a_library(
    bench: Workbench, tmp_path: Path, name: str
) -> None:
    for number in range(3):
        (tmp_path / f"{name}-{number}.txt").write_text(f"{name} {number}")
        await upload(bench, tmp_path / f"{name}-{number}.txt")
    library = await made_library(bench, name)
    await bench.press("2")
    await bench.shows(f"▸ {name}")
    await bench.press("a")
    await bench.shows("Add files", f"{name}-2.txt")
    await bench.press("space", "j", "space", "j", "space", "enter")
    await bench.shows(f"{name} · 3 documents")
    documents = bench.store.libraries.slice
    await bench.until(
        lambda: {each.process_status for each in documents.value.documents} == {"done"}, wait=60
    )
    await bench.press("tab", "g", "space", "space")
    await bench.shows("2 marked")
    await bench.press("R")
    await bench.shows("Process these 2 documents again?", f"{name}-")
    await bench.press("enter")
    await bench.until(lambda: "marked" not in bench.text())
    await bench.press("g", "space", "space", "escape")
    await bench.until(lambda: "marked" not in bench.text())
    await bench.press("g", "space", "space", "D")
    await bench.shows("Delete these 2 documents?")
    await bench.press("enter")
    await bench.shows("Deleted 2 documents.", f"{name} · 1 document")
    await bench.store.libraries.delete([library.id])


async def made_library(bench: Workbench, name: str) -> Library:
    library = await bench.store.libraries.create(name)
    assert library is not None
    return library


async def test_what_failed_is_tried_again_from_activity(
    bench: Workbench, tmp_path: Path, name: str
) -> None:
    bench.app.upload([tmp_path / f"{name}.txt"])
    await bench.shows("This file can't be read")
    (tmp_path / f"{name}.txt").write_text("here now")
    await bench.press("escape", "g")
    await bench.shows("Upload  ✕ Failed", "This file can't be read", "shows it in 6 Activity")
    await bench.press("enter")
    await bench.shows("[6 Activity]", f"{name}.txt", "✕ Failed")
    await bench.press("ctrl+r")
    await bench.until(lambda: re.search(rf"{name}\.txt +● Done", bench.text()) is not None)
    await bench.press("ctrl+r")
    await bench.shows("Only what was interrupted, failed or stopped can be tried again.")
    await bench.press("delete")
    await bench.shows("Nothing has run yet.")


async def test_the_first_choice_of_an_empty_workbench_is_the_sample(tmp_path: Path) -> None:
    with serve(tmp_path / "data") as server:
        async with workbench(profile_of(server), (80, 24)) as bench:
            await bench.shows("No files yet.", "Open the sample (1 minute)")
            await bench.press("enter")
            await bench.shows("The sample", samples.QUESTION, "The answer", wait=120)
            await bench.press("enter")
            await bench.shows("[5 Chat]", samples.QUESTION, f"{samples.NAME} p.1")
            await bench.press("alt+1")
            await bench.shows(samples.NAME)


async def test_a_delete_is_undone_with_one_key(bench: Workbench, tmp_path: Path, name: str) -> None:
    for number in range(2):
        (tmp_path / f"{name}-{number}.txt").write_text("a heron")
        await upload(bench, tmp_path / f"{name}-{number}.txt")
    await only(bench, name)
    await bench.press("ctrl+a")
    await bench.until(lambda: len(bench.store.files.slice.value.marked) == 2)
    await bench.press("D")
    await bench.shows("Delete these 2 files?", "You can undo this for 7 days.")
    await bench.leave("enter")
    await bench.shows("Deleted 2 files. U undoes it.")
    assert f"{name}-0.txt" not in bench.text()
    await bench.press("U")
    await bench.shows("Restored 2 files.", f"{name}-0.txt", f"{name}-1.txt")
    await bench.press("U")
    await bench.shows("Nothing to undo")
    await bench.leave("escape")
