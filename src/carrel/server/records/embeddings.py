"""The embedding models of libraries, and the change from one to another.

The vectors of a library are in numbered series, each of one model. One series answers; that of
the next model grows beside it until every chunk has a vector, then the library's row names it
instead. Vectors of other series are removed afterwards, some at a time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import sqlalchemy as sa

from carrel.server.records.sql.tables import CHUNKS_PER_LIBRARY, chunks, libraries, vectors
from carrel.wire.libraries import LibraryEmbeddings, NextEmbeddings


class OtherDimensions(Exception):
    """A model's vectors have another length than the library's; the message may be shown."""


class SearchedLibrary(NamedTuple):
    """A library and the series of vectors that answers in it."""

    id: str
    number: int
    revision: int
    """Changes with the searchable text."""
    model: str
    dimensions: int
    series: int
    version: int
    """Changes with the vectors of text that stays."""

    @property
    def area(self) -> tuple[int, int]:
        """The first and the last id that its chunks can have."""
        return self.number * CHUNKS_PER_LIBRARY, (self.number + 1) * CHUNKS_PER_LIBRARY - 1


# Built once: every search runs them. A list of ids would be expanded into the SQL each time.
_SEARCHED = sa.select(
    libraries.c.id,
    libraries.c.number,
    libraries.c.revision,
    libraries.c.embedding_model,
    libraries.c.embedding_dimensions,
    libraries.c.embedding_series,
    libraries.c.embedding_version,
).where(libraries.c.id == sa.bindparam("id"))
_MODELS = sa.select(libraries.c.embedding_model, libraries.c.next_embedding_model).where(
    libraries.c.id.in_(sa.bindparam("ids", expanding=True))
)


@dataclass(frozen=True)
class Waiting:
    """Chunks without a vector of a model, by their ids."""

    model: str
    texts: Mapping[int, str]


@dataclass(frozen=True)
class StoredVector:
    """The vectors of a chunk and of its sentences, as they are stored."""

    vector: bytes
    sentences: bytes | None


def find_searched(connection: sa.Connection, library_ids: Sequence[str]) -> list[SearchedLibrary]:
    """Return the existing libraries among these ids."""
    found = (connection.execute(_SEARCHED, {"id": id}).one_or_none() for id in library_ids)
    return [SearchedLibrary(*row) for row in found if row is not None]


def models(connection: sa.Connection, library_ids: Sequence[str]) -> set[str]:
    """Return the models of some libraries, the next ones included."""
    rows = connection.execute(_MODELS, {"ids": library_ids})
    return {model for row in rows for model in row if model is not None}


def state(connection: sa.Connection, library_id: str) -> LibraryEmbeddings:
    """Return a library's model, and the progress of the change to the next one."""
    row = connection.execute(sa.select(libraries).where(libraries.c.id == library_id)).one()
    count = sa.select(sa.func.count())
    total = connection.scalar(count.where(_is_in_library(row.number, chunks.c.id))) or 0
    growing = _is_in_library(row.number, vectors.c.chunk_id), vectors.c.series == _next_series(row)
    done = connection.scalar(count.where(*growing)) or 0
    changing = row.next_embedding_model is not None
    return LibraryEmbeddings(
        model=row.embedding_model,
        dimensions=row.embedding_dimensions,
        chunks=total,
        embedded=total if changing else done,
        error=row.embedding_error,
        next=NextEmbeddings(
            model=row.next_embedding_model, dimensions=row.next_embedding_dimensions, embedded=done
        )
        if changing
        else None,
    )


def change(connection: sa.Connection, library_id: str, model: str, dimensions: int | None) -> bool:
    """Begin, or begin anew, the change to a model, and return whether there is anything to do.

    The dimensions are found with the first vector where they are not known yet.
    """
    row = _lock(connection, library_id)
    if row is None:
        return False
    same = (row.embedding_model, row.embedding_dimensions) == (model, dimensions)
    _set(
        connection,
        library_id,
        next_embedding_model=None if same else model,
        next_embedding_dimensions=None if same else dimensions,
        next_embedding_series=row.next_embedding_series + 1,
        embedding_error=None,
    )
    return True


def next_waiting(connection: sa.Connection, library_id: str, limit: int) -> Waiting | None:
    """Return some chunks that lack a vector, of the next model if there is one.

    None if every chunk has its vector.
    """
    row = connection.execute(sa.select(libraries).where(libraries.c.id == library_id)).one_or_none()
    if row is None:
        return None
    query = sa.select(chunks.c.id, chunks.c.text).where(
        _is_in_library(row.number, chunks.c.id), _lacks(_next_series(row))
    )
    found = connection.execute(query.order_by(chunks.c.id).limit(limit))
    texts = {row.id: row.text for row in found}
    model = row.next_embedding_model or row.embedding_model
    return Waiting(model, texts) if texts else None


def add(
    connection: sa.Connection,
    library_id: str,
    model: str,
    dimensions: int,
    new: Mapping[int, StoredVector],
) -> None:
    """Store the vectors of some chunks, unless the library has turned to another model.

    Raises:
        OtherDimensions: the library has vectors of another length.
    """
    row = _lock(connection, library_id)
    if row is None or model != (row.next_embedding_model or row.embedding_model):
        return
    changing = row.next_embedding_model is not None
    known = row.next_embedding_dimensions if changing else row.embedding_dimensions
    if known not in (None, dimensions):
        raise OtherDimensions(
            f"The embeddings of {model} have {dimensions} dimensions now, and those of the library"
            f" {known}. Choose the model for the library again: its documents are embedded anew."
        )
    series = _next_series(row)
    lacking = connection.scalars(sa.select(chunks.c.id).where(chunks.c.id.in_(new), _lacks(series)))
    insert(connection, series, {id: new[id] for id in lacking})
    if changing:
        _set(connection, library_id, embedding_error=None, next_embedding_dimensions=dimensions)
    else:
        version = libraries.c.embedding_version + 1
        _set(connection, library_id, embedding_error=None, embedding_version=version)


def insert(connection: sa.Connection, series: int, new: Mapping[int, StoredVector]) -> None:
    """Add vectors of chunks, by the chunks' ids, to a series."""
    rows = [{"chunk_id": id, "series": series, **vars(each)} for id, each in new.items()]
    if rows:
        connection.execute(vectors.insert(), rows)


def swap(connection: sa.Connection, library_id: str) -> bool:
    """Let the series of the next model answer if every chunk has a vector in it.

    Returns True if nothing is left to do.
    """
    # Locked where rows can be: no document of the library is published meanwhile.
    row = _lock(connection, library_id)
    if row is None or row.next_embedding_model is None:
        return True
    in_library = _is_in_library(row.number, chunks.c.id)
    lacking = sa.exists().where(in_library, _lacks(row.next_embedding_series))
    if connection.scalar(sa.select(lacking)) or row.next_embedding_dimensions is None:
        return False
    _set(
        connection,
        library_id,
        embedding_model=row.next_embedding_model,
        embedding_dimensions=row.next_embedding_dimensions,
        embedding_series=row.next_embedding_series,
        embedding_version=libraries.c.embedding_version + 1,
        next_embedding_model=None,
        next_embedding_dimensions=None,
        next_embedding_series=row.next_embedding_series + 1,
        embedding_error=None,
    )
    return True


def remove_old(
    connection: sa.Connection, library_id: str, after: int | None, limit: int
) -> int | None:
    """Remove about `limit` vectors of series that neither answer nor grow.

    Returns the id of the last chunk, from which the next call continues, or None if none is left.
    """
    # Locked where rows can be: no other series becomes one that answers or grows meanwhile.
    row = _lock(connection, library_id)
    if row is None:
        return None
    old = vectors.c.series.not_in((row.embedding_series, row.next_embedding_series))
    query = sa.select(vectors.c.chunk_id).where(_is_in_library(row.number, vectors.c.chunk_id), old)
    if after is not None:
        query = query.where(vectors.c.chunk_id > after)
    found = connection.scalars(query.order_by(vectors.c.chunk_id).limit(limit)).all()
    if not found:
        return None
    between = vectors.c.chunk_id.between(found[0], found[-1])
    connection.execute(vectors.delete().where(between, old))
    return int(found[-1])


def fail(connection: sa.Connection, library_id: str, error: str) -> None:
    """Record why chunks have no vectors yet."""
    _set(connection, library_id, embedding_error=error)


def _set(connection: sa.Connection, library_id: str, **values: Any) -> None:
    connection.execute(libraries.update().where(libraries.c.id == library_id).values(**values))


def _lock(connection: sa.Connection, library_id: str) -> Any:
    query = sa.select(libraries).where(libraries.c.id == library_id)
    return connection.execute(query.with_for_update()).one_or_none()


def _next_series(row: Any) -> int:
    """Return the series to fill: that of the next model, or else the answering one."""
    changing = row.next_embedding_model is not None
    return int(row.next_embedding_series if changing else row.embedding_series)


def _lacks(series: int) -> sa.ColumnElement[bool]:
    return ~sa.exists().where(vectors.c.chunk_id == chunks.c.id, vectors.c.series == series)


def _is_in_library(number: int, column: sa.ColumnElement[int]) -> sa.ColumnElement[bool]:
    return column.between(number * CHUNKS_PER_LIBRARY, (number + 1) * CHUNKS_PER_LIBRARY - 1)
