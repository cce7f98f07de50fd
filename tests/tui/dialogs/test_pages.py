"""Ways to a page: the table of contents, and small pictures of all pages."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from carrel.config.profiles import Profile
from carrel.store.cache.copies import Copy, DocumentSource
from carrel.store.documents.state import DocumentState, OpenedDocument
from carrel.tui.dialogs.pages import PageTile
from carrel.tui.widgets.pages.picture import HalfBlocks
from support.states import fill
from support.workbench import Workbench, workbench

COUNT = 352
SOURCE = DocumentSource("file", "f1", "handbook.pdf")


@pytest.fixture(scope="module")
def handbook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A PDF of 352 pages, with a bookmark at every fourth."""
    path = tmp_path_factory.mktemp("handbook") / "handbook.pdf"
    canvas = Canvas(str(path))
    for page in range(COUNT):
        if page % 4 == 0:
            canvas.bookmarkPage(str(page))
            canvas.addOutlineEntry(f"Rule {page // 4 + 1}", str(page), page % 8 // 4)
        canvas.rect(60, 60, 60 + page, 700, fill=1)
        canvas.showPage()
    canvas.save()
    return path


def open_it(bench: Workbench, path: Path, **fields: object) -> None:
    fill(bench.store)
    pages = (None,) * COUNT
    opened = OpenedDocument(SOURCE, Copy(path, "hash"))
    shown = DocumentState(source=SOURCE, opened=opened, page_count=COUNT, pages=pages)
    bench.store.documents.slice.put(shown)
    bench.store.documents.slice.set(**fields)


@pytest.fixture
async def bench(
    request: pytest.FixtureRequest, offline: None, handbook: Path
) -> AsyncIterator[Workbench]:
    size: tuple[int, int] = getattr(request, "param", (80, 24))
    async with workbench(Profile("local"), size) as bench:
        open_it(bench, handbook, current=40)
        await bench.press("3")
        yield bench


def tiles(bench: Workbench) -> list[PageTile]:
    return [*bench.app.screen.query(PageTile)]


def drawn(bench: Workbench) -> list[int | None]:
    """The pages of the tiles whose pictures are there."""
    return [tile.page for tile in tiles(bench) if tile.query(HalfBlocks)]


def chosen(bench: Workbench) -> list[int | None]:
    return [tile.page for tile in tiles(bench) if tile.has_class("-chosen")]


@pytest.mark.parametrize(
    "bench", [(80, 24), (120, 36), (200, 60)], ids=["80", "120", "200"], indirect=True
)
async def test_thumbnails_are_drawn_as_they_come_into_view(bench: Workbench) -> None:
    await bench.press("t")
    await bench.until(lambda: tiles(bench) and len(drawn(bench)) == len(tiles(bench)))
    seen = drawn(bench)
    assert len(seen) >= 10 and seen == [*range(seen[0] or 0, (seen[0] or 0) + len(seen))]
    assert chosen(bench) == [40]
    await bench.shows("▸41", f"of {COUNT}")
    await bench.press("end")
    await bench.until(lambda: chosen(bench) == [COUNT - 1])
    await bench.shows(f"–{COUNT} of {COUNT}", "arrows choose")
    await bench.press("left", "up", "home", "down")
    across = len({tile.region.x for tile in tiles(bench)})
    await bench.until(lambda: chosen(bench) == [across])
    await bench.press("enter")
    await bench.until(lambda: bench.store.documents.slice.value.current == across)
    await bench.shows(f"page {across + 1} of {COUNT}")


async def test_a_click_goes_to_the_page_and_esc_stays(bench: Workbench) -> None:
    await bench.press("t")
    await bench.until(lambda: tiles(bench) and len(drawn(bench)) == len(tiles(bench)))
    await bench.leave("escape")
    assert bench.store.documents.slice.value.current == 40
    await bench.press("t")
    await bench.until(lambda: tiles(bench) and len(drawn(bench)) == len(tiles(bench)))
    page = drawn(bench)[3]
    tiles(bench)[3].post_message(PageTile.Chosen(page or 0))
    await bench.until(lambda: bench.store.documents.slice.value.current == page)


async def test_contents_begin_at_the_page_and_are_filtered(bench: Workbench) -> None:
    await bench.press("c")
    await bench.shows("▸ Rule 11", "Page", "41")
    await bench.press("slash")
    await bench.type("88")
    await bench.press("enter")
    await bench.shows("Rule 88", "349")
    assert "Rule 11" not in bench.text()
    await bench.press("enter")
    await bench.until(lambda: bench.store.documents.slice.value.current == 348)


async def test_a_document_without_pictures_says_so(bench: Workbench) -> None:
    bench.store.documents.slice.set(no_picture="There is no picture for this kind of file.")
    await bench.press("t")
    await bench.shows("There is no picture for this kind of file.")
    await bench.press("c")
    await bench.shows("No bookmarks, and no headings on the pages read so far.")
