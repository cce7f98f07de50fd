import json
from collections.abc import AsyncIterable
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from carrel.config.profiles import Profile
from carrel.store.cache.copies import DocumentSource
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.documents.boxes import boxes
from carrel.store.documents.formatting import Heading, changed_words, heading_at, headings
from carrel.store.documents.reader import OCROptions
from carrel.store.documents.service import LARGE
from carrel.store.documents.state import DocumentState
from carrel.store.store import Store
from carrel.wire.libraries import PageBox
from carrel.wire.ocr import Page
from support.documents import digital_pdf, docx
from support.process import RunningServer
from support.slices import until

HOSTILE = "invoice [/final] \x1b]0;x\x07.pdf"


async def stored(store: Store, path: Path) -> DocumentSource:
    file = await store.files.upload(path)
    assert file is not None
    return DocumentSource("file", file.id, file.filename)


async def test_pages_appear_one_after_the_other_the_first_one_first(
    store: Store, tmp_path: Path
) -> None:
    source = await stored(store, digital_pdf(tmp_path / "a.pdf", pages=7))
    seen: list[tuple[bool, ...]] = []
    store.documents.slice.changed.connect(
        lambda new, old: seen.append(tuple(page is not None for page in new.pages))
    )
    await store.documents.open(source)
    state = await until(store.documents.slice, lambda state: state.read == 7)
    assert (True,) + (False,) * 6 in seen, "the first page alone was there first"
    assert state.page_count == 7
    assert [page.index for page in state.pages if page] == list(range(7))
    assert state.text is not None and state.text.strip()
    activity = await until(store.activity.slice, lambda state: state.items[0].ended)
    item = activity.items[0]
    assert (item.kind, item.status, item.done, item.total) == ("ocr", "done", 7, 7)
    assert item.subject == source.id


async def test_contents_are_the_bookmarks_with_the_levels_of_the_headings_read(
    store: Store, tmp_path: Path
) -> None:
    canvas = Canvas(str(tmp_path / "book.pdf"), pagesize=A4)
    for number, level in enumerate((0, 1, 0)):
        title = f"{('Term', 'Notice', 'Rent')[number]} of the lease"
        canvas.bookmarkPage(title)
        canvas.addOutlineEntry(title, title, level)
        canvas.setFont("Helvetica-Bold", 18 - 4 * level)
        canvas.drawString(50, 780, title)
        canvas.setFont("Helvetica", 9)
        for line in range(20):
            canvas.drawString(50, 740 - 12 * line, f"{line} It ends with the end of a quarter.")
        canvas.showPage()
    canvas.save()
    await store.documents.open(await stored(store, tmp_path / "book.pdf"))
    found = await store.documents.contents()
    assert found == (
        Heading(1, "Term of the lease", 0),
        Heading(2, "Notice of the lease", 1),
        Heading(1, "Rent of the lease", 2),
    )
    state = await until(store.documents.slice, lambda state: state.complete)
    assert headings(state) == found


def test_of_the_contents_the_first_heading_of_the_page_is_the_current_one() -> None:
    found = [Heading(0, title, page) for title, page in (("a", 0), ("b", 0), ("c", 2))]
    assert [heading_at(found, page) for page in range(4)] == [0, 1, 2, 2]
    assert heading_at([], 3) == 0


async def test_without_bookmarks_contents_are_the_headings_read(
    store: Store, tmp_path: Path
) -> None:
    await store.documents.open(await stored(store, digital_pdf(tmp_path / "a.pdf", pages=2)))
    await until(store.documents.slice, lambda state: state.complete)
    assert [heading.page for heading in await store.documents.contents()] == [0, 1]
    await store.documents.open(await stored(store, docx(tmp_path / "a.docx")))
    state = await until(store.documents.slice, lambda state: state.complete)
    assert headings(state) == await store.documents.contents() != ()


async def test_the_page_on_screen_is_read_first(store: Store, tmp_path: Path) -> None:
    source = await stored(store, digital_pdf(tmp_path / "a.pdf", pages=6))
    await store.documents.open(source, page=4)
    state = await until(store.documents.slice, lambda state: state.read >= 1)
    assert [bool(page) for page in state.pages][4]
    assert state.current == 4
    state = await until(store.documents.slice, lambda state: state.read == 6)


async def test_stopping_keeps_what_is_read_and_reading_goes_on_where_it_stopped(
    store: Store, tmp_path: Path
) -> None:
    source = await stored(store, digital_pdf(tmp_path / "a.pdf", pages=30))
    await store.documents.open(source)
    await until(store.documents.slice, lambda state: state.read >= 1)
    await store.documents.stop()
    state = await until(store.documents.slice, lambda state: not state.reading)
    assert 1 <= state.read < 30
    activity = await until(store.activity.slice, lambda state: state.items[0].ended)
    assert activity.items[0].status == "cancelled"
    first = state.pages[0]
    await store.documents.open(source)
    state = store.documents.slice.value
    assert state.read >= 1 and state.pages[0] == first, "what was read is still there"
    state = await until(store.documents.slice, lambda state: state.read == 30, 60)


async def test_at_a_hosted_service_a_large_document_is_read_when_that_is_asked_for(
    store: Store, tmp_path: Path
) -> None:
    source = await stored(store, digital_pdf(tmp_path / "a.pdf", pages=LARGE + 1))
    store.session.slice.set(hosted=True)
    await store.documents.open(source)
    state = store.documents.slice.value
    assert (state.reading, state.unread) == (False, LARGE + 1)
    await store.documents.read()
    assert store.documents.slice.value.complete
    small = await stored(store, digital_pdf(tmp_path / "b.pdf", pages=2))
    await store.documents.open(small)
    await until(store.documents.slice, lambda state: state.complete)


async def test_another_document_takes_the_place_of_the_first(store: Store, tmp_path: Path) -> None:
    long = await stored(store, digital_pdf(tmp_path / "long.pdf", pages=30))
    short = await stored(store, digital_pdf(tmp_path / "short.pdf", pages=1))
    await store.documents.open(long)
    await store.documents.open(short)
    state = await until(store.documents.slice, lambda state: state.read == 1)
    assert (state.source, state.page_count) == (short, 1)
    await until(store.activity.slice, lambda state: state.items[0].ended)
    statuses = {item.name: item.status for item in store.activity.slice.value.items}
    assert statuses["short.pdf"] == "done"


async def test_the_picture_of_a_page(store: Store, tmp_path: Path) -> None:
    source = await stored(store, digital_pdf(tmp_path / "a.pdf", pages=2))
    await store.documents.open(source)
    png = await store.documents.picture(1, 300)
    assert png is not None
    assert Image.open(BytesIO(png)).width == 300
    handle = store.documents.picture(9, 300)
    assert await handle.settled() == "failed"
    assert handle.error is not None and handle.error.title == "No picture of this page"
    assert store.documents.slice.value.error is None


async def test_an_office_file_has_text_and_no_picture(store: Store, tmp_path: Path) -> None:
    source = await stored(store, docx(tmp_path / "a.docx"))
    await store.documents.open(source)
    state = await until(store.documents.slice, lambda state: bool(state.read), 60)
    assert state.no_picture == "There is no picture for this kind of file."
    assert state.page_count == len(state.pages) == state.read
    assert state.text


async def test_a_document_of_a_library(store: Store, tmp_path: Path) -> None:
    library = await store.libraries.create("contracts")
    assert library is not None
    document = await store.libraries.upload(library.id, digital_pdf(tmp_path / "a.pdf", pages=2))
    assert document is not None
    await store.documents.open(DocumentSource("document", document.id, document.name, library.id))
    state = await until(store.documents.slice, lambda state: state.read == 2)
    assert state.picture_path is not None
    assert state.picture_path.stat().st_size == document.size
    await store.libraries.delete([library.id])


async def test_a_page_beyond_the_end_is_the_last(store: Store, tmp_path: Path) -> None:
    await store.documents.open(await stored(store, digital_pdf(tmp_path / "a.pdf", pages=3)))
    for wanted, page in ((99, 2), (-1, 0), (1, 1)):
        await store.documents.go(wanted)
        assert store.documents.slice.value.current == page


async def test_what_is_not_there_any_more_is_told(store: Store) -> None:
    handle = store.documents.open(
        DocumentSource("file", "0" * 8 + "-0000-7000-8000-" + "0" * 12, "a.pdf")
    )
    await handle.settled()
    assert handle.error is not None
    assert store.documents.slice.value.error == handle.error
    assert store.documents.slice.value.loading is False


async def test_reading_without_a_document_is_told(store: Store) -> None:
    handle = store.documents.read()
    await handle.settled()
    assert handle.error is not None and handle.error.title == "Nothing is open"


async def test_a_broken_document_ends_as_a_problem(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "broken.pdf"
    path.write_bytes(b"%PDF-1.7 and then nothing")
    await store.documents.open(await stored(store, path))
    state = await until(store.documents.slice, lambda state: state.error is not None, 60)
    assert state.no_picture == "This PDF is damaged."
    await until(store.documents.slice, lambda state: not state.reading)


async def test_a_hostile_name_touches_no_path(store: Store, tmp_path: Path) -> None:
    async def content() -> AsyncIterable[bytes]:
        yield path.read_bytes()

    path = digital_pdf(tmp_path / "a.pdf", pages=1)
    file = await store.files.upload((HOSTILE, len(path.read_bytes()), content()))
    assert file is not None
    await store.documents.open(DocumentSource("file", file.id, "../../" + file.filename))
    state = await until(store.documents.slice, lambda state: state.read == 1)
    assert state.picture_path is not None and ".." not in state.picture_path.parts


async def test_copies_used_longest_ago_make_room(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = [
        await stored(store, digital_pdf(tmp_path / f"{number}.pdf", pages=1, text=f"{number}"))
        for number in range(3)
    ]
    await store.documents.open(sources[0])
    first = store.documents.slice.value.picture_path
    assert first is not None
    monkeypatch.setattr("carrel.store.cache.copies.COPIES_BYTES", 2 * first.stat().st_size + 100)
    for source in sources[1:]:
        await store.documents.open(source)
    names = {path.name for path in first.parent.iterdir()}
    assert first.name not in names and len(names) == 2


async def finished(store: Store, source: DocumentSource) -> DocumentState:
    """Opens a document and waits until it is read."""
    await store.documents.open(source)
    return await until(store.documents.slice, lambda state: state.complete, 60)


async def test_what_was_read_is_kept_for_another_day_and_for_another_name(
    store: Store, server: RunningServer, tmp_path: Path
) -> None:
    path = digital_pdf(tmp_path / "a.pdf", pages=3)
    first = await finished(store, await stored(store, path))
    other = Store(Profile("test", server.url, server.api_key), OwnerLoop.running())
    await other.start()
    await other.documents.open(await stored(other, path.rename(tmp_path / "b.pdf")))
    state = other.documents.slice.value
    assert state.complete and state.pages == first.pages
    assert not [item for item in other.activity.slice.value.items if item.kind == "ocr"]
    await other.close()


async def test_reading_again_asks_the_service_and_tells_what_changed(
    store: Store, tmp_path: Path
) -> None:
    state = await finished(store, await stored(store, digital_pdf(tmp_path / "a.pdf", pages=2)))
    await until(store.activity.slice, lambda state: state.items[0].ended)
    await store.documents.read_again().settled()
    again = await until(store.documents.slice, lambda now: now.complete and not now.reading)
    runs = [item for item in store.activity.slice.value.items if item.kind == "ocr"]
    assert len(runs) == 2
    assert again.before == state.pages
    assert changed_words(again) == "read again: none of 2 pages changed"


async def test_other_options_are_read_once(store: Store, tmp_path: Path) -> None:
    state = await finished(store, await stored(store, digital_pdf(tmp_path / "a.pdf", pages=2)))
    for options, reads in (
        (OCROptions(tables="html", scores="page"), 2),
        (OCROptions(), 2),
        (OCROptions(tables="html", scores="page"), 2),
    ):
        await store.documents.read_again(options).settled()
        state = await until(
            store.documents.slice,
            lambda now, options=options: now.options == options and now.complete,  # type: ignore[misc]
        )
        runs = [item for item in store.activity.slice.value.items if item.kind == "ocr"]
        assert len(runs) == reads
    scores = state.pages[0].confidence_scores if state.pages[0] else None
    assert scores is not None and scores.word_confidence_scores is None
    assert state.pages[0] and [table.format for table in state.pages[0].tables] == ["html"]


async def test_only_the_pages_that_are_asked_for_are_read(store: Store, tmp_path: Path) -> None:
    source = await stored(store, digital_pdf(tmp_path / "a.pdf", pages=5))
    await store.documents.open(source)
    await store.documents.stop()
    await until(store.documents.slice, lambda state: not state.reading)
    read = {n for n, page in enumerate(store.documents.slice.value.pages) if page}
    await store.documents.read_again(OCROptions(pages="2, 4-9")).settled()
    state = await until(store.documents.slice, lambda state: state.complete, 60)
    assert state.wanted == {1, 3, 4}
    assert {n for n, page in enumerate(state.pages) if page} == {1, 3, 4} | read
    refused = store.documents.read_again(OCROptions(pages="0"))
    await refused.settled()
    assert refused.error is not None and refused.error.title == "Pages count from 1, like 1-3, 7"


async def test_a_passage_opens_at_its_block(store: Store, tmp_path: Path) -> None:
    source = await stored(store, digital_pdf(tmp_path / "a.pdf", pages=2))
    state = await finished(store, source)
    page = state.pages[1]
    assert page is not None and page.dimensions is not None
    wanted = boxes(page)[2]
    width, height = page.dimensions.width or 0, page.dimensions.height or 0
    box = PageBox(
        top_left_x=int(wanted.rect.left * width) + 3,
        top_left_y=int(wanted.rect.top * height) + 3,
        bottom_right_x=int((wanted.rect.left + wanted.rect.width) * width) - 3,
        bottom_right_y=int((wanted.rect.top + wanted.rect.height) * height) - 3,
        page_width=width,
        page_height=height,
    )
    await store.documents.open(source, 1, box)
    state = store.documents.slice.value
    assert (state.current, state.block) == (1, wanted.block)
    assert state.place is not None


async def test_one_step_after_the_other_goes_through_all_blocks(
    store: Store, tmp_path: Path
) -> None:
    await finished(store, await stored(store, digital_pdf(tmp_path / "a.pdf", pages=2)))

    def chosen() -> tuple[int, int | None]:
        state = store.documents.slice.value
        return state.current, state.block

    seen: list[tuple[int, int | None]] = []
    while chosen() not in seen:
        seen.append(chosen())
        await store.documents.step(1)
    assert seen == [(0, None), *sorted(seen[1:])]
    assert {page for page, _ in seen} == {0, 1} and len(seen) > 6
    await store.documents.step(-1)
    assert chosen() == seen[-2]


async def test_a_search_goes_through_all_pages_and_round(store: Store, tmp_path: Path) -> None:
    await finished(store, await stored(store, digital_pdf(tmp_path / "a.pdf", pages=3)))
    await store.documents.find("rules  of the")
    places: list[tuple[int, int]] = []
    for _ in range(4):
        mark = store.documents.slice.value.mark
        assert mark is not None and mark.text.lower() == "rules of the"
        assert store.documents.slice.value.block is not None
        places.append((mark.page, mark.start))
        await store.documents.next_mark(1)
    assert [page for page, _ in places] == [0, 1, 2, 0] and places[3] == places[0]
    await store.documents.find("nowhere to be found")
    assert store.documents.slice.value.mark is None


async def test_the_pages_are_saved_in_every_form(store: Store, tmp_path: Path) -> None:
    source = await stored(store, digital_pdf(tmp_path / "a.pdf", pages=2))
    state = await finished(store, source)
    saved = await store.documents.save("markdown", tmp_path / "out")
    assert saved == (tmp_path / "out" / "a.md",)
    assert saved[0].read_text() == "\n\n".join(page.markdown for page in state.pages if page) + "\n"
    again = await store.documents.save("markdown", tmp_path / "out")
    assert again == (tmp_path / "out" / "a 2.md",), "nothing is overwritten"
    (as_json,) = await store.documents.save("json", tmp_path / "named.json") or ()
    pages = json.loads(as_json.read_text())["pages"]
    assert [Page.model_validate(page) for page in pages] == [*state.pages]
    tables = await store.documents.save("csv", tmp_path / "tables")
    assert tables is not None and [path.name for path in tables] == [
        "a table 1.csv",
        "a table 2.csv",
    ]
    assert b"North,24,1" in tables[0].read_bytes()
    none = store.documents.save("images", tmp_path / "pictures")
    await none.settled()
    assert none.error is not None and none.error.title == "There are no pictures"
