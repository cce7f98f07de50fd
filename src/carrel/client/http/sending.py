"""Uploads, after a check against the service's size limit."""

from contextlib import aclosing
from typing import Literal, TypeVar

from carrel.client.http.errors import ServiceError, TooLarge, UnexpectedAnswer, Unreachable
from carrel.client.http.transport import Transport
from carrel.client.http.uploads import MultipartBody
from carrel.wire.health import Health

T = TypeVar("T")
Kind = Literal["file_bytes", "document_bytes"]

ASKED_ABOVE = 1 << 24
"""Size in bytes from which the service's limit is checked first. A smaller refused upload is still
read to its end, so that the error arrives."""
USUAL = 512 * 1000 * 1000
"""Size limit in bytes from the interface's documentation, for a service that does not report its
own."""


async def send(
    transport: Transport, answer: type[T], path: str, body: MultipartBody, kind: Kind
) -> T:
    """Post an upload and close it.

    Raises:
        TooLarge: the upload exceeds the service's limit; nothing was sent.
        ClientError: the upload failed in another way.
    """
    # The source may be an open file: close it now, not at the next garbage collection.
    async with aclosing(body):
        limit = await largest(transport, kind) if body.size > ASKED_ABOVE else None
        if limit is not None and body.size > limit:
            raise TooLarge(
                f"{body.name} has {megabytes(body.size)}; {transport.host} takes"
                f" {megabytes(limit)} at most. Nothing was sent."
            )
        try:
            return await transport.call(answer, "POST", path, upload=body, unhurried=True)
        except Unreachable as error:
            # A service that refuses a large upload may close the connection before its answer is
            # read.
            if limit is None and body.size > USUAL:
                words = f"{body.name} has {megabytes(body.size)}; services usually take"
                raise Unreachable(f"{error} {words} {megabytes(USUAL)}.") from error
            raise


async def largest(transport: Transport, kind: Kind) -> int | None:
    """Return the size limit of an upload of a kind in bytes, or None if the service does not report
    it."""
    try:
        health = await transport.call(Health, "GET", "/healthz", keyless=True)
    except (ServiceError, UnexpectedAnswer):
        return None
    return health.limits.file_bytes if kind == "file_bytes" else health.limits.document_bytes


def megabytes(number: int) -> str:
    """Return a number of bytes as `3.4 MB`."""
    return f"{number / 1e6:,.1f} MB"
