"""Documents of any source as files of the service; equal bytes are uploaded once."""

import asyncio
import hashlib
import json
import tempfile
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import httpx

from carrel.client.http.errors import NotFound
from carrel.client.http.uploads import size_of
from carrel.config.profiles import Profile
from carrel.store.activity.uploads import UploadSource
from carrel.store.core.problem import ProblemError
from carrel.store.files.service import FilesService
from carrel.store.session.service import SessionService
from carrel.system.atomic import write_private
from carrel.system.filenames import file_name
from carrel.system.hashes import hashed_name, sha256
from carrel.wire.files import File

MOST = 2000
"""Number of remembered uploads; the oldest are forgotten."""

ADDRESS_SECONDS = 30.0
"""Seconds without a byte after which a download is given up."""
CHUNK = 1 << 18
"""Bytes that are read at a time."""


class Uploaded:
    """The remembered uploads of one profile from this machine."""

    def __init__(self, profile: Profile) -> None:
        folder = profile.folders.cache / "uploaded"
        self._path = folder / f"{hashed_name(profile.storage_name)}.json"
        # Each call reads the file and writes it anew: two at once would lose a line.
        self._writing = asyncio.Lock()

    async def find(self, digest: str, name: str) -> str | None:
        """Return the id of the file uploaded from bytes of this SHA-256 under this name, or
        None."""
        return (await asyncio.to_thread(self._load)).get(f"{digest} {name}")

    async def note(self, digest: str, name: str, file_id: str) -> None:
        """Remember an upload."""
        async with self._writing:
            await asyncio.to_thread(self._note, f"{digest} {name}", file_id)

    def _load(self) -> dict[str, str]:
        try:
            known = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}

    def _note(self, key: str, file_id: str) -> None:
        known = self._load()
        known.pop(key, None)
        known[key] = file_id
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_private(self._path, json.dumps(dict([*known.items()][-MOST:])))


_ADDRESS = ("http://", "https://")

Document = str | Path | bytes


class Incoming:
    """Uploads documents unless the service has them already."""

    def __init__(self, session: SessionService, files: FilesService) -> None:
        self._session = session
        self._files = files
        self._uploaded = Uploaded(session.profile)

    async def file(self, document: Document, title: str | None = None) -> File:
        """Return the file of a path, an address, bytes or an id; `title` names an uploaded one.

        Raises:
            ProblemError: there is no such document, or the service refuses it.
        """
        if isinstance(document, bytes):
            return await self._upload_once(document, title or "document")
        if isinstance(document, str) and document.startswith(_ADDRESS):
            name = title or _name_of(document)
            with tempfile.TemporaryDirectory(prefix="carrel-") as folder:
                path = Path(folder) / "document"
                await _download(document, path)
                return await self._upload_once(path, name)
        path = Path(document)
        if isinstance(document, str) and _is_id(document) and not await _exists(path):
            client = await self._session.client()
            return await client.files.get(document)
        return await self._upload_once(path, title or path.name)

    async def _upload_once(self, content: Path | bytes, name: str) -> File:
        source = await asyncio.to_thread(_as_source, content, name)
        digest = await asyncio.to_thread(_digest, content)
        if known := await self._uploaded.find(digest, name):
            client = await self._session.client()
            try:
                return await client.files.get(known)
            except NotFound:
                pass  # deleted meanwhile
        # An earlier start may have sent it and not lived to note it.
        file = await self._files.upload(source, once=True).linked()
        await self._uploaded.note(digest, name, file.id)
        return file


def _name_of(address: str) -> str:
    return file_name(unquote(urlsplit(address).path).rpartition("/")[2], "document")


async def _download(address: str, path: Path) -> None:
    try:
        async with (
            httpx.AsyncClient(follow_redirects=True, timeout=ADDRESS_SECONDS) as client,
            client.stream("GET", address) as response,
        ):
            response.raise_for_status()
            with path.open("wb") as file:
                async for chunk in response.aiter_bytes(CHUNK):
                    file.write(chunk)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        # The rest of the address may be secret.
        raise ProblemError(
            f"{urlsplit(address).hostname} sent no document",
            _reason(error),
            "Check the address, or download the document and give its path.",
        ) from None


def _reason(error: Exception) -> str:
    if isinstance(error, httpx.HTTPStatusError):
        return f"It answered {error.response.status_code} {error.response.reason_phrase}."
    if isinstance(error, httpx.TimeoutException):
        return f"It sent nothing for {ADDRESS_SECONDS:g} seconds."
    return "It was not reached."


def is_path(text: str) -> bool:
    """Return whether a text is a path: no address, and no id unless such a path exists."""
    if text.startswith(_ADDRESS):
        return False
    return not _is_id(text) or Path(text).exists()


def as_source(data: bytes, name: str) -> UploadSource:
    """Return bytes as an upload source."""
    return name, len(data), _Chunks(data)


def _is_id(text: str) -> bool:
    try:
        return bool(uuid.UUID(text))
    except ValueError:
        return False


async def _exists(path: Path) -> bool:
    return await asyncio.to_thread(path.exists)


def _as_source(content: Path | bytes, name: str) -> UploadSource:
    """Return an upload source of this name; a path of the same name is its own source.

    Raises:
        ClientError: the path is not a readable file.
    """
    if isinstance(content, bytes):
        return as_source(content, name)
    path = content.expanduser()
    size = size_of(path)
    return path if name == path.name else (name, size, _Chunks(path))


def _digest(content: Path | bytes) -> str:
    """Return the SHA-256 in hex."""
    if isinstance(content, bytes):
        return hashlib.sha256(content).hexdigest()
    return sha256(content.expanduser())


class _Chunks:
    """The bytes of an upload; every reader starts at the beginning."""

    def __init__(self, content: Path | bytes) -> None:
        self._content = content

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if isinstance(self._content, bytes):
            yield self._content
            return
        with self._content.open("rb") as file:
            while chunk := await asyncio.to_thread(file.read, CHUNK):
                yield chunk
