"""Library documents: rows that name a blob, and the text that was read from it."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from carrel.server.records import libraries, trash
from carrel.server.records.accounts.caller import Caller
from carrel.server.records.errors import Conflict, InvalidField, NotFound
from carrel.server.records.libraries import Role, paginate
from carrel.server.records.sql.conditions import (
    contains,
    find,
    has_attribute,
    is_unexpired,
    list_after,
)
from carrel.server.records.sql.ids import new_id
from carrel.server.records.sql.tables import document_pages, documents
from carrel.wire.documents import (
    Document,
    DocumentList,
    DocumentQuery,
    DocumentUpdate,
    TextQuery,
    processing_status,
)
from carrel.wire.vector_stores import FILE_STATUSES, FileQuery

_COLUMNS = documents.c.keys()
# Built once: every upload runs them.
_INSERT = documents.insert().returning(documents)
_DELETE_EXPIRED = documents.delete().where(documents.c.expires_at <= sa.bindparam("now"))
_WITH_BYTES = sa.select(documents).where(
    documents.c.library_id == sa.bindparam("library"), documents.c.blob == sa.bindparam("bytes")
)

FIRST_GENERATION = 1
"""The generation of a new document's processing."""


@dataclass(frozen=True)
class NewDocument:
    """A document before it is read; its bytes are stored under `blob`."""

    name: str
    blob: str
    size: int
    mime_type: str
    extension: str


@dataclass(frozen=True)
class StoredDocument:
    """A document's public face, and where its bytes and its text are.

    `ocr_blob` holds the OCR result of a document that is not plain text. `generation` is the
    searchable one, None before the first.
    """

    document: Document
    blob: str
    ocr_blob: str | None
    generation: int | None


def get(
    connection: sa.Connection, caller: Caller, library_id: str, id: str, needed: Role = Role.VIEWER
) -> StoredDocument:
    """Return a document of a library the caller may see.

    Raises:
        NotFound, NotAllowed: the caller's role in the library does not suffice.
    """
    libraries.require(connection, caller, library_id, needed)
    found = _select_one(connection, documents.c.library_id == library_id, documents.c.id == id)
    if found is None:
        raise NotFound.of("document", id)
    return found


def get_signed(connection: sa.Connection, id: str) -> StoredDocument | None:
    """Return the document of a signed address, if it still exists."""
    return _select_one(connection, documents.c.id == id)


def find_by_bytes(connection: sa.Connection, library_id: str, blob: str) -> StoredDocument | None:
    """Return the document of a library with these bytes, if there is one."""
    return _select_one(connection, documents.c.library_id == library_id, documents.c.blob == blob)


def count(
    connection: sa.Connection, library_id: str, ids: Collection[str] | None = None
) -> dict[str, int]:
    """Return the number of a library's documents, or of those among `ids`, by process status."""
    counted = (
        sa.select(documents.c.process_status, sa.func.count())
        .where(*_is_among(library_id, ids), is_unexpired(documents))
        .group_by(documents.c.process_status)
    )
    return {row[0]: row[1] for row in connection.execute(counted)}


def page(
    connection: sa.Connection, caller: Caller, library_id: str, query: DocumentQuery
) -> DocumentList:
    """Return a page of a library's documents.

    Raises:
        NotFound: it does not exist, or is hidden.
        InvalidField: the attribute filter is not a JSON object.
    """
    libraries.require(connection, caller, library_id)
    wanted = [documents.c.library_id == library_id, is_unexpired(documents)]
    if query.search:
        wanted.append(contains(documents.c.name, query.search))
    wanted += _has_attributes(connection, query.filters_attributes)
    counted = sa.select(sa.func.count()).select_from(documents).where(*wanted)
    total = connection.scalar(counted) or 0
    sort_by = "process_status" if query.sort_by == "processing_status" else query.sort_by
    direction = sa.desc if query.sort_order == "desc" else sa.asc
    order = direction(documents.c[sort_by]), direction(documents.c.id)
    # Ids alone are put in order: whole rows of a large library would be copied for it.
    ids = sa.select(documents.c.id).where(*wanted).order_by(*order)
    listed = ids.limit(query.page_size).offset(query.page * query.page_size).subquery()
    rows = connection.execute(
        sa.select(documents)
        .join(listed, listed.c.id == documents.c.id)
        .where(documents.c.library_id == library_id)
        .order_by(*order)
    ).all()
    positions = _positions(connection, [row.id for row in rows if row.process_status == "todo"])
    return DocumentList(
        pagination=paginate(total, query.page, query.page_size),
        data=[_document_of(row, positions.get(row.id)).document for row in rows],
    )


def page_after(
    connection: sa.Connection, library_id: str, query: FileQuery, ids: Collection[str] | None
) -> tuple[list[Document], bool]:
    """Return a page of a library's documents, or of those among `ids`, and whether more follow.

    Raises:
        NotFound: there is no document of the id `after`.
    """
    listed = sa.select(documents).where(*_is_among(library_id, ids), is_unexpired(documents))
    last = None
    if query.after is not None:
        last = find(
            connection, listed.where(documents.c.id == query.after), "document", query.after
        )
    if query.filter is not None:
        status = sa.case(FILE_STATUSES, value=documents.c.process_status, else_="in_progress")
        listed = listed.where(status == query.filter)
    rows, more = list_after(connection, documents, listed, query, last)
    return [_document_of(row, None).document for row in rows], more


def attributes(
    connection: sa.Connection, library_id: str, ids: Collection[str] | None = None
) -> dict[str, dict[str, Any]]:
    """Return the attributes of a library's documents, or of those among `ids`, by their ids."""
    wanted = sa.select(documents.c.id, documents.c.attributes).where(*_is_among(library_id, ids))
    return {row.id: row.attributes or {} for row in connection.execute(wanted)}


def ids_of(
    connection: sa.Connection, library_id: str, ids: list[str] | None, attributes: str | None
) -> set[str] | None:
    """Return the documents of a library among `ids` that have all `attributes`, a JSON object.

    None restricts nothing.

    Raises:
        InvalidField: the attributes are not a JSON object.
    """
    if ids is None and attributes is None:
        return None
    wanted = sa.select(documents.c.id).where(
        *_is_among(library_id, ids), *_has_attributes(connection, attributes)
    )
    return set(connection.scalars(wanted))


def find_named(connection: sa.Connection, library_ids: list[str], part: str) -> set[str]:
    """Return the documents of some libraries that have a part in their name."""
    wanted = sa.select(documents.c.id).where(
        documents.c.library_id.in_(library_ids), contains(documents.c.name, part)
    )
    return set(connection.scalars(wanted))


def add(
    connection: sa.Connection, caller: Caller, library_id: str, new: NewDocument
) -> tuple[Document, bool]:
    """Return the library's document with these bytes, adding it if there is none, and whether it is
    new.

    Raises:
        NotFound, or NotAllowed without the role of an editor.
    """
    libraries.require(connection, caller, library_id, Role.EDITOR)
    delete_expired(connection)
    there = {"library": library_id, "bytes": new.blob}
    row = connection.execute(_WITH_BYTES, there).one_or_none()
    created = row is None
    if row is None:
        now = datetime.now(UTC)
        values = {
            "id": new_id(),
            "library_id": library_id,
            **vars(new),
            "uploaded_by_id": caller.user_id,
            "uploaded_by_type": "User",
            "created_at": now,
            "process_status": "todo",
            "generation": FIRST_GENERATION,
            "not_before": now,
        }
        row = connection.execute(_INSERT, values).one()
    return _document_of(row, _position(connection, row)).document, created


def update(
    connection: sa.Connection, caller: Caller, library_id: str, id: str, change: DocumentUpdate
) -> Document:
    """Change a document's name, attributes or expiry; return the changed document.

    Raises:
        NotFound, or NotAllowed without the role of an editor.
    """
    get(connection, caller, library_id, id, Role.EDITOR)
    values = change.body()
    if change.expires_at is not None:
        values["expires_at"] = change.expires_at
    if values:
        connection.execute(documents.update().where(documents.c.id == id).values(**values))
    changed = _select_one(connection, documents.c.id == id, with_expired=True)
    assert changed is not None
    return changed.document


def delete(
    connection: sa.Connection, caller: Caller, library_id: str, id: str, trash_days: int
) -> None:
    """Move a document to the trash; its text and its index are deleted.

    Raises:
        NotFound, or NotAllowed without the role of an editor.
    """
    name = get(connection, caller, library_id, id, Role.EDITOR).document.name
    trash.delete(connection, caller, "document", id, name, days=trash_days, library_id=library_id)


def delete_expired(connection: sa.Connection) -> int:
    """Delete expired documents; return their number."""
    return connection.execute(_DELETE_EXPIRED, {"now": datetime.now(UTC)}).rowcount


def get_with_text(
    connection: sa.Connection, caller: Caller, library_id: str, id: str
) -> StoredDocument:
    """Return a document that was read.

    Raises:
        NotFound; Conflict while there is no text yet.
    """
    stored = get(connection, caller, library_id, id)
    if stored.generation is not None:
        return stored
    if stored.document.processing_status == "Error":
        raise Conflict(f"The document has no text: {stored.document.error}")
    raise Conflict("The document is still being processed. Ask again when it is done.")


def page_texts(
    connection: sa.Connection, caller: Caller, library_id: str, id: str, query: TextQuery
) -> list[str]:
    """Return the Markdown of a document's pages, by default of all.

    Raises:
        NotFound; Conflict while there is no text yet.
    """
    stored = get_with_text(connection, caller, library_id, id)
    return pages(connection, stored, query.page_start, query.page_end)


def pages(
    connection: sa.Connection,
    stored: StoredDocument,
    first: int | None = None,
    last: int | None = None,
) -> list[str]:
    """Return the Markdown of a document's pages, from page `first` to page `last`, both
    included.
    """
    query = (
        sa.select(document_pages.c.markdown)
        .where(
            document_pages.c.document_id == stored.document.id,
            document_pages.c.generation == stored.generation,
        )
        .order_by(document_pages.c.page)
    )
    if first is not None:
        query = query.where(document_pages.c.page >= first)
    if last is not None:
        query = query.where(document_pages.c.page <= last)
    return list(connection.scalars(query))


def _is_among(library_id: str, ids: Collection[str] | None) -> list[sa.ColumnElement[bool]]:
    """Return the conditions of a library's documents, or of those among `ids`."""
    among = [] if ids is None else [documents.c.id.in_(ids)]
    return [documents.c.library_id == library_id, *among]


def _positions(connection: sa.Connection, ids: list[str]) -> dict[str, int]:
    """Return the queue positions of waiting documents."""
    if not ids:
        return {}
    waiting = (
        sa.select(
            documents.c.id,
            sa.func.row_number()
            .over(order_by=(documents.c.not_before, documents.c.id))
            .label("position"),
        )
        .where(documents.c.process_status == "todo")
        .subquery("waiting")
    )
    query = sa.select(waiting.c.id, waiting.c.position).where(waiting.c.id.in_(ids))
    return {row.id: row.position for row in connection.execute(query)}


def _select_one(
    connection: sa.Connection, *conditions: sa.ColumnElement[bool], with_expired: bool = False
) -> StoredDocument | None:
    query = sa.select(documents).where(*conditions)
    if not with_expired:
        query = query.where(is_unexpired(documents))
    row = connection.execute(query).one_or_none()
    return None if row is None else _document_of(row, _position(connection, row))


def _position(connection: sa.Connection, row: sa.Row[Any]) -> int | None:
    """Return the queue position of a document, None unless it waits."""
    if row.process_status != "todo":
        return None
    return connection.scalar(_BEFORE, {"due": row.not_before, "id": row.id})


_BEFORE = sa.select(sa.func.count()).where(
    documents.c.process_status == "todo",
    sa.tuple_(documents.c.not_before, documents.c.id)
    <= sa.tuple_(
        sa.bindparam("due", type_=documents.c.not_before.type),
        sa.bindparam("id", type_=documents.c.id.type),
    ),
)


def _has_attributes(connection: sa.Connection, given: str | None) -> list[sa.ColumnElement[bool]]:
    """Return whether a document has all attributes of a JSON object."""
    if given is None:
        return []
    try:
        filters = json.loads(given)
        # JSON escapes may encode lone surrogates, which no query can hold.
        json.dumps(filters, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        filters = None
    if not isinstance(filters, dict):
        raise InvalidField(
            ("query", "filters_attributes"),
            'Give a JSON object of attributes and values, such as {"year": 2026}.',
        )
    return [has_attribute(connection, documents.c.attributes, *item) for item in filters.items()]


def _document_of(row: sa.Row[Any], queue_position: int | None) -> StoredDocument:
    status = processing_status(row.process_status)
    further = {
        "hash": row.blob,
        "processing_status": status,
        "tokens_processing_total": row.tokens_total,
        "tokens_processing_main_content": row.tokens_main,
        "tokens_processing_summary": row.tokens_summary,
        "queue_position": queue_position,
        # A failed attempt that will be retried is not a failure yet.
        "error": row.error if status == "Error" else None,
    }
    document = Document(**dict(zip(_COLUMNS, row, strict=True)) | further)
    return StoredDocument(document, row.blob, row.ocr_blob, row.indexed_generation)
