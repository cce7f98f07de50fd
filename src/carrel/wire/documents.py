"""Library documents (beta): upload, processing status, text, signed addresses."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from carrel.wire.base import (
    Count,
    Name,
    Request,
    ResponseModel,
    Stored,
    Text,
    Timestamp,
    omitted_when_none,
)
from carrel.wire.libraries import Pagination

ProcessStatus = Literal[
    "self_managed",
    "missing_content",
    "noop",
    "done",
    "todo",
    "in_progress",
    "error",
    "waiting_for_capacity",
]

SortBy = Literal[
    "created_at",
    "name",
    "size",
    "extension",
    "mime_type",
    "number_of_pages",
    "last_processed_at",
    "processing_status",
]

AttributeValue = bool | int | float | Text | datetime
Attributes = dict[Text, AttributeValue | list[AttributeValue]]


def processing_status(process_status: str) -> str:
    """Return the older status word of a process status."""
    if process_status in ("done", "noop", "self_managed"):
        return "Completed"
    return "Error" if process_status in ("error", "missing_content") else "Running"


class Document(ResponseModel):
    """A document of a library."""

    id: str
    library_id: str
    name: str
    created_at: Timestamp
    hash: str | None
    mime_type: str | None
    extension: str | None
    size: int | None
    process_status: ProcessStatus | str | None = None
    processing_status: str
    uploaded_by_id: str | None
    uploaded_by_type: str
    tokens_processing_total: int
    tokens_processing_main_content: int | None = None
    tokens_processing_summary: int | None = None
    attributes: dict[str, object] | None = None
    last_processed_at: Timestamp | None = None
    number_of_pages: int | None = None
    summary: str | None = None
    url: str | None = None
    expires_at: Timestamp | None = None
    queue_position: int | None = omitted_when_none(
        "The place among those that wait, from 1 (an extension)."
    )
    error: str | None = omitted_when_none("Why processing failed (an extension).")


class DocumentList(ResponseModel):
    pagination: Pagination
    data: list[Document]


class DocumentQuery(Request):
    page: Count = 0
    page_size: Annotated[int, Field(ge=1, le=100)] = 100
    search: Text | None = None
    filters_attributes: Text | None = None
    sort_by: SortBy = "created_at"
    sort_order: Literal["asc", "desc"] = "desc"


NAME_HEADER = "Carrel-Name"
"""The header of an upload with the document's name, percent-encoded; an extension."""


class DocumentUpload(Request):
    """The headers of an upload."""

    name: Name | None = None


class DocumentUpdate(Stored):
    name: Name | None = None
    attributes: Attributes | None = None
    expires_at: Timestamp | None = None


class DocumentStatus(ResponseModel):
    document_id: str
    process_status: ProcessStatus | str | None = None
    processing_status: str


class TextContent(ResponseModel):
    text: str


class TextQuery(Request):
    """Pages of the text, from `page_start` to `page_end`, both included, counted from 0."""

    page_start: Count | None = None
    page_end: Count | None = None
