"""All blobs that records name are gone through, whatever their number, in the same memory."""

import hashlib
import itertools
import os
import shutil
import tracemalloc
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from carrel.server.backups.making import back_up, folder_source
from carrel.server.doctor.blobs import check_blobs
from carrel.server.folder import DataFolder, FolderLayout
from carrel.server.live import LiveBlobs
from carrel.server.records import plain
from carrel.server.records.blobs import after
from carrel.server.records.database import make_engine
from carrel.server.records.migrate import migrate
from carrel.server.records.tables import files, organisations, users
from carrel.server.settings import ServerSettings
from support import storage

pytestmark = storage.only_alone

_FEW, _MANY = 1_500, 16_500
_MOST_BYTES_A_BLOB = 80
"""A hash in a list takes 121 bytes, in a set more."""


def _folder(path: Path, count: int) -> FolderLayout:
    """A data folder of empty files, each under another hash."""
    with DataFolder(path) as folder:
        migrate(folder)
        engine = make_engine(folder.database_url)
        hashes = [hashlib.sha256(str(number).encode()).hexdigest() for number in range(count)]
        with engine.begin() as connection:
            organisation = {"id": "o", "name": "o", "created_at": 1}
            plain.insert(connection, organisations, [organisation])
            user = {"id": "u", "organisation_id": "o", "name": "u", "created_at": 1}
            plain.insert(connection, users, [user])
            row = {
                "organisation_id": "o",
                "user_id": "u",
                "filename": "f",
                "bytes": 0,
                "purpose": "ocr",
                "sample_type": "ocr_input",
                "source": "upload",
                "visibility": "user",
                "created_at": 1,
            }
            rows = [row | {"id": str(number), "blob": hash} for number, hash in enumerate(hashes)]
            plain.insert(connection, files, rows)
        engine.dispose()
    _put(folder, hashes)
    return folder


def _put(folder: FolderLayout, hashes: list[str]) -> None:
    for start, some in itertools.groupby(sorted(hashes), key=lambda hash: hash[:2]):
        parent = folder.blob_folder / start
        parent.mkdir(parents=True)
        for hash in some:
            # A Path would keep each name in the interpreter's table of strings.
            os.mknod(f"{parent}/{hash}", 0o600)


async def _doctored(folder: FolderLayout, count: int) -> None:
    [finding] = await check_blobs(ServerSettings(data=folder.path))
    assert f"all {count:,} are there" in finding.said


async def _backed_up(folder: FolderLayout, count: int) -> None:
    backup = folder.path.with_name("backup")
    # The bytes are there from an attempt that broke off: only the records are gone through.
    part = FolderLayout(backup.with_name("backup.part"))
    shutil.copytree(folder.blob_folder, part.blob_folder)
    with folder_source(folder.path, None) as source:
        tracemalloc.reset_peak()
        made = await back_up(source, backup, lambda told: None, lambda done, total: None)
    assert made.blobs == count


@pytest.mark.parametrize("work", [_doctored, _backed_up])
async def test_memory_does_not_grow_with_the_blobs(
    work: Callable[[FolderLayout, int], Awaitable[None]], tmp_path: Path
) -> None:
    peaks = []
    # The first round imports, and fills caches.
    for number, count in enumerate((_FEW, _FEW, _MANY, _MANY)):
        folder = _folder(tmp_path / str(number) / "data", count)
        tracemalloc.start()
        try:
            await work(folder, count)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    # The interpreter's table of strings, of 4 MB, may be made anew in one of them.
    peak = min(peaks[2:])
    grown = (peak - peaks[1]) / (_MANY - _FEW)
    print(f"\n{grown:.1f} bytes a blob, of a peak of {peak:,}")
    assert grown < _MOST_BYTES_A_BLOB


def test_every_hash_comes_once_and_in_order(tmp_path: Path) -> None:
    folder = _folder(tmp_path, 2_500)
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
            assert after(connection, "", 1) == found[:1]
        assert live.count() == len(list(itertools.chain(*live.pages()))) == 2_499
    finally:
        engine.dispose()
