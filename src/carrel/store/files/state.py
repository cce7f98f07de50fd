"""The state of the list of files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from carrel.store.cache.readings import PagesRead
from carrel.store.core.lists import Seen, Sort, find_at, first_missing, last_page
from carrel.store.core.problem import Problem

if TYPE_CHECKING:
    from carrel.wire.files import File, Purpose, Source

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
"""Media types of each kind of file by which a list can be filtered."""


@dataclass(frozen=True, slots=True)
class FilesState:
    """The shown page of files, and cached pages. Pages count from 0.

    `search` is part of a name; a name must not contain a word after a `!`. `type` is one of TYPES.
    `marked` has the marked files of all pages by id. The service does not sort files: a `sort`
    loads every page, up to the cache's limit. `as_of` is the time (seconds since 1970) at which a
    cached list was current, shown while the service is unreachable.
    """

    items: tuple[File, ...] = ()
    total: int | None = None
    page: int = 0
    page_size: int = 50
    seen: Seen[File] = field(default_factory=dict, repr=False)
    search: str = ""
    purpose: Purpose | None = None
    source: Source | None = None
    type: str | None = None
    sort: Sort | None = None
    selected: str | None = None
    marked: Mapping[str, File] = field(default_factory=dict, repr=False)
    readings: Mapping[str, PagesRead] = field(default_factory=dict, repr=False)
    """Reading progress by file id, including that of earlier runs."""
    as_of: float | None = None
    loaded: bool = False
    loading: bool = False
    error: Problem | None = None

    @property
    def narrowed(self) -> bool:
        """Whether a search or filter is active."""
        return bool(self.search or self.purpose or self.source or self.type)

    @property
    def last_page(self) -> int:
        """The number of the last page."""
        return last_page(self.total, self.page_size)

    @property
    def missing(self) -> int | None:
        """The next page to load for a sorted list, or None if it is complete."""
        return first_missing(self.seen, self.last_page)

    def at(self, index: int) -> File | None:
        """Return the file at an index of the whole list, or None if it is not cached."""
        return find_at(index, self.page_size, self.page, self.items, self.seen)

    def find(self, file_id: str | None) -> File | None:
        """Return a file of the cached pages, or None."""
        pages = (self.items, *self.seen.values())
        return next((file for items in pages for file in items if file.id == file_id), None)
