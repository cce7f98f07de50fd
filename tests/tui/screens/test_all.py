"""Each place against a real server, as a person uses it."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest
from textual import events

from carrel.tui.dialogs.core.problem import ProblemPanel
from carrel.tui.widgets.inputs.fields import Field
from support.documents import digital_pdf
from support.process import RunningServer
from support.workbench import Workbench, profile_of, workbench


@pytest.fixture
async def bench(server: RunningServer) -> AsyncIterator[Workbench]:
    async with workbench(profile_of(server)) as bench:
        await bench.until(lambda: bench.store.session.slice.value.connection == "ready")
        yield bench


@pytest.fixture
def lease(tmp_path: Path) -> Path:
    """A PDF of two pages, with a name of its own."""
    return digital_pdf(tmp_path / f"lease {uuid4().hex[:6]}.pdf")


async def paste(bench: Workbench, text: str) -> None:
    """Pastes text, as a terminal hands over a drop."""
    bench.app.post_message(events.Paste(text))
    await bench.pilot.pause()


def names(bench: Workbench) -> list[str]:
    return [file.filename for file in bench.store.files.slice.value.items]


async def uploaded(bench: Workbench, path: Path) -> None:
    """Uploads a file by dropping it, and has the cursor on it."""
    await paste(bench, str(path))
    await bench.shows(f"Uploaded {path.name}.")
    await bench.until(lambda: path.name in names(bench))
    await bench.until(lambda: path.name in bench.text())
    file = next(f for f in bench.store.files.slice.value.items if f.filename == path.name)
    bench.app.screen.query_one("#files").point_at(file.id)  # type: ignore[attr-defined]
    await bench.pilot.pause()


async def test_a_dropped_file_is_uploaded_filtered_and_deleted(
    bench: Workbench, lease: Path
) -> None:
    await uploaded(bench, lease)
    await bench.press("slash")
    await bench.type("no such name")
    await bench.shows("No name contains “no such name”.")
    await bench.press("escape", "escape")
    await bench.shows(lease.name)
    bench.app.screen.query_one("#files").point_at(  # type: ignore[attr-defined]
        next(f.id for f in bench.store.files.slice.value.items if f.filename == lease.name)
    )
    await bench.press("D")
    await bench.shows("Delete this file?", lease.name)
    await bench.press("left", "enter")
    assert any(f.filename == lease.name for f in bench.store.files.slice.value.items)
    await bench.press("D")
    await bench.shows("Delete this file?")
    await bench.press("enter")
    await bench.shows("Deleted one file.")
    assert not any(f.filename == lease.name for f in bench.store.files.slice.value.items)


async def test_a_path_is_typed_with_completion(bench: Workbench, lease: Path) -> None:
    await bench.press("u")
    field = bench.app.screen.query_one(Field)
    field.value = f"{lease.parent}/lea"
    await bench.shows(lease.name[:20])
    await bench.press("tab")
    assert field.value == str(lease)
    await bench.press("enter")
    await bench.shows(f"Uploaded {lease.name}.")


async def test_what_somebody_else_uploads_shows_by_itself(bench: Workbench, lease: Path) -> None:
    client = await bench.store.session.client()
    await client.files.upload(lease)
    await bench.shows(lease.name)


async def test_what_is_not_a_path_is_refused_with_a_word(bench: Workbench) -> None:
    await paste(bench, "just some words")
    await bench.shows("The pasted text is not the path of a file or folder.")


async def test_a_document_is_read_page_by_page(bench: Workbench, lease: Path) -> None:
    await uploaded(bench, lease)
    await bench.press("o")
    await bench.shows("page 1 of 2", "Rules of the Reading Room 1", "▀▀▀▀", wait=90)
    await bench.press("l")
    await bench.shows("page 2 of 2", "Rules of the Reading Room 2", wait=90)
    await bench.press("v")
    await bench.shows("# Rules of the Reading Room 2")
    await bench.press("h")
    await bench.shows("page 1 of 2", "# Rules of the Reading Room 1")


async def test_a_library_is_made_filled_and_searched(bench: Workbench, lease: Path) -> None:
    name = lease.stem.replace("lease", "papers")
    await uploaded(bench, lease)
    await bench.store.libraries.create(f"not {name}")
    await bench.press("a")
    await bench.shows("New library…")
    await bench.press("end", "enter")
    await bench.shows("Its name")
    await bench.type(name)
    await bench.press("enter")
    await bench.shows(name, lease.name, "● Ready", wait=90)
    await bench.press("tab", "v")
    await bench.shows("Pens stay outside.")
    await bench.press("slash")
    await bench.type("lockers bags")
    await bench.shows("search: lockers bags", "Bags", wait=30)
    await bench.press("enter", "enter")
    await bench.shows("[3 Document]", "of 2", "Bags go into a locker.")
    await bench.press("2", "escape")
    await bench.press("escape", "D")
    await bench.shows("Delete this library?")
    await bench.press("enter")
    await bench.until(
        lambda: all(each.name != name for each in bench.store.libraries.slice.value.items)
    )


async def test_activity_shows_what_ran(bench: Workbench, lease: Path) -> None:
    await uploaded(bench, lease)
    await bench.press("6")
    await bench.shows("Upload", lease.name, "● Done")
    await bench.press("d")
    await bench.shows("Nothing has run yet.")


async def test_an_upload_that_fails_says_why_and_stays_until_dismissed(
    bench: Workbench, tmp_path: Path
) -> None:
    bench.app.upload([tmp_path / "gone.pdf"])
    await bench.until(lambda: isinstance(bench.app.screen, ProblemPanel))
    await bench.shows("This file can't be read", "There is no file at")
    await bench.press("escape", "6")
    await bench.shows("gone.pdf", "✕ Failed")
    await bench.press("d")
    await bench.shows("Nothing has run yet.")
