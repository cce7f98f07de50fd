"""Receiving an uploaded file: streamed to disk, whole or not at all."""

import asyncio
import errno
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect, Request

from carrel.server.blobs.store import Blobs
from carrel.server.blobs.writer import Blob, BlobWriter, Buffer
from carrel.server.errors import ApiError, InvalidRequest
from carrel.text import clean_name

_BATCH_BYTES = 1024 * 1024
"""Enough for a hop to a thread."""
_SMALL_BYTES = 4096
"""Smaller pieces are copied together: each view of a larger one takes memory of its own."""
_FIELD_BYTES = 64 * 1024
"""Largest text field of an upload."""
_NAME_BYTES = 255
"""The longest name of a file on common file systems."""
_MAX_PARTS = 32
_OVERHEAD_BYTES = 1024 * 1024
"""Allowance for the other parts and all headers beyond the file's size."""


@dataclass(frozen=True)
class ReceivedFile:
    """A received file on disk, with the text parts of its request."""

    filename: str
    blob: Blob
    fields: dict[str, str]


async def receive_upload(request: Request, blobs: Blobs, *, limit: int) -> ReceivedFile:
    """Receive one multipart body with one file part named `file` of at most `limit` bytes.

    Memory is constant. A refused body leaves nothing behind.

    Raises:
        ApiError: 400 for a malformed or truncated body, 413 when it is too large, 507 when the
            disk is full.
        InvalidRequest: there is no part named `file`.
    """
    try:
        announced = request.headers.get("content-length", "")
        if announced.isdecimal() and int(announced) > limit + _OVERHEAD_BYTES:
            raise _size_error(limit)
        async with blobs.writer() as writer:
            receiver = _Receiver(_boundary(request), limit)
            async for chunk in request.stream():
                receiver.parse(chunk)
                if receiver.size >= _BATCH_BYTES:
                    await writer.write(*receiver.take())
            await writer.write(*receiver.take())
            # A caller that disconnects while its file is stored gets no file. The connection
            # notices its end only while something is received.
            disconnected = asyncio.ensure_future(_await_disconnect(request))
            try:
                upload = await receiver.finish(writer)
                if disconnected.done():
                    raise ClientDisconnect
            finally:
                disconnected.cancel()
        return upload
    except FormParserError as error:
        raise ApiError(400, f"The upload is not a well-formed multipart body: {error}") from None
    except ClientDisconnect as error:
        raise _early_end() from error
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise ApiError(507, "The server's disk is full. Free some space and try again.") from error


async def _await_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _boundary(request: Request) -> bytes:
    kind, options = parse_options_header(request.headers.get("content-type"))
    boundary = options.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary:
        raise ApiError(400, "Send the file as multipart/form-data, in a part named `file`.")
    return boundary


def _early_end() -> ApiError:
    return ApiError(400, "The upload ended before it was complete. Send it again.")


def _missing_file() -> InvalidRequest:
    return InvalidRequest(("body", "file"), "Field required", "missing")


def _size_error(limit: int) -> ApiError:
    size = f"{limit // 2**20} MiB" if limit >= 2**20 else f"{limit} bytes"
    return ApiError(413, f"The file is larger than the {size} this server takes.")


@dataclass
class _Part:
    """The current part."""

    name: str = ""
    is_file: bool = False
    text: bytearray = field(default_factory=bytearray)


class _Receiver:
    """Parses a multipart body incrementally and yields the file's bytes."""

    def __init__(self, boundary: bytes, limit: int) -> None:
        self._limit = limit
        self._pieces: list[Buffer] = []
        self.size = 0
        """Bytes of the file parsed since the last `take`."""
        self._file_bytes = 0
        self._filename: str | None = None
        self._fields: dict[str, str] = {}
        self._parts = 0
        self._part = _Part()
        self._header = (bytearray(), bytearray())
        self._headers: dict[bytes, bytes] = {}
        self._complete = False
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin_part,
                "on_header_field": self._on_header(0),
                "on_header_value": self._on_header(1),
                "on_header_end": self._end_header,
                "on_headers_finished": self._end_headers,
                "on_part_data": self._on_data,
                "on_part_end": self._end_part,
                "on_end": self._end,
            },
        )

    def parse(self, data: bytes) -> None:
        """Parse the next piece of the body."""
        self._parser.write(data)

    def take(self) -> list[Buffer]:
        """Return the bytes of the file parsed since the last call."""
        taken, self._pieces, self.size = self._pieces, [], 0
        return taken

    async def finish(self, writer: BlobWriter) -> ReceivedFile:
        """Return the upload after the whole body was parsed and written."""
        # The parser accepts a body without its closing boundary.
        if not self._complete:
            raise _early_end()
        if self._filename is None:
            raise _missing_file()
        blob = await writer.commit()
        return ReceivedFile(self._filename, blob, self._fields)

    def _begin_part(self) -> None:
        self._parts += 1
        if self._parts > _MAX_PARTS:
            raise ApiError(400, f"The upload has more than {_MAX_PARTS} parts.")
        self._part = _Part()
        self._headers = {}
        self._header = (bytearray(), bytearray())

    def _on_header(self, half: int) -> Callable[[bytes, int, int], None]:
        def append(data: bytes, start: int, end: int) -> None:
            self._header[half].extend(data[start:end])

        return append

    def _end_header(self) -> None:
        name, value = self._header
        self._headers[bytes(name).lower()] = bytes(value)
        self._header = (bytearray(), bytearray())

    def _end_headers(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition"))
        name = options.get(b"name")
        if name is None:
            raise ApiError(400, "A part of the upload has no name.")
        self._part.name = name.decode("utf-8", "replace")
        if b"filename" not in options:
            return
        if self._part.name != "file":
            raise _missing_file()
        if self._filename is not None:
            raise ApiError(400, "The upload has more than one file. Send one at a time.")
        self._part.is_file = True
        filename = options[b"filename"].decode("utf-8", "replace")
        # Browsers and most clients escape only the quotation mark.
        self._filename = safe_filename(filename.replace("%22", '"'))

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        if self._part.is_file:
            self._file_bytes += end - start
            if self._file_bytes > self._limit:
                raise _size_error(self._limit)
            self._keep(memoryview(data)[start:end])
        else:
            self._part.text += data[start:end]
            if len(self._part.text) > _FIELD_BYTES:
                raise ApiError(413, f"The part {self._part.name[:80]!r} is too large.")

    def _keep(self, piece: memoryview) -> None:
        self.size += len(piece)
        if len(piece) >= _SMALL_BYTES:
            self._pieces.append(piece)
        elif self._pieces and isinstance(last := self._pieces[-1], bytearray):
            last += piece
        else:
            self._pieces.append(bytearray(piece))

    def _end_part(self) -> None:
        if not self._part.is_file:
            self._fields[self._part.name] = self._part.text.decode("utf-8", "replace")

    def _end(self) -> None:
        self._complete = True


def safe_filename(name: str) -> str:
    """Return a name from outside as a text to show, never a path to open.

    It is the last part of what looks like a path, without unseen characters, at most 255 bytes.
    """
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    normal = unicodedata.normalize("NFC", last)
    shown = clean_name("".join(c for c in normal if unicodedata.category(c) != "Cc")).strip()
    if shown in ("", ".", ".."):
        return "file"
    suffix = PurePosixPath(shown).suffix
    if len(suffix.encode()) > 20:
        suffix = ""
    stem = shown.removesuffix(suffix).encode()[: _NAME_BYTES - len(suffix.encode())]
    return stem.decode("utf-8", "ignore") + suffix
