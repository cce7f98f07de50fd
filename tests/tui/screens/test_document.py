"""Document: a page and its text as one selection, its marks, how it is read, what is taken out."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas
from textual.pilot import Pilot

from carrel.config.profiles import Profile
from carrel.store.cache.copies import Copy, DocumentSource
from carrel.store.documents.state import DocumentState, OpenedDocument
from carrel.store.store import Store
from carrel.tui.app import CarrelApp
from carrel.tui.screens.document import DocumentScreen
from carrel.tui.widgets.pages.picture import HalfBlocks, PagePicture
from carrel.wire.ocr import Page
from support.pages import lease_page
from support.process import RunningServer
from support.slices import until
from support.states import fill
from support.workbench import Workbench, profile_of, workbench

LOCAL = Profile("local")
SOURCE = DocumentSource("file", "file-0", "lease-2024.pdf")
WIDE, NARROW = (120, 36), (80, 24)


def lease(path: Path) -> Path:
    """A page on which every block is below the other, drawn as the state has it."""
    canvas = Canvas(str(path), pagesize=A4)
    canvas.setFont("Helvetica", 9)
    for line in range(60):
        words = f"{line} The notice period is three months to the end of a quarter."
        canvas.drawString(50, 780 - 12 * line, words)
    canvas.save()
    return path


def opened(store: Store, picture: Path | None = None, **fields: Any) -> None:
    """A document of two pages that are read and one that is not."""
    fill(store)
    state: dict[str, Any] = {
        "source": SOURCE,
        "page_count": 3,
        "pages": (lease_page(0), lease_page(1), None),
        "wanted": frozenset({0, 1, 2}),
        "read": 2,
        "opened": OpenedDocument(SOURCE, Copy(picture, "hash")) if picture else None,
        "no_picture": None if picture else "There is no picture for this kind of file.",
    }
    store.documents.slice.put(DocumentState(**{**state, **fields}))


@pytest.fixture
async def bench(offline: None, tmp_path: Path) -> AsyncIterator[Workbench]:
    async with workbench(LOCAL, WIDE) as bench:
        opened(bench.store, lease(tmp_path / "lease.pdf"))
        await bench.press("3")
        await bench.until(lambda: bench.app.screen.query(HalfBlocks))
        yield bench


def state(bench: Workbench) -> DocumentState:
    return bench.store.documents.slice.value


def place(bench: Workbench) -> DocumentScreen:
    assert isinstance(bench.app.place, DocumentScreen)
    return bench.app.place


def drawn(bench: Workbench) -> int:
    """How many columns wide the picture is drawn; 0 while another takes its place."""
    return max((each.virtual_size.width for each in bench.app.screen.query(HalfBlocks)), default=0)


async def test_a_block_is_marked_on_both_sides(bench: Workbench) -> None:
    await bench.press("j", "j")
    await bench.shows("text 2 of 4 · Check: 1 word · 86 % sure", "▌ The notice period")
    assert "▌ Term" not in bench.text()
    marked = [frame for frame in place(bench).picture._frames if frame.marked]
    assert [frame.rect.top for frame in marked] == [pytest.approx(0.1)]


async def test_beyond_the_last_block_comes_the_next_page(bench: Workbench) -> None:
    await bench.press("k")
    await bench.shows("image 4 of 4")
    await bench.press("j")
    await bench.shows("page 2 of 3", "title 1 of 4")
    await bench.press("k")
    await bench.shows("page 1 of 3", "image 4 of 4")


async def test_a_click_on_either_side_chooses_the_block(bench: Workbench) -> None:
    picture = place(bench).picture
    picture.post_message(PagePicture.Pointed(0.5, 0.15))
    await bench.shows("text 2 of 4")
    await bench.pilot.click("#text", offset=(8, 1))
    await bench.shows("title 1 of 4")


async def test_doubtful_words_are_gone_through_and_found_on_the_next_page(
    bench: Workbench,
) -> None:
    await bench.press("right_square_bracket")
    await bench.shows("“writlng” 61 % sure · 1 of 1 on this page", "▌ The notice period")
    await bench.press("right_square_bracket")
    await bench.shows("page 2 of 3", "“writlng” 61 % sure")
    await bench.press("left_square_bracket")
    await bench.shows("page 1 of 3")


async def test_a_page_whose_picture_is_late_is_not_shown_as_the_page_before(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures, drawing = bench.store.documents._pictures, asyncio.Event()
    draw = pictures.draw

    async def late(state: DocumentState, page: int, *size: Any) -> bytes:
        await drawing.wait()
        return await draw(state, 0, *size)

    monkeypatch.setattr(pictures, "draw", late)
    await bench.press("plus")
    await bench.pilot.pause(0.5)
    assert drawn(bench), "the same page stays while it is drawn larger"
    await bench.press("l")
    await bench.shows("page 2 of 3", "Loading …")
    assert not drawn(bench)
    drawing.set()
    await bench.until(lambda: drawn(bench))


async def test_confidence_is_seen_as_heat_in_the_picture_and_in_the_text(bench: Workbench) -> None:
    def reversed_words() -> str:
        lines = place(bench).text._lines
        return "".join(
            segment.text
            for line in lines
            for segment in line.strip
            if segment.style and segment.style.reverse
        )

    (picture,) = place(bench).picture.query(HalfBlocks)
    plain = picture._pixels
    await bench.press("percent_sign")
    await bench.shows("heat: 1 word below 90 %, 1 below 70 %")
    await bench.until(lambda: picture._pixels != plain)
    assert reversed_words() == "writlng"
    await bench.press("4", "3")
    await bench.shows("heat: 1 word below 90 %")
    await bench.press("percent_sign")
    await bench.until(lambda: picture._pixels == plain)
    assert "heat: " not in bench.text() and reversed_words() == ""


async def test_what_is_searched_for_is_marked_and_esc_ends_the_search(bench: Workbench) -> None:
    await bench.press("slash")
    await bench.type("NOTICE")
    await bench.press("enter")
    await bench.shows("find: NOTICE · 1 of 2 on this page · [ ] next")
    await bench.press("right_square_bracket")
    await bench.shows("find: NOTICE · 2 of 2 on this page")
    await bench.press("escape")
    await bench.until(lambda: "find:" not in bench.text())
    await bench.press("slash")
    await bench.type("nowhere")
    await bench.press("enter")
    await bench.shows("find: nowhere · not found")


async def test_a_hit_on_a_longer_page_is_scrolled_to(bench: Workbench, tmp_path: Path) -> None:
    text = place(bench).text
    # The first line that the pane does not show beside the search.
    below = (text.size.height - 1) // 2
    paragraphs = "\n\n".join(f"Paragraph {number} of the lease." for number in range(40))
    page = Page.model_validate({"index": 1, "markdown": paragraphs, "dimensions": None})
    opened(bench.store, tmp_path / "lease.pdf", pages=(lease_page(0), page, None))
    await bench.press("slash")
    await bench.type(f"paragraph {below} ")
    await bench.press("enter")
    await bench.shows("page 2 of 3", "1 of 1 on this page", f"Paragraph {below} of the lease.")
    assert not text.show_horizontal_scrollbar


async def test_a_block_fills_the_window_and_is_drawn_large_enough_to_read(
    bench: Workbench,
) -> None:
    await bench.press("z")
    await bench.shows("Choose a block first")
    await bench.press("j", "j", "z")
    await bench.shows("filled")
    await bench.until(lambda: drawn(bench) > 400)
    assert "rendered" not in bench.text(), "the picture has the whole window"
    picture = place(bench).picture
    assert picture.max_scroll_x > 0
    wide = drawn(bench)
    await bench.press("minus")
    await bench.shows("filled · 75 %")
    await bench.until(lambda: 0 < drawn(bench) < wide)
    await bench.press("right", "down")
    await bench.until(lambda: picture.scroll_offset.x > 0)
    await bench.press("escape")
    await bench.shows("rendered", "page 1 of 3")


@pytest.mark.usefixtures("offline")
async def test_a_text_that_is_hidden_keeps_its_lines(tmp_path: Path) -> None:
    async with workbench(LOCAL, NARROW) as bench:
        opened(bench.store, lease(tmp_path / "lease.pdf"))
        await bench.press("3")
        await bench.until(lambda: bench.app.screen.query(HalfBlocks))
        await bench.press("tab")
        await bench.shows("The notice period is three months. Notice is given in writlng.")
        text = place(bench).text
        lines = text.virtual_size.height
        await bench.press("tab", "j", "j")
        assert text.virtual_size.height == lines


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_a_file_without_pictures_is_its_text_alone(size: tuple[int, int]) -> None:
    async with workbench(LOCAL, size) as bench:
        opened(bench.store)
        await bench.press("3")
        await bench.shows("lease-2024.pdf · page 1 of 3", "There is no picture for this kind")
        await bench.until(lambda: place(bench).text.size.width > size[0] - 8)
        assert "Zoom" not in bench.text() and "Fill with block" not in bench.text()
        await bench.press("l", "tab")
        await bench.shows("lease-2024.pdf · page 2 of 3")


@pytest.mark.usefixtures("offline")
async def test_in_a_narrow_window_tab_shows_the_text_and_the_selection_stays(
    tmp_path: Path,
) -> None:
    async with workbench(LOCAL, NARROW) as bench:
        opened(bench.store, lease(tmp_path / "lease.pdf"))
        await bench.press("3")
        await bench.until(lambda: bench.app.screen.query(HalfBlocks))
        await bench.press("j", "j", "tab")
        await bench.shows("▌ The notice period", "rendered")
        await bench.press("j", "tab")
        await bench.shows("table 3 of 4")


async def test_forms_are_gone_through(bench: Workbench) -> None:
    await bench.press("v")
    await bench.shows("raw", "# Term", "| Year | Rent |")
    old = lease_page(0).model_copy(update={"markdown": "# Term\n\nanother text"})
    bench.store.documents.slice.set(before=(old,), annotation='{"rent": 1200}')
    await bench.shows("read again: 1 of 1 page changed")
    await bench.press("v")
    await bench.shows("changes", "− another text", "+ | Year | Rent |")
    await bench.press("v")
    await bench.shows("schema", '"rent": 1200')
    await bench.press("v")
    await bench.shows("rendered")


async def test_a_table_is_copied_as_csv_and_markdown(bench: Workbench) -> None:
    await bench.press("j", "j", "j", "y")
    await bench.shows("Copy table as CSV", "3 rows", "Copy block", "Copy page", "Copy all pages")
    await bench.press("enter")
    await bench.shows("Copied.")
    assert bench.app.clipboard == 'Year,Rent\r\n2024,"1,200.00"\r\n2025,"1,240.00"\r\n'
    await bench.press("y", "j", "enter")
    await bench.until(lambda: bench.app.clipboard.startswith("| Year | Rent |\n| --- | --- |"))


async def test_pages_are_saved_to_a_folder(bench: Workbench, tmp_path: Path) -> None:
    await bench.press("w")
    await bench.shows("Tables as CSV")
    await bench.press("enter")
    await bench.shows("Save to")
    await bench.press("ctrl+u")
    await bench.fill(str(tmp_path / "out"))
    await bench.press("enter")
    saved = tmp_path / "out" / "lease-2024.md"
    await bench.until(saved.exists)
    assert saved.read_text() == f"{lease_page(0).markdown}\n\n{lease_page(1).markdown}\n"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"blocks": None, "images": []}, "The service gives no boxes."),
        ({"confidence_scores": None}, "The service gives no scores."),
    ],
)
async def test_what_the_service_does_not_say_is_said(
    bench: Workbench, fields: dict[str, Any], words: str
) -> None:
    bench.store.documents.slice.set(pages=(lease_page(0).model_copy(update=fields), None, None))
    await bench.shows(words)


async def test_options_that_cannot_be_understood_are_told_in_the_form(bench: Workbench) -> None:
    await bench.press("o")
    await bench.shows("Run OCR", "Pages of 3")
    await bench.type("first")
    await bench.press("f2")
    await bench.shows("Pages count from 1, like 1-3, 7")
    await bench.press("escape")
    await bench.until(lambda: "Pages count from 1, like 1-3, 7" not in bench.text())


async def test_other_options_read_the_document_again(server: RunningServer, tmp_path: Path) -> None:
    async with workbench(profile_of(server), WIDE) as bench:
        file = await bench.store.files.upload(lease(tmp_path / "lease.pdf"))
        assert file is not None
        bench.store.documents.open(DocumentSource("file", file.id, file.filename))
        await bench.press("3")
        await bench.shows("page 1 of 1", "The notice period", wait=60)
        await bench.press("o")
        await bench.shows("F2 Run OCR")
        await bench.press("tab", "right", "enter", "tab", "tab", "space", "f2")
        await bench.until(lambda: state(bench).complete, wait=60)
        await bench.shows("tables as Markdown · headers apart")
        assert state(bench).options.tables == "markdown" and state(bench).options.headers


async def test_marked_files_are_read_one_after_the_other(
    server: RunningServer, tmp_path: Path
) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 and then nothing")
    async with workbench(profile_of(server), WIDE) as bench:
        for path in (lease(tmp_path / "good.pdf"), tmp_path / "broken.pdf"):
            assert await bench.store.files.upload(path) is not None
        names = {"good.pdf", "broken.pdf"}
        loaded = await until(
            bench.store.files.slice, lambda state: names <= {file.filename for file in state.items}
        )
        for file in loaded.items:
            if file.filename in names:
                bench.store.files.mark(file.id)
        await bench.press("o")
        await bench.shows("1 of 2 read; failed: broken.pdf.", wait=60)
        await bench.press("6")
        await bench.shows("broken.pdf", "✕ Failed", "good.pdf", "● Done")


def looked_at(app: CarrelApp, tmp_path: Path, *keys: str) -> Any:
    async def run(pilot: Pilot[Profile]) -> None:
        bench = Workbench(app, pilot)
        await bench.until(lambda: app.place is not None)
        opened(app.store, lease(tmp_path / "lease.pdf"))
        await bench.press("alt+3")
        await bench.until(lambda: app.screen.query(HalfBlocks))
        await bench.press(*keys)
        await bench.until(lambda: app.place and app.place.query(HalfBlocks))

    return run


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize(
    ("theme", "size", "keys"),
    [
        ("carrel-dark", WIDE, ("j", "right_square_bracket")),
        ("carrel-light", WIDE, ("j", "j", "j")),
        ("carrel-dark", NARROW, ("tab", "j", "j")),
        ("carrel-dark", WIDE, ("o",)),
    ],
    ids=["doubtful", "light", "narrow", "options"],
)
def test_a_page_and_its_text(
    theme: str, size: tuple[int, int], keys: tuple[str, ...], tmp_path: Path, snap_compare: Any
) -> None:
    app = CarrelApp(LOCAL)
    app.theme = theme
    assert snap_compare(app, run_before=looked_at(app, tmp_path, *keys), terminal_size=size)


async def test_doubtful_words_are_corrected_beside_their_picture(bench: Workbench) -> None:
    await bench.press("e")
    await bench.shows("Doubtful words · 0 of 2 corrected", "61 %", "▀▀▀▀")
    await bench.press(*"writing", "enter")
    await bench.shows("Doubtful words · 1 of 2 corrected")
    # The second one is typed, and left with esc: it is saved too.
    await bench.press(*"written")
    await bench.leave("escape")
    await bench.shows("98 % sure · 1 corrected")
    assert set(state(bench).corrections.values()) == {"writing", "written"}
    await bench.until(lambda: "writlng" not in bench.text())
    await bench.shows("writing.")
    await bench.press("e")
    await bench.shows("Doubtful words · 2 of 2 corrected")
    await bench.press("backspace", "enter")
    await bench.shows("Doubtful words · 1 of 2 corrected")
    await bench.leave("escape")


async def test_without_doubtful_words_all_of_the_page_are_corrected(bench: Workbench) -> None:
    plain = lease_page().model_copy(update={"confidence_scores": None})
    bench.store.documents.slice.set(pages=(plain, None, None))
    await bench.press("e")
    await bench.shows("Words of page 1 · 0 of")
    await bench.press("down", "down", *"notlce", "enter")
    await bench.leave("escape")
    await bench.shows("The notlce period is")
    await bench.press("e")
    await bench.shows("Doubtful words · 1 of 1 corrected")
    await bench.press("alt+a")
    await bench.shows("Words of page 1 · 1 of")
    await bench.leave("escape")


@pytest.mark.usefixtures("offline")
async def test_the_last_of_many_words_is_reached_in_a_small_window(tmp_path: Path) -> None:
    text = " ".join(f"word{number}" for number in range(100))
    page = lease_page().model_copy(
        update={"markdown": text, "confidence_scores": None, "blocks": None}
    )
    async with workbench(LOCAL, NARROW) as bench:
        opened(bench.store, lease(tmp_path / "lease.pdf"), pages=(page, None, None))
        await bench.press("3", "e")
        await bench.shows("Words of page 1 · 0 of 100 corrected", "▸ word0")
        await bench.press(*["pagedown"] * 12)
        await bench.shows("▸ word99")
        await bench.press(*"last", "enter")
        await bench.shows("1 of 100 corrected", "last")
        await bench.press("up")
        await bench.shows("▸ word98", "word99")
        await bench.leave("escape")
        await bench.until(lambda: "last" in state(bench).corrections.values())


async def test_a_corrected_table_is_copied(bench: Workbench) -> None:
    table = state(bench).pages[0]
    assert table is not None
    start = table.markdown.index("1,240.00")
    bench.store.documents.slice.set(corrections={(0, start, "1,240.00"): "1,250.00"})
    await bench.press("j", "j", "j", "y")
    await bench.shows("Copy table as CSV")
    await bench.press("enter")
    await bench.until(lambda: '"1,250.00"' in bench.app.clipboard)


async def test_a_page_is_reached_by_its_number_and_by_a_heading(bench: Workbench) -> None:
    await bench.press("p")
    await bench.shows("Go to page", "1 to 3")
    await bench.press("3", "enter")
    await bench.until(lambda: state(bench).current == 2)
    await bench.press("p", "9", "enter")
    await bench.shows("Go to page", "9", "Pages go from 1 to 3.")
    await bench.fill("9" * 5000)
    await bench.press("enter")
    await bench.shows("Pages go from 1 to 3.")
    await bench.press("escape", "c")
    await bench.shows("Contents", "▸ Term")
    # It begins at the last heading before the page on screen.
    await bench.press("enter")
    await bench.until(lambda: state(bench).current == 1)
    await bench.press("c")
    await bench.shows("Contents", "▸ Term")
    await bench.press("up", "enter")
    await bench.until(lambda: state(bench).current == 0)


async def test_esc_in_the_text_goes_back_to_the_page(bench: Workbench) -> None:
    await bench.press("tab")
    assert bench.app.focused is bench.app.screen.query_one("#text")
    await bench.press("escape")
    assert bench.app.focused is bench.app.screen.query_one(PagePicture)
    assert "[3 Document]" in bench.text()


async def test_esc_in_a_text_without_a_picture_leaves_the_document(offline: None) -> None:
    async with workbench(LOCAL, WIDE) as bench:
        fill(bench.store)
        await bench.press("2", "3")
        opened(bench.store)
        await bench.until(lambda: bench.app.focused is place(bench).text)
        await bench.press("escape")
        await bench.shows("[2 Libraries]")


async def test_a_strip_of_pages_ends_both_panes_on_one_row(bench: Workbench) -> None:
    panes = ("#picture", "#text")
    ends = {bench.app.screen.query_one(pane).region.bottom for pane in panes}
    assert len(ends) == 1 and bench.app.screen.query_one("#strip").display
    first = bench.store.documents.slice.value.pages[:1]
    bench.store.documents.slice.set(page_count=1, pages=first, wanted=frozenset({0}))
    await bench.until(lambda: not bench.app.screen.query_one("#strip").display)
    await bench.pilot.pause()
    assert len({bench.app.screen.query_one(pane).region.bottom for pane in panes}) == 1


async def test_a_key_without_a_document_names_the_way_to_one(offline: None) -> None:
    async with workbench(LOCAL, WIDE) as bench:
        fill(bench.store)
        bench.store.documents.slice.put(DocumentState())
        await bench.press("3")
        await bench.press("w")
        await bench.shows("No document is open: choose one in 1 Files or 2 Libraries, then enter.")
