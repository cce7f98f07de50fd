"""Lists, searches and keys among many rows: PostgreSQL finds them by an index, never row by row."""

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
import sqlalchemy as sa

from carrel.server.library.fulltext import search as fulltext
from carrel.server.library.fulltext.words import terms
from carrel.server.library.vectors.nearest import Nearest
from carrel.server.library.vectors.stored import VectorIndex
from carrel.server.records import blobs, documents, embeddings, files, libraries, processing, trash
from carrel.server.records.accounts import keys
from carrel.server.records.accounts.caller import Caller
from carrel.server.records.sql.database import make_engine
from carrel.wire.documents import DocumentQuery
from carrel.wire.files import FileQuery
from support.postgres import postgres_server
from support.rounds import rounds

DOCUMENTS = rounds(20_000, 1_000_000)
_LIBRARIES = 100
_LARGE = {"documents", "chunks", "vectors", "files", "api_keys", "words"}
"""Tables of which every query must use an index."""

_FILL = f"""
    INSERT INTO organisations SELECT 'o' || n, n, n FROM generate_series(1, {_LIBRARIES}) AS n;
    INSERT INTO users SELECT 'u' || n, 'o' || n, n, n FROM generate_series(1, {_LIBRARIES}) AS n;
    INSERT INTO api_keys SELECT 'k' || n, 'u' || 1 + n % {_LIBRARIES}, 'k' || n, 'hash' || n, n
        FROM generate_series(1, {DOCUMENTS} / 10) AS n;
    INSERT INTO libraries (id, organisation_id, owner_id, owner_type, name, created_at, updated_at,
        number) SELECT 'l' || n, 'o' || n, 'u' || n, 'User', n, n, n, n
        FROM generate_series(1, {_LIBRARIES}) AS n;
    INSERT INTO documents (id, library_id, name, blob, size, uploaded_by_id, uploaded_by_type,
        created_at, process_status, generation, indexed_generation, summarised_generation,
        last_processed_at)
        SELECT 'd' || n, 'l' || 1 + n % {_LIBRARIES}, 'n' || n, 'b' || n, 1, 'u1', 'User', n,
        CASE WHEN n % 1000 = 7 THEN 'todo' ELSE 'done' END, 1, 1, 1, n
        FROM generate_series(1, {DOCUMENTS}) AS n;
    INSERT INTO chunks (id, document_id, position, page, text)
        SELECT (1 + n % {_LIBRARIES}) * 4294967296 + n, 'd' || n, 0, 0,
        'The common heron of river ' || n % 997 || ' met the rare bird w' || n
        FROM generate_series(1, {DOCUMENTS}) AS n;
    INSERT INTO vectors (chunk_id, series, vector, sentences)
        SELECT id, series, decode(repeat('00', 512), 'hex'), decode(repeat('00', 192), 'hex')
        FROM chunks, generate_series(0, 2) AS series WHERE series = 0 OR id % 10 = 0;
    INSERT INTO trash SELECT 't' || n, 'o1', 'u1', 'file', n, NULL, n, n
        FROM generate_series(1, {DOCUMENTS} / 10) AS n;
    INSERT INTO trash_rows SELECT 't' || n, 0, 'files', '{{}}', 't' || n, NULL
        FROM generate_series(1, {DOCUMENTS} / 10) AS n;
    INSERT INTO words (word, documents)
        SELECT md5(n::text), 1 FROM generate_series(1, {DOCUMENTS} / 10) AS n;
    INSERT INTO files (id, organisation_id, user_id, filename, blob, bytes, purpose, sample_type,
        source, visibility, created_at)
        SELECT 'f' || n, 'o' || 1 + n % {_LIBRARIES}, 'u' || 1 + n % {_LIBRARIES}, 'n' || n,
        'b' || n, 1, 'ocr', 'ocr_input', 'upload', 'workspace', n
        FROM generate_series(1, {DOCUMENTS}) AS n
"""

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def engine() -> Iterator[sa.Engine]:
    """A database with many rows."""
    engine = make_engine(postgres_server().migrated(uuid4().hex))
    with engine.begin() as connection:
        for statement in _FILL.split(";"):
            connection.exec_driver_sql(statement.replace("%", "%%"), ())
        change = "UPDATE libraries SET next_embedding_model = 'letters', next_embedding_dimensions"
        connection.exec_driver_sql(f"{change} = 26")
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("VACUUM ANALYZE")
    yield engine
    engine.dispose()


CALLER = Caller("o7", "u7")
_FIND = partial(fulltext.find, number=7, limit=50)
QUERIES: dict[str, Callable[[sa.Connection], object]] = {
    "authentication": lambda c: keys.find_by_hash(c, "hash77"),
    "role in a library": lambda c: libraries.require(c, CALLER, "l7"),
    "a document": lambda c: documents.get(c, CALLER, "l7", "d106"),
    "documents, newest first": lambda c: documents.page(c, CALLER, "l7", DocumentQuery()),
    "documents by name": lambda c: documents.page(c, CALLER, "l7", DocumentQuery(sort_by="name")),
    "files": lambda c: files.page(c, CALLER, FileQuery(page_size=20)),
    "search for a rare word": lambda c: _FIND(c, terms=terms("w106")),
    "search for common words": lambda c: _FIND(c, terms=terms("common heron river")),
    "search for a misspelt word": lambda c: _FIND(c, terms=terms("herron")),
    "search in a document": lambda c: _FIND(c, terms=terms("heron"), document_ids=["d106"]),
    "search by meaning": lambda c: _nearest(c, VectorIndex()),
    "progress of a change of models": lambda c: embeddings.state(c, "l7"),
    "chunks without a vector": lambda c: embeddings.next_waiting(c, "l7", 128),
    "vectors that nothing needs": lambda c: embeddings.remove_old(c, "l7", None, 100),
    "the end of a change of models": lambda c: embeddings.swap(c, "l7"),
    "blobs that a record names": lambda c: blobs.find_named(c, [f"b{n}" for n in range(20)]),
    "unfinished documents": processing.list_unfinished,
    "next without a summary": lambda c: processing.next_unsummarised(c, _soon(), 100),
    "expired documents": documents.delete_expired,
    "expired files": files.delete_expired,
    "expired trash": trash.delete_expired,
}


def _nearest(connection: sa.Connection, index: VectorIndex) -> object:
    [library] = embeddings.find_searched(connection, ["l7"])
    return index.begin(connection, Nearest(library, np.ones(256, np.float32), 10))([])


def _soon() -> datetime:
    return datetime.now(UTC) + timedelta(hours=1)


@pytest.mark.parametrize("name", QUERIES)
def test_no_query_reads_a_large_table_row_by_row(engine: sa.Engine, name: str) -> None:
    asked: list[tuple[str, Any]] = []

    def note(
        connection: Any, cursor: Any, statement: str, parameters: Any, context: Any, many: bool
    ) -> None:
        asked.append((statement, parameters))

    with engine.connect() as connection:
        # Once to fill the caches.
        QUERIES[name](connection)
        sa.event.listen(connection, "before_cursor_execute", note)
        began = time.perf_counter()
        QUERIES[name](connection)
        print(f"\n{name}: {(time.perf_counter() - began) * 1000:.1f} ms of {DOCUMENTS} documents")
        sa.event.remove(connection, "before_cursor_execute", note)
        assert asked
        for statement, parameters in asked:
            explained = f"EXPLAIN (FORMAT JSON) {statement}"
            [plan] = connection.exec_driver_sql(explained, parameters).scalar_one()
            scanned = set(_scanned(plan["Plan"])) & _LARGE
            assert not scanned, f"{statement}\n{json.dumps(plan, indent=1)}"


def _scanned(node: dict[str, Any]) -> Iterator[str]:
    """The tables that a plan reads row by row."""
    if node["Node Type"] == "Seq Scan":
        yield node["Relation Name"]
    for below in node.get("Plans", ()):
        yield from _scanned(below)
