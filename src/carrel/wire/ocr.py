"""OCR: a document in, its pages out."""

import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, field_validator, model_validator

from carrel.wire.base import Count, Request, ResponseModel, Text, omitted_when_none
from carrel.wire.generation.content import DocumentURLChunk, FileChunk, ImageURLChunk
from carrel.wire.generation.formats import ResponseFormat

Granularity = Literal["page", "word", "block"]
TableFormat = Literal["markdown", "html"]

_PAGE_RANGE = re.compile(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?")


def parse_pages(pages: int | str | list[int | str] | None) -> list[range] | None:
    """Return the page numbers asked for, from 0, as ranges in the order given; None for all pages.

    Accepts a number, a text of numbers and ranges (`"0,2-4"`), or a list mixing both.

    Raises:
        ValueError: a part is neither a number nor a rising range.
    """
    if pages is None:
        return None
    parts: list[str] = []
    for item in pages if isinstance(pages, list) else [pages]:
        parts += str(item).split(",")
    ranges = []
    for part in parts:
        match = _PAGE_RANGE.fullmatch(part)
        if not match:
            raise ValueError(f"{part.strip()!r} is neither a page number nor a range like 2-4")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise ValueError(f"the range {part.strip()} runs backwards")
        ranges.append(range(first, last + 1))
    return ranges


def _document_kind(value: Any) -> str | None:
    """Return the variant of a document; raw callers may omit `type`."""
    if isinstance(value, dict):
        for kind, key in (
            ("file", "file_id"),
            ("image_url", "image_url"),
            ("document_url", "document_url"),
        ):
            if value.get("type", kind) == kind and key in value:
                return kind
        tag = value.get("type")
        return tag if isinstance(tag, str) else None
    return getattr(value, "type", None)


OCRDocument = Annotated[
    Annotated[DocumentURLChunk, Tag("document_url")]
    | Annotated[ImageURLChunk, Tag("image_url")]
    | Annotated[FileChunk, Tag("file")],
    Discriminator(
        _document_kind,
        custom_error_type="document",
        custom_error_message="A document has a document_url, an image_url or a file_id",
    ),
]


class OCRRequest(Request):
    """An OCR request: the document, its pages, and the parts of the answer."""

    # It must be present, though it may be null.
    keeps_null = ("model",)

    model: Text | None
    document: OCRDocument
    id: Text | None = None
    pages: Count | Text | list[Count | Text] | None = None
    include_image_base64: bool = False
    image_limit: Count | None = None
    image_min_size: Count | None = None
    include_blocks: bool = False
    bbox_annotation_format: ResponseFormat | None = None
    document_annotation_format: ResponseFormat | None = None
    document_annotation_prompt: Text | None = None
    confidence_scores_granularity: Granularity | None = None
    extract_header: bool = False
    extract_footer: bool = False
    table_format: TableFormat | None = None

    @field_validator("pages")
    @classmethod
    def _check_pages(cls, pages: Any) -> Any:
        parse_pages(pages)
        return pages

    @model_validator(mode="after")
    def _check_annotation(self) -> "OCRRequest":
        if self.document_annotation_prompt is not None and self.document_annotation_format is None:
            raise ValueError("document_annotation_prompt requires document_annotation_format")
        return self


class Box(ResponseModel):
    """A rectangle in the page's pixels, from the top left corner."""

    top_left_x: int | None
    top_left_y: int | None
    bottom_right_x: int | None
    bottom_right_y: int | None


class PageImage(Box):
    """A picture on a page. `image_base64` is a data URL; `image_annotation` is JSON text."""

    id: str
    image_base64: str | None = omitted_when_none()
    image_annotation: str | None = omitted_when_none()


@dataclass(slots=True)
class WordScore:
    """The confidence of one word; `start_index` is its offset in the page's Markdown.

    A dataclass: a model would take four times the memory, and a book has a million words.
    """

    text: str
    confidence: float
    start_index: int


class PageScores(ResponseModel):
    """The confidence of a page, 0 to 1."""

    average_page_confidence_score: float
    minimum_page_confidence_score: float
    word_confidence_scores: list[WordScore] | None = omitted_when_none()
    order_confidence_score: float | None = omitted_when_none(
        "How likely a block follows the right one, on average (an extension)."
    )
    structure_confidence_score: float | None = omitted_when_none(
        "How likely neighbouring cells of a table are neighbours on the page, on average (an"
        " extension)."
    )
    text_from_file: bool | None = omitted_when_none(
        "Whether all text is the file's own: none was recognised (an extension)."
    )


class BlockScores(ResponseModel):
    """The confidence of a block, 0 to 1."""

    average_content_confidence_score: float | None = None
    minimum_content_confidence_score: float | None = None
    block_type_confidence_score: float | None = None
    order_confidence_score: float | None = omitted_when_none(
        "How likely the block follows the right one (an extension)."
    )
    structure_confidence_score: float | None = omitted_when_none(
        "How likely neighbouring cells of the table are neighbours on the page (an extension)."
    )


class PageTable(ResponseModel):
    """A table kept apart from the page's Markdown, as Markdown or HTML."""

    id: str
    content: str
    format: TableFormat | str
    word_confidence_scores: list[WordScore] | None = omitted_when_none()
    structure_confidence_score: float | None = omitted_when_none(
        "How likely neighbouring cells are neighbours on the page (an extension)."
    )


BlockType = Literal[
    "text",
    "title",
    "list",
    "table",
    "image",
    "equation",
    "caption",
    "code",
    "references",
    "aside_text",
    "header",
    "footer",
    "signature",
]


class Block(Box):
    """A part of a page, in reading order."""

    type: BlockType | str
    content: str
    table_id: str | None = omitted_when_none()
    image_id: str | None = omitted_when_none()
    confidence_scores: BlockScores | None = omitted_when_none()


class Dimensions(ResponseModel):
    """A page's size in pixels at `dpi`."""

    dpi: int | None = None
    height: int | None = None
    width: int | None = None


class VisionReading(ResponseModel):
    """The reading of a page by a vision model, beside the built-in one (an extension).

    The model's reading is the page's Markdown, and `built_in_markdown` stands beside it. With an
    `error`, the model did not read the page, and the built-in reading is the page's Markdown.
    """

    model: str
    built_in_markdown: str | None = omitted_when_none()
    agreement: float | None = omitted_when_none(
        "The part of the model's words that the built-in reader read as well, 0 to 1."
    )
    error: str | None = omitted_when_none()


class Page(ResponseModel):
    """One page. `index` counts from 0 in the whole document, whatever was asked for."""

    index: int
    markdown: str
    images: list[PageImage] = Field(default_factory=list)
    dimensions: Dimensions | None
    tables: list[PageTable] = Field(default_factory=list)
    hyperlinks: list[str] = Field(default_factory=list)
    header: str | None = None
    footer: str | None = None
    confidence_scores: PageScores | None = None
    blocks: list[Block] | None = omitted_when_none()
    vision: VisionReading | None = omitted_when_none(
        "The reading by a vision model, if one was asked (an extension)."
    )


class OCRUsage(ResponseModel):
    pages_processed: int
    doc_size_bytes: int | None = None
    image_annotations_unseen: bool | None = omitted_when_none(
        "The model cannot see: what it says of the pictures, it took from the text around them (an"
        " extension)."
    )
    image_annotations_failed: int | None = omitted_when_none(
        "The pictures without an annotation because the model did not keep to the format (an"
        " extension)."
    )
    document_annotation_condensed: bool | None = omitted_when_none(
        "The document was too long for the model, which was shown the beginning of every page to"
        " annotate it (an extension)."
    )


class OCRResult(ResponseModel):
    """The pages that were read. `document_annotation` is JSON text."""

    pages: list[Page]
    model: str
    document_annotation: str | None = omitted_when_none()
    usage_info: OCRUsage
