"""Answers that carry a document: its stored bytes, or its text."""

from urllib.parse import quote

from starlette.responses import FileResponse, Response

from carrel.server.blobs.local import LocalBlobs

_HEADERS = {
    # Whatever the bytes claim to be, a browser neither guesses nor runs them.
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
    "referrer-policy": "no-referrer",
    "cache-control": "private, no-cache",
}


def blob_response(
    blobs: LocalBlobs, hash: str, *, filename: str, mimetype: str | None
) -> FileResponse:
    """The bytes of a blob as a download, whole or the asked range, with safe headers."""
    return FileResponse(
        blobs.path(hash),
        media_type=mimetype or "application/octet-stream",
        filename=filename,
        headers={**_HEADERS, "etag": f'"{hash}"'},
    )


def text_response(text: str, *, filename: str) -> Response:
    """A text as a Markdown download, with safe headers."""
    disposition = f"attachment; filename*=utf-8''{quote(filename, safe='')}"
    return Response(
        text,
        media_type="text/markdown; charset=utf-8",
        headers={**_HEADERS, "content-disposition": disposition},
    )
