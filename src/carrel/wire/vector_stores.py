"""Libraries as vector stores, for clients that know them by that name."""

import operator
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from carrel.wire.base import JSONObject, Name, Request, ResponseModel, Text
from carrel.wire.documents import Attributes, Document, processing_status
from carrel.wire.libraries import Library, SearchHit

FileStatus = Literal["in_progress", "completed", "failed", "cancelled"]

_STATUSES: dict[str, FileStatus] = {"Completed": "completed", "Error": "failed"}


class _Lenient(Request):
    """A request whose other fields have no effect on the bundled server."""

    model_config = ConfigDict(extra="allow", frozen=True)


class VectorStoreCreate(_Lenient):
    """A new vector store, with documents of stored files."""

    name: Name = "vector store"
    description: Text | None = None
    file_ids: Annotated[list[Text], Field(max_length=500)] = Field(default_factory=list)


class VectorStoreUpdate(_Lenient):
    name: Name | None = None


class FileCounts(ResponseModel):
    """Documents by their status."""

    in_progress: int
    completed: int
    failed: int
    cancelled: int = 0
    total: int


class VectorStore(ResponseModel):
    """A library."""

    id: str
    object: str = "vector_store"
    created_at: int
    last_active_at: int
    name: str
    description: str | None = None
    usage_bytes: int
    file_counts: FileCounts
    status: Literal["in_progress", "completed"]
    metadata: JSONObject = Field(default_factory=dict)
    expires_after: None = None
    expires_at: None = None

    @classmethod
    def of(cls, library: Library, counts: FileCounts) -> "VectorStore":
        """Return a library with its documents counted by status."""
        return cls(
            id=library.id,
            created_at=int(library.created_at.timestamp()),
            last_active_at=int(library.updated_at.timestamp()),
            name=library.name,
            description=library.description,
            usage_bytes=library.total_size,
            file_counts=counts,
            status="in_progress" if counts.in_progress else "completed",
        )


class FileError(ResponseModel):
    code: Literal["server_error", "unsupported_file", "invalid_file"] = "invalid_file"
    message: str


class VectorStoreFile(ResponseModel):
    """A document. Its id is that of the document, or of the stored file that was asked for."""

    id: str
    object: str = "vector_store.file"
    created_at: int
    vector_store_id: str
    usage_bytes: int
    status: FileStatus
    last_error: FileError | None = None
    attributes: JSONObject
    chunking_strategy: JSONObject = Field(default_factory=lambda: {"type": "other"})

    @classmethod
    def of(cls, document: Document, id: str | None = None) -> "VectorStoreFile":
        """Return a document, under the id that it was asked by."""
        status = file_status(document)
        reason = document.error or "The document has no text."
        return cls(
            id=id or document.id,
            created_at=int(document.created_at.timestamp()),
            vector_store_id=document.library_id,
            usage_bytes=document.size or 0,
            status=status,
            last_error=FileError(message=reason) if status == "failed" else None,
            attributes=document.attributes or {},
        )


def file_status(document: Document) -> FileStatus:
    """Return the status of a document among those of a vector store's files."""
    return status_of(document.process_status or "todo")


def status_of(process_status: str) -> FileStatus:
    """Return a process status among those of a vector store's files."""
    return _STATUSES.get(processing_status(process_status), "in_progress")


class VectorStoreFileCreate(_Lenient):
    """A stored file that becomes a document."""

    file_id: Text
    attributes: Attributes | None = None


class VectorStoreFileUpdate(_Lenient):
    attributes: Attributes


class PageQuery(Request):
    """A page of a list: `limit` items after the one of the id `after`."""

    limit: Annotated[int, Field(ge=1, le=100)] = 20
    order: Literal["asc", "desc"] = "desc"
    after: Text | None = None


class FilePageQuery(PageQuery):
    filter: FileStatus | None = None


class VectorStoreList(ResponseModel):
    object: str = "list"
    data: list[VectorStore]
    first_id: str | None
    last_id: str | None
    has_more: bool


class VectorStoreFileList(ResponseModel):
    object: str = "list"
    data: list[VectorStoreFile]
    first_id: str | None
    last_id: str | None
    has_more: bool


class RankingOptions(_Lenient):
    score_threshold: float | None = None


class Comparison(Request):
    """An attribute compared with a value. A document without it is `ne` and `nin` to any."""

    type: Literal["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin"]
    key: Text
    value: bool | float | Text | Annotated[list[bool | float | Text], Field(max_length=1_000)]

    def matches(self, attributes: dict[str, Any]) -> bool:
        """Return whether attributes compare so; one that is a list, by any of its members."""
        there = attributes.get(self.key)
        members = there if isinstance(there, list) else [] if there is None else [there]
        asked = self.value if isinstance(self.value, list) else [self.value]
        if self.type in ("eq", "in"):
            return any(_same(one, value) for one in members for value in asked)
        if self.type in ("ne", "nin"):
            return not any(_same(one, value) for one in members for value in asked)
        return any(_is_ordered(self.type, one, value) for one in members for value in asked)


class Compound(Request):
    """Filters of which all, or any, must match."""

    type: Literal["and", "or"]
    filters: Annotated[list["Filter"], Field(max_length=100)]

    def matches(self, attributes: dict[str, Any]) -> bool:
        """Return whether attributes match."""
        each = (one.matches(attributes) for one in self.filters)
        return all(each) if self.type == "and" else any(each)


Filter = Annotated[Comparison | Compound, Field(discriminator="type")]
"""What the attributes of a document have to be."""

_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
}


def _same(one: object, other: object) -> bool:
    # True is no 1 here.
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _is_ordered(type: str, one: object, other: object) -> bool:
    for kind in ((int, float), (str,)):
        if isinstance(one, kind) and isinstance(other, kind):
            return _ORDERS[type](one, other)
    return False


class VectorStoreSearch(_Lenient):
    """A search, in the documents whose attributes match the `filters`."""

    query: (
        Annotated[Text, Field(min_length=1, max_length=2000)]
        | Annotated[list[Text], Field(min_length=1, max_length=10)]
    )
    max_num_results: Annotated[int, Field(ge=1, le=50)] = 10
    filters: Filter | None = None
    ranking_options: RankingOptions | None = None

    @property
    def queries(self) -> list[str]:
        """The texts that are looked for."""
        return [self.query] if isinstance(self.query, str) else self.query


class FoundText(ResponseModel):
    type: str = "text"
    text: str


class VectorStoreHit(ResponseModel):
    """A passage. `page` counts from 0 (an extension)."""

    file_id: str
    filename: str
    score: float
    attributes: JSONObject = Field(default_factory=dict)
    content: list[FoundText]
    page: int | None = None

    @classmethod
    def of(cls, hit: SearchHit, text: str, attributes: JSONObject) -> "VectorStoreHit":
        """Return a passage with its whole text, and the attributes of its document."""
        return cls(
            file_id=hit.document_id,
            filename=hit.document_name,
            score=hit.score,
            attributes=attributes,
            content=[FoundText(text=text)],
            page=hit.page,
        )


class VectorStoreResults(ResponseModel):
    object: str = "vector_store.search_results.page"
    search_query: list[str]
    data: list[VectorStoreHit]
    has_more: bool = False
    next_page: str | None = None


class DeletedVectorStore(ResponseModel):
    id: str
    object: str = "vector_store.deleted"
    deleted: bool = True


class DeletedVectorStoreFile(ResponseModel):
    id: str
    object: str = "vector_store.file.deleted"
    deleted: bool = True
