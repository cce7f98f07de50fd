"""Kinds of files and their media types."""

from __future__ import annotations

from collections.abc import Mapping

_OFFICE = "application/vnd.openxmlformats-officedocument"
_OPEN = "application/vnd.oasis.opendocument"
TYPES: Mapping[str, tuple[str, ...]] = {
    "PDF": ("application/pdf",),
    "picture": (
        "image/png",
        "image/jpeg",
        "image/tiff",
        "image/webp",
        "image/gif",
        "image/bmp",
        "image/heic",
        "image/heif",
        "image/avif",
        "image/svg+xml",
    ),
    "office": (
        f"{_OFFICE}.wordprocessingml.document",
        f"{_OFFICE}.presentationml.presentation",
        f"{_OFFICE}.spreadsheetml.sheet",
        f"{_OPEN}.text",
        f"{_OPEN}.presentation",
        f"{_OPEN}.spreadsheet",
        "application/msword",
        "application/vnd.ms-excel",
        "application/vnd.ms-powerpoint",
        "application/rtf",
    ),
    "text": ("text/plain", "text/markdown", "text/html", "text/csv", "text/x-rst"),
    "JSONL": ("application/jsonl", "application/x-ndjson"),
    "JSON": ("application/json",),
    "mail": ("message/rfc822", "application/vnd.ms-outlook"),
}
"""Kinds of files that a list can be narrowed to, and the media types that belong to each."""
