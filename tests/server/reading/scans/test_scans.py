"""Scanned pages and pictures, read by OCR."""

import base64
import io
from pathlib import Path
from typing import Any

import pytest
from PIL import ExifTags, Image
from reportlab.pdfgen.canvas import Canvas

from carrel.server.reading.options import NoSuchPage
from server.reading.conftest import Read
from support.documents import HEADER, LIST, TEXT, digital_pdf, page_pictures, picture, scanned_pdf

pytestmark = pytest.mark.asyncio(loop_scope="module")


def _words(text: str) -> list[str]:
    return text.replace("#", " ").replace("|", " ").split()


async def test_a_scan_reads_like_its_original(tmp_path: Path, read: Read) -> None:
    original = await read(digital_pdf(tmp_path / "a.pdf", pages=2))
    scan = await read(scanned_pdf(tmp_path / "b.pdf", pages=2))
    assert scan.ocr_used
    for page, source in zip(scan.pages, original.pages, strict=True):
        assert _words(page.markdown) == _words(source.markdown)
        assert TEXT in page.markdown
        assert f"1. {LIST[0]}\n2. {LIST[1]}\n3. {LIST[2]}" in page.markdown
        assert "| North | 24 | 1 |" in page.markdown


@pytest.mark.parametrize("turn", [90, 180, 270])
async def test_a_turned_page_is_read_upright_and_its_boxes_lie_on_the_page(
    tmp_path: Path, read: Read, turn: int
) -> None:
    path = scanned_pdf(tmp_path / "a.pdf", turn=turn)
    (page,) = (await read(path, include_blocks=True)).pages
    assert TEXT in page.markdown
    assert page.blocks is not None
    block = next(block for block in page.blocks if block.content == TEXT)
    assert page.dimensions is not None
    (scan,) = page_pictures(path, dpi=200)
    assert abs((page.dimensions.width or 0) - scan.width) <= 2
    box = (block.top_left_x, block.top_left_y, block.bottom_right_x, block.bottom_right_y)
    width, height = (box[2] or 0) - (box[0] or 0), (box[3] or 0) - (box[1] or 0)
    assert (height > width) == (turn in (90, 270))
    left, top, right, bottom = (edge or 0 for edge in box)
    found = scan.crop((left, top, right, bottom)).convert("L")
    assert min(found.tobytes()) < 100, "the box holds no ink"


async def test_scores_of_recognised_words_point_at_them(tmp_path: Path, read: Read) -> None:
    (page,) = (await read(scanned_pdf(tmp_path / "a.pdf"), granularity="word")).pages
    scores = page.confidence_scores
    assert scores is not None
    assert scores.word_confidence_scores
    for word in scores.word_confidence_scores:
        assert page.markdown.startswith(word.text, word.start_index)
        assert 0 < word.confidence <= 1
    assert 0.9 < scores.average_page_confidence_score < 1
    assert scores.minimum_page_confidence_score <= scores.average_page_confidence_score


async def test_running_heads_of_a_scan(tmp_path: Path, read: Read) -> None:
    (page,) = (await read(scanned_pdf(tmp_path / "a.pdf"), extract_header=True)).pages
    assert page.header == HEADER
    assert HEADER not in page.markdown


async def test_a_mixed_document_is_recognised_page_by_page(tmp_path: Path, read: Read) -> None:
    (scan,) = page_pictures(digital_pdf(tmp_path / "source.pdf", pages=1))
    scan.save(tmp_path / "scan.png")
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(595, 842))
    canvas.drawString(72, 700, "This first page has a text layer.")
    canvas.showPage()
    canvas.drawImage(str(tmp_path / "scan.png"), 0, 0, 595, 842)
    canvas.save()
    reading = await read(tmp_path / "a.pdf")
    assert reading.pages[0].markdown == "This first page has a text layer."
    assert TEXT in reading.pages[1].markdown
    assert not (await read(tmp_path / "a.pdf", pages=[range(1)])).ocr_used


async def test_a_scan_of_a_drawing_under_a_stamp_of_text_is_read(
    tmp_path: Path, read: Read
) -> None:
    page = Canvas(str(tmp_path / "page.pdf"), pagesize=(595, 842))
    page.setFont("Helvetica", 16)
    page.drawString(72, 760, "Ordering information of the pump")
    for number in range(12):
        page.circle(300, 400, 40 + 15 * number)
        page.line(60 + 40 * number, 150, 300, 400)
    page.save()
    (scan,) = page_pictures(tmp_path / "page.pdf")
    scan.save(tmp_path / "scan.png")
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(595, 842))
    canvas.drawImage(str(tmp_path / "scan.png"), 0, 0, 595, 842)
    canvas.drawString(72, 20, "Copied for the archive in 2003")
    canvas.save()
    (page_read,) = (await read(tmp_path / "a.pdf")).pages
    assert "Ordering information of the pump" in page_read.markdown
    assert page_read.markdown.count("Copied for the archive in 2003") == 1


@pytest.mark.parametrize("strips", [1, 20])
@pytest.mark.parametrize("lines", [1, 3])
async def test_the_text_of_another_ocr_over_the_strips_of_a_scan_is_not_trusted(
    tmp_path: Path, read: Read, strips: int, lines: int
) -> None:
    (scan,) = page_pictures(digital_pdf(tmp_path / "source.pdf", pages=1))
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(595, 842))
    step = scan.height / strips
    for number in range(strips):
        strip = scan.crop((0, round(number * step), scan.width, round((number + 1) * step)))
        strip.save(tmp_path / f"{number}.png")
        place = (0, 842 * (strips - 1 - number) / strips, 595, 842 / strips + 0.1)
        canvas.drawImage(str(tmp_path / f"{number}.png"), *place)
    hidden = canvas.beginText(72, 700)
    hidden.setFont("Helvetica", 12)
    hidden.setTextRenderMode(3)
    for _ in range(lines):
        hidden.textLine("Whlsper ncar tbe stairs, and kecp tlie doors cIosed at nigbt")
    canvas.drawText(hidden)
    canvas.save()
    (page,) = (await read(tmp_path / "a.pdf")).pages
    assert TEXT in page.markdown
    assert "kecp" not in page.markdown


@pytest.mark.parametrize("suffix", ["png", "jpg", "tiff", "webp", "bmp", "gif"])
async def test_every_kind_of_picture(tmp_path: Path, read: Read, suffix: str) -> None:
    path = picture(tmp_path / f"a.{suffix}")
    (page,) = (await read(path)).pages
    assert page.markdown == TEXT
    with Image.open(path) as original:
        assert page.dimensions is not None
        assert (page.dimensions.width, page.dimensions.height) == original.size


@pytest.mark.parametrize(("said", "dpi"), [({}, 72), ({"dpi": (300, 300)}, 300)])
async def test_a_resolution_is_that_of_the_file_or_plausible(
    tmp_path: Path, read: Read, said: dict[str, Any], dpi: int
) -> None:
    Image.new("L", (90, 60), 255).save(tmp_path / "a.tiff", **said)
    (page,) = (await read(tmp_path / "a.tiff")).pages
    assert page.dimensions is not None
    assert page.dimensions.dpi == dpi


async def test_a_picture_of_a_telephone(read: Read) -> None:
    # Kept as a file: what writes HEIC is not among the tools of this project.
    (page,) = (await read(Path(__file__).with_name("whisper.heic"))).pages
    assert page.markdown == "Whisper near the stairs."


@pytest.mark.parametrize("orientation", [3, 6, 8])
async def test_a_photograph_is_as_its_camera_was_held(
    tmp_path: Path, read: Read, orientation: int
) -> None:
    turns = {3: 180, 6: 90, 8: 270}
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    with Image.open(picture(tmp_path / "a.png")) as upright:
        size = upright.size
        sensed = upright.rotate(turns[orientation], expand=True)
    sensed.save(tmp_path / "a.jpg", exif=exif, quality=95)
    (page,) = (await read(tmp_path / "a.jpg", include_blocks=True)).pages
    assert page.markdown == TEXT
    assert page.dimensions is not None
    assert (page.dimensions.width, page.dimensions.height) == size
    assert page.blocks is not None
    (block,) = page.blocks
    assert (block.bottom_right_x or 0) <= size[0]
    assert (block.top_left_y or 0) < size[1] / 2


@pytest.mark.parametrize("mode", ["P", "L", "1", "RGBA", "LA"])
async def test_every_mode_of_picture(tmp_path: Path, read: Read, mode: str) -> None:
    (page,) = (await read(picture(tmp_path / "a.png", mode=mode))).pages
    assert page.markdown == TEXT


async def test_black_text_on_nothing_stands_on_white_paper(tmp_path: Path, read: Read) -> None:
    with Image.open(picture(tmp_path / "a.png", mode="L")) as text:
        clear = Image.new("RGBA", text.size, (0, 0, 0, 0))
        clear.putalpha(text.point(lambda value: 255 - value))
    clear.save(tmp_path / "b.png")
    (page,) = (await read(tmp_path / "b.png")).pages
    assert page.markdown == TEXT


async def test_blank_frames_of_any_mode_are_empty_pages(tmp_path: Path, read: Read) -> None:
    first, *others = [
        Image.new(mode, (60, 90), white)
        for mode, white in (("1", 1), ("L", 255), ("P", 0), ("I;16", 65535), ("RGBA", "white"))
    ]
    first.save(tmp_path / "a.tiff", save_all=True, append_images=others)
    reading = await read(tmp_path / "a.tiff")
    assert [page.markdown for page in reading.pages] == [""] * 5
    assert not reading.ocr_used


async def test_every_frame_of_a_tiff_is_a_page(tmp_path: Path, read: Read) -> None:
    with (
        Image.open(picture(tmp_path / "1.png", "First page of the fax.")) as first,
        Image.open(picture(tmp_path / "2.png", "Second page of the fax.")) as second,
    ):
        first.save(tmp_path / "a.tiff", save_all=True, append_images=[second])
    reading = await read(tmp_path / "a.tiff")
    assert [page.markdown for page in reading.pages] == [
        "First page of the fax.",
        "Second page of the fax.",
    ]
    assert [
        page.index for page in (await read(tmp_path / "a.tiff", pages=[range(1, 2)])).pages
    ] == [1]
    with pytest.raises(NoSuchPage):
        await read(tmp_path / "a.tiff", pages=[range(2, 3)])


async def test_a_picture_on_a_page_has_a_box_and_its_pixels_on_request(
    tmp_path: Path, read: Read
) -> None:
    Image.new("RGB", (300, 200), (200, 30, 30)).save(tmp_path / "red.png")
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(595, 842))
    for number in range(3):
        canvas.drawString(72, 760 - 14 * number, f"Line {number} says something about the picture.")
    canvas.drawImage(str(tmp_path / "red.png"), 72, 400, 180, 120)
    canvas.save()
    (plain,) = (await read(tmp_path / "a.pdf")).pages
    (image,) = plain.images
    assert image.id == "img-0.jpeg"
    assert image.image_base64 is None
    assert "![img-0.jpeg](img-0.jpeg)" in plain.markdown
    assert (image.top_left_x, image.bottom_right_x) == (200, 700)
    (full,) = (await read(tmp_path / "a.pdf", include_image_base64=True)).pages
    head, _, data = (full.images[0].image_base64 or "").partition(",")
    assert head == "data:image/jpeg;base64"
    with Image.open(io.BytesIO(base64.b64decode(data))) as cut:
        red, green, blue = cut.convert("RGB").resize((1, 1)).getpixel((0, 0))  # type: ignore[misc]
    assert red > 180 and green < 60 and blue < 60
    for left_out in ({"image_limit": 0}, {"image_min_size": 600}):
        (page,) = (await read(tmp_path / "a.pdf", **left_out)).pages
        assert page.images == []
        assert "img-0" not in page.markdown


@pytest.mark.parametrize("turn", [0, 90])
async def test_a_figure_on_a_scanned_page_has_a_box_and_a_place_in_the_text(
    tmp_path: Path, read: Read, turn: int
) -> None:
    (page,) = page_pictures(digital_pdf(tmp_path / "a.pdf", pages=1))
    red = (200, 900, 900, 1400)
    page.paste((200, 30, 30), red)
    page.rotate(-turn, expand=True).save(tmp_path / "b.png")
    (scan,) = (await read(tmp_path / "b.png")).pages
    assert TEXT in scan.markdown
    assert scan.markdown.endswith("\n\n![img-0.jpeg](img-0.jpeg)\n\nPage 1 of 1")
    (image,) = scan.images
    found = (image.top_left_x, image.top_left_y, image.bottom_right_x, image.bottom_right_y)
    left, top, right, bottom = red
    height = page.height
    expected = red if turn == 0 else (height - bottom, left, height - top, right)
    assert all(abs((at or 0) - edge) <= 10 for at, edge in zip(found, expected, strict=True))


async def test_a_poster_of_a_hundred_inches_needs_no_more_memory_than_a_page(
    tmp_path: Path, read: Read
) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(7200, 10200))
    poster = Image.new("RGB", (720, 1020), "white")
    poster.paste("black", (0, 0, 720, 700))
    poster.save(tmp_path / "a.png")
    canvas.drawImage(str(tmp_path / "a.png"), 0, 0, 7200, 10200)
    canvas.showPage()
    canvas.save()
    (page,) = (await read(tmp_path / "a.pdf")).pages
    (image,) = page.images
    assert image.top_left_x == 0


async def test_a_page_in_a_unit_of_its_own_is_as_large_as_it_says(
    tmp_path: Path, read: Read
) -> None:
    scan = scanned_pdf(tmp_path / "a.pdf").read_bytes()
    (tmp_path / "b.pdf").write_bytes(scan.replace(b"/MediaBox", b"/UserUnit 5 /MediaBox"))
    (page,) = (await read(tmp_path / "b.pdf")).pages
    assert page.dimensions is not None
    assert abs((page.dimensions.width or 0) - 5 * 595 / 72 * 200) < 20
    assert TEXT in page.markdown
    assert page.images == []


async def test_a_blank_page_is_an_empty_page(tmp_path: Path, read: Read) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(595, 842))
    canvas.showPage()
    canvas.save()
    (page,) = (await read(tmp_path / "a.pdf", granularity="word", include_blocks=True)).pages
    assert page.markdown == ""
    assert page.blocks == []


_SLANTED = ["Window", "Catalogue", "Northern room", "Archive"]


def _scan_with_turned_labels(folder: Path) -> Path:
    canvas = Canvas(str(folder / "a.pdf"), pagesize=(595, 842))
    canvas.setFont("Helvetica", 12)
    for number in range(8):
        canvas.drawString(72, 760 - 16 * number, f"Line {number} tells what the chart below shows.")
    for number, label in enumerate(_SLANTED):
        canvas.saveState()
        canvas.translate(180 + 70 * number, 400)
        canvas.rotate(45)
        canvas.drawRightString(0, 0, label)
        canvas.restoreState()
    canvas.translate(90, 400)
    canvas.rotate(-90)
    canvas.drawString(0, 0, "Readers")
    canvas.save()
    (picture,) = page_pictures(folder / "a.pdf")
    picture.save(folder / "a.png")
    return folder / "a.png"


async def test_slanted_and_upended_labels_of_a_scan_stand_apart_from_its_text(
    tmp_path: Path, read: Read
) -> None:
    scan = _scan_with_turned_labels(tmp_path)
    (page,) = (await read(scan, include_blocks=True)).pages
    *text, upended, first, second, third, last = page.markdown.split("\n\n")
    assert " ".join(text).count("tells what the chart below shows.") == 8
    assert [upended, first, second, third, last] == ["Readers", *_SLANTED]
    types = [block.type for block in page.blocks or []]
    assert types == len(text) * ["text"] + 5 * ["aside_text"]


async def test_the_lines_above_turned_labels_of_a_scan_are_one_text(
    tmp_path: Path, read: Read
) -> None:
    (page,) = (await read(_scan_with_turned_labels(tmp_path), include_blocks=True)).pages
    assert page.markdown.split("\n\n")[0].count("tells what the chart below shows.") == 8
    assert [block.type for block in page.blocks or []] == ["text"] + 5 * ["aside_text"]
