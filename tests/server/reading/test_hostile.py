"""Broken and hostile documents: each costs one parser and gets a reason, and the next is read."""

import asyncio
import os
import signal
import zipfile
import zlib
from pathlib import Path

import pytest

from carrel.server.reading.options import ReadOptions, UnreadableDocument
from carrel.server.reading.reader import Reader
from server.reading.conftest import Read
from support.documents import TEXT, digital_pdf, docx, picture, raw_pdf

pytestmark = pytest.mark.asyncio(loop_scope="module")


def _huge_png(path: Path) -> Path:
    """40,000 by 40,000 black pixels in 0.2 MB."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        checksum = zlib.crc32(kind + data).to_bytes(4, "big")
        return len(data).to_bytes(4, "big") + kind + data + checksum

    side = (40_000).to_bytes(4, "big")
    packer = zlib.compressobj(9)
    rows = b"".join([*(packer.compress(bytes(5001)) for _ in range(40_000)), packer.flush()])
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", side + side + bytes([1, 0, 0, 0, 0]))
        + chunk(b"IDAT", rows)
        + chunk(b"IEND", b"")
    )
    return path


def _flate_bomb(path: Path, *, doubled: bool) -> Path:
    """A page whose content unpacks to 1.5 GB, once or twice packed."""
    packer = zlib.compressobj(9)
    block = b"0 0 m " * 175_000
    packed = b"".join([*(packer.compress(block) for _ in range(1500)), packer.flush()])
    filters = b"/FlateDecode"
    if doubled:
        packed, filters = zlib.compress(packed, 9), b"[/FlateDecode /FlateDecode]"
    path.write_bytes(raw_pdf(packed, extra=b"/Filter " + filters))
    return path


def _zip_bomb(path: Path) -> Path:
    """A Word document with 1 GB of XML."""
    docx(path)
    with (
        zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive,
        archive.open("word/bomb.xml", "w", force_zip64=True) as entry,
    ):
        for _ in range(1024):
            entry.write(bytes(2**20))
    return path


async def _still_reads(tmp_path: Path, read: Read) -> None:
    reading = await read(digital_pdf(tmp_path / "good.pdf", pages=1))
    assert TEXT in reading.pages[0].markdown


async def test_a_picture_of_too_many_pixels_is_refused(tmp_path: Path, read: Read) -> None:
    with pytest.raises(UnreadableDocument, match="more than 100 million pixels"):
        await read(_huge_png(tmp_path / "a.png"))
    await _still_reads(tmp_path, read)


@pytest.mark.parametrize("doubled", [False, True])
async def test_a_flate_bomb_ends_one_parser(tmp_path: Path, read: Read, doubled: bool) -> None:
    try:
        reading = await read(_flate_bomb(tmp_path / "a.pdf", doubled=doubled))
    except UnreadableDocument as error:
        assert "This" in error.message
    else:
        assert reading.pages[0].markdown == ""
    await _still_reads(tmp_path, read)


async def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, read: Read) -> None:
    with pytest.raises(UnreadableDocument, match="far larger than a document"):
        await read(_zip_bomb(tmp_path / "a.docx"))
    await _still_reads(tmp_path, read)


async def test_a_huge_page_is_rendered_small(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(raw_pdf(b"0 0 m 14400 14400 l S", size=14400))
    reading = await read(path, include_image_base64=True)
    assert reading.pages[0].dimensions is not None
    assert reading.pages[0].dimensions.width == 40_000


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"%PDF-1.4\n",
        b"%PDF-1.4\ntrailer<</Root 1 0 R>>\n%%EOF",
        b"\x89PNG\r\n\x1a\n" + bytes(100),
        b"\xff\xd8\xff\xe0" + bytes(100),
        b"II*\0" + bytes(100),
        b"PK\x03\x04" + bytes(100),
        b"\x00\x01\x02\x03" * 100,
    ],
)
async def test_broken_files_get_a_reason(tmp_path: Path, read: Read, content: bytes) -> None:
    path = tmp_path / "a"
    path.write_bytes(content)
    with pytest.raises(UnreadableDocument) as refusal:
        await read(path)
    assert refusal.value.message.startswith("This ")
    assert refusal.value.code == "3740"


async def test_a_cut_off_picture_gets_a_reason(tmp_path: Path, read: Read) -> None:
    whole = picture(tmp_path / "a.png").read_bytes()
    (tmp_path / "b.png").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UnreadableDocument, match="pixels cannot be decoded"):
        await read(tmp_path / "b.png")


async def test_a_cut_off_pdf_gets_a_reason_or_its_pages(tmp_path: Path, read: Read) -> None:
    whole = digital_pdf(tmp_path / "a.pdf", pages=5).read_bytes()
    for part in (10, 4, 2):
        (tmp_path / "b.pdf").write_bytes(whole[: -len(whole) // part])
        try:
            reading = await read(tmp_path / "b.pdf")
        except UnreadableDocument as error:
            assert "PDF" in error.message
        else:
            assert reading.pages


async def test_a_cancelled_reading_leaves_no_process(tmp_path: Path) -> None:
    reader = Reader()
    others = _children()
    path = digital_pdf(tmp_path / "a.pdf", pages=400, text=TEXT * 20)
    options = ReadOptions(granularity="word")
    task = asyncio.ensure_future(reader.read(path, mimetype=None, options=options))
    try:
        parsers: set[int] = set()
        while not parsers:
            await asyncio.sleep(0.01)
            parsers = _children() - others
        await asyncio.sleep(0.5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not parsers & _children()
    finally:
        await reader.stop()
    assert _children() == others


def _children() -> set[int]:
    """The processes that this one started and that still run."""
    threads = Path("/proc/self/task").iterdir()
    return {int(pid) for thread in threads for pid in (thread / "children").read_text().split()}


async def test_a_spare_parser_that_was_killed_is_replaced(tmp_path: Path) -> None:
    reader = Reader()
    others = _children()
    path = digital_pdf(tmp_path / "a.pdf", pages=1)
    try:
        for _ in range(2):
            reading = await reader.read(path, mimetype=None, options=ReadOptions())
            assert TEXT in reading.pages[0].markdown
            while not (spares := _children() - others):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            for spare in spares:
                os.kill(spare, signal.SIGKILL)
    finally:
        await reader.stop()
