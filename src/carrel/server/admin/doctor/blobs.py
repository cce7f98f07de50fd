"""Stored bytes, in a folder or an object store."""

import asyncio
import os
import socket
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

import httpx

from carrel.server.admin.doctor.findings import (
    ANSWER_SECONDS,
    Finding,
    advice_to_write,
    clock_of,
    failure,
    ok,
    reason_of,
)
from carrel.server.admin.doctor.folder import try_writing
from carrel.server.admin.live_blobs import LiveBlobs
from carrel.server.datadir.folder import FORMAT, FolderLayout
from carrel.server.records.sql import sqlite
from carrel.server.settings import ServerSettings

if TYPE_CHECKING:
    from carrel.server.blobs.bucket import Bucket


async def check_blobs(settings: ServerSettings) -> list[Finding]:
    """Check that bytes can be written, and that no record names missing bytes."""
    part = "blobs"
    if settings.blobs is None:
        folder = FolderLayout(settings.data).blob_folder
        if settings.database is not None:
            said = "servers of a database need a store of their documents"
            return [failure(part, said, "Name it with --blobs s3://BUCKET/PREFIX.")]
        if not folder.exists():
            return [ok(part, "none yet")]
        try:
            try_writing(folder)
        except OSError as error:
            said = f"{folder} cannot be written: {reason_of(error)}"
            return [failure(part, said, advice_to_write(error, folder))]
        return [await asyncio.to_thread(_check_present, FolderLayout(settings.data))]
    from carrel.server.blobs.bucket import Bucket

    try:
        bucket = Bucket.of(settings.blobs, os.environ)
    except ValueError as error:
        return [failure(part, str(error), "Set them as for “carrel serve”.")]
    return await _bucket(bucket, settings.blobs)


def _check_present(folder: FolderLayout) -> Finding:
    """Check whether every file that the records name is there."""
    part = "blobs"
    if not folder.database_file.exists() or folder.format != FORMAT:
        return ok(part, f"{folder.blob_folder}, writable")
    number = gone = 0
    example = ""
    for page in LiveBlobs(sqlite.read_only_engine(folder.database_file).connect).pages():
        number += len(page)
        missing = [hash for hash in page if not (folder.blob_folder / hash[:2] / hash).is_file()]
        gone += len(missing)
        example = example or next(iter(missing), "")
    if gone:
        verb = "is" if gone == 1 else "are"
        said = f"{gone:,} of {number:,} {verb} missing, such as {example}"
        return failure(part, said, "Copy them from a backup's blobs, or upload these files again.")
    there = {0: "nothing is kept yet", 1: "the only one is there"}
    said = there.get(number, f"all {number:,} are there")
    return ok(part, f"{folder.blob_folder}, writable, {said}")


async def _bucket(bucket: "Bucket", url: str) -> list[Finding]:
    """Write, read and delete an object by signed addresses, as clients do."""
    part, key = "blobs", f"{bucket.prefix}doctor-{os.getpid()}-{socket.gethostname()}"
    where = f"{url} at {bucket.endpoint}"
    credentials = "Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION, and their rights."
    async with httpx.AsyncClient(timeout=ANSWER_SECONDS) as http:
        try:
            before = time.time()
            put = await http.put(bucket.sign("PUT", key, 60), content=b"carrel")
            skew = _skew(put, before)
            clock = [] if skew is None else [clock_of("the store", skew)]
            if put.status_code == 404:
                return [failure(part, f"{where}: there is no bucket {bucket.name}", "Create it.")]
            if put.is_error:
                said = f"{where} refuses a write ({put.status_code} {_code(put)})"
                return [failure(part, said, credentials), *clock]
            got = await http.get(bucket.sign("GET", key, 60))
            forged = await http.get(bucket.sign("GET", key, 60)[:-4] + "0000")
            deleted = await http.delete(bucket.sign("DELETE", key, 60))
        except httpx.HTTPError as error:
            advice = "Check AWS_ENDPOINT_URL, and that the store runs."
            return [failure(part, f"{where} does not answer: {reason_of(error)}", advice)]
    if got.content != b"carrel" or deleted.is_error:
        which = "read" if got.content != b"carrel" else "delete"
        return [failure(part, f"{where} refuses a {which}", credentials), *clock]
    if forged.is_success:
        said = f"{where} does not check signatures: anybody can read documents"
        return [failure(part, said, "Turn authentication on in the store."), *clock]
    return [ok(part, f"{where}: write, signed read and delete work"), *clock]


def _skew(answer: httpx.Response, before: float) -> float | None:
    """Return the seconds by which an answer's `Date` is ahead of this clock; `Date` has whole
    seconds.
    """
    try:
        theirs = parsedate_to_datetime(answer.headers["date"]).timestamp()
    except (KeyError, ValueError):
        return None
    return theirs + 0.5 - (before + time.time()) / 2


def _code(answer: httpx.Response) -> str:
    """Return an object store's code of an error."""
    _, _, rest = answer.text.partition("<Code>")
    return rest.partition("</Code>")[0][:50]
