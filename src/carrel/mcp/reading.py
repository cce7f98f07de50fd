"""Tools that only read: lists, search, pages, tables, OCR, questions to agents."""

from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import Field

from carrel.client.http.errors import NotFound
from carrel.mcp import results
from carrel.mcp.tool import (
    Arguments,
    DocumentID,
    LibraryID,
    PageArguments,
    Result,
    ToolCall,
    ToolError,
    Tools,
)

if TYPE_CHECKING:
    from carrel.wire.generation.completions import Progress
    from carrel.wire.ocr import OCRDocument, Page

LISTED = 50
"""Number of items on a page of a list."""
MOST_PAGES = 50
"""Most pages of a document in one answer."""

L = TypeVar("L", bound=results.Listed)

_SOURCE = {"document_id", "document_name", "page", "snippet"}
_STEPS = {
    "loading": "loading the model",
    "documents": "reading documents",
    "searching": "searching libraries",
    "queued": "waiting for other answers",
    "reading": "reading the prompt",
}


class DocumentListArguments(PageArguments):
    library_id: LibraryID
    search: Annotated[str | None, Field(description="Part of a document's name.")] = None


class SearchArguments(Arguments):
    library_id: LibraryID
    query: Annotated[str, Field(min_length=1, max_length=2000, description="Words to find.")]
    limit: Annotated[int, Field(ge=1, le=50, description="The most passages to return.")] = 10


class PagesArguments(Arguments):
    library_id: LibraryID
    document_id: DocumentID
    first_page: Annotated[int, Field(ge=0, description="The first page, from 0.")] = 0
    pages: Annotated[int, Field(ge=1, le=MOST_PAGES, description="How many pages.")] = 10


class ReadFileArguments(Arguments):
    source: Annotated[
        str,
        Field(
            min_length=1,
            description="A file id, or an http(s) address of a PDF, a picture or an office "
            "document. A server on the user's machine takes a path in its folder as well.",
        ),
    ]
    pages: Annotated[
        str | None, Field(description="Pages from 0, such as 0-4 or 0,2. Default: all.")
    ] = None


class QuestionArguments(Arguments):
    agent_id: Annotated[str, Field(min_length=1, description="The id of an agent.")]
    question: Annotated[str, Field(min_length=1)]


READING = Tools()


@READING.offer("List libraries", "Lists the libraries of documents, with their ids.")
async def list_libraries(call: ToolCall, asked: PageArguments) -> results.Libraries:
    listed = await call.client.libraries.list(page=asked.page, page_size=LISTED)
    page = listed.pagination
    more = len(listed.data) == LISTED if page is None else page.has_more
    return _page(results.Libraries, {"libraries": listed.data}, asked, more)


@READING.offer("List documents", "Lists the documents of a library, with their ids.")
async def list_documents(call: ToolCall, asked: DocumentListArguments) -> results.Documents:
    listed = await call.client.documents.list(
        asked.library_id, page=asked.page, page_size=LISTED, search=asked.search
    )
    return _page(results.Documents, {"documents": listed.data}, asked, listed.pagination.has_more)


@READING.offer(
    "Search a library",
    "Finds the passages of a library that fit a query best, with the document and the page of"
    " each. Pages count from 0.",
)
async def search_library(call: ToolCall, asked: SearchArguments) -> results.Passages:
    try:
        found = await call.client.libraries.search(asked.library_id, asked.query, asked.limit)
    except NotFound:
        await call.client.libraries.get(asked.library_id)  # raises if there is no such library
        raise ToolError(
            "This service has no search of its own. Read the documents, or ask an agent that has"
            " the library."
        ) from None
    return results.Passages.model_validate({"passages": found.data})


@READING.offer("Read a document", "Reads pages of a library's document as Markdown.")
async def read_document(call: ToolCall, asked: PagesArguments) -> Result:
    last, total = await _range(call, asked)
    text = await call.client.documents.text(
        asked.library_id, asked.document_id, page_start=asked.first_page, page_end=last
    )
    if total is None or last + 1 >= total:
        return text
    return f"{text}\n\n[{total} pages; continue with first_page={last + 1}]"


@READING.offer(
    "Read tables",
    "Reads the tables on pages of a library's document as Markdown, by OCR, which a hosted"
    " service bills.",
)
async def read_tables(call: ToolCall, asked: PagesArguments) -> results.Tables:
    from carrel.wire.generation.content import DocumentURLChunk

    last, total = await _range(call, asked)
    url = await call.client.documents.url(asked.library_id, asked.document_id)
    call.step("reading the tables")
    pages = await _read(
        call,
        DocumentURLChunk(document_url=url),
        None if total is None else f"{asked.first_page}-{last}",
        table_format="markdown",
    )
    tables = [
        results.TableRow(page=page.index, markdown=table.content)
        for page in pages
        for table in page.tables
    ]
    more = total is not None and last + 1 < total
    return results.Tables(tables=tables, next_first_page=last + 1 if more else None)


@READING.offer("List files", "Lists the uploaded files.")
async def list_files(call: ToolCall, asked: PageArguments) -> results.Files:
    listed = await call.client.files.list(page=asked.page, page_size=LISTED)
    return _page(results.Files, {"files": listed.data}, asked, len(listed.data) == LISTED)


@READING.offer(
    "OCR a file", "Reads a PDF, a scan, a picture or an office document by OCR, as Markdown."
)
async def read_file(call: ToolCall, asked: ReadFileArguments) -> Result:
    from carrel.wire.generation.content import DocumentURLChunk, FileChunk

    source, document = asked.source, None
    uploaded = None
    if source.startswith(("https://", "http://")):
        document = DocumentURLChunk(document_url=source)
    elif call.folder is not None and call.path(source).is_file():
        call.step("uploading")
        uploaded = (await call.client.files.upload(call.path(source), purpose="ocr")).id
    try:
        call.step("reading")
        pages = await _read(call, document or FileChunk(file_id=uploaded or source), asked.pages)
    finally:
        if uploaded is not None:
            await call.client.discard(uploaded)
    return "\n\n".join(page.markdown for page in pages)


@READING.offer("List agents", "Lists the agents that can be asked.")
async def list_agents(call: ToolCall, asked: PageArguments) -> results.Agents:
    listed = await call.client.agents.list(page=asked.page, page_size=LISTED)
    return _page(results.Agents, {"agents": listed}, asked, len(listed) == LISTED)


@READING.offer("Ask an agent", "Asks an agent one question; it knows nothing of earlier ones.")
async def ask_agent(call: ToolCall, asked: QuestionArguments) -> Result:
    from carrel.wire.generation.completions import CompletionRequest, UserMessage
    from carrel.wire.generation.content import text_of

    def tell(step: "Progress") -> None:
        call.step(_STEPS.get(step.stage, "waiting for the first word"))

    request = CompletionRequest(
        agent_id=asked.agent_id, messages=[UserMessage(content=asked.question)]
    )
    text, sources = "", list[dict[str, Any]]()
    async with call.client.completions.stream(request, tell) as chunks:
        async for chunk in chunks:
            for choice in chunk.choices:
                text += text_of(choice.delta.content)
                sources = [
                    it.model_dump(mode="json", include=_SOURCE, exclude_none=True)
                    for it in choice.delta.sources or ()
                ] or sources
    return {"answer": text, "sources": sources} if sources else text


async def _range(call: ToolCall, asked: PagesArguments) -> tuple[int, int | None]:
    """Return the last page of the answer, and the document's page count if known.

    Raises:
        ToolError: the document is not processed, or has fewer pages.
    """
    document = await call.client.documents.get(asked.library_id, asked.document_id)
    if document.processing_status != "Completed":
        raise ToolError(
            f"{document.name} cannot be read: {document.error}"
            if document.error
            else f"{document.name} is still being processed. Try again in a minute."
        )
    total = document.number_of_pages
    if total is not None and asked.first_page >= total > 0:
        raise ToolError(f"{document.name} has {total} pages, counted from 0.")
    last = asked.first_page + asked.pages - 1
    return (last if total is None else min(last, total - 1)), total


async def _read(
    call: ToolCall, document: "OCRDocument", pages: str | None, **options: Any
) -> "list[Page]":
    from carrel.wire.ocr import OCRRequest

    request = OCRRequest.model_validate(
        {"model": None, "document": document, "pages": pages, **options}
    )
    return (await call.client.ocr.process(request)).pages


def _page(kind: type[L], items: dict[str, Any], asked: PageArguments, more: bool) -> L:
    """Return a page of a list, with the number of the next if there is one."""
    return kind.model_validate({**items, "next_page": asked.page + 1 if more else None})
