"""What a reader is asked, what it answers, and how it refuses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from carrel.wire.ocr import Granularity, OCRRequest, Page, TableFormat, parse_pages

INVALID_FILE = "3740"
"""The interface's code for a document that cannot be read."""


class UnreadableDocument(Exception):
    """A document cannot be read. The message is plain English and fit to be shown."""

    def __init__(self, message: str, code: str = INVALID_FILE) -> None:
        super().__init__(message)
        self.message = message
        self.code = code


class BrokenOff(UnreadableDocument):
    """The parser ended before the document did. That may be the fault of either."""


class NoSuchPage(UnreadableDocument):
    """A page was asked for that the document does not have."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="1500")


@dataclass(frozen=True)
class ReadOptions:
    """Which pages to read and what to give back. Pages count from 0; None means all."""

    pages: list[range] | None = None
    include_image_base64: bool = False
    image_limit: int | None = None
    """Pictures of all the pages together; the first ones are given."""
    image_min_size: int | None = None
    include_blocks: bool = False
    granularity: Granularity | None = None
    extract_header: bool = False
    extract_footer: bool = False
    table_format: TableFormat | None = None
    page_limit: int | None = None
    """Refuse to read more pages than this at once."""

    @classmethod
    def of(cls, request: OCRRequest, page_limit: int | None = None) -> Self:
        """The options of a request to the interface."""
        return cls(
            pages=parse_pages(request.pages),
            include_image_base64=request.include_image_base64,
            image_limit=request.image_limit,
            image_min_size=request.image_min_size,
            include_blocks=request.include_blocks,
            granularity=request.confidence_scores_granularity,
            extract_header=request.extract_header,
            extract_footer=request.extract_footer,
            table_format=request.table_format,
            page_limit=page_limit,
        )

    def as_json(self) -> dict[str, Any]:
        """For the pipe to a parser."""
        pages = None if self.pages is None else [[part.start, part.stop] for part in self.pages]
        return {**vars(self), "pages": pages}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """What `as_json` made."""
        pages = values["pages"]
        ranges = None if pages is None else [range(start, stop) for start, stop in pages]
        return cls(**{**values, "pages": ranges})


class ReadPage(NamedTuple):
    """A page that was read, and whether OCR was needed for it."""

    page: Page
    ocr_used: bool


@dataclass(frozen=True)
class ReadResult:
    """A document that was read: the pages asked for, of `page_count`, from `size` bytes."""

    pages: list[Page]
    page_count: int
    size: int
    ocr_used: bool

    @classmethod
    def of(cls, pages: Sequence[ReadPage], page_count: int, size: int) -> Self:
        """The reading that these pages are."""
        return cls(
            pages=[read.page for read in pages],
            page_count=page_count,
            size=size,
            ocr_used=any(read.ocr_used for read in pages),
        )


def select_pages(options: ReadOptions, page_count: int) -> list[int]:
    """The page numbers to read, each once, in the order asked for.

    Raises:
        NoSuchPage: one of them is beyond the end.
        UnreadableDocument: they are too many for one request.
    """
    ranges = [range(page_count)] if options.pages is None else options.pages
    selected: dict[int, None] = {}
    for part in ranges:
        if part.stop > page_count:
            missing = max(part.start, page_count)
            have = "1 page, number 0" if page_count == 1 else f"{page_count} pages, from number 0"
            raise NoSuchPage(
                f"There is no page {missing}: the document has {have}. Ask for other pages."
            )
        selected.update(dict.fromkeys(part))
    if options.page_limit is not None and len(selected) > options.page_limit:
        raise UnreadableDocument(
            f"{len(selected)} pages are too many for one request: at most {options.page_limit}"
            " are read. Ask for fewer with `pages`."
        )
    return list(selected)
