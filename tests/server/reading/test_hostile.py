"""Broken and hostile documents: each costs one parser and gets a reason, and the next is read."""

import asyncio
import base64
import os
import signal
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import httpx
import pypdfium2
import pytest
from PIL import Image

from carrel.server.reading.options import ReadOptions, UnreadableDocument
from carrel.server.reading.reader import Reader
from server.reading.conftest import Read
from support.documents import TEXT, digital_pdf, docx, picture, raw_pdf
from support.office import (
    book_file,
    open_document,
    sheet_file,
    sheet_rows,
    slide_picture,
    slide_text,
    slides_file,
    stored_first,
)
from support.process import RunningServer, children

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


def _zip_bomb(path: Path, megabytes: int = 64) -> Path:
    """Adds much of nothing to an archive."""
    with (
        zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive,
        archive.open("word/bomb.xml", "w", force_zip64=True) as entry,
    ):
        for _ in range(megabytes):
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


async def test_a_bomb_does_not_take_the_pages_beside_it_along(
    tmp_path: Path, reader: Reader
) -> None:
    document = pypdfium2.PdfDocument.new()
    good = digital_pdf(tmp_path / "good.pdf", pages=1)
    for part in (good, _flate_bomb(tmp_path / "bomb.pdf", doubled=True), good):
        with pypdfium2.PdfDocument(part) as opened:
            document.import_pages(opened)
    document.save(tmp_path / "a.pdf")
    document.close()
    for index in (0, 2, 0):
        options = ReadOptions([range(index, index + 1)])
        # While page 0 is put together, page 1 is parsed already, and then page 2 is asked for.
        reading = await reader.read(
            tmp_path / "a.pdf", mimetype=None, options=options, hash="bomb in the middle"
        )
        assert TEXT in reading.pages[0].markdown


BOMBS: dict[str, Callable[[Path], object]] = {
    "docx": lambda path: docx(path),
    "xlsx": lambda path: sheet_file(path, {"A": sheet_rows([["a"]])}),
    "pptx": lambda path: slides_file(path, [slide_text(2, "a")]),
    "epub": lambda path: book_file(path, {"a.xhtml": "<p>a</p>"}),
    "odt": lambda path: open_document(path, "text", "<text:p>a</text:p>"),
}


@pytest.mark.parametrize("kind", BOMBS)
async def test_a_zip_bomb_is_refused_before_it_is_unpacked(
    tmp_path: Path, read: Read, kind: str
) -> None:
    path = tmp_path / f"a.{kind}"
    BOMBS[kind](path)
    with pytest.raises(UnreadableDocument, match="far larger than a document"):
        await read(_zip_bomb(path))
    await _still_reads(tmp_path, read)


async def test_an_archive_of_too_many_files_is_refused(tmp_path: Path, read: Read) -> None:
    path = docx(tmp_path / "a.docx")
    with zipfile.ZipFile(path, "a") as archive:
        for number in range(10_001):
            archive.writestr(f"word/{number}", b"")
    with pytest.raises(UnreadableDocument, match="far larger than a document"):
        await read(path)


async def test_an_archive_that_lies_about_its_sizes_is_refused(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "a.docx"
    _zip_bomb(docx(path))
    # Sizes stand in the directory at the end, and before the bomb itself.
    honest, lie = (2**26).to_bytes(4, "little"), (100).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(honest, lie))
    with pytest.raises(UnreadableDocument, match=r"damaged|far larger"):
        await read(path)
    await _still_reads(tmp_path, read)


async def test_names_that_leave_the_archive_reach_nothing(tmp_path: Path, read: Read) -> None:
    secret = tmp_path / "secret.xhtml"
    secret.write_text("<p>secret</p>")
    outside = "../" * 20 + str(secret).lstrip("/")
    chapters = {"a.xhtml": f'<p>a</p><img src="{outside}"/><img src="file://{secret}"/>'}
    path = book_file(tmp_path / "a.epub", chapters)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("../../escaped", b"x")
    (page,) = (await read(path)).pages
    assert (page.markdown, page.images) == ("a", [])
    assert not (tmp_path.parent / "escaped").exists()


ENTITIES = (
    "<!DOCTYPE x ["
    + '<!ENTITY e0 "bombbombbomb">'
    + "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 20}">' for n in range(1, 9))
    + '<!ENTITY secret SYSTEM "file:///etc/passwd">]>'
)
"""Nine levels of twenty: 12 bytes that would become 300 GB; and a file of the server's."""


@pytest.mark.parametrize("kind", ["docx", "pptx", "xlsx", "odt", "epub", "html", "svg"])
async def test_entities_are_not_expanded(tmp_path: Path, read: Read, kind: str) -> None:
    path = tmp_path / f"a.{kind}"
    if kind in ("html", "svg"):
        path.write_text(f"{ENTITIES}<{kind}><p>a &e8; &secret;</p></{kind}>")
    else:
        BOMBS[kind](path)
        _with_entities(path)
    try:
        reading = await read(path)
    except UnreadableDocument as error:
        assert error.message.startswith("This ")
    else:
        text = "".join(page.markdown for page in reading.pages)
        assert "root:" not in text
        assert text.count("bomb") < 1000
    await _still_reads(tmp_path, read)


def _with_entities(path: Path) -> None:
    """Puts the entities into every part of an office file, and uses them in its texts."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    declared = {}
    for name, text in parts.items():
        if text.lstrip().startswith("<"):
            _, _, body = text.rpartition("?>")
            text = ENTITIES + body.replace(">a<", ">a &e8; &secret;<")
        declared[name] = text
    stored_first(path, declared)


HOSTILE_TEXTS: dict[str, bytes] = {
    "spans.html": b"<table>" + b"<tr><td colspan=99999 rowspan=99999>a<td>b" * 300 + b"</table>",
    "deep.html": b"<div>" * 100_000 + b"a",
    "lists.html": b"<ul><li>" * 20_000 + b"a",
    "tables.html": b"<table><tr><td>" * 5_000 + b"a",
    "links.html": b"<a href=x><b>" * 20_000 + b"a",
    "quotes.md": b">" * 50_000 + b" a",
    "brackets.md": b"[" * 50_000 + b"a",
    "stars.md": b"*a " * 10_000,
    "wide.csv": b"," * 2_000_000,
    "long.csv": b"a,b\n" * 1_000_000,
    "ragged.csv": b"a\n" * 250_000 + b"," * 250_000 + b"a",
    "field.csv": b'"' + b"a" * 20_000_000,
    "parts.eml": b"Subject: x\nContent-Type: multipart/mixed; boundary=x\n\n"
    + b"--x\nContent-Type: multipart/mixed; boundary=x\n\n" * 1_000,
}


@pytest.mark.parametrize("name", HOSTILE_TEXTS)
async def test_hostile_texts_end_with_a_reason_or_their_words(
    tmp_path: Path, read: Read, name: str
) -> None:
    (tmp_path / name).write_bytes(HOSTILE_TEXTS[name])
    try:
        reading = await read(tmp_path / name)
    except UnreadableDocument as error:
        assert error.message.startswith("This ")
        assert error.message.endswith(".")
    else:
        assert reading.page_count == 1
        assert reading.pages[0].markdown.strip()
    await _still_reads(tmp_path, read)


async def test_a_long_table_is_read_to_its_end(tmp_path: Path, read: Read) -> None:
    rows = 60_000
    (tmp_path / "a.csv").write_text("".join(f"{row},b\n" for row in range(rows)))
    (page,) = (await read(tmp_path / "a.csv")).pages
    assert page.markdown.count("\n") == rows
    assert page.markdown.endswith(f"| {rows - 1} | b |")


async def test_what_moves_is_one_page(tmp_path: Path, read: Read) -> None:
    with Image.open(picture(tmp_path / "a.png")) as first:
        others = [Image.new("RGB", first.size, (shade, 0, 0)) for shade in range(40)]
        for kind in ("gif", "webp"):
            first.save(tmp_path / f"a.{kind}", save_all=True, append_images=others)
            (page,) = (await read(tmp_path / f"a.{kind}")).pages
            assert page.markdown == TEXT


async def test_blank_pages_are_not_searched_for_text(tmp_path: Path, read: Read) -> None:
    (tmp_path / "a.tiff").write_bytes(_blank_tiff(300))
    reading = await read(tmp_path / "a.tiff")
    assert [page.markdown for page in reading.pages] == [""] * 300
    assert not reading.ocr_used


async def test_a_picture_of_too_many_pages_is_refused(tmp_path: Path, read: Read) -> None:
    (tmp_path / "a.tiff").write_bytes(_blank_tiff(10_001))
    with pytest.raises(UnreadableDocument, match="more than 10,000 pages"):
        await read(tmp_path / "a.tiff")


def _blank_tiff(pages: int) -> bytes:
    """Pages of one white pixel, which they share."""
    parts = [b"II*\0" + struct.pack("<IB", 9, 255)]
    # Width, height, bits, compression, black, place, rows and bytes of the pixels.
    values = ((256, 1), (257, 1), (258, 8), (259, 1), (262, 1), (273, 8), (278, 1), (279, 1))
    tags = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in values)
    size = 2 + len(tags) + 4
    for page in range(1, pages + 1):
        following = 9 + page * size if page < pages else 0
        parts.append(struct.pack("<H", len(values)) + tags + struct.pack("<I", following))
    return b"".join(parts)


async def test_a_sheet_with_a_cell_far_away_is_refused(tmp_path: Path, read: Read) -> None:
    far = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    sheet = sheet_rows([["a"]]).replace("</sheetData>", far)
    with pytest.raises(UnreadableDocument, match=r"cells|memory"):
        await read(sheet_file(tmp_path / "a.xlsx", {"A": sheet}))
    await _still_reads(tmp_path, read)


async def test_a_protected_office_file_says_so(tmp_path: Path, read: Read) -> None:
    content = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512)
    (tmp_path / "a.docx").write_bytes(content + "EncryptedPackage".encode("utf-16-le"))
    with pytest.raises(UnreadableDocument, match="protected by a password"):
        await read(tmp_path / "a.docx")


async def test_a_huge_picture_inside_a_document_is_left_out(tmp_path: Path, read: Read) -> None:
    picture = _huge_png(tmp_path / "a.png").read_bytes()
    path = slides_file(
        tmp_path / "a.pptx", [slide_text(2, "a") + slide_picture(3)], picture=picture
    )
    (page,) = (await read(path, include_image_base64=True)).pages
    assert (page.markdown, page.images) == ("a", [])


async def test_the_server_answers_while_it_refuses_bombs(
    tmp_path: Path, server: RunningServer
) -> None:
    paths = [
        _huge_png(tmp_path / "a.png"),
        _flate_bomb(tmp_path / "a.pdf", doubled=True),
        _zip_bomb(docx(tmp_path / "a.docx"), megabytes=1024),
    ]
    async with httpx.AsyncClient(
        base_url=server.url, headers={"authorization": f"Bearer {server.api_key}"}, timeout=120
    ) as http:

        async def ocr(path: Path) -> httpx.Response:
            data = base64.b64encode(path.read_bytes()).decode()  # noqa: ASYNC240
            document = {"document_url": f"data:application/octet-stream;base64,{data}"}
            return await http.post(
                "/v1/ocr", json={"model": "mistral-ocr-latest", "document": document}
            )

        requests = [asyncio.ensure_future(ocr(path)) for path in paths]
        while not all(request.done() for request in requests):
            assert (await http.get("/healthz", timeout=5)).status_code == 200
            await asyncio.sleep(0.1)
        answers = [request.result() for request in requests]
        assert [answer.status_code for answer in answers][::2] == [400, 400]
        assert answers[1].status_code in (200, 400)
        answer = await ocr(digital_pdf(tmp_path / "good.pdf", pages=1))
    assert TEXT in answer.json()["pages"][0]["markdown"]


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


async def test_a_cut_off_scan_of_several_pages_gets_a_reason(tmp_path: Path, read: Read) -> None:
    """Its directory of pages is cut off, too, while they are counted."""
    path = tmp_path / "a.tif"
    pages = [Image.effect_noise((64, 64), 50) for _ in range(20)]
    pages[0].save(path, save_all=True, append_images=pages[1:])
    whole = path.read_bytes()
    for length in range(len(whole) // 2, len(whole) // 2 + 5000, 499):
        path.write_bytes(whole[:length])
        with pytest.raises(UnreadableDocument, match="This picture is damaged"):
            await read(path)


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
    others = children(os.getpid())
    path = digital_pdf(tmp_path / "a.pdf", pages=400, text=TEXT * 20)
    options = ReadOptions(granularity="word")
    task = asyncio.ensure_future(reader.read(path, mimetype=None, options=options))
    try:
        parsers: set[int] = set()
        while not parsers:
            await asyncio.sleep(0.01)
            parsers = children(os.getpid()) - others
        await asyncio.sleep(0.5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not parsers & children(os.getpid())
    finally:
        await reader.stop()
    assert children(os.getpid()) == others


async def test_a_spare_parser_that_was_killed_is_replaced(tmp_path: Path) -> None:
    reader = Reader()
    others = children(os.getpid())
    path = digital_pdf(tmp_path / "a.pdf", pages=1)
    try:
        for _ in range(2):
            reading = await reader.read(path, mimetype=None, options=ReadOptions())
            assert TEXT in reading.pages[0].markdown
            while not (spares := children(os.getpid()) - others):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            for spare in spares:
                os.kill(spare, signal.SIGKILL)
    finally:
        await reader.stop()


async def test_a_parser_that_is_killed_while_it_reads_is_replaced(tmp_path: Path) -> None:
    reader = Reader()
    others = children(os.getpid())
    path = digital_pdf(tmp_path / "a.pdf", pages=400, text=TEXT * 20)
    options = ReadOptions(granularity="word")
    task = asyncio.ensure_future(reader.read(path, mimetype=None, options=options))
    try:
        while not (reading := [pid for pid in children(os.getpid()) - others if children(pid)]):  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        os.kill(reading[0], signal.SIGKILL)
        assert len((await task).pages) == 400
    finally:
        await reader.stop()
    assert children(os.getpid()) == others
