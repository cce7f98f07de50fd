"""The memory that going through blobs takes for each of them.

Run as a program: in a process of its own, because the interpreter makes its table of strings anew
now and then, which is larger the more a process has imported.
"""

import asyncio
import hashlib
import itertools
import os
import shutil
import subprocess
import sys
import tracemalloc
from pathlib import Path

from carrel.server.admin.backups.making import back_up, folder_source
from carrel.server.admin.doctor.blobs import check_blobs
from carrel.server.datadir.folder import DataFolder, FolderLayout
from carrel.server.records.sql import plain
from carrel.server.records.sql.database import make_engine
from carrel.server.records.sql.migrate import migrate
from carrel.server.records.sql.tables import files, organisations, users
from carrel.server.settings import ServerSettings

_FEW, _MANY = 1_500, 9_500


def bytes_a_blob(work: str, folder: Path) -> float:
    """By how much the peak grows with each blob of a data folder; `work`: doctor or backup."""
    command = [sys.executable, "-m", "support.live_memory", work, str(folder)]
    environ = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(command, env=environ, check=True, stdout=subprocess.PIPE, text=True)
    return float(done.stdout)


def folder_of(path: Path, count: int) -> FolderLayout:
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


_WORKS = {"doctor": _doctored, "backup": _backed_up}


def _measure(work: str, path: Path) -> float:
    peaks = []
    # The first round imports, and fills caches.
    for number, count in enumerate((_FEW, _FEW, _MANY, _MANY)):
        folder = folder_of(path / str(number) / "data", count)
        tracemalloc.start()
        try:
            asyncio.run(_WORKS[work](folder, count))
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    # The table of strings, of 4 MB, may be made anew in one of them.
    return (min(peaks[2:]) - peaks[1]) / (_MANY - _FEW)


if __name__ == "__main__":
    print(_measure(sys.argv[1], Path(sys.argv[2])))
