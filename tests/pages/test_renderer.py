import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from pypdfium2 import PdfDocument
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from carrel.pages import renderer as module
from carrel.pages.errors import NoPicture
from carrel.pages.renderer import TIMEOUT, Renderer
from support.documents import digital_pdf, docx, filled_form


@pytest.fixture
async def renderer() -> AsyncIterator[Renderer]:
    renderer = Renderer()
    yield renderer
    await renderer.close()


def opened(png: bytes) -> Image.Image:
    picture = Image.open(BytesIO(png))
    assert picture.format == "PNG"
    return picture.convert("RGB")


def sheet(path: Path, size: tuple[float, float]) -> Path:
    """A PDF page that is black but for a white border of 10 points."""
    canvas = Canvas(str(path), pagesize=size)
    canvas.rect(10, 10, size[0] - 20, size[1] - 20, fill=1)
    canvas.save()
    return path


async def test_a_pdf_has_its_pages_at_the_width_asked_for(
    renderer: Renderer, tmp_path: Path
) -> None:
    path = digital_pdf(tmp_path / "a.pdf", pages=3)
    assert await renderer.page_count(path) == 3
    picture = opened(await renderer.render(path, 2, 500))
    assert picture.width == 500
    assert picture.height == pytest.approx(500 * 297 / 210, abs=2)


async def test_a_page_is_drawn_as_it_is(renderer: Renderer, tmp_path: Path) -> None:
    picture = opened(await renderer.render(sheet(tmp_path / "a.pdf", (100, 200)), 0, 200))
    assert picture.size == (200, 400)
    assert picture.getpixel((5, 5)) == (255, 255, 255)
    assert picture.getpixel((100, 200)) == (0, 0, 0)


async def test_the_values_of_a_form_are_drawn(renderer: Renderer, tmp_path: Path) -> None:
    path = filled_form(tmp_path / "a.pdf")
    with PdfDocument(path) as document:
        wide, high = document[0].get_size()
    value = (74 / wide, (high - 666) / high, 150 / wide, 14 / high)
    picture = opened(await renderer.render(path, 0, 300, value))
    ink = sum(picture.convert("L").histogram()[:100])
    assert ink > 0.03 * picture.width * picture.height


async def test_an_endless_page_is_drawn_smaller(renderer: Renderer, tmp_path: Path) -> None:
    picture = opened(await renderer.render(sheet(tmp_path / "a.pdf", (10, 14_000)), 0, 4000))
    assert picture.width < 4000
    assert picture.width * picture.height < 25_000_000


async def test_a_picture_is_one_page_and_is_not_made_larger(
    renderer: Renderer, tmp_path: Path
) -> None:
    path = tmp_path / "a.png"
    Image.new("RGB", (300, 150), "red").save(path)
    assert await renderer.page_count(path) == 1
    assert opened(await renderer.render(path, 0, 100)).size == (100, 50)
    assert opened(await renderer.render(path, 0, 1000)).size == (300, 150)


@pytest.mark.parametrize(
    ("mode", "white"),
    [
        ("1", 1),
        ("L", 255),
        ("P", "white"),
        ("LA", (0, 0)),
        ("RGBA", (0, 0, 0, 0)),
        ("I;16", 65535),
        ("CMYK", (0, 0, 0, 0)),
    ],
)
async def test_every_kind_of_picture_shows_white_as_white(
    renderer: Renderer, tmp_path: Path, mode: str, white: str | int | tuple[int, ...]
) -> None:
    path = tmp_path / "a.tiff"
    Image.new(mode, (20, 20), white).save(path)
    colour = opened(await renderer.render(path, 0, 20)).getpixel((10, 10))
    assert colour == (255, 255, 255)


async def test_a_tiff_has_its_frames_as_pages(renderer: Renderer, tmp_path: Path) -> None:
    path = tmp_path / "a.tif"
    frames = [Image.new("RGB", (20, 20), colour) for colour in ("red", "lime", "blue")]
    frames[0].save(path, save_all=True, append_images=frames[1:])
    assert await renderer.page_count(path) == 3
    assert opened(await renderer.render(path, 1, 20)).getpixel((5, 5)) == (0, 255, 0)
    assert opened(await renderer.render(path, 0, 20)).getpixel((5, 5)) == (255, 0, 0)


async def test_a_photo_stands_as_it_was_taken(renderer: Renderer, tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by a quarter
    Image.new("RGB", (40, 20), "red").save(path, exif=exif)
    assert opened(await renderer.render(path, 0, 100)).size == (20, 40)


async def test_what_cannot_be_drawn_says_why(renderer: Renderer, tmp_path: Path) -> None:
    locked = tmp_path / "locked.pdf"
    Canvas(str(locked), encrypt=StandardEncryption("word", canPrint=0)).save()
    damaged = tmp_path / "damaged.pdf"
    damaged.write_bytes(b"%PDF-1.7\nnothing follows")
    for path, why in (
        (locked, "This PDF needs a password."),
        (damaged, "This PDF is damaged."),
        (docx(tmp_path / "a.docx"), "There is no picture for this kind of file."),
    ):
        with pytest.raises(NoPicture) as raised:
            await renderer.page_count(path)
        assert str(raised.value) == why


async def test_there_is_no_page_beyond_the_last(renderer: Renderer, tmp_path: Path) -> None:
    path = digital_pdf(tmp_path / "a.pdf", pages=2)
    for page in (-1, 2):
        with pytest.raises(NoPicture):
            await renderer.render(path, page, 100)


async def test_a_process_that_died_in_between_is_replaced(
    renderer: Renderer, tmp_path: Path
) -> None:
    path = digital_pdf(tmp_path / "a.pdf", pages=1)
    assert await renderer.page_count(path) == 1
    assert renderer._worker is not None
    renderer._worker.kill()
    await renderer._worker.wait()
    assert opened(await renderer.render(path, 0, 100)).width == 100


async def test_a_document_that_kills_the_process_costs_one_answer(
    renderer: Renderer, tmp_path: Path
) -> None:
    path = digital_pdf(tmp_path / "a.pdf", pages=1)
    await renderer.page_count(path)
    assert renderer._worker is not None
    renderer._worker.send_signal(signal.SIGSTOP)
    asked = asyncio.create_task(renderer.render(path, 0, 100))
    await asyncio.sleep(0.05)
    assert not asked.done()
    renderer._worker.kill()
    with pytest.raises(NoPicture, match="it may be damaged"):
        await asked
    assert opened(await renderer.render(path, 0, 100)).width == 100


async def test_closing_waits_for_no_page(tmp_path: Path) -> None:
    path = digital_pdf(tmp_path / "a.pdf", pages=1)
    renderer = Renderer()
    await renderer.page_count(path)
    assert renderer._worker is not None
    renderer._worker.send_signal(signal.SIGSTOP)
    asked = [asyncio.create_task(renderer.render(path, 0, width)) for width in (100, 200)]
    await asyncio.sleep(0.05)
    async with asyncio.timeout(TIMEOUT / 2):
        await renderer.close()
    for one in asked:
        with pytest.raises(NoPicture):
            await one


async def test_closing_leaves_the_end_of_the_process_to_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    waitpid = os.waitpid

    def wait_late(pid: int, options: int) -> tuple[int, int]:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        time.sleep(0.2)
        return waitpid(pid, options)

    path = digital_pdf(tmp_path / "a.pdf", pages=1)
    renderer = Renderer()
    monkeypatch.setattr(os, "waitpid", wait_late)
    await renderer.page_count(path)
    assert renderer._worker is not None
    os.kill(renderer._worker.pid, signal.SIGKILL)
    dead = os.WEXITED | os.WNOWAIT
    await asyncio.to_thread(os.waitid, os.P_PID, renderer._worker.pid, dead)
    await renderer.close()
    assert [record for record in caplog.records if record.name == "asyncio"] == []


async def test_a_question_whose_asker_left_does_not_answer_the_next(
    renderer: Renderer, tmp_path: Path
) -> None:
    path = digital_pdf(tmp_path / "a.pdf", pages=3)
    await renderer.page_count(path)
    left = asyncio.create_task(renderer.render(path, 0, 900))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    left.cancel()
    assert opened(await renderer.render(path, 1, 300)).width == 300


async def test_a_picture_that_nobody_waits_for_any_more_is_not_drawn(
    renderer: Renderer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = digital_pdf(tmp_path / "a.pdf", pages=3)
    await renderer.page_count(path)
    drawn: list[int] = []
    exchange = module._exchange

    async def count(worker: Any, request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        drawn.append(request["page"])
        return await exchange(worker, request)

    monkeypatch.setattr(module, "_exchange", count)
    asked = [asyncio.create_task(renderer.render(path, page, 900)) for page in (0, 1, 2)]
    await asyncio.sleep(0)
    asked[1].cancel()
    assert opened(await asked[2]).width == 900
    assert drawn == [0, 2]


async def test_a_word_of_a_part_is_drawn_as_wide_as_asked_for(
    renderer: Renderer, tmp_path: Path
) -> None:
    path = tmp_path / "a.pdf"
    canvas = Canvas(str(path), pagesize=(300, 300))
    canvas.setFont("Helvetica", 12)
    canvas.drawString(60, 240, "One two three four")
    canvas.save()
    part, words = (0.1, 0.1, 0.8, 0.2), ["One", "two", "three", "four"]
    pictures = [opened(await renderer.render_word(path, 0, 400, part, words, at)) for at in (1, 2)]
    assert {picture.width for picture in pictures} == {400}
    assert pictures[0].tobytes() != pictures[1].tobytes()
    assert all(100 < picture.height <= 160 for picture in pictures), "large"
    blank = (0.1, 0.5, 0.8, 0.2)
    whole = opened(await renderer.render_word(path, 0, 400, blank, words, 1))
    assert whole.size == (400, 100)


async def test_bookmarks_have_their_levels_and_pages(renderer: Renderer, tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    canvas = Canvas(str(path))
    for number, level in enumerate((0, 1, 2, 0)):
        canvas.bookmarkPage(f"p{number}")
        canvas.addOutlineEntry(f"Chapter {number}", f"p{number}", level)
        canvas.showPage()
    canvas.save()
    found = [(1, "Chapter 0", 0), (2, "Chapter 1", 1), (3, "Chapter 2", 2), (1, "Chapter 3", 3)]
    assert await renderer.bookmarks(path) == found
    Image.new("RGB", (30, 15)).save(tmp_path / "a.png")
    assert await renderer.bookmarks(tmp_path / "a.png") == []


async def test_pictures_in_the_cache_are_not_drawn_again_until_they_are_too_large(
    renderer: Renderer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = digital_pdf(tmp_path / "a.pdf", pages=3)
    first = await renderer.render(path, 0, 300)
    for page in range(3):
        for width in range(40, 60):
            await renderer.render(path, page, width)
    assert await renderer.render(path, 0, 300) is first
    monkeypatch.setattr(module, "MAX_CACHE", len(first) // 2)
    second = await renderer.render(path, 1, 300)
    assert await renderer.render(path, 1, 300) is second
    assert await renderer.render(path, 0, 300) is not first


async def test_many_askers_at_once_each_get_their_own(renderer: Renderer, tmp_path: Path) -> None:
    path = digital_pdf(tmp_path / "a.pdf", pages=3)
    widths = [100, 200, 300, 150, 250]
    answers = await asyncio.gather(*(renderer.render(path, 0, width) for width in widths))
    assert [opened(png).width for png in answers] == widths


async def test_keys_do_not_reach_the_process(
    renderer: Renderer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARREL_API_KEY", "s3cr3t")
    await renderer.page_count(digital_pdf(tmp_path / "a.pdf", pages=1))
    assert renderer._worker is not None
    assert b"s3cr3t" not in _environment(renderer._worker.pid)


def _environment(pid: int) -> bytes:
    path = Path(f"/proc/{pid}/environ")
    if not path.exists():
        pytest.skip("needs /proc")
    return path.read_bytes()


async def test_it_works_on_a_loop_in_another_thread(tmp_path: Path) -> None:
    path = digital_pdf(tmp_path / "a.pdf", pages=2)

    async def count() -> int:
        renderer = Renderer()
        try:
            return await renderer.page_count(path)
        finally:
            await renderer.close()

    assert await asyncio.to_thread(lambda: asyncio.run(count())) == 2
