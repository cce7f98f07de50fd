"""All blobs that records name are gone through, whatever their number, in the same memory."""

import itertools
from pathlib import Path

import pytest
import sqlalchemy as sa

from carrel.server.admin.live_blobs import LiveBlobs
from carrel.server.records.blobs import next_hashes
from carrel.server.records.sql.database import make_engine
from carrel.server.records.sql.tables import files
from support import storage
from support.live_memory import bytes_a_blob, folder_of

pytestmark = storage.only_alone

_MOST_BYTES_A_BLOB = 80
"""A hash in a list takes 121 bytes, in a set more."""


@pytest.mark.parametrize("work", ["doctor", "backup"])
def test_memory_does_not_grow_with_the_blobs(work: str, tmp_path: Path) -> None:
    assert bytes_a_blob(work, tmp_path) < _MOST_BYTES_A_BLOB


def test_every_hash_comes_once_and_in_order(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, 2_500)
    engine = make_engine(folder.database_url)
    try:
        live = LiveBlobs(engine.connect)
        pages = list(live.pages())
        found = list(itertools.chain(*pages))
        assert found == sorted(set(found))
        assert [len(page) for page in pages] == [1000, 1000, 500]
        assert live.count() == 2_500
        with engine.begin() as connection:
            # The same bytes again, in another place.
            connection.execute(sa.update(files).where(files.c.id == "7").values(blob=found[0]))
            assert next_hashes(connection, "", 1) == found[:1]
        assert live.count() == len(list(itertools.chain(*live.pages()))) == 2_499
    finally:
        engine.dispose()
