"""Tools that change data; a server offers them only on request."""

from collections.abc import AsyncIterator
from typing import Annotated

from pydantic import Field

from carrel.mcp import results
from carrel.mcp.tool import Arguments, DocumentID, LibraryID, ToolCall, ToolError, Tools


class LibraryArguments(Arguments):
    name: Annotated[str, Field(min_length=1)]
    description: str | None = None


class DocumentArguments(Arguments):
    library_id: LibraryID
    name: Annotated[
        str | None, Field(description="The name of a new text document, such as notes.md.")
    ] = None
    text: Annotated[str | None, Field(description="Its text.")] = None
    path: Annotated[
        str | None,
        Field(description="Instead of both, a file in the folder of a server on this machine."),
    ] = None


class DocumentIDArguments(Arguments):
    library_id: LibraryID
    document_id: DocumentID


WRITING = Tools()


@WRITING.offer("Create a library", "Creates an empty library.", writes=True)
async def create_library(call: ToolCall, asked: LibraryArguments) -> results.Created:
    from carrel.wire.libraries import LibraryCreate

    made = await call.client.libraries.create(
        LibraryCreate(name=asked.name, description=asked.description)
    )
    return results.Created.model_validate(made)


@WRITING.offer(
    "Add a document",
    "Adds a document to a library, where it is processed for the search.",
    writes=True,
)
async def add_document(call: ToolCall, asked: DocumentArguments) -> results.Added:
    call.step("uploading")
    if asked.path is not None:
        source = call.path(asked.path)
        document = await call.client.documents.upload(asked.library_id, source)
    elif asked.name is not None and asked.text is not None:
        data = asked.text.encode(errors="replace")
        document = await call.client.documents.upload(
            asked.library_id, (asked.name, len(data), _as_stream(data))
        )
    else:
        raise ToolError("Give the name and the text of the document, or a path.")
    return results.Added.model_validate(document)


@WRITING.offer(
    "Delete a document", "Deletes a document from its library.", writes=True, destroys=True
)
async def delete_document(call: ToolCall, asked: DocumentIDArguments) -> results.Deleted:
    await call.client.documents.delete(asked.library_id, asked.document_id)
    return results.Deleted(id=asked.document_id, deleted=True)


async def _as_stream(data: bytes) -> AsyncIterator[bytes]:
    yield data
