"""A reader's options, results and errors."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from carrel.wire.ocr import Granularity, OCRRequest, Page, TableFormat, parse_pages


class UnreadableDocument(Exception):
    """The document cannot be read; the message is plain English and fit to be shown."""

    code = "3740"
    """The API's error code."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class BrokenOff(UnreadableDocument):
    """The parser ended mid-document; either may be at fault."""

    def __init__(self) -> None:
        super().__init__(
            "This document cannot be read within the limits of memory and time. It may be damaged."
        )


class NoSuchPage(UnreadableDocument):
    """A requested page is beyond the document's end."""


class ReadingTimeout(Exception):
    """The time for a document was up; `read` of the `selected` pages are kept, both 0 if none."""

    def __init__(self, read: int, selected: int) -> None:
        super().__init__(f"{read} of {selected} pages were read in time")
        self.read = read
        self.selected = selected


@dataclass(frozen=True)
class ReadOptions:
    """The pages to read and the parts to return. Pages count from 0; None means all."""

    pages: list[range] | None = None
    include_image_base64: bool = False
    image_limit: int | None = None
    """Maximum over all pages together; the first images are kept."""
    image_min_size: int | None = None
    include_blocks: bool = False
    granularity: Granularity | None = None
    extract_header: bool = False
    extract_footer: bool = False
    table_format: TableFormat | None = None
    page_limit: int | None = None
    """Maximum pages per request; more are refused."""

    @classmethod
    def of(cls, request: OCRRequest, page_limit: int | None = None) -> Self:
        """Return the options of an API request."""
        same = (cls.__dataclass_fields__.keys() & OCRRequest.model_fields.keys()) - {"pages"}
        return cls(
            **{name: getattr(request, name) for name in same},
            pages=parse_pages(request.pages),
            granularity=request.confidence_scores_granularity,
            page_limit=page_limit,
        )

    def as_json(self) -> dict[str, Any]:
        """Return JSON values for the pipe to a parser."""
        pages = None if self.pages is None else [[part.start, part.stop] for part in self.pages]
        return {**vars(self), "pages": pages}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Return the options of JSON values: the inverse of `as_json`."""
        pages = values["pages"]
        ranges = None if pages is None else [range(start, stop) for start, stop in pages]
        return cls(**{**values, "pages": ranges})


class ReadPage(NamedTuple):
    """A page as read, with the outcome of OCR and the failed steps."""

    page: Page
    ocr_used: bool
    doubted: bool = False
    failed: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReadResult:
    """The requested pages of a document of `page_count` pages and `size` bytes."""

    pages: list[Page]
    page_count: int
    size: int
    ocr_used: bool
    doubted: frozenset[int] = frozenset()
    """The indexes of the pages that OCR doubts."""


def select_pages(options: ReadOptions, page_count: int) -> list[int]:
    """Return the page numbers to read, in the order requested, without duplicates.

    Raises:
        NoSuchPage: a page is beyond the end.
        UnreadableDocument: there are too many for one request.
    """
    selected: dict[int, None] = {}
    for part in [range(page_count)] if options.pages is None else options.pages:
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
