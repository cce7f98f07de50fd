"""The state of the search across libraries and chats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from carrel.store.core.problem import Problem

if TYPE_CHECKING:
    from carrel.wire.libraries import PageBox


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage of a document, or of what was said in a chat.

    `group` names its library, or the chat's agent, and `library_id` is None for a chat. `page`
    counts from 0; matched words stand between « and » in `passage`.
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
        """Return the number of its page, which counts from 1."""
        return None if self.page is None else self.page + 1


@dataclass(frozen=True, slots=True)
class SearchedPlaces:
    """What a search looked through. `unsearched` are libraries that their service cannot search.

    `chats` is None where only libraries were asked for.
    """

    libraries: int = 0
    chats: int | None = None
    unsearched: int = 0


@dataclass(frozen=True, slots=True)
class SearchState:
    """The passages found for `query`: those of a library together, the chats last."""

    query: str = ""
    found: tuple[FoundPassage, ...] = ()
    places: SearchedPlaces | None = None
    searching: bool = False
    error: Problem | None = None
