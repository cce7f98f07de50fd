"""The state of the open document."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.store.cache.copies import Copy, DocumentSource
from carrel.store.core.problem import Problem
from carrel.store.documents.blocks import Rect
from carrel.store.documents.corrections import Corrections
from carrel.store.documents.marks import TextMark
from carrel.store.documents.reader import USUAL, OCROptions

if TYPE_CHECKING:
    from carrel.wire.ocr import Page


@dataclass(frozen=True, slots=True)
class OpenedDocument:
    """A downloaded document."""

    source: DocumentSource
    copy: Copy


@dataclass(frozen=True, slots=True)
class DocumentState:
    """The open document. Pages count from 0; an unread page is None.

    `source` is the requested document, `opened` its local copy once downloaded. `wanted` are the
    pages of the options, `read` the number of those that are read, `started` the time when reading
    began (seconds since 1970), `read_before` the number read by then, and `before` the pages as
    they were before a new reading. `no_picture` is the reason for missing pictures. `block` is the
    chosen block of the current page, `place` the box of a requested passage, `mark` the chosen
    doubtful word or hit of `query`. `corrections` are those of the document's words.
    """

    source: DocumentSource | None = None
    opened: OpenedDocument | None = None
    page_count: int | None = None
    pages: tuple[Page | None, ...] = ()
    wanted: frozenset[int] = frozenset()
    current: int = 0
    reading: bool = False
    read: int = 0
    read_before: int = 0
    started: float | None = None
    options: OCROptions = USUAL
    annotation: str | None = None
    before: tuple[Page | None, ...] = ()
    no_picture: str | None = None
    block: int | None = None
    place: Rect | None = None
    query: str = ""
    mark: TextMark | None = None
    corrections: Corrections = field(default_factory=dict)
    loading: bool = False
    error: Problem | None = None

    @property
    def picture_path(self) -> Path | None:
        """The copy from which pictures are drawn."""
        return None if self.opened is None else self.opened.copy.path

    @property
    def page(self) -> Page | None:
        """The current page, or None until it is read."""
        return self.pages[self.current] if self.current < len(self.pages) else None

    @property
    def text(self) -> str | None:
        """The current page's Markdown, or None until it is read."""
        return None if self.page is None else self.page.markdown

    @property
    def complete(self) -> bool:
        """Whether every wanted page is read."""
        return self.page_count is not None and self.read == len(self.wanted)

    @property
    def next_unread(self) -> int | None:
        """The first unread page from the current one on, else of all."""
        ahead = chain(range(self.current, len(self.pages)), range(self.current))
        return next((n for n in ahead if self.pages[n] is None and n in self.wanted), None)

    @property
    def unread(self) -> int:
        """The number of wanted pages that are unread."""
        return len(self.wanted) - self.read
