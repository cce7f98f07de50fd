"""Blobs in a local folder."""

import os
from pathlib import Path

import pytest

from carrel.server.blobs.local import LocalBlobs
from carrel.server.blobs.store import put


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
    await put(blobs, b"to make the folder")
    monkeypatch.setattr(os, "fsync", record_sync)
    monkeypatch.setattr(Path, "replace", record_replace)
    await put(blobs, b"to make the folder")
    assert steps == ["sync file", "rename", "sync folder"]
