"""What is special about blobs in an S3-compatible store, against a real one."""

import asyncio
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import httpx
import obstore
import pytest
from obstore.store import S3Store

from carrel.server.blobs.bucket import Bucket
from carrel.server.blobs.s3 import S3Blobs
from carrel.server.blobs.store import BlobsUnavailable, Download, put
from carrel.server.records.sql.database import Database
from server.blobs.conftest import StoreUnderTest, s3_blobs
from support import storage
from support.command import carrel
from support.crashes import Uploads, named_blobs, storm
from support.documents import scanned_pdf
from support.libraries import connect, new_library
from support.naming import naming
from support.postgres import postgres_server
from support.process import serve
from support.rounds import rounds
from support.s3 import SECRET_KEY, S3Server, free_ports, s3_server, stored

pytestmark = pytest.mark.xdist_group("s3")

MIB = 1024 * 1024
DOWNLOAD = Download("größe & +.txt", "text/plain", {})


async def test_a_signed_address_is_the_stores_own_and_for_get(s3_store: StoreUnderTest) -> None:
    hash = await put(s3_store.blobs, b"content")
    url = s3_store.blobs.signed_url(hash, DOWNLOAD, 60)
    assert url and s3_store.s3 and url.startswith(s3_store.s3.endpoint)
    assert s3_store.blobs.verify_url(url) == (hash, "größe & +.txt")
    async with httpx.AsyncClient() as http:
        got = await http.get(url, headers={"range": "bytes=0-2"})
        assert (got.status_code, got.content) == (206, b"con")
        assert got.headers["content-type"] == "text/plain"
        assert (
            "filename*=utf-8''gr%C3%B6%C3%9Fe%20%26%20%2B.txt"
            in (got.headers["content-disposition"])
        )
        assert (await http.get(url.replace("Expires=60", "Expires=61"))).status_code == 403
        assert (await http.put(url, content=b"other")).status_code == 403


def _unfinished(bucket: Bucket) -> list[str | None]:
    """The keys of uploads in pieces that were begun and not ended."""
    query = {"uploads": "", "prefix": bucket.prefix}
    found = httpx.get(bucket.sign("GET", "", 60, query))
    tree = ElementTree.fromstring(found.content)
    return [upload.findtext("{*}Key") for upload in tree.iterfind("{*}Upload")]


async def test_an_upload_that_broke_off_in_the_store_is_ended_by_the_collector(
    s3_store: StoreUnderTest,
) -> None:
    assert s3_store.s3 and s3_store.url
    bucket = s3_store.s3.bucket(s3_store.url)
    key = f"{bucket.prefix}ab/{'ab' * 32}"

    async with httpx.AsyncClient() as http:
        begun = await http.post(bucket.sign("POST", key, 60, {"uploads": ""}))
        id = ElementTree.fromstring(begun.content).findtext("{*}UploadId", "")
        part = {"partNumber": "1", "uploadId": id}
        assert (await http.put(bucket.sign("PUT", key, 60, part), content=b"half")).is_success
        await s3_store.blobs.collect(naming(), 60)
        assert _unfinished(bucket) == [key]
        await asyncio.sleep(2.1)
        await s3_store.blobs.collect(naming(), 1)
        assert _unfinished(bucket) == []


async def test_objects_of_others_below_the_prefix_are_left_alone(s3_store: StoreUnderTest) -> None:
    assert s3_store.s3 and s3_store.url
    bucket = s3_store.s3.bucket(s3_store.url)
    key = f"{bucket.prefix}README"
    async with httpx.AsyncClient() as http:
        await http.put(bucket.sign("PUT", key, 60), content=b"mine")
        await http.post(bucket.sign("POST", key, 60, {"uploads": ""}))
    await asyncio.sleep(1.1)
    assert await s3_store.blobs.collect(naming(), 1) == 0
    assert s3_store.stored() == {"README"}
    assert _unfinished(bucket) == [key]


async def test_bytes_that_one_server_deletes_while_another_stores_them_again_are_kept(
    s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = s3.bucket(f"s3://tests/{uuid4().hex}")
    address = postgres_server().migrated(uuid4().hex)
    databases = [Database(address), Database(address)]
    deleting, storing = (
        S3Blobs(bucket, tmp_path / str(number), database)
        for number, database in enumerate(databases)
    )
    began, delete = asyncio.Event(), obstore.delete_async

    async def slowly(store: S3Store, path: str) -> None:
        began.set()
        await asyncio.sleep(0.5)
        await delete(store, path)

    try:
        hash = await put(storing, b"again")
        await asyncio.sleep(2.1)
        monkeypatch.setattr(obstore, "delete_async", slowly)
        collecting = asyncio.create_task(deleting.collect(naming(), 1))
        await began.wait()
        asked = time.time()
        # More at once than there are threads and connections.
        assert set(await asyncio.gather(*(put(storing, b"again") for _ in range(40)))) == {hash}
        assert await collecting == 1
        assert stored(bucket) == {hash}
        # A delete that begins after the bytes were stored finds them new.
        assert await deleting.collect(naming(), time.time() - asked + 0.5) == 0
    finally:
        for database in databases:
            database.close()


@pytest.mark.parametrize("endpoint", ["down", "wrong key"])
async def test_a_store_that_does_not_answer_is_unavailable(
    s3: S3Server, tmp_path: Path, endpoint: str, caplog: pytest.LogCaptureFixture
) -> None:
    environment = s3.environment | (
        {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{free_ports(1)[0]}"}
        if endpoint == "down"
        else {"AWS_SECRET_ACCESS_KEY": "wrong-but-secret"}
    )
    blobs = s3_blobs(Bucket.of("s3://tests/x", environment), tmp_path)
    hash = "ab" * 32

    async def read() -> None:
        async with blobs.local(hash):
            pass

    attempts: list[Callable[[], object]] = [
        blobs.check,
        read,
        lambda: put(blobs, b"data"),
        lambda: blobs.size(hash),
        lambda: blobs.answer(hash, DOWNLOAD),
        lambda: blobs.collect(naming(), 60),
    ]
    for attempt in attempts:
        with pytest.raises(BlobsUnavailable) as refused:
            await attempt()  # type: ignore[misc]
        assert refused.value.status == 503
    assert "the blob store failed" in caplog.text
    for secret in (SECRET_KEY, "wrong-but-secret", "X-Amz-Signature"):
        assert secret not in caplog.text
    assert _files(tmp_path) == []


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.fixture
def there(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    """A place in the store for one server, which finds it by its environment."""
    for name, value in s3.environment.items():
        monkeypatch.setenv(name, value)
    yield s3.bucket(f"s3://tests/{uuid4().hex}")


def _url(bucket: Bucket) -> str:
    return f"s3://{bucket.name}/{bucket.prefix}"


@storage.only_alone
@pytest.mark.timeout(400)
def test_a_whole_life(there: Bucket, tmp_path: Path) -> None:
    scan = scanned_pdf(tmp_path / "scan.pdf").read_bytes()
    data = tmp_path / "data"
    with serve(data, "--blobs", _url(there)) as server, connect(server) as http:
        http.timeout = 120  # OCR begins with loading its models
        file = http.post("/v1/files", files={"file": ("scan.pdf", scan)}).json()
        url = http.get(f"/v1/files/{file['id']}/url", params={"expiry": 168}).json()["url"]
        assert httpx.get(url).content == scan
        content = http.get(f"/v1/files/{file['id']}/content", headers={"range": "bytes=0-3"})
        assert (content.status_code, content.content) == (206, b"%PDF")
        by_file = _read(http, {"type": "file", "file_id": file["id"]})
        # The store stands on this machine: its address is known without a connection.
        assert _read(http, {"type": "document_url", "document_url": url}) == by_file

        library = new_library(http)
        id = library.processed("scan.pdf", scan)
        word = max(library.text(id).split(), key=len).strip("|.,#").lower()
        assert library.marked(word)
        for kind in ("signed-url", "extracted-text-signed-url"):
            address = http.get(f"{library.path}/documents/{id}/{kind}").json()
            assert address.startswith(server.url)
            assert httpx.get(address).status_code == 200
        note = library.processed("a.md", b"# Notes\n\nOnly words.")
        text_url = http.get(f"{library.path}/documents/{note}/extracted-text-signed-url").json()
        assert text_url.startswith(server.url)
        assert "Only words." in httpx.get(text_url).text

        assert http.get("/readyz").status_code == 200
        assert http.delete(f"/v1/files/{file['id']}").status_code == 200
        assert http.delete(f"/v1/libraries/{library.id}").status_code in (200, 204)
        assert http.delete("/v1/trash").json() == {"deleted": 2}
    (data / "settings.toml").write_text("[limits]\ndeleted_seconds = 1\n")
    with serve(data, "--blobs", _url(there)):
        deadline = time.monotonic() + 30
        while stored(there):
            assert time.monotonic() < deadline, stored(there)
            time.sleep(0.1)
    assert {path.name for path in (data / "blobs").iterdir()} == {"tmp", "copies"}
    for log in (data / "log").iterdir():
        text = log.read_text()
        assert "Traceback" not in text
        assert SECRET_KEY not in text
        assert "X-Amz-Signature=" not in text


def _read(http: httpx.Client, document: dict[str, str]) -> object:
    answer = http.post("/v1/ocr", json={"model": None, "document": document})
    assert answer.status_code == 200, answer.text
    return answer.json()["pages"]


@storage.only_alone
def test_while_the_store_is_down_what_needs_it_is_a_503_and_the_rest_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port, data = free_ports(1)[0], tmp_path / "data"
    data.mkdir()
    (data / "settings.toml").write_text('blobs = "s3://tests/x"\n')
    with s3_server(tmp_path / "s3", port) as s3:
        for name, value in s3.environment.items():
            monkeypatch.setenv(name, value)
        with serve(data) as server, connect(server) as http:
            file = http.post("/v1/files", files={"file": ("a.txt", b"kept")}).json()
            s3.process.kill()
            s3.process.wait()
            for answer in (
                http.post("/v1/files", files={"file": ("b.txt", b"new")}),
                http.get(f"/v1/files/{file['id']}/content"),
            ):
                assert answer.status_code == 503
                assert int(answer.headers["retry-after"]) > 0
                assert "does not answer" in answer.json()["message"]
            ready = http.get("/readyz")
            assert (ready.status_code, int(ready.headers["retry-after"]) > 0) == (503, True)
            assert ready.json() == {"status": "failing", "failing": ["blobs"]}
            assert http.get("/healthz").status_code == 200
            assert http.get("/v1/files").json()["total"] == 1
            assert _files(data / "blobs" / "tmp") == []
            with s3_server(tmp_path / "s3", port):
                assert http.get("/readyz").status_code == 200
                # This store takes new bytes a moment before it has found those it had.
                deadline = time.monotonic() + 60
                while (answer := http.get(f"/v1/files/{file['id']}/content")).status_code == 503:
                    assert time.monotonic() < deadline
                assert answer.content == b"kept"
                assert http.get("/v1/files").json()["total"] == 1


@storage.only_alone
@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_kill_during_uploads_to_the_store(there: Bucket, tmp_path: Path) -> None:
    data, uploads = tmp_path / "data", Uploads(0, 10, 300_000, 9_000_000, 30_000_000)
    storm(data, rounds(1, 32), uploads.upload, "--blobs", _url(there), seconds=(0, 2))
    begun = len(_unfinished(there))
    (data / "settings.toml").write_text("[limits]\ndeleted_seconds = 1\n")
    with serve(data, "--blobs", _url(there)) as server, connect(server) as http:
        deadline = time.monotonic() + 60
        while stored(there) != named_blobs(data) or _unfinished(there):
            assert time.monotonic() < deadline
            time.sleep(0.2)
        total = uploads.check(http)
    print(f"\nuploads to S3: {len(uploads.answered)} answered, {total} there, {begun} half ones")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"AWS_SECRET_ACCESS_KEY": "wrong-but-secret"}, "cannot be written to"),
        ({"AWS_ACCESS_KEY_ID": ""}, "needs AWS_ACCESS_KEY_ID"),
    ],
)
async def test_a_store_that_cannot_be_used_is_said_so_at_the_start(
    there: Bucket,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: dict[str, str],
    said: str,
) -> None:
    for name, value in change.items():
        monkeypatch.setenv(name, value)
    refused = await carrel("serve", "--data", str(tmp_path / "data"), "--blobs", _url(there))
    assert refused.code == 1
    assert said in refused.err
    assert "wrong-but-secret" not in refused.err
