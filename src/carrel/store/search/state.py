"""The state of the search across libraries and chats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from carrel.store.core.problem import Problem

if TYPE_CHECKING:
    from carrel.wire.libraries import PageBox


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage of a document or a chat.

    `group` is its library's name or the chat's agent; `library_id` is None for a chat. `page`
    counts from 0; matched words in `passage` are enclosed in « and ».
    """

    kind: Literal["document", "chat"]
    id: str
    name: str
    group: str
    passage: str
    library_id: str | None = None
    page: int | None = None
    box: PageBox | None = None

    @property
    def page_number(self) -> int | None:
        """Return the number of its page, from 1, or None."""
        return None if self.page is None else self.page + 1


@dataclass(frozen=True, slots=True)
class SearchedPlaces:
    """The searched places. `unsearched` are libraries that their service cannot search.

    `chats` is None if only libraries were searched.
    """

    libraries: int = 0
    chats: int | None = None
    unsearched: int = 0


@dataclass(frozen=True, slots=True)
class SearchState:
    """The passages found for `query`, grouped by library, the chats last."""

    query: str = ""
    found: tuple[FoundPassage, ...] = ()
    places: SearchedPlaces | None = None
    searching: bool = False
    error: Problem | None = None
