"""Downloads of a document: its stored bytes, or its text."""

from urllib.parse import quote

from starlette.responses import Response

from carrel.server.blobs.store import Download

_HEADERS = {
    # A browser must neither sniff nor run the bytes.
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
    "referrer-policy": "no-referrer",
    "cache-control": "private, no-cache",
}


def download(filename: str, mimetype: str | None) -> Download:
    """Return a blob as a download of that name with safe headers."""
    return Download(filename, mimetype or "application/octet-stream", _HEADERS)


def text_response(text: str, *, filename: str) -> Response:
    """Return a text as a Markdown download with safe headers."""
    disposition = f"attachment; filename*=utf-8''{quote(filename, safe='')}"
    return Response(
        text,
        media_type="text/markdown; charset=utf-8",
        headers={**_HEADERS, "content-disposition": disposition},
    )
