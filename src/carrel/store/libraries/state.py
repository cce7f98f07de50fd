"""The state of libraries: the list, the selected one's documents, and its search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from carrel.store.core.lists import Seen, Sort, find_at, last_page
from carrel.store.core.problem import Problem

if TYPE_CHECKING:
    from carrel.wire.documents import Document
    from carrel.wire.libraries import Library, SearchHit


@dataclass(frozen=True, slots=True)
class LibrariesState:
    """The libraries, a page of the selected one's documents, and its search.

    `seen` has the cached pages of documents; `total` and `page` refer to documents; pages count
    from 0. `document` is the selected document, `text` its text once loaded; `marked` has the
    marked documents of all pages by id. `sort` is the service's sort of the documents; None is
    newest first. `search_error` is the search's failure; loading a list clears only `error`.
    `as_of` is the time (seconds since 1970) at which a cached list was current, shown while the
    service is unreachable.
    """

    items: tuple[Library, ...] = ()
    selected: str | None = None
    documents: tuple[Document, ...] = ()
    total: int | None = None
    page: int = 0
    page_size: int = 50
    seen: Seen[Document] = field(default_factory=dict, repr=False)
    sort: Sort | None = None
    document: str | None = None
    marked: Mapping[str, Document] = field(default_factory=dict, repr=False)
    text: str | None = None
    query: str = ""
    hits: tuple[SearchHit, ...] = ()
    as_of: float | None = None
    loaded: bool = False
    loading: bool = False
    searching: bool = False
    search_error: Problem | None = None
    error: Problem | None = None

    @property
    def last_page(self) -> int:
        """The number of the last page of the documents."""
        return last_page(self.total, self.page_size)

    def at(self, index: int) -> Document | None:
        """Return the document at an index of the whole list, or None if it is not cached."""
        return find_at(index, self.page_size, self.page, self.documents, self.seen)

    def find(self, document_id: str | None) -> Document | None:
        """Return a document of the cached pages, or None."""
        pages = (self.documents, *self.seen.values())
        return next((one for page in pages for one in page if one.id == document_id), None)

    def library(self, library_id: str | None) -> Library | None:
        """Return a library, or None."""
        return next((item for item in self.items if item.id == library_id), None)
