"""Records of an older format keep their documents, and they are found again."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
import sqlalchemy as sa

from carrel.server.blobs.local import LocalBlobs
from carrel.server.blobs.store import put
from carrel.server.datadir.folder import FORMAT, DataFolder
from carrel.server.library.vectors.nearest import Nearest
from carrel.server.library.vectors.stored import SENTENCE_DIMENSIONS, VectorIndex, stored_sentences
from carrel.server.records import blobs, embeddings
from carrel.server.records.cluster import shared
from carrel.server.records.embeddings import StoredVector
from carrel.server.records.sql import migrate, pgvector
from carrel.server.records.sql.database import make_engine
from support import storage
from support.old_schemas import make_database, make_folder
from support.postgres import postgres_server
from support.processing import Lab, ScriptedReader

_LIBRARY = """
    INSERT INTO libraries
        (id, organisation_id, owner_id, owner_type, name, created_at, updated_at)
    SELECT 'l', organisation_id, id, 'User', 'Birds', 1, 1 FROM users
"""
_DOCUMENT = """
    INSERT INTO documents
        (id, library_id, name, blob, size, mime_type, uploaded_by_id, uploaded_by_type,
        created_at, last_processed_at, process_status, generation, indexed_generation)
    SELECT 'd', 'l', 'heron.md', :blob, 5, 'text/markdown', id, 'User', 1, 2, 'done', 1, 1
    FROM users
"""
_CHUNK = """
    INSERT INTO chunks (document_id, library_id, generation, position, page, text)
    VALUES ('d', 'l', 1, 0, 0, 'an old heron')
"""


def _add_user(connection: sa.Connection) -> None:
    connection.execute(sa.text("INSERT INTO organisations VALUES ('o', 'local', 1)"))
    connection.execute(sa.text("INSERT INTO users VALUES ('u', 'o', 'local', 1)"))


def _fill_format_1(folder: DataFolder, blob: str) -> None:
    make_folder(folder, 1)
    engine = make_engine(folder.database_url)
    with engine.begin() as connection:
        _add_user(connection)
        connection.execute(sa.text(_LIBRARY))
        connection.execute(sa.text(_DOCUMENT), {"blob": blob})
        connection.execute(sa.text(_CHUNK))
    engine.dispose()


@storage.only_alone
async def test_documents_of_format_1_are_processed_anew(tmp_path: Path) -> None:
    with DataFolder(tmp_path / "data") as folder:
        blob = await put(LocalBlobs(folder.blob_folder), b"bytes")
        await asyncio.to_thread(_fill_format_1, folder, blob)
        assert folder.format == 1

        await asyncio.to_thread(migrate.migrate, folder)
        assert folder.format == FORMAT
        (copy,) = (folder.path / "backups").iterdir()
        assert copy.name.startswith("carrel-format1-")

        lab = Lab(folder, ScriptedReader())
        await lab.open()
        try:
            async with asyncio.timeout(30):
                while not (hits := await lab.service.search(["l"], "heron", 10, lab.caller)):  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
        finally:
            await lab.close()
    assert [(hit.document_id, hit.text) for hit in hits] == [("d", "a heron at dawn")]
    assert lab.reader.reads == 1


_LIBRARY_2 = """
    INSERT INTO libraries (id, number, organisation_id, owner_id, owner_type, name, created_at,
        updated_at)
    SELECT 'l', 1, organisation_id, id, 'User', 'Birds', 1, 1 FROM users
"""
_CHUNK_2 = """
    INSERT INTO chunks (id, document_id, position, page, text, vector, sentences)
    VALUES (:id, 'd', :position, 0, 'an old heron', :vector, :sentences)
"""
_FIRST, _CHUNKS = 2**32, 40


def _fill_format_2(connection: sa.Connection, drawn: list[StoredVector]) -> None:
    """A library whose chunks have vectors, but for the last."""
    _add_user(connection)
    connection.execute(sa.text(_LIBRARY_2))
    connection.execute(sa.text(_DOCUMENT), {"blob": "0" * 64})
    for number, vector in enumerate(drawn):
        values = {"id": _FIRST + number, "position": number, **vars(vector)}
        if number == _CHUNKS - 1:
            # One that its model did not embed yet.
            values |= {"vector": None, "sentences": None}
        connection.execute(sa.text(_CHUNK_2), values)


def _folder_of_format_2(path: Path, fill: Callable[[sa.Connection], None]) -> str:
    with DataFolder(path) as folder:
        make_folder(folder, 2)
        engine = make_engine(folder.database_url)
        with engine.begin() as connection:
            fill(connection)
        engine.dispose()
        migrate.migrate(folder)
        assert folder.format == FORMAT
        return folder.database_url


def _database_of_format_2(compares: bool, fill: Callable[[sa.Connection], None]) -> str:
    server = postgres_server(vectors=compares)
    engine = make_engine(url := server.create(uuid4().hex))
    with engine.begin() as connection:
        make_database(connection, 2)
        if compares:
            connection.exec_driver_sql("CREATE EXTENSION vector")
        fill(connection)
    engine.dispose()
    # Two at once: the second waits for the first, and finds nothing to do.
    with ThreadPoolExecutor(2) as pool:
        assert {done.before for done in pool.map(shared.migrate, [url, url])} == {2, FORMAT}
    return url


@storage.only_alone
@pytest.mark.parametrize("kept_in", ["sqlite", "postgresql", "pgvector"])
def test_vectors_of_format_2_are_found_and_can_be_changed(tmp_path: Path, kept_in: str) -> None:
    vectors = np.random.default_rng(2).standard_normal((_CHUNKS, 256)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    part = vectors[:, :SENTENCE_DIMENSIONS]
    part = part / np.linalg.norm(part, axis=1, keepdims=True)
    drawn = [
        StoredVector(vector.astype("e").tobytes(), stored_sentences(sentence))
        for vector, sentence in zip(vectors, part, strict=True)
    ]

    def fill(connection: sa.Connection) -> None:
        _fill_format_2(connection, drawn)

    if kept_in == "sqlite":
        url = _folder_of_format_2(tmp_path / "data", fill)
    else:
        url = _database_of_format_2(kept_in == "pgvector", fill)
    engine = make_engine(url)
    try:
        with engine.begin() as connection:
            assert pgvector.is_present(connection) == (kept_in == "pgvector")
            [library] = embeddings.find_searched(connection, ["l"])
            found = VectorIndex().begin(connection, Nearest(library, vectors[7], 5))([])
            assert next(iter(found)) == _FIRST + 7
            state = embeddings.state(connection, "l")
            assert (state.embedded, state.chunks) == (_CHUNKS - 1, _CHUNKS)
            assert embeddings.change(connection, "l", "letters", 26)
            state = embeddings.state(connection, "l")
            assert state.next is not None and state.next.embedded == 0
            waiting = embeddings.next_waiting(connection, "l", 100)
            assert waiting is not None and min(waiting.texts) == _FIRST
            named = blobs.find_named(connection, ["0" * 64, "1" * 64])
            assert named == set(blobs.next_hashes(connection, "", 9)) == {"0" * 64}
    finally:
        engine.dispose()
