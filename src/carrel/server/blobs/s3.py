"""Blobs in an S3-compatible store: `prefix/aa/<sha256>`, the same layout as in a folder.

A blob is first written to a local file: its name, the hash, is only known at its end, and its
uploader reads it at once. Under a temporary key it would have to be copied in the
store, which doubles the traffic there and leaves another kind of rest behind after a crash.

Servers may share the prefix. Deleting a blob that another server stores again at the same moment
must not lose it: a delete holds the blob's turn, and a server that has stored a blob waits for
that turn, then looks whether the blob is still there. A later delete finds it new and spares it.
"""

import asyncio
import logging
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from io import BufferedWriter
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote, unquote

import httpx
import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store
from starlette.responses import Response

from carrel.server.blobs.bucket import Bucket
from carrel.server.blobs.copies import LIMIT_BYTES, LocalCopies
from carrel.server.blobs.ranges import PIECE_BYTES, RangeResponse
from carrel.server.blobs.store import (
    AT_ONCE,
    BlobMissing,
    BlobsFull,
    BlobsUnavailable,
    Download,
    Named,
    find_unnamed,
)
from carrel.server.blobs.writer import BlobWriter

if TYPE_CHECKING:
    from obstore.store import S3Config

log = logging.getLogger(__name__)

_DISPOSITION = "response-content-disposition"
_ATTACHMENT = "attachment; filename*=utf-8''"
_PART_BYTES = 8 * 1024 * 1024
_PARALLEL_PARTS = 2
"""Parts of an upload that are sent at once."""
_KEY = re.compile(r"[0-9a-f]{2}/[0-9a-f]{64}")
_NO_MORE = re.compile(r"status code: 50[07]|<Code>\w*(QuotaExceeded|StorageFull)")
"""Repeated refusals of a write that mean a full store: most stores have no other word for it."""
_REQUEST_SECONDS = 60
_RETRY_SECONDS = 10
_ADDRESS_SECONDS = 60
_ATTEMPTS = 3
"""Attempts to store bytes that a garbage collection deletes meanwhile."""


class Turns(Protocol):
    """Lets the servers that use a bucket wait for each other."""

    def turn(self, name: str) -> AbstractAsyncContextManager[None]:
        """Let blocks of this name run one after another."""

    async def wait_for_block(self, name: str) -> None:
        """Wait until no server is inside a block of this name."""


class OwnTurns:
    """The turns of a bucket that one process uses."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def turn(self, name: str) -> AsyncIterator[None]:
        """Let blocks run one after another."""
        async with self._lock:
            yield

    async def wait_for_block(self, name: str) -> None:
        """Wait until no block runs."""
        async with self._lock:
            return


class S3Blobs:
    """Content-addressed bytes below one prefix of a bucket, with local copies of some.

    For one event loop.
    """

    def __init__(
        self,
        bucket: Bucket,
        folder: Path,
        turns: Turns,
        kept_bytes: int = LIMIT_BYTES,
        *,
        signs: bool = False,
    ) -> None:
        """`folder` belongs to this process; files of an earlier one are removed.

        Local copies of at most `kept_bytes` stay for later. With `signs`, signed addresses are the
        store's own.
        """
        self._bucket = bucket
        self._signs = signs
        self._turns = turns
        self._parts = folder / "tmp"
        self._parts.mkdir(parents=True, exist_ok=True)
        for part in self._parts.iterdir():
            part.unlink()
        self._copies = LocalCopies(folder / "copies", kept_bytes)
        self._store = open_store(bucket)

    def writer(self) -> BlobWriter:
        """Return a new blob, written piece by piece."""
        return BlobWriter(self._parts, self._publish)

    async def size(self, hash: str) -> int:
        """Return the number of the bytes."""
        with _failures(BlobMissing):
            return (await obstore.head_async(self._store, _key(hash)))["size"]

    @asynccontextmanager
    async def local(self, hash: str) -> AsyncIterator[Path]:
        """Yield a local copy of the bytes."""
        async with self._copies.read(hash, self._fetch) as path:
            yield path

    async def answer(self, hash: str, download: Download) -> Response:
        """Answer with the bytes, whole or the range that the request asks for."""
        headers = {
            **download.headers,
            "content-type": download.media_type,
            "content-disposition": _disposition(download.filename),
            "etag": f'"{hash}"',
        }
        return RangeResponse(partial(self._read, hash), await self.size(hash), headers)

    def signed_url(self, hash: str, download: Download, seconds: int) -> str | None:
        """Return the store's own address of the bytes, for GET, or None where it is not to sign."""
        if not self._signs:
            return None
        query = {
            _DISPOSITION: _disposition(download.filename),
            "response-content-type": download.media_type,
        }
        return self._bucket.sign("GET", self._bucket.prefix + _key(hash), seconds, query)

    def verify_url(self, url: str) -> tuple[str, str] | None:
        """Return the hash and the file name of an address signed by us; None if it is invalid."""
        signed = self._bucket.verify(url)
        if signed is None:
            return None
        key, query = signed
        key = key.removeprefix(self._bucket.prefix)
        filename = query.get(_DISPOSITION, "").removeprefix(_ATTACHMENT)
        return (key.rpartition("/")[2], unquote(filename)) if _KEY.fullmatch(key) else None

    async def collect(self, named: Named, older_than: float) -> int:
        """Remove old blobs that no record names and broken uploads; return how many blobs.

        The store lists its objects page by page.
        """
        # A store's times are whole seconds: what it says was made at 12:00:00 may be of 12:00:00.9.
        before = datetime.now(UTC) - timedelta(seconds=older_than + 1)
        removed = 0
        with _failures():
            async for found in obstore.list(self._store, chunk_size=AT_ONCE):
                old = [item["path"] for item in found if item["last_modified"] < before]
                hashes = [key.rpartition("/")[2] for key in old if _KEY.fullmatch(key)]
                async for some in find_unnamed(hashes, named):
                    for hash in some:
                        removed += await self._remove(hash, before)
            await self._abort_uploads(before)
        return removed

    async def drop_copies(self, named: Named) -> None:
        """Remove local copies of bytes that no record names."""
        async for some in find_unnamed(self._copies.hashes, named):
            self._copies.drop(some)

    async def check(self) -> None:
        """Check that the store can be written to."""
        async with self.writer() as writer:
            await writer.commit()

    async def _publish(self, file: BufferedWriter, hash: str) -> None:
        """Upload a finished part, as a multipart upload where it is large.

        Also when the bytes exist: the new time protects them from garbage collection.
        """
        await asyncio.to_thread(file.close)
        with _failures(full=BlobsFull):
            for _ in range(_ATTEMPTS):
                await obstore.put_async(
                    self._store,
                    _key(hash),
                    Path(file.name),
                    chunk_size=_PART_BYTES,
                    max_concurrency=_PARALLEL_PARTS,
                )
                await self._turns.wait_for_block(_key(hash))
                if await self._modification_time(hash) is not None:
                    break
            else:
                raise FileNotFoundError(f"{hash} was deleted while it was stored")
        self._copies.adopt(Path(file.name), hash)

    async def _remove(self, hash: str, before: datetime) -> bool:
        async with self._turns.turn(_key(hash)):
            # It may have been stored again since the listing, or removed by another server.
            made = await self._modification_time(hash)
            if made is None or made >= before:
                return False
            await obstore.delete_async(self._store, _key(hash))
            return True

    async def _modification_time(self, hash: str) -> datetime | None:
        try:
            return (await obstore.head_async(self._store, _key(hash)))["last_modified"]
        except FileNotFoundError:
            return None

    async def _abort_uploads(self, before: datetime) -> None:
        """Abort unfinished multipart uploads, left behind by a killed server."""
        sign = self._bucket.sign
        query = {"uploads": "", "prefix": self._bucket.prefix}
        async with httpx.AsyncClient(timeout=_REQUEST_SECONDS) as http:
            found = _good(await http.get(sign("GET", "", _ADDRESS_SECONDS, query)))
            for upload in ElementTree.fromstring(found.content).iterfind("{*}Upload"):
                key = upload.findtext("{*}Key", "")
                begun = datetime.fromisoformat(upload.findtext("{*}Initiated", ""))
                # Other programs may have uploads in the bucket, too.
                if begun < before and _KEY.fullmatch(key.removeprefix(self._bucket.prefix)):
                    query = {"uploadId": upload.findtext("{*}UploadId", "")}
                    _good(await http.delete(sign("DELETE", key, _ADDRESS_SECONDS, query)))

    async def _fetch(self, hash: str, file: Path) -> None:
        size = await self.size(hash)
        with file.open("xb") as target:
            for start in range(0, size, PIECE_BYTES):
                piece = await self._read(hash, start, min(size - start, PIECE_BYTES))
                await asyncio.to_thread(target.write, piece)

    async def _read(self, hash: str, start: int, length: int) -> bytes:
        with _failures(BlobMissing):
            return bytes(
                await obstore.get_range_async(self._store, _key(hash), start=start, length=length)
            )


@contextmanager
def _failures(
    not_found: type[BlobMissing | BlobsUnavailable] = BlobsUnavailable,
    full: type[BlobsFull | BlobsUnavailable] = BlobsUnavailable,
) -> Iterator[None]:
    """Log an error of the store, and raise `BlobsUnavailable` or the named one in its place."""
    try:
        yield
    except (BaseError, FileNotFoundError, httpx.HTTPError) as error:
        # The first line is the error; the others repeat the request.
        log.error("the blob store failed: %s", str(error).partition("\n")[0])
        if isinstance(error, FileNotFoundError):
            raise not_found() from None
        raise (full if _NO_MORE.search(str(error)) else BlobsUnavailable)() from None


def _good(answer: httpx.Response) -> httpx.Response:
    """Return a successful response; httpx's own check would put the address into its error."""
    if answer.is_error:
        raise httpx.HTTPError(f"{answer.request.method} was answered {answer.status_code}")
    return answer


def open_store(bucket: Bucket) -> S3Store:
    """Return a client of the objects below a bucket's prefix."""
    config: S3Config = {
        "bucket": bucket.name,
        "endpoint": bucket.endpoint,
        "region": bucket.region,
        "access_key_id": bucket.access_key,
        "secret_access_key": bucket.secret_key,
        "virtual_hosted_style_request": False,
    }
    if bucket.session_token:
        config["session_token"] = bucket.session_token
    return S3Store(
        prefix=bucket.prefix or None,
        config=config,
        client_options={
            "allow_http": bucket.endpoint.startswith("http://"),
            "timeout": timedelta(seconds=_REQUEST_SECONDS),
        },
        retry_config={"max_retries": 3, "retry_timeout": timedelta(seconds=_RETRY_SECONDS)},
    )


def _key(hash: str) -> str:
    return f"{hash[:2]}/{hash}"


def _disposition(filename: str) -> str:
    return _ATTACHMENT + quote(filename, safe="")
