"""What every store of blobs does, wherever it keeps the bytes."""

import asyncio
import hashlib
import time
import uuid

import httpx
import pytest

from carrel.server.blobs.store import BlobMissing, Download, put
from server.blobs.conftest import StoreUnderTest
from support.naming import naming
from support.rounds import rounds

HOUR = 3600.0
ABSENT = hashlib.sha256(b"never stored").hexdigest()
DOWNLOAD = Download("größe.txt", "text/plain", {"x-content-type-options": "nosniff"})


async def test_bytes_written_in_pieces_are_kept_under_their_hash(store: StoreUnderTest) -> None:
    async with store.blobs.writer() as writer:
        await writer.write(b"one ")
        await writer.write(b"two")
        blob = await writer.commit()
    assert blob.hash == hashlib.sha256(b"one two").hexdigest()
    assert blob.size == await store.blobs.size(blob.hash) == 7
    async with store.again().local(blob.hash) as path:
        assert path.read_bytes() == b"one two"
    assert blob.hash in store.stored()


async def test_a_blob_may_be_empty(store: StoreUnderTest) -> None:
    hash = await put(store.blobs, b"")
    assert await store.blobs.size(hash) == 0
    async with store.again().local(hash) as path:
        assert path.read_bytes() == b""


async def test_what_is_not_committed_leaves_nothing(store: StoreUnderTest) -> None:
    async with store.blobs.writer() as writer:
        await writer.write(b"lost")
    assert store.stored() == set()
    assert not [path for path in store.folder.rglob("*") if path.is_file()]


async def test_what_a_killed_process_left_is_removed_at_the_next_start(
    store: StoreUnderTest,
) -> None:
    async with store.blobs.writer() as writer:
        await writer.write(b"half")
        assert len(list((store.folder / "tmp").iterdir())) == 1
        store.again()
        assert list((store.folder / "tmp").iterdir()) == []


async def test_bytes_that_cannot_be_written_are_no_blob(store: StoreUnderTest) -> None:
    with pytest.raises(TypeError):
        async with store.blobs.writer() as writer:
            await writer.write(b"whole", "no bytes")  # type: ignore[arg-type]
            await writer.commit()
    assert store.stored() == set()


async def test_the_same_bytes_are_kept_once(store: StoreUnderTest) -> None:
    first, second = await asyncio.gather(put(store.blobs, b"same"), put(store.blobs, b"same"))
    assert store.stored() == {first} == {second}


async def test_bytes_that_are_not_there_are_said_to_be_missing(store: StoreUnderTest) -> None:
    with pytest.raises(BlobMissing):
        await store.blobs.size(ABSENT)
    with pytest.raises(BlobMissing):
        await store.blobs.answer(ABSENT, DOWNLOAD)
    with pytest.raises(BlobMissing):
        async with store.blobs.local(ABSENT):
            pass


@pytest.mark.parametrize(
    ("asked", "status", "start", "stop"),
    [
        ({}, 200, 0, 1000),
        ({"range": "bytes=0-0"}, 206, 0, 1),
        ({"range": "bytes=10-19"}, 206, 10, 20),
        ({"range": "bytes=990-"}, 206, 990, 1000),
        ({"range": "bytes=990-5000"}, 206, 990, 1000),
        ({"range": "bytes=-3"}, 206, 997, 1000),
        ({"range": "bytes=-5000"}, 206, 0, 1000),
        ({"range": "bytes=10-19", "if-range": '"another"'}, 200, 0, 1000),
    ],
)
async def test_the_range_that_is_asked_is_answered(
    store: StoreUnderTest, asked: dict[str, str], status: int, start: int, stop: int
) -> None:
    data = bytes(number % 251 for number in range(1000))
    answer = await store.blobs.answer(await put(store.blobs, data), DOWNLOAD)
    async with _client(answer) as http:
        got = await http.get("/", headers=asked)
        head = await http.head("/", headers=asked)
    assert got.status_code == head.status_code == status
    assert got.content == data[start:stop]
    assert head.content == b""
    assert got.headers["content-length"] == head.headers["content-length"] == str(stop - start)
    if status == 206:
        assert got.headers["content-range"] == f"bytes {start}-{stop - 1}/1000"
    assert got.headers["content-type"].startswith("text/plain")
    assert got.headers["content-disposition"] == "attachment; filename*=utf-8''gr%C3%B6%C3%9Fe.txt"
    assert got.headers["x-content-type-options"] == "nosniff"
    assert got.headers["accept-ranges"] == "bytes"


async def test_a_range_beyond_the_end_is_refused(store: StoreUnderTest) -> None:
    answer = await store.blobs.answer(await put(store.blobs, b"x" * 10), DOWNLOAD)
    async with _client(answer) as http:
        got = await http.get("/", headers={"range": "bytes=10-"})
    assert got.status_code == 416
    assert got.headers["content-range"] == "bytes */10"


async def test_a_large_blob_is_answered_whole(store: StoreUnderTest) -> None:
    data = bytes(range(256)) * (20 * 4096)
    hash = await put(store.blobs, data)
    async with _client(await store.blobs.answer(hash, DOWNLOAD)) as http:
        assert hashlib.sha256((await http.get("/")).content).hexdigest() == hash
        got = await http.get("/", headers={"range": "bytes=5-15000000"})
        assert got.content == data[5:15000001]
    async with store.again().local(hash) as path:
        assert path.read_bytes() == data


async def test_the_collector_takes_what_is_old_and_that_no_record_names(
    store: StoreUnderTest,
) -> None:
    live, dead = [await put(store.blobs, data) for data in (b"live", b"dead")]
    assert await store.blobs.collect(naming(live), HOUR) == 0
    await asyncio.sleep(2.1)
    assert await store.blobs.collect(naming(live), 1) == 1
    assert store.stored() - {path.name for path in store.folder.glob("copies/*")} <= {live}
    with pytest.raises(BlobMissing):
        await store.blobs.size(dead)


async def test_the_collector_takes_nothing_early(store: StoreUnderTest) -> None:
    """A store whose times are whole seconds holds a blob of 12:00:00.9 for one of 12:00:00."""
    for _ in range(rounds(3, 30)):
        await asyncio.sleep((0.8 - time.time()) % 1)
        made = time.time()
        hash = await put(store.blobs, uuid.uuid4().bytes)
        kept = time.time() - made + 0.1
        await store.blobs.collect(naming(), kept)
        await store.blobs.size(hash)


async def test_old_bytes_that_are_sent_again_are_safe_from_the_collector(
    store: StoreUnderTest,
) -> None:
    contents = [b"again %d" % number for number in range(30)]
    hashes = [await put(store.blobs, data) for data in contents]
    await asyncio.sleep(3)
    sent = [put(store.blobs, data) for data in contents]
    await asyncio.gather(*sent[:15], store.blobs.collect(naming(), 2), *sent[15:])
    assert store.stored() >= set(hashes)


async def test_a_store_that_works_says_so(store: StoreUnderTest) -> None:
    await store.blobs.check()


def _client(answer: object) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=answer)  # type: ignore[arg-type]
    return httpx.AsyncClient(transport=transport, base_url="http://test")
