"""Lists paged by the id of an item, as in the chat dialect, and answers to deletions."""

from collections.abc import Sequence
from typing import Annotated, Any, Generic, Literal, Self, TypeVar

from pydantic import Field

from carrel.wire.base import Request, ResponseModel, Text

T = TypeVar("T")


class IdQuery(Request):
    """A page of a list: `limit` items after the one of the id `after`."""

    limit: Annotated[int, Field(ge=1, le=100)] = 20
    order: Literal["asc", "desc"] = "desc"
    after: Text | None = None

    @property
    def newest_first(self) -> bool:
        return self.order == "desc"


class DeletedItem(ResponseModel):
    """An item that was deleted."""

    id: str
    object: str = ""
    """Its type; empty where a service leaves it out."""
    deleted: bool = True


class IdList(ResponseModel, Generic[T]):
    """A page of a list."""

    object: str = "list"
    data: list[T]
    first_id: str | None
    last_id: str | None
    has_more: bool

    @classmethod
    def of(cls, data: Sequence[Any], has_more: bool) -> Self:
        """Return items as a page."""
        ids = [one["id"] if isinstance(one, dict) else one.id for one in data] or [None]
        return cls(data=[*data], first_id=ids[0], last_id=ids[-1], has_more=has_more)
