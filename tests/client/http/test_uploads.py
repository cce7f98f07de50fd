"""Uploads: what the body holds, and what it costs to send."""

import asyncio
import re
import time
import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from httpx import Timeout

from carrel.client import Client, ServiceError, TooLarge, Unreachable, UnreadableFile
from support.service import Request, listen, reply, service

FILE = {
    "id": "f1", "bytes": 1, "created_at": 0, "filename": "x", "purpose": "ocr",
    "sample_type": "ocr_input", "source": "upload",
}  # fmt: skip


async def pieces(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def test_the_body_is_one_file_part_after_the_fields(tmp_path: Path) -> None:
    path = tmp_path / "report.pdf"
    path.write_bytes(b"%PDF-1.4\r\n--not a boundary\r\n")
    async with service(reply(FILE)) as odd, Client(odd.url, None) as client:
        await client.files.upload(path, purpose="ocr")
    request = odd.requests[0]
    match = re.fullmatch(r"multipart/form-data; boundary=(\w+)", request.headers["content-type"])
    assert match
    boundary = match[1].encode()
    assert request.body == (
        b'--%b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nocr\r\n'
        b'--%b\r\nContent-Disposition: form-data; name="file"; filename="report.pdf"\r\n'
        b"Content-Type: application/pdf\r\n\r\n%b\r\n--%b--\r\n"
    ) % (boundary, boundary, path.read_bytes(), boundary)


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ('a"b.pdf', b'filename="a%22b.pdf"'),
        ("a\r\nX: y.pdf", b'filename="a%0D%0AX: y.pdf"'),
        ("Zürich 東京.pdf", 'filename="Zürich 東京.pdf"'.encode()),
        ("invoice [/final] \x1b]0;x\x07.pdf", b'filename="invoice [/final] \x1b]0;x\x07.pdf"'),
        ("not-utf8-\udcff.pdf", b'filename="not-utf8-?.pdf"'),
    ],
)
async def test_a_file_name_cannot_end_its_header(name: str, sent: bytes) -> None:
    async with service(reply(FILE)) as odd, Client(odd.url, None) as client:
        await client.files.upload((name, 3, pieces(b"a", b"bc")))
    assert sent in odd.requests[0].body
    assert b"\r\n\r\nabc\r\n--" in odd.requests[0].body


async def test_a_document_goes_to_its_library_with_nothing_but_the_file() -> None:
    document = {
        "id": "d1", "library_id": "l1", "name": "x", "created_at": "2026-01-02T03:04:05Z",
        "hash": None, "mime_type": None, "extension": None, "size": 1,
        "processing_status": "Running", "uploaded_by_id": None, "uploaded_by_type": "User",
        "tokens_processing_total": 0,
    }  # fmt: skip
    answers = [reply(document, 201), reply(document, 200)]
    async with service(*answers) as odd, Client(odd.url, None) as client:
        first = await client.documents.upload("l1", ("x", 1, pieces(b"x")))
        again = await client.documents.upload("l1", ("x", 1, pieces(b"x")))
    assert first == again
    assert odd.requests[0].target == "/v1/libraries/l1/documents"
    assert odd.requests[0].body.count(b"Content-Disposition") == 1


async def test_memory_stays_small_and_progress_is_told_in_measure(tmp_path: Path) -> None:
    size = 64 << 20
    path = tmp_path / "large.bin"
    with path.open("wb") as file:
        file.truncate(size)
    received = 0

    async def swallow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal received
        head = await reader.readuntil(b"\r\n\r\n")
        if b"/healthz" in head:
            writer.write(reply({"status": "ok"}))
            return
        found = re.search(rb"content-length: (\d+)", head.lower())
        assert found
        while received < int(found[1]):
            received += len(await reader.read(1 << 16))
        writer.write(reply(FILE))

    seen: list[int] = []
    async with listen(swallow) as url, Client(url, None) as client:
        tracemalloc.start()
        began = time.monotonic()
        await client.files.upload(path, on_progress=lambda done, total: seen.append(done))
        seconds = time.monotonic() - began
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert received > size
    assert peak < 8 << 20
    assert seen == sorted(seen)
    assert seen[-1] == size
    assert len(seen) <= 10 * seconds + 2


@pytest.mark.parametrize(("size", "parts"), [(3, [b"ab"]), (3, [b"ab", b"cd"]), (0, [b"a"])])
async def test_content_that_is_not_as_long_as_it_said(size: int, parts: list[bytes]) -> None:
    async with service(reply(FILE)) as odd, Client(odd.url, None) as client:
        with pytest.raises(UnreadableFile, match=r"x\.bin changed while it was sent"):
            await client.files.upload(("x.bin", size, pieces(*parts)))
    assert odd.requests == []


async def test_an_empty_file_is_sent(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    async with service(reply(FILE)) as odd, Client(odd.url, None) as client:
        await client.files.upload(tmp_path / "empty.txt")
    assert b"\r\n\r\n\r\n--" in odd.requests[0].body


async def test_what_cannot_be_read_is_said_before_anything_is_sent(tmp_path: Path) -> None:
    async with service(reply(FILE)) as odd, Client(odd.url, None) as client:
        with pytest.raises(UnreadableFile, match="There is no file at"):
            await client.files.upload(tmp_path / "gone.pdf")
        with pytest.raises(UnreadableFile, match="is a folder"):
            await client.files.upload(tmp_path)
        with pytest.raises(UnreadableFile, match="not a regular file"):
            await client.files.upload(Path("/dev/null"))
    assert odd.requests == []


async def test_a_refusal_in_the_middle_of_an_upload_is_heard(tmp_path: Path) -> None:
    path = tmp_path / "large.bin"
    with path.open("wb") as file:
        file.truncate(32 << 20)

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(reply({"message": "This file is too large."}, 413))
        await writer.drain()
        writer.write_eof()
        while await reader.read(1 << 16):
            pass

    async with listen(refuse) as url, Client(url, None) as client:
        with pytest.raises(ServiceError, match="This file is too large"):
            await client.files.upload(path)


async def test_a_file_above_the_limit_is_refused_before_it_is_sent(tmp_path: Path) -> None:
    path = tmp_path / "large.bin"
    with path.open("wb") as file:
        file.truncate(40_000_000)
    limits = {"file_bytes": 39_000_000, "document_bytes": 20_000_000}
    health = reply({"status": "ok", "limits": limits})
    async with service(health) as odd, Client(odd.url, None) as client:
        with pytest.raises(TooLarge, match=r"large.bin has 40.0 MB; .* takes 39.0 MB at most"):
            await client.files.upload(path)
        with pytest.raises(TooLarge, match=r"takes 20.0 MB at most"):
            await client.documents.upload("l", path)
    assert {request.target for request in odd.requests} == {"/healthz"}


async def test_a_service_that_tells_no_limit_is_sent_the_file(tmp_path: Path) -> None:
    path = tmp_path / "large.bin"
    with path.open("wb") as file:
        file.truncate(20_000_000)
    for health in (reply({"status": "ok"}), reply({"detail": "Not Found"}, 404)):
        async with service(health, reply(FILE)) as odd, Client(odd.url, None) as client:
            assert (await client.files.upload(path)).id == "f1"


async def test_a_large_upload_that_breaks_off_names_the_usual_limit(tmp_path: Path) -> None:
    path = tmp_path / "huge.bin"
    with path.open("wb") as file:
        file.truncate(600_000_000)

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if b"/healthz" in head:
            writer.write(reply({"detail": "Not Found"}, 404))
            await writer.drain()
        else:
            await reader.read(1 << 16)

    async with listen(refuse) as url, Client(url, None) as client:
        with pytest.raises(Unreachable, match=r"huge.bin has 600.0 MB; services usually take 512"):
            await client.files.upload(path)


async def test_an_upload_waits_for_its_answer_as_long_as_it_takes() -> None:
    async def slow(request: Request) -> None:
        await asyncio.sleep(0.3)
        await request.write(reply(FILE))

    async with service(slow) as odd, Client(odd.url, None, timeout=Timeout(0.1)) as client:
        assert (await client.files.upload(("x", 1, pieces(b"x")))).id == "f1"


async def test_a_source_is_closed_when_its_upload_is_cancelled() -> None:
    closed, stalled = False, asyncio.Event()

    async def endless() -> AsyncIterator[bytes]:
        nonlocal closed
        try:
            while True:
                yield bytes(1 << 20)
        finally:
            closed = True

    async def stall(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if b"/healthz" in await reader.readuntil(b"\r\n\r\n"):
            writer.write(reply({"detail": "Not Found"}, 404))
            return
        stalled.set()
        await asyncio.sleep(60)

    async with listen(stall) as url, Client(url, None) as client:
        upload = asyncio.create_task(client.files.upload(("x", 1 << 40, endless())))
        await stalled.wait()
        await asyncio.sleep(0.1)
        upload.cancel()
        with pytest.raises(asyncio.CancelledError):
            await upload
        assert closed
