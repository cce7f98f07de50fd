"""The documents of libraries as resources."""

import re
from typing import TYPE_CHECKING

from mcp.types import (
    INVALID_PARAMS,
    ListResourcesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from mcp import MCPError

if TYPE_CHECKING:
    from carrel.client import Client

PAGE = 100
"""Number of documents on a page of the list."""
_URI = "carrel://libraries/{}/documents/{}"
_ID = r"[A-Za-z0-9_-]+"
_NAMED = re.compile(_URI.format(f"({_ID})", f"({_ID})"))
_CURSOR = re.compile(rf"({_ID}):(\d{{1,6}})")

TEMPLATE = ResourceTemplate(
    name="document",
    title="A document of a library",
    uri_template=_URI.format("{library_id}", "{document_id}"),
    description="The text of a processed document as Markdown.",
    mime_type="text/markdown",
)


async def page_of(client: "Client", cursor: str | None) -> ListResourcesResult:
    """Return a page of the processed documents of all libraries, grouped by library.

    Raises:
        MCPError: there is no such page.
        ClientError: the service refused or is unreachable.
    """
    libraries = [library.id async for library in client.libraries.every()]
    if not libraries:
        return ListResourcesResult(resources=[])
    place = _CURSOR.fullmatch(cursor) if cursor else None
    library, page = (place[1], int(place[2])) if place else (libraries[0], 0)
    if library not in libraries or (cursor and not place):
        raise MCPError(INVALID_PARAMS, "There is no such page of resources. Begin anew.")
    listed = await client.documents.list(library, page=page, page_size=PAGE)
    following = libraries[libraries.index(library) + 1 :]
    if listed.pagination.has_more:
        following_page: str | None = f"{library}:{page + 1}"
    else:
        following_page = f"{following[0]}:0" if following else None
    return ListResourcesResult(
        resources=[
            Resource(
                uri=_URI.format(library, document.id),
                name=document.name,
                description=document.summary,
                mime_type="text/markdown",
            )
            for document in listed.data
            if document.processing_status == "Completed"
        ],
        next_cursor=following_page,
    )


async def read(client: "Client", uri: str) -> ReadResourceResult:
    """Return the text of one document.

    Raises:
        MCPError: the address is not a document's.
        ClientError: the service has no such document, or is unreachable.
    """
    named = _NAMED.fullmatch(uri)
    if named is None:
        raise MCPError(INVALID_PARAMS, f"There is no resource {uri}.")
    text = await client.documents.text(named[1], named[2])
    return ReadResourceResult(
        contents=[TextResourceContents(uri=uri, text=text, mime_type="text/markdown")]
    )
