"""A data folder of an older format keeps its documents, and they are found again."""

import asyncio
from pathlib import Path

import pytest
import sqlalchemy as sa

from carrel.server.blobs.local import LocalBlobs
from carrel.server.blobs.store import put
from carrel.server.folder import FORMAT, DataFolder
from carrel.server.records import keys, migrate
from carrel.server.records.database import make_engine
from support import storage
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
    SELECT 'd', 'l', 'heron.txt', :blob, 5, 'text/plain', id, 'User', 1, 2, 'done', 1, 1 FROM users
"""
_CHUNK = """
    INSERT INTO chunks (document_id, library_id, generation, position, page, text)
    VALUES ('d', 'l', 1, 0, 0, 'an old heron')
"""


def _fill_format_1(folder: DataFolder, blob: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrate, "FORMAT", 1)
        migrate.migrate(folder)
    engine = make_engine(folder.database_url)
    with engine.begin() as connection:
        keys.add(connection, "mine", organisation=keys.OWN, user=keys.OWN, hash="0" * 64)
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
