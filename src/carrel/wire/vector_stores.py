"""Libraries as vector stores, the name in some clients."""

import operator
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, computed_field, model_validator

from carrel.wire.base import JSONObject, Name, Request, ResponseModel, Stored, Text
from carrel.wire.documents import Attributes, Document
from carrel.wire.id_lists import IdList, IdQuery
from carrel.wire.libraries import LONGEST_QUERY, Library, SearchHit

MAX_FILES = 500
"""Files that are added at once."""

FileStatus = Literal["in_progress", "completed", "failed", "cancelled"]

FILE_STATUSES: dict[str, FileStatus] = {
    "done": "completed",
    "noop": "completed",
    "self_managed": "completed",
    "error": "failed",
    "missing_content": "cancelled",
}
"""Statuses of files by the process statuses of their documents; all others are in progress."""


class _Lenient(Request):
    """A request whose other fields have no effect on the bundled server."""

    model_config = ConfigDict(extra="allow", frozen=True)


class VectorStoreCreate(Stored, _Lenient):
    """A new vector store, with documents of stored files."""

    name: Name = "vector store"
    description: Text | None = None
    file_ids: Annotated[list[Text], Field(max_length=MAX_FILES)] = Field(default_factory=list)


class VectorStoreUpdate(Stored, _Lenient):
    name: Name | None = None


class FileCounts(ResponseModel):
    """Documents by their status."""

    in_progress: int = 0
    completed: int = 0
    failed: int = 0
    cancelled: int = 0
    total: int = 0

    @classmethod
    def of(cls, counted: Mapping[str, int]) -> "FileCounts":
        """Return the numbers of documents, counted by their process status."""
        counts = Counter[str]()
        for status, number in counted.items():
            counts[FILE_STATUSES.get(status, "in_progress")] += number
        return cls(**counts, total=counts.total())


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
    """A document of a store. Its id is the document's, or that of the file it was made from."""

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
        status = FILE_STATUSES.get(document.process_status or "", "in_progress")
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


class VectorStoreFileCreate(_Lenient):
    """A stored file that becomes a document."""

    file_id: Text
    attributes: Attributes | None = None


class VectorStoreFileUpdate(_Lenient):
    attributes: Attributes


class FileBatchCreate(_Lenient):
    """Stored files that become documents together, all with `attributes` or each with its own."""

    file_ids: Annotated[list[Text], Field(max_length=MAX_FILES)] = Field(default_factory=list)
    files: Annotated[list[VectorStoreFileCreate], Field(max_length=MAX_FILES)] = Field(
        default_factory=list
    )
    attributes: Attributes | None = None

    @property
    def new(self) -> list[VectorStoreFileCreate]:
        """The files, each with its attributes."""
        same = [
            VectorStoreFileCreate(file_id=id, attributes=self.attributes) for id in self.file_ids
        ]
        return [*same, *self.files]


class FileBatch(ResponseModel):
    """Files that were added together. One that was removed since is not counted."""

    id: str
    object: str = "vector_store.files_batch"
    created_at: int
    vector_store_id: str
    file_counts: FileCounts

    @computed_field  # type: ignore[prop-decorator]
    @property
    def status(self) -> Literal["in_progress", "completed", "cancelled"]:
        """Whether all files have ended, and whether some were cancelled."""
        if self.file_counts.in_progress:
            return "in_progress"
        return "cancelled" if self.file_counts.cancelled else "completed"


class FileQuery(IdQuery):
    filter: FileStatus | None = None


class VectorStoreList(IdList[VectorStore]):
    """A page of vector stores."""


class VectorStoreFileList(IdList[VectorStoreFile]):
    """A page of the files of a vector store."""


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
            return any(_is_same(member, value) for member in members for value in asked)
        if self.type in ("ne", "nin"):
            return not any(_is_same(member, value) for member in members for value in asked)
        return any(_is_ordered(self.type, member, value) for member in members for value in asked)


class Compound(Request):
    """Filters of which all, or any, must match."""

    type: Literal["and", "or"]
    filters: Annotated[list["Filter"], Field(max_length=100)]

    def matches(self, attributes: dict[str, Any]) -> bool:
        """Return whether attributes match."""
        each = (one.matches(attributes) for one in self.filters)
        return all(each) if self.type == "and" else any(each)


Filter = Annotated[Comparison | Compound, Field(discriminator="type")]
"""The conditions on the attributes of a document."""

_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
}


def _is_same(one: object, other: object) -> bool:
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
        Annotated[Name, Field(max_length=LONGEST_QUERY)]
        | Annotated[list[Name], Field(min_length=1, max_length=10)]
    )
    max_num_results: Annotated[int, Field(ge=1, le=50)] = 10
    filters: Filter | None = None
    ranking_options: RankingOptions | None = None

    @model_validator(mode="after")
    def _check_length(self) -> Self:
        if len(" ".join(self.queries)) > LONGEST_QUERY:
            raise ValueError(f"query must have at most {LONGEST_QUERY} characters together")
        return self

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
