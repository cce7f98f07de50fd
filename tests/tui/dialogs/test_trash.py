"""The list of deleted items."""

from pathlib import Path

from support.process import RunningServer
from support.workbench import profile_of, workbench


async def test_deleted_items_are_listed_marked_and_restored(
    server: RunningServer, tmp_path: Path
) -> None:
    async with workbench(profile_of(server)) as bench:
        ids = []
        for name in ("lease-of-may.txt", "lease-of-june.txt", "invoice-of-june.txt"):
            (tmp_path / name).write_text("x")
            file = await bench.store.files.upload(tmp_path / name)
            assert file is not None
            ids.append(file.id)
        await bench.store.files.delete(ids)
        await bench.press("ctrl+t")
        await bench.shows("Deleted · ", "lease-of-may.txt", "lease-of-june.txt", "File")
        await bench.press("slash")
        await bench.type("of-june")
        await bench.until(lambda: "lease-of-may" not in bench.text())
        await bench.press("enter", "space", "space")
        await bench.shows("2 marked")
        await bench.press("enter")
        await bench.shows("Restored 2 items.")
        await bench.until(lambda: "lease-of-june" not in bench.text().split("Deleted ·")[1])
        await bench.press("escape")
        await bench.leave("escape")
        await bench.shows("lease-of-june.txt", "invoice-of-june.txt")
