"""`carrel libraries …`"""

import json as jsonlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from carrel.cli import output, shares
from carrel.cli.errors import Code, CommandError
from carrel.cli.find import find_document, find_library
from carrel.cli.options import (
    JSONOption,
    LibraryArgument,
    ProfileOption,
    argument,
    commands,
    flag,
    option,
)
from carrel.cli.session import check_readable, run, with_client
from carrel.config.profiles import load_profile
from carrel.store import advice

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.documents import Document
    from carrel.wire.libraries import LibraryEmbeddings, SearchHit

app = commands("Create, fill, search and share libraries.")

DocumentArgument = Annotated[str, argument("DOCUMENT", "A document's id or name.")]

_POLL_SECONDS = 0.5


@app.command("list")
@with_client()
async def list_libraries(client: "Client", json: JSONOption = False) -> None:
    """List libraries."""
    libraries = [library async for library in client.libraries.every()]
    output.show_list(
        libraries,
        json,
        ID=lambda library: library.id,
        NAME=lambda library: library.name,
        DOCUMENTS=lambda library: library.nb_documents,
        SIZE=lambda library: output.size(library.total_size),
        CHANGED=lambda library: output.local_time(library.updated_at),
    )


@app.command("create")
@with_client(changes=True)
async def create(
    client: "Client",
    name: Annotated[str, argument("NAME")],
    description: Annotated[str | None, option("TEXT", "A description of its contents.")] = None,
    chunk_size: Annotated[
        int | None, option("N", "Characters per passage.", min=256, max=32768)
    ] = None,
    json: JSONOption = False,
) -> None:
    """Create an empty library. Prints its id."""
    from carrel.wire.libraries import LibraryCreate

    library = await client.libraries.create(
        LibraryCreate(name=name, description=description, chunk_size=chunk_size)
    )
    output.report_new(library, f"Made {output.one_line(library.name)}.", json)


@app.command("show")
@with_client()
async def show(client: "Client", library: LibraryArgument, json: JSONOption = False) -> None:
    """Show a library's details."""
    found = await find_library(client, library)
    output.show_record(
        found,
        [
            ("id", found.id),
            ("name", output.one_line(found.name)),
            ("description", found.description),
            ("documents", found.nb_documents),
            ("size", output.size(found.total_size)),
            ("chunk size", found.chunk_size),
            ("created", output.local_time(found.created_at)),
            ("changed", output.local_time(found.updated_at)),
        ],
        json,
    )


@app.command("embeddings")
def embeddings(
    library: LibraryArgument,
    model: Annotated[
        str | None,
        option(
            "NAME",
            "Embed the library anew with this model of the server's addresses; carrel-embed "
            "is the server's own. Searches use the present model until then.",
        ),
    ] = None,
    profile: ProfileOption = None,
    json: JSONOption = False,
) -> None:
    """Show the embedding model of a library of Carrel's server, or change it."""

    async def work(client: "Client") -> "LibraryEmbeddings":
        found = await find_library(client, library)
        if model is None:
            return await client.libraries.embeddings(found.id)
        return await client.libraries.change_embeddings(found.id, model)

    state = run(profile, work, changes=model is not None)
    if json:
        output.as_json(state)
        return
    rows = [
        ("model", output.one_line(state.model)),
        ("dimensions", state.dimensions),
        ("passages", f"{state.embedded} of {state.chunks} embedded"),
    ]
    if state.next is not None:
        done = f"{state.next.embedded} of {state.chunks} embedded"
        rows.append(("changing to", f"{output.one_line(state.next.model)}, {done}"))
    if state.error is not None:
        rows.append(("problem", output.one_line(state.error)))
    output.fields(rows)


@app.command("edit")
@with_client(changes=True)
async def edit(
    client: "Client",
    library: LibraryArgument,
    name: Annotated[str | None, option("NAME", "A new name.")] = None,
    description: Annotated[str | None, option("TEXT", "A description of its contents.")] = None,
    json: JSONOption = False,
) -> None:
    """Change a library's name or description."""
    from carrel.wire.libraries import LibraryUpdate

    if name is None and description is None:
        raise CommandError("Nothing to change. Give --name or --description.", Code.USAGE)

    found = await find_library(client, library)
    given = {"name": name, "description": description}
    # A description of null would clear it.
    changes = {field: value for field, value in given.items() if value is not None}
    changed = await client.libraries.update(found.id, LibraryUpdate.model_validate(changes))
    output.report_new(changed, f"Changed {output.one_line(changed.name)}.", json)


@app.command("delete")
@with_client(changes=True)
async def delete(client: "Client", library: LibraryArgument, json: JSONOption = False) -> None:
    """Delete a library and all its documents."""
    found = await find_library(client, library)
    await client.libraries.delete(found.id)
    output.report_deleted(found.id, f"Deleted {output.one_line(found.name)}.", json)


@app.command("add")
def add(
    library: LibraryArgument,
    paths: Annotated[list[Path], argument("PATH...", "The files to add.")],
    wait: Annotated[
        bool, flag("--wait", "Wait until the documents are processed and searchable.")
    ] = False,
    profile: ProfileOption = None,
    json: JSONOption = False,
) -> None:
    """Add files to a library. Prints the id of each document."""
    from carrel.cli.uploads import Uploads
    from carrel.store.journal.entries import UPLOAD_DOCUMENT
    from carrel.store.libraries.phase import wait_processed

    documents: list[Document] = []
    chosen = load_profile(profile)

    async def work(client: "Client") -> None:
        target = await find_library(client, library)
        with Uploads(chosen, paths, UPLOAD_DOCUMENT, library=target.id) as uploads:
            async for document in uploads.send(partial(client.documents.upload, target.id)):
                output.note(f"Added {output.one_line(document.name)}.")
                documents.append(document)
                if not json:
                    output.data(document.id)
        for place, document in enumerate(documents if wait else ()):
            output.note(f"Processing {output.one_line(document.name)} …")
            documents[place] = await wait_processed(client, document, _POLL_SECONDS)

    try:
        check_readable(paths)
        run(profile, work, changes=True)
    finally:
        # Files added before a failure are included.
        if json and documents:
            output.as_json(documents if len(paths) > 1 else documents[0])
    failed = [it for it in documents if status(it) == "Failed"]
    for document in failed:
        output.note(output.one_line(f"{document.name}: {document.error or 'no reason is given'}"))
    if failed:
        names = ", ".join(output.one_line(document.name) for document in failed)
        raise CommandError(f"Processing failed: {names}")


@app.command("documents")
@with_client()
async def documents(
    client: "Client",
    library: LibraryArgument,
    search: Annotated[
        str | None, option("TEXT", "List only documents whose name contains TEXT.")
    ] = None,
    json: JSONOption = False,
) -> None:
    """List a library's documents and their processing status."""
    found = await find_library(client, library)
    listed = [document async for document in client.documents.every(found.id, search)]
    output.show_list(
        listed,
        json,
        ID=lambda document: document.id,
        NAME=lambda document: document.name,
        STATUS=lambda document: " · ".join(filter(None, (status(document), document.error))),
        PAGES=lambda document: document.number_of_pages,
        SIZE=lambda document: output.size(document.size),
        ADDED=lambda document: output.local_time(document.created_at),
    )


@app.command("text")
@with_client()
async def text(
    client: "Client", library: LibraryArgument, document: DocumentArgument, json: JSONOption = False
) -> None:
    """Print a processed document's text."""
    found = await find_library(client, library)
    wanted = await find_document(client, found.id, document)
    content = await client.documents.text(found.id, wanted.id)
    if json:
        output.as_json({"text": content})
    else:
        output.data(content)


@app.command("search")
@with_client()
async def search(
    client: "Client",
    library: LibraryArgument,
    query: Annotated[str, argument("QUERY", "The search terms.")],
    limit: Annotated[int, option("N", "The maximum number of passages.", min=1, max=100)] = 10,
    document: Annotated[
        list[str] | None,
        option("DOCUMENT", "Search only this document, by id or name; repeatable."),
    ] = None,
    attribute: Annotated[
        list[str] | None,
        option("NAME=VALUE", "Search only documents with this attribute; repeatable."),
    ] = None,
    json: JSONOption = False,
) -> None:
    """Search a library for passages, best first. Only the bundled server has this."""
    filters = _filters(attribute or ())

    found = await find_library(client, library)
    ids = [(await find_document(client, found.id, wanted)).id for wanted in document or ()]
    result = await client.libraries.search(
        found.id, query, limit, document_ids=ids or None, filters_attributes=filters
    )
    if json:
        output.as_json(result)
        return
    for number, hit in enumerate(result.data, 1):
        output.data(_hit(number, hit))
    if not result.data:
        output.note(advice.NOTHING_FOUND)


@app.command("reprocess")
@with_client(changes=True)
async def reprocess(client: "Client", library: LibraryArgument, document: DocumentArgument) -> None:
    """Process a document again."""
    found = await find_library(client, library)
    wanted = await find_document(client, found.id, document)
    await client.documents.reprocess(found.id, wanted.id)
    output.note(f"Queued {output.one_line(wanted.name)}.")


@app.command("remove")
@with_client(changes=True)
async def remove(
    client: "Client", library: LibraryArgument, document: DocumentArgument, json: JSONOption = False
) -> None:
    """Remove a document from a library."""
    found = await find_library(client, library)
    wanted = await find_document(client, found.id, document)
    await client.documents.delete(found.id, wanted.id)
    output.report_deleted(wanted.id, f"Removed {output.one_line(wanted.name)}.", json)


def status(document: "Document") -> str:
    """Return a document's status, worded as in the app."""
    from carrel.store.libraries.formatting import document_status

    return document_status(document).text


for command in (shares.shares, shares.share, shares.unshare):
    app.command()(command)


def _hit(number: int, hit: "SearchHit") -> str:
    """Return a passage's location, then its text with the matched words marked."""
    from carrel.wire.libraries import mark_matches

    page = "" if hit.page is None else f", page {hit.page + 1}"
    passage = output.one_line(mark_matches(hit.snippet, hit.matches))
    return output.wrap(f"{number:>2}  {output.one_line(hit.document_name)}{page}", passage)


def _filters(attributes: Sequence[str]) -> str | None:
    """Return attributes as JSON: a value is a number or boolean if it parses as one, else text."""
    filters: dict[str, object] = {}
    for attribute in attributes:
        name, given, value = attribute.partition("=")
        if not given:
            raise CommandError(
                f"“{attribute}” is not an attribute. Write it as NAME=VALUE.", Code.USAGE
            )
        try:
            filters[name] = jsonlib.loads(value)
        except ValueError:
            filters[name] = value
    return jsonlib.dumps(filters) if filters else None
