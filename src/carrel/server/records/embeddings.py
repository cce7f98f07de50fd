"""The embedding models of libraries, and the change from one to another.

A library's vectors are of one model. Those of the next are kept beside them until every chunk
has one; then they take their place in one transaction.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from carrel.server.records.tables import CHUNKS_PER_LIBRARY, chunks, libraries, next_vectors
from carrel.wire.libraries import LibraryEmbeddings, NextEmbeddings

_COLUMNS = (
    libraries.c.number,
    libraries.c.embedding_model,
    libraries.c.embedding_dimensions,
    libraries.c.next_embedding_model,
    libraries.c.next_embedding_dimensions,
    libraries.c.embedding_error,
)


class OtherDimensions(Exception):
    """A model's vectors have another length than the library's; the message may be shown."""


@dataclass(frozen=True)
class Waiting:
    """Chunks without a vector of a model, by their ids."""

    model: str
    texts: Mapping[int, str]


@dataclass(frozen=True)
class NewVector:
    """The vectors of a chunk and of its sentences, as stored."""

    vector: bytes | None
    sentences: bytes | None


def models(connection: sa.Connection, library_ids: Sequence[str]) -> set[str]:
    """The models of some libraries, the next ones included."""
    columns = libraries.c.embedding_model, libraries.c.next_embedding_model
    rows = connection.execute(sa.select(*columns).where(libraries.c.id.in_(library_ids)))
    return {model for row in rows for model in row if model is not None}


def state(connection: sa.Connection, library_id: str) -> LibraryEmbeddings:
    """A library's model, and how far the change to the next one is."""
    row = connection.execute(sa.select(*_COLUMNS).where(libraries.c.id == library_id)).one()
    in_library = _in_library(row.number)
    total = connection.scalar(sa.select(sa.func.count()).where(in_library)) or 0
    changing = row.next_embedding_model is not None
    with_vector = sa.select(sa.func.count())
    if changing:
        with_vector = with_vector.select_from(next_vectors).where(
            _in_library(row.number, next_vectors.c.chunk_id)
        )
    else:
        with_vector = with_vector.where(in_library, chunks.c.vector.is_not(None))
    done = connection.scalar(with_vector) or 0
    return LibraryEmbeddings(
        model=row.embedding_model,
        dimensions=row.embedding_dimensions,
        chunks=total,
        embedded=total if changing else done,
        error=row.embedding_error,
        next=NextEmbeddings(
            model=row.next_embedding_model,
            dimensions=row.next_embedding_dimensions,
            embedded=done,
        )
        if changing
        else None,
    )


def change(connection: sa.Connection, library_id: str, model: str, dimensions: int | None) -> bool:
    """Begins, or begins anew, the change to a model; returns whether there is anything to do.

    The dimensions are found with the first vector where they are not known yet.
    """
    row = _locked(connection, library_id)
    if row is None:
        return False
    _forget(connection, row.number)
    same = (row.embedding_model, row.embedding_dimensions) == (model, dimensions)
    connection.execute(
        libraries.update()
        .where(libraries.c.id == library_id)
        .values(
            next_embedding_model=None if same else model,
            next_embedding_dimensions=None if same else dimensions,
            embedding_error=None,
        )
    )
    return True


def waiting(connection: sa.Connection, library_id: str, limit: int) -> Waiting | None:
    """Some chunks that lack a vector, of the next model if there is one; None if none does."""
    row = connection.execute(sa.select(*_COLUMNS).where(libraries.c.id == library_id)).one_or_none()
    if row is None:
        return None
    query = sa.select(chunks.c.id, chunks.c.text).where(_in_library(row.number))
    model = row.next_embedding_model
    if model is not None:
        query = query.where(~sa.exists().where(next_vectors.c.chunk_id == chunks.c.id))
    else:
        query = query.where(chunks.c.vector.is_(None))
    found = connection.execute(query.order_by(chunks.c.id).limit(limit))
    texts = {row.id: row.text for row in found}
    return Waiting(model or row.embedding_model, texts) if texts else None


def add(
    connection: sa.Connection,
    library_id: str,
    model: str,
    dimensions: int,
    vectors: Mapping[int, NewVector],
) -> None:
    """Stores the vectors of some chunks, unless the library has turned to another model.

    Raises:
        OtherDimensions: the library has vectors of another length.
    """
    row = _locked(connection, library_id)
    if row is None or model != (row.next_embedding_model or row.embedding_model):
        return
    changing = row.next_embedding_model is not None
    known = row.next_embedding_dimensions if changing else row.embedding_dimensions
    if known not in (None, dimensions):
        raise OtherDimensions(
            f"The embeddings of {model} have {dimensions} dimensions now, and those of the library"
            f" {known}. Choose the model for the library again: its documents are embedded anew."
        )
    present = set(connection.scalars(sa.select(chunks.c.id).where(chunks.c.id.in_(vectors))))
    rows = [{"id": id, **vars(new)} for id, new in vectors.items() if id in present]
    values: dict[str, object] = {"embedding_error": None}
    if changing:
        values["next_embedding_dimensions"] = dimensions
        made = sa.select(next_vectors.c.chunk_id).where(next_vectors.c.chunk_id.in_(present))
        before = set(connection.scalars(made))
        rows = [{**row, "chunk_id": row.pop("id")} for row in rows if row["id"] not in before]
        if rows:
            connection.execute(next_vectors.insert(), rows)
    else:
        values["embedding_version"] = libraries.c.embedding_version + 1
        update = chunks.update().where(chunks.c.id == sa.bindparam("chunk"))
        for new in rows:
            new["chunk"] = new.pop("id")
        if rows:
            connection.execute(
                update.values(vector=sa.bindparam("vector"), sentences=sa.bindparam("sentences")),
                rows,
            )
    connection.execute(libraries.update().where(libraries.c.id == library_id).values(**values))


def swap(connection: sa.Connection, library_id: str) -> bool:
    """Puts the vectors of the next model in the place of the old, if every chunk has one.

    Returns whether there is nothing left to do.
    """
    # Locked where rows can be: no document of the library is published meanwhile.
    row = _locked(connection, library_id)
    if row is None or row.next_embedding_model is None:
        return True
    in_library = _in_library(row.number)
    lacking = sa.exists().where(
        in_library, ~sa.exists().where(next_vectors.c.chunk_id == chunks.c.id)
    )
    if connection.scalar(sa.select(lacking)):
        return False
    dimensions = row.next_embedding_dimensions
    if dimensions is None:
        return False
    same = next_vectors.c.chunk_id == chunks.c.id
    connection.execute(
        chunks.update()
        .where(in_library, same)
        .values(vector=next_vectors.c.vector, sentences=next_vectors.c.sentences)
    )
    _forget(connection, row.number)
    connection.execute(
        libraries.update()
        .where(libraries.c.id == library_id)
        .values(
            embedding_model=row.next_embedding_model,
            embedding_dimensions=dimensions,
            embedding_version=libraries.c.embedding_version + 1,
            next_embedding_model=None,
            next_embedding_dimensions=None,
            embedding_error=None,
        )
    )
    return True


def fail(connection: sa.Connection, library_id: str, error: str) -> None:
    """Records why chunks have no vectors yet."""
    change = libraries.update().where(libraries.c.id == library_id)
    connection.execute(change.values(embedding_error=error))


def _locked(connection: sa.Connection, library_id: str) -> Any:
    query = sa.select(*_COLUMNS).where(libraries.c.id == library_id)
    return connection.execute(query.with_for_update()).one_or_none()


def _in_library(number: int, column: sa.ColumnElement[int] = chunks.c.id) -> sa.ColumnElement[bool]:
    return column.between(number * CHUNKS_PER_LIBRARY, (number + 1) * CHUNKS_PER_LIBRARY - 1)


def _forget(connection: sa.Connection, number: int) -> None:
    connection.execute(next_vectors.delete().where(_in_library(number, next_vectors.c.chunk_id)))
