"""The trash of the bundled server: deleted items that can still be restored, an extension."""

from typing import Annotated, Literal

from pydantic import Field

from carrel.wire.base import Count, Request, ResponseModel, Timestamp

TrashKind = Literal["file", "document", "library", "agent", "conversation"]


class TrashItem(ResponseModel):
    """A deleted item under its own id; it is deleted for ever when it expires."""

    id: str
    kind: TrashKind
    name: str | None
    library_id: str | None = None
    """The library of a document."""
    deleted_at: Timestamp
    expires_at: Timestamp


class TrashList(ResponseModel):
    data: list[TrashItem]
    total: int


class TrashQuery(Request):
    """A page of the trash, counted from 0."""

    page: Count = 0
    page_size: Annotated[int, Field(ge=1, le=1000)] = 100


class EmptiedTrash(ResponseModel):
    deleted: int
    """Number of items that were deleted for ever."""
