"""Answers that carry stored bytes."""

from starlette.responses import FileResponse

from carrel.server.blobs.local import LocalBlobs

SAFE_HEADERS = {
    # Whatever the bytes claim to be, a browser neither guesses nor runs them.
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
    "referrer-policy": "no-referrer",
    "cache-control": "private, no-cache",
}


def blob_response(
    blobs: LocalBlobs, hash: str, *, filename: str, mimetype: str = "application/octet-stream"
) -> FileResponse:
    """The bytes of a blob as a download, whole or the asked range, with safe headers."""
    return FileResponse(
        blobs.path(hash),
        media_type=mimetype,
        filename=filename,
        headers={**SAFE_HEADERS, "etag": f'"{hash}"'},
    )
