"""Libraries (beta) and who they are shared with."""

import re
from typing import Annotated, Literal

from pydantic import Field

from carrel.wire.base import Count, Name, Request, ResponseModel, Stored, Text, Timestamp

CHUNK_SIZE = (256, 32768)
"""Bounds of a library's chunk size, in characters."""
LONGEST_QUERY = 2000
"""Most characters of a search."""

OwnerType = Literal["User", "Workspace"]
ShareWith = Literal["User", "Workspace", "Org"]


class Pagination(ResponseModel):
    """A page's position in the list; pages count from 0."""

    total_items: int
    total_pages: int
    current_page: int
    page_size: int
    has_more: bool


class LibraryCreate(Stored):
    """A new library. `chunk_size` is the target length of a chunk in characters."""

    name: Name
    description: Text | None = None
    chunk_size: Annotated[int, Field(ge=CHUNK_SIZE[0], le=CHUNK_SIZE[1])] | None = None
    owner_type: OwnerType = "User"


class LibraryUpdate(Stored):
    """Changes of a library; `description: null` clears it."""

    keeps_null = ("description",)

    name: Name | None = None
    description: Text | None = None


class Library(ResponseModel):
    """A library. `total_size` is in bytes."""

    id: str
    name: str
    created_at: Timestamp
    updated_at: Timestamp
    owner_id: str | None
    owner_type: str
    total_size: int
    nb_documents: int
    chunk_size: int | None
    description: str | None = None
    emoji: str | None = None
    generated_name: str | None = None
    generated_description: str | None = None
    explicit_user_members_count: int | None = None
    explicit_workspace_members_count: int | None = None
    org_sharing_role: str | None = None


class NextEmbeddings(ResponseModel):
    """The embedding model that a library changes to; `embedded` counts its chunks so far."""

    model: str
    dimensions: int | None = None
    embedded: int = 0


class LibraryEmbeddings(ResponseModel):
    """The embedding model of a library (an extension of the bundled server).

    `embedded` of its `chunks` have a vector of it. Search is by `model` until every chunk has a
    vector of the `next` one. `error` says why some lack theirs.
    """

    model: str
    dimensions: int
    chunks: int
    embedded: int
    error: str | None = None
    next: NextEmbeddings | None = None


class EmbeddingsChange(Request):
    """The embedding model to change to."""

    model: Name


class LibraryList(ResponseModel):
    data: list[Library]
    pagination: Pagination | None = None
    next_page_token: str | None = None


class LibraryQuery(Request):
    page: Count = 0
    page_size: Annotated[int, Field(ge=1, le=100)] = 100
    page_token: Text | None = None
    search: Text | None = None
    filter_owned_by_me: bool | None = None


class ShareRemoval(Request):
    share_with_uuid: Text
    share_with_type: ShareWith
    org_id: Text | None = None


class ShareRequest(ShareRemoval):
    level: Literal["Viewer", "Editor"]


class Sharing(ResponseModel):
    """One access to a library."""

    library_id: str
    user_id: str | None = None
    org_id: str
    role: str
    share_with_type: str
    share_with_uuid: str | None


class SharingList(ResponseModel):
    data: list[Sharing]


class SearchQuery(Request):
    """A search in a library (an extension of the bundled server).

    `document_ids` and `filters_attributes`, a JSON object as in a list of documents, restrict it
    to some documents.
    """

    query: Annotated[Name, Field(max_length=LONGEST_QUERY)]
    limit: Annotated[int, Field(ge=1, le=100)] = 10
    document_ids: Annotated[list[Text], Field(max_length=100)] | None = None
    filters_attributes: Text | None = None


class Span(ResponseModel):
    """Characters of a text: from `start` to before `end`, counted from 0."""

    start: int
    end: int


class PageBox(ResponseModel):
    """A rectangle on a page of `page_width` and `page_height` pixels, from its top left corner."""

    top_left_x: int
    top_left_y: int
    bottom_right_x: int
    bottom_right_y: int
    page_width: int | None = None
    page_height: int | None = None


_PICTURE = re.compile(r"!\[[^]]*\]\([^)]*\)")
_LINK = re.compile(r"\[([^]]+)\]\([^)]*\)")
_HEADING_OR_STRONG = re.compile(r"(?<=^…)#{1,6} |^#{1,6} |\*\*(?=\S)|(?<=\S)\*\*")
_RULE = re.compile(":?-{3,}:?")


class SearchHit(ResponseModel):
    """One passage found. `page` counts from 0; `matches` are the matched words in the snippet.

    `box` is around them, or around the passage, where that is known.
    """

    document_id: str
    document_name: str
    page: int | None = None
    snippet: str
    matches: list[Span] = Field(default_factory=list)
    score: float
    box: PageBox | None = None


class SearchResult(ResponseModel):
    data: list[SearchHit]


def mark_matches(snippet: str, matches: list[Span]) -> str:
    """Return a snippet with its matched words between « and », and without Markdown's signs."""
    parts, end = [], 0
    for match in matches:
        parts += [snippet[end : match.start], "«", snippet[match.start : match.end], "»"]
        end = match.end
    text = _LINK.sub(r"\1", _PICTURE.sub("", "".join([*parts, snippet[end:]])))
    return "\n".join(map(_plain, text.splitlines()))


def _plain(line: str) -> str:
    line = _HEADING_OR_STRONG.sub("", line)
    bare = line.strip("…«» ")
    if not (bare.startswith("|") or bare.endswith("|")):
        return line
    cells = (cell.strip() for cell in line.split("|"))
    return " · ".join(cell for cell in cells if cell and not _RULE.fullmatch(cell))
