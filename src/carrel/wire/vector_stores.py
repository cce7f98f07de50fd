"""Libraries as vector stores, for clients that know them by that name."""

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


class VectorStoreSearch(_Lenient):
    """A search. `filters` are comparisons of the type `eq`, alone or in an `and`."""

    query: (
        Annotated[Text, Field(min_length=1, max_length=2000)]
        | Annotated[list[Text], Field(min_length=1, max_length=10)]
    )
    max_num_results: Annotated[int, Field(ge=1, le=50)] = 10
    filters: JSONObject | None = None
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
    def of(cls, hit: SearchHit, text: str) -> "VectorStoreHit":
        """Return a passage with its whole text."""
        return cls(
            file_id=hit.document_id,
            filename=hit.document_name,
            score=hit.score,
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


def equal_attributes(filters: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes that filters ask for.

    Raises:
        ValueError: they compare in another way than `eq`, alone or in an `and`.
    """
    match filters:
        case {"type": "eq", "key": str(key), "value": value}:
            return {key: value}
        case {"type": "and", "filters": list(several)}:
            found: dict[str, Any] = {}
            for one in several:
                found |= equal_attributes(one if isinstance(one, dict) else {})
            return found
    raise ValueError("only comparisons of the type eq, alone or in an and, are known here")
