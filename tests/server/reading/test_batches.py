"""Pages asked for a few at a time are the pages of one request, from one open document."""

import asyncio
import hashlib
import itertools
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest
import pytest_asyncio
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from carrel.server.reading.options import NoSuchPage, ReadOptions, ReadResult
from carrel.server.reading.reader import Reader
from carrel.server.reading.results import Results
from carrel.wire.ocr import Page
from support.documents import TEXT, digital_pdf, page_pictures, picture, scanned_pdf
from support.office import (
    png,
    sheet_file,
    sheet_rows,
    slide_picture,
    slide_table,
    slide_text,
    slides_file,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

EVERYTHING = ReadOptions(
    include_image_base64=True,
    include_blocks=True,
    granularity="word",
    extract_header=True,
    extract_footer=True,
    table_format="html",
)
PAGES = 7
OFFICE = "application/vnd.openxmlformats-officedocument"


def _album(path: Path) -> Path:
    """A PDF of two pictures with a line of text on every page."""
    canvas = Canvas(str(path), pagesize=A4, invariant=1)
    for number in range(4):
        canvas.drawString(72, 760, f"Plate {number}. {TEXT[:60]}")
        for row, colour in enumerate(("teal", "maroon")):
            drawing = Image.new("RGB", (200, 120), colour)
            canvas.drawImage(ImageReader(drawing), 72, 560 - 200 * row, 200, 120)
        canvas.showPage()
    canvas.save()
    return path


def _mixed(path: Path) -> Path:
    """A PDF whose second page is a scan and whose others are digital."""
    (scan,) = page_pictures(digital_pdf(path.with_name("scan.pdf"), 1), 150)
    canvas = Canvas(str(path), pagesize=A4, invariant=1)
    for number in range(3):
        if number == 1:
            canvas.drawImage(ImageReader(scan), 0, 0, *A4)
        else:
            canvas.drawString(72, 700, f"{number}. {TEXT[:80]}")
        canvas.showPage()
    canvas.save()
    return path


def _fax(path: Path) -> Path:
    frames = [Image.open(picture(path.with_name(f"{n}.png"), TEXT[: 60 + n])) for n in range(2)]
    frames[0].save(path, save_all=True, append_images=frames[1:])
    return path


def _slides(path: Path) -> Path:
    rows = [[("", "Room"), ("", "Seats")], [("", "North"), ("", "24")]]
    slides = [
        slide_text(2, f"Slide {number}", placeholder="title")
        + slide_picture(3, 20)
        + slide_table(4, rows, 40)
        for number in range(3)
    ]
    return slides_file(path, slides, picture=png())


def _sheets(path: Path) -> Path:
    return sheet_file(
        path, {name: sheet_rows([["a", name], [1.0, 2.0]]) for name in ("One", "Two", "Three")}
    )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def remembering(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Reader]:
    folder = tmp_path_factory.mktemp("results")
    results = Results(folder / "pages.db", lambda: 2**26)
    reader = Reader(results)
    yield reader
    await reader.stop()
    results.close()


async def _joined(
    reader: Reader, path: Path, batches: Sequence[Sequence[int]], mimetype: str | None = None
) -> ReadResult:
    hash = hashlib.sha256(await asyncio.to_thread(path.read_bytes)).hexdigest()
    pages = dict[int, Page]()
    for batch in batches:
        ranges = [range(index, index + 1) for index in batch]
        options = ReadOptions(**{**vars(EVERYTHING), "pages": ranges})
        read = await reader.read(path, mimetype=mimetype, options=options, hash=hash)
        assert [page.index for page in read.pages] == list(batch)
        pages |= {page.index: page for page in read.pages}
    return ReadResult([pages[index] for index in sorted(pages)], read.page_count, read.size, True)


@pytest.mark.parametrize(
    ("make", "name", "mimetype"),
    [
        (_album, "a.pdf", None),
        (_mixed, "a.pdf", None),
        (_fax, "a.tiff", None),
        (_slides, "a.pptx", f"{OFFICE}.presentationml.presentation"),
        (_sheets, "a.xlsx", f"{OFFICE}.spreadsheetml.sheet"),
    ],
)
async def test_batches_join_to_what_one_request_gives(
    reader: Reader, tmp_path: Path, make: Callable[[Path], Path], name: str, mimetype: str | None
) -> None:
    path = make(tmp_path / name)
    whole = await reader.read(path, mimetype=mimetype, options=EVERYTHING)
    numbers = range(whole.page_count)
    batches = [list(numbers[-1:]), *([number] for number in numbers[:-1])]
    joined = await _joined(reader, path, batches, mimetype)
    assert [page.model_dump() for page in joined.pages] == [
        page.model_dump() for page in whole.pages
    ]
    assert (joined.page_count, joined.size) == (whole.page_count, whole.size)
    ids = [image.id for page in joined.pages for image in page.images]
    ids += [table.id for page in joined.pages for table in page.tables]
    assert len(ids) == len(set(ids)) >= (0 if make in (_mixed, _fax) else len(numbers))
    for page in joined.pages:
        assert page.dimensions is None or all(
            isinstance(value, int) and value > 0 for value in page.dimensions.model_dump().values()
        )


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return digital_pdf(tmp_path_factory.mktemp("book") / "a.pdf", PAGES)


@settings(max_examples=12, deadline=None)
@given(
    order=st.permutations(range(PAGES)),
    ends=st.sets(st.integers(1, PAGES - 1)),
    remembered=st.booleans(),
)
async def test_any_batches_in_any_order_join(
    reader: Reader,
    remembering: Reader,
    book: Path,
    order: list[int],
    ends: set[int],
    remembered: bool,
) -> None:
    edges = [0, *sorted(ends), PAGES]
    batches = [order[start:end] for start, end in itertools.pairwise(edges)]
    joined = await _joined(remembering if remembered else reader, book, batches)
    whole = await reader.read(book, mimetype=None, options=EVERYTHING)
    assert joined.pages == whole.pages


@pytest.mark.parametrize("pages", [[], [0, 0], [6, 6], [6, 0], [3, 1, 2], [0, 1, 2, 3, 4, 5, 6]])
async def test_pages_parsed_ahead_are_the_right_ones(
    reader: Reader, book: Path, pages: list[int]
) -> None:
    whole = await reader.read(book, mimetype=None, options=ReadOptions())
    for batch in ([1], [2, 3], pages, [0, 1], [2], [3, 4, 5, 6]):
        options = ReadOptions([range(index, index + 1) for index in batch])
        read = await reader.read(book, mimetype=None, options=options, hash="read in batches")
        assert read.pages == [whole.pages[index] for index in dict.fromkeys(batch)]


async def test_pages_that_were_read_are_not_read_again(remembering: Reader, tmp_path: Path) -> None:
    path = scanned_pdf(tmp_path / "a.pdf", pages=2, dpi=100)

    async def read(options: ReadOptions) -> ReadResult:
        return await remembering.read(path, mimetype=None, options=options, hash="scan")

    first = await read(ReadOptions([range(1)]))
    assert first.ocr_used
    # Page 1 is all that is left to read of the document.
    whole = await read(ReadOptions())
    assert whole.pages[:1] == first.pages
    size = await asyncio.to_thread(path.write_bytes, b"%PDF-1.4 nothing is left of it")
    assert await read(ReadOptions()) == ReadResult(whole.pages, 2, size, True)
    with pytest.raises(NoSuchPage, match="There is no page 2: the document has 2 pages"):
        await read(ReadOptions([range(2, 3)]))
