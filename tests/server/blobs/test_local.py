"""Blobs in a local folder."""

import asyncio
import hashlib
import os
import time
from pathlib import Path

import pytest

from carrel.server.blobs.local import LocalBlobs

HOUR = 3600.0


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def test_bytes_written_in_pieces_are_kept_under_their_hash(tmp_path: Path) -> None:
    blobs = LocalBlobs(tmp_path)
    async with blobs.writer() as writer:
        await writer.write(b"one ")
        await writer.write(b"two")
        blob = await writer.commit()
    assert blob.hash == hashlib.sha256(b"one two").hexdigest()
    assert blob.size == 7
    assert blobs.path(blob.hash).read_bytes() == b"one two"
    assert files_in(tmp_path) == [blobs.path(blob.hash)]


async def test_what_is_not_committed_leaves_nothing(tmp_path: Path) -> None:
    blobs = LocalBlobs(tmp_path)
    async with blobs.writer() as writer:
        await writer.write(b"lost")
    assert files_in(tmp_path) == []


async def test_the_same_bytes_are_kept_once(tmp_path: Path) -> None:
    blobs = LocalBlobs(tmp_path)
    first, second = await asyncio.gather(blobs.put(b"same"), blobs.put(b"same"))
    assert first == second
    assert len(files_in(tmp_path)) == 1


async def test_a_blob_is_synced_before_it_has_its_name_and_its_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def record_sync(descriptor: int) -> None:
        is_folder = Path(f"/proc/self/fd/{descriptor}").is_dir()
        steps.append("sync folder" if is_folder else "sync file")
        fsync(descriptor)

    def record_replace(self: Path, target: Path) -> Path:
        steps.append("rename")
        return replace(self, target)

    blobs = LocalBlobs(tmp_path)
    await blobs.put(b"to make the folder")
    monkeypatch.setattr(os, "fsync", record_sync)
    monkeypatch.setattr(Path, "replace", record_replace)
    await blobs.put(b"to make the folder")
    assert steps == ["sync file", "rename", "sync folder"]


async def test_what_a_killed_process_left_is_removed_at_the_next_start(tmp_path: Path) -> None:
    writer = LocalBlobs(tmp_path).writer()
    await writer.write(b"half")
    assert len(files_in(tmp_path)) == 1
    LocalBlobs(tmp_path)
    assert files_in(tmp_path) == []
    writer.abort()


async def test_the_collector_takes_what_is_old_and_that_no_record_names(tmp_path: Path) -> None:
    blobs = LocalBlobs(tmp_path)
    live, dead, new = [await blobs.put(data) for data in (b"live", b"dead", b"new")]
    for blob in (live, dead):
        os.utime(blobs.path(blob.hash), times=(0, time.time() - 2 * HOUR))
    assert blobs.collect({live.hash}, HOUR) == 1
    assert {path.name for path in files_in(tmp_path)} == {live.hash, new.hash}


async def test_old_bytes_that_are_sent_again_are_safe_from_the_collector(tmp_path: Path) -> None:
    blobs = LocalBlobs(tmp_path)
    blob = await blobs.put(b"again")
    os.utime(blobs.path(blob.hash), times=(0, time.time() - 2 * HOUR))
    await blobs.put(b"again")
    assert blobs.collect(set(), HOUR) == 0
