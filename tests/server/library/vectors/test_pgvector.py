"""pgvector, where PostgreSQL has it: the same chunks as the comparison in memory finds."""

from collections.abc import Iterator
from typing import TYPE_CHECKING
from uuid import uuid4

import numpy as np
import pytest
import sqlalchemy as sa

from carrel.server.library.vectors.memory import MemoryVectors
from carrel.server.library.vectors.nearest import Nearest
from carrel.server.library.vectors.pgvector import PgVectors
from carrel.server.library.vectors.stored import VectorIndex
from carrel.server.records import embeddings
from carrel.server.records.cluster import shared
from carrel.server.records.embeddings import StoredVector
from carrel.server.records.sql import pgvector
from carrel.server.records.sql.database import make_engine
from carrel.server.records.sql.tables import CHUNKS_PER_LIBRARY, chunks
from support.postgres import postgres_server

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DIMENSIONS, _CHUNKS, _DOCUMENTS = 256, 400, 20
_ROWS = f"""
    INSERT INTO organisations VALUES ('o', 'o', 1);
    INSERT INTO users VALUES ('u', 'o', 'u', 1);
    INSERT INTO libraries (id, organisation_id, owner_id, owner_type, name, created_at, updated_at,
        number, revision) SELECT 'l' || n, 'o', 'u', 'User', n, n, n, n, 1
        FROM generate_series(1, 2) AS n;
    INSERT INTO documents (id, library_id, name, blob, size, uploaded_by_id, uploaded_by_type,
        created_at, process_status, generation, indexed_generation)
        SELECT 'l' || l || 'd' || n, 'l' || l, n, n, 1, 'u', 'User', n, 'done', 1, 1
        FROM generate_series(1, 2) AS l, generate_series(0, {_DOCUMENTS - 1}) AS n
"""


def _vectors(seed: int, count: int) -> "NDArray[np.float32]":
    drawn = np.random.default_rng(seed).standard_normal((count, _DIMENSIONS)).astype(np.float32)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    return drawn


def _stored(vector: "NDArray[np.float32]") -> StoredVector:
    return StoredVector(vector.astype("e").tobytes(), None)


@pytest.fixture
def connection() -> Iterator[sa.Connection]:
    """Two libraries with chunks, with vectors in two series, in a database that compares them."""
    address = postgres_server(vectors=True).migrated(uuid4().hex)
    engine = make_engine(address)
    try:
        with engine.begin() as connection:
            for statement in _ROWS.split(";"):
                connection.exec_driver_sql(statement)
            for library in (1, 2):
                rows = [
                    {
                        "id": library * CHUNKS_PER_LIBRARY + number,
                        "document_id": f"l{library}d{number % _DOCUMENTS}",
                        "position": number,
                        "page": 0,
                        "text": "text",
                    }
                    for number in range(_CHUNKS)
                ]
                connection.execute(chunks.insert(), rows)
                for series in (0, 1):
                    drawn = _vectors(library + 10 * series, _CHUNKS)
                    # Some have none.
                    present = {
                        library * CHUNKS_PER_LIBRARY + number: _stored(vector)
                        for number, vector in enumerate(drawn)
                        if number % 50
                    }
                    embeddings.insert(connection, series, present)
            yield connection
    finally:
        engine.dispose()


def test_the_same_chunks_are_nearest_as_in_memory(connection: sa.Connection) -> None:
    stored = _vectors(1, _CHUNKS).astype("e").astype(np.float32)
    assert PgVectors().warm(connection)
    [library] = embeddings.find_searched(connection, ["l1"])
    for kind in (PgVectors(), MemoryVectors()):
        for number, vector in enumerate(_vectors(3, 10)):
            exact = {CHUNKS_PER_LIBRARY + n: stored[n] @ vector for n in range(_CHUNKS) if n % 50}
            among = range(7) if number % 2 else range(_DOCUMENTS)
            some = [f"l1d{n}" for n in among]
            question = Nearest(library, vector, 50, some if number % 2 else None)
            found = kind.begin(connection, question)([])
            assert found == pytest.approx({id: exact[id] for id in found}, abs=1e-3)
            best = sorted(
                (exact[id] for id in exact if (id - CHUNKS_PER_LIBRARY) % _DOCUMENTS in among),
                reverse=True,
            )
            assert list(found.values()) == pytest.approx(best[:50], abs=1e-3)
            also = [CHUNKS_PER_LIBRARY + n for n in (0, 1, 2, 3)]
            asked = kind.begin(connection, Nearest(library, vector, 5))(also).keys()
            assert asked >= set(also[1:])
            assert also[0] not in asked
        none = library._replace(number=9, id="none")
        assert kind.begin(connection, Nearest(none, vector, 25))([]) == {}
        grown = library._replace(series=1, version=1)
        found = kind.begin(connection, Nearest(grown, _vectors(11, 8)[7], 25))([])
        assert next(iter(found)) == CHUNKS_PER_LIBRARY + 7


def test_every_half_float_is_computed_as_it_is(connection: sa.Connection) -> None:
    halves = np.arange(2**16, dtype=np.uint16)
    finite = halves[np.isfinite(halves.view(np.float16))]
    for part in np.array_split(finite, 8):
        query = "SELECT carrel_embedding(%s)::real[]"
        computed = connection.exec_driver_sql(query, (part.tobytes(),)).scalar_one()
        assert np.array_equal(np.array(computed, np.float32), part.view(np.float16))


def test_a_database_that_gets_the_extension_later_compares_what_it_has() -> None:
    server = postgres_server(vectors=True)
    engine = make_engine(address := server.migrated(uuid4().hex))
    try:
        with engine.begin() as connection:
            connection.exec_driver_sql("ALTER TABLE vectors DROP COLUMN embedding")
            connection.exec_driver_sql("DROP EXTENSION vector CASCADE")
            assert not pgvector.is_present(connection)
            for statement in _ROWS.split(";"):
                connection.exec_driver_sql(statement)
            [vector] = _vectors(1, 1)
            row = {"id": CHUNKS_PER_LIBRARY, "document_id": "l1d1", "position": 0, "page": 0}
            connection.execute(chunks.insert(), row | {"text": "text"})
            embeddings.insert(connection, 0, {CHUNKS_PER_LIBRARY: _stored(vector)})
            [library] = embeddings.find_searched(connection, ["l1"])
            question = Nearest(library, vector, 5)
            before = VectorIndex().begin(connection, question)([])
        assert "from now on" in shared.migrate(address).vectors
        assert shared.migrate(address).vectors == "pgvector compares vectors."
        with engine.begin() as connection:
            assert pgvector.is_present(connection)
            after = VectorIndex().begin(connection, question)([])
        assert after == pytest.approx(before, abs=1e-3)
        assert list(after) == [CHUNKS_PER_LIBRARY]
    finally:
        engine.dispose()
