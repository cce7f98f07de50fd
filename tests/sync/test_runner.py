"""A folder and a library that knows the documented endpoints alone, before and after a sync."""

import asyncio
import itertools
import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from carrel.client import ServiceError, Unauthorized, Unreachable
from carrel.store.sync.formatting import plan_rows
from carrel.sync import contents, remote
from carrel.sync.errors import SyncError
from carrel.sync.ledger import Ledger, SyncSettings
from carrel.sync.progress import SyncProgress
from support.folders import Desk
from support.service import Request, reply
from support.strict import LIBRARY

DELETE = SyncSettings(delete=True)


async def test_the_library_follows_the_folder(desk: Desk) -> None:
    desk.write("lease.txt", "three months")
    desk.write("2024/lease.txt", "six months")
    summary = await desk.sync()
    assert (summary.files, summary.uploaded, summary.bytes) == (2, 2, 22)
    assert desk.library.held == {"lease.txt": b"three months", "2024/lease.txt": b"six months"}

    (desk.folder / "lease.txt").rename(desk.folder / "2024" / "old lease.txt")
    desk.write("2024/lease.txt", "nine months")
    summary = await desk.sync()
    assert (summary.uploaded, summary.updated, summary.renamed) == (0, 1, 1)
    assert desk.library.held == {
        "2024/old lease.txt": b"three months",
        "2024/lease.txt": b"nine months",
    }

    (desk.folder / "2024" / "old lease.txt").unlink()
    assert (await desk.sync()).kept == 1
    assert len(desk.library.held) == 2
    assert (await desk.sync(DELETE)).deleted == 1
    assert desk.library.held == {"2024/lease.txt": b"nine months"}
    assert desk.library.uploads == ["lease.txt", "lease.txt", "lease.txt"]


async def test_nothing_changed_is_seen_by_one_question(desk: Desk) -> None:
    desk.write("a.txt", "one")
    await desk.sync()
    desk.library.requests.clear()
    summary = await desk.sync()
    assert not summary.changed
    assert summary.files == 1
    assert desk.library.requests == [("GET", f"/v1/libraries/{LIBRARY}/documents")]


async def test_a_touched_file_is_read_again_and_no_more(desk: Desk) -> None:
    desk.write("a.txt", "one")
    await desk.sync()
    desk.write("a.txt", "one", age=30)
    assert not (await desk.sync()).changed
    assert len(desk.library.uploads) == 1


async def test_new_content_is_there_before_the_old_goes(desk: Desk) -> None:
    desk.write("a.txt", "one")
    await desk.sync()
    desk.library.requests.clear()
    desk.write("a.txt", "two")
    await desk.sync()
    methods = [method for method, _ in desk.library.requests if method != "GET"]
    assert methods == ["POST", "DELETE"]


async def test_old_content_stays_when_the_new_is_refused(desk: Desk) -> None:
    desk.write("a.txt", "one")
    await desk.sync()
    desk.write("a.txt", "far too much")
    desk.library.meddle = too_large
    summary = await desk.sync()
    assert [failure.path for failure in summary.failures] == ["a.txt"]
    assert desk.library.held == {"a.txt": b"one"}


async def test_a_file_that_fails_does_not_stop_the_rest(desk: Desk) -> None:
    for number in range(20):
        desk.write(f"{number}.txt", f"text {number}" if number != 7 else "far too much")
    desk.library.meddle = too_large
    summary = await desk.sync()
    assert summary.uploaded == 19
    [failure] = summary.failures
    assert failure.path == "7.txt"
    assert "413" in failure.reason or "large" in failure.reason
    desk.library.meddle = lambda request: None
    assert (await desk.sync()).uploaded == 1


async def test_a_refused_file_is_not_sent_again_before_it_changes(desk: Desk) -> None:
    desk.write("a.txt", "far too much")
    desk.library.meddle = too_large
    async with desk.client() as client:
        runner = desk.runner(client)
        first = await runner.run()
        posts = desk.library.asked("POST")
        assert (await runner.run()).failures == first.failures
        assert desk.library.asked("POST") == posts
        desk.write("a.txt", "less")
        assert (await runner.run()).uploaded == 1


@pytest.mark.parametrize("status", [403, 429])
async def test_what_was_no_fault_of_a_file_is_tried_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setattr(remote, "PAUSES", ())
    desk.write("a.txt", "one")
    desk.library.meddle = lambda request: (
        reply({"message": "Not now."}, status) if request.method == "POST" else None
    )
    async with desk.client() as client:
        runner = desk.runner(client)
        with pytest.raises(ServiceError):
            await runner.run()
        desk.library.meddle = lambda request: None
        assert (await runner.run()).uploaded == 1


def too_large(request: Request) -> bytes | None:
    refused = request.method == "POST" and b"far too much" in request.body
    return reply({"message": "The document is too large."}, 413) if refused else None


async def test_a_file_above_the_limit_is_refused_before_it_is_read_or_sent(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write("a.txt", "one")
    desk.write("large.bin", b"x")
    await desk.sync()
    health = {"status": "ok", "limits": {"document_bytes": 20_000_000}}
    desk.library.meddle = lambda request: reply(health) if request.target == "/healthz" else None
    large = desk.write("large.bin", b"")
    os.truncate(large, 30_000_000)
    (desk.folder / "a.txt").rename(desk.folder / "b.txt")
    monkeypatch.setattr(contents, "_read", only_reading("b.txt"))
    async with desk.client() as client:
        preview = await desk.runner(client, DELETE).preview()
    reason = "It has 30.0 MB; the service takes 20.0 MB at most."
    assert [(each.path, each.reason) for each in preview.failures] == [("large.bin", reason)]
    summary = await desk.sync(DELETE, max_delete=9)
    assert (summary.renamed, [each.path for each in summary.failures]) == (1, ["large.bin"])
    assert desk.library.held == {"b.txt": b"one", "large.bin": b"x"}


def only_reading(name: str) -> Callable[[Path], contents.Content | None]:
    read = contents._read

    def reading(path: Path) -> contents.Content | None:
        assert path.name == name
        return read(path)

    return reading


async def test_a_change_that_keeps_size_and_time_is_seen(desk: Desk) -> None:
    path = desk.write("a.txt", "one")
    await desk.sync()
    before = path.stat()
    path.write_text("two")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (await desk.sync()).updated == 1
    assert desk.library.held == {"a.txt": b"two"}


async def test_a_deletion_during_the_listing_loses_no_document(desk: Desk) -> None:
    for number in range(130):
        desk.write(f"{number}.txt", f"text {number}")
    for number in range(3):
        desk.library.add(f"by hand {number}", f"text {number}".encode())
    await desk.sync()
    newest = list(desk.library.documents)[-5:]

    def deleted(request: Request) -> None:
        # Somebody deletes documents of the first page before the second is asked for.
        if "page=1" in request.target.split("&") or "?page=1&" in request.target:
            for id in newest:
                desk.library.documents.pop(id, None)

    desk.library.meddle = deleted
    desk.library.add("another.txt", b"something else")
    uploads = len(desk.library.uploads)
    await desk.sync()
    desk.library.meddle = lambda request: None
    # Those that moved to the first page meanwhile were never away.
    assert len(desk.library.uploads) == uploads
    await desk.sync()
    assert len(desk.library.uploads) == uploads + len(newest)


async def test_same_bytes_are_one_document(desk: Desk) -> None:
    desk.write("b.txt", "same")
    desk.write("a.txt", "same")
    await desk.sync()
    assert desk.library.held == {"a.txt": b"same"}
    (desk.folder / "a.txt").unlink()
    summary = await desk.sync(DELETE)
    assert (summary.renamed, summary.deleted) == (1, 0)
    assert desk.library.held == {"b.txt": b"same"}
    (desk.folder / "b.txt").unlink()
    desk.write("c.txt", "other")
    await desk.sync(DELETE, max_delete=1)
    assert desk.library.held == {"c.txt": b"other"}


async def test_what_was_there_before_is_used_and_left_as_it_is(desk: Desk) -> None:
    desk.library.add("by hand.txt", b"same")
    desk.write("a.txt", "same")
    await desk.sync(DELETE)
    (desk.folder / "a.txt").rename(desk.folder / "b.txt")
    await desk.sync(DELETE)
    assert desk.library.held == {"by hand.txt": b"same"}
    (desk.folder / "b.txt").unlink()
    desk.write("c.txt", "other")
    await desk.sync(DELETE)
    assert desk.library.held == {"by hand.txt": b"same", "c.txt": b"other"}


async def test_a_hash_in_the_list_spares_the_upload(desk: Desk) -> None:
    path = desk.write("a.txt", "same")
    id = desk.library.add("by hand.txt", b"same")
    desk.library.documents[id]["hash"] = contents._read(path).hash  # type: ignore[union-attr]
    async with desk.client() as client:
        preview = await desk.runner(client).preview()
    assert (preview.plan.uploads, preview.present) == ((), ("a.txt",))
    assert (await desk.sync()).found == 1
    assert desk.library.asked("POST") == 0


async def test_what_someone_deleted_comes_back(desk: Desk) -> None:
    desk.write("a.txt", "one")
    desk.write("b.txt", "two")
    await desk.sync()
    gone = next(id for id, each in desk.library.documents.items() if each["name"] == "a.txt")
    del desk.library.documents[gone]
    assert (await desk.sync()).uploaded == 1
    assert set(desk.library.held) == {"a.txt", "b.txt"}


async def test_what_someone_replaced_comes_back(desk: Desk) -> None:
    desk.write("a.txt", "one")
    desk.write("b.txt", "two")
    await desk.sync()
    desk.library.add("another.txt", b"three")
    del desk.library.documents[next(iter(desk.library.documents))]
    assert (await desk.sync()).uploaded == 1
    assert set(desk.library.held) == {"a.txt", "b.txt", "another.txt"}
    assert not (await desk.sync()).changed


async def test_what_others_do_while_a_sync_ends_is_seen_by_the_next(desk: Desk) -> None:
    desk.write("a.txt", "one")
    desk.write("b.txt", "two")

    def replaced(request: Request) -> None:
        if request.method == "GET" and desk.library.asked("POST") == 2:
            desk.library.meddle = lambda request: None
            desk.library.add("another.txt", b"three")
            del desk.library.documents[next(iter(desk.library.documents))]

    desk.library.meddle = replaced
    await desk.sync()
    assert (await desk.sync()).uploaded == 1
    assert set(desk.library.held) == {"a.txt", "b.txt", "another.txt"}


async def test_more_documents_than_a_page(desk: Desk) -> None:
    for number in range(230):
        desk.library.add(f"by hand {number}", f"{number}".encode())
    desk.write("a.txt", "229")
    desk.write("b.txt", "other")
    await desk.sync(DELETE)
    (desk.folder / "a.txt").unlink()
    await desk.sync(DELETE)
    assert len(desk.library.documents) == 231


async def test_an_upload_whose_answer_was_lost_is_this_folders_own(desk: Desk) -> None:
    desk.write("d/a.txt", "one")
    lost = False

    def lose(request: Request) -> bytes | None:
        nonlocal lost
        if request.method != "POST" or lost:
            return None
        lost = True
        desk.library.add("a.txt", b"one")  # it arrived, but the answer does not
        return b""

    desk.library.meddle = lose
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remote, "PAUSES", ())
        with pytest.raises(Unreachable):
            await desk.sync()
    assert (await desk.sync()).found == 1
    assert desk.library.held == {"d/a.txt": b"one"}
    (desk.folder / "d" / "a.txt").unlink()
    desk.write("b.txt", "two")
    await desk.sync(DELETE, max_delete=1)
    assert desk.library.held == {"b.txt": b"two"}


async def test_a_lost_or_busy_service_is_asked_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "PAUSES", (0.01,) * 5)
    for number in range(10):
        desk.write(f"{number}.txt", f"text {number}")
    asked = 0

    def flaky(request: Request) -> bytes | None:
        nonlocal asked
        asked += 1
        if asked % 3 == 0:
            return reply({"message": "Too many"}, 429)
        return b"" if asked % 5 == 0 else None

    desk.library.meddle = flaky
    assert (await desk.sync()).failures == ()
    assert len(desk.library.held) == 10


@pytest.mark.parametrize("status", [401, 403, 507])
async def test_what_would_fail_for_all_ends_it_at_once(desk: Desk, status: int) -> None:
    for number in range(50):
        desk.write(f"{number}.txt", f"text {number}")
    desk.library.meddle = lambda request: (
        reply({"message": "No."}, status) if request.method == "POST" else None
    )
    with pytest.raises(ServiceError):
        await desk.sync()
    assert desk.library.asked("POST") <= 6
    desk.library.meddle = lambda request: None
    assert (await desk.sync()).uploaded == 50


async def test_a_library_that_went(desk: Desk) -> None:
    desk.write("a.txt", "one")
    desk.library.meddle = lambda request: reply({"detail": "Not Found"}, 404)
    with pytest.raises(SyncError, match="not there any more"):
        await desk.sync()


async def test_the_key_was_refused(desk: Desk) -> None:
    desk.library.meddle = lambda request: reply({"detail": "Unauthorized"}, 401)
    with pytest.raises(Unauthorized):
        await desk.sync()


async def test_uploads_run_side_by_side_but_only_so_many(desk: Desk) -> None:
    for number in range(40):
        desk.write(f"{number}.txt", f"text {number}")
    most = running = 0
    answer = desk.library.answer

    async def counted(request: Request) -> None:
        nonlocal most, running
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        await answer(request)
        running -= 1

    desk.library.service.answers = [counted]
    await desk.sync()
    assert 2 <= most <= 6


async def test_a_file_that_is_being_written_is_waited_for(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "SETTLED", 0.4)
    path = desk.write("a.txt", "one", age=0)

    async def go_on_writing() -> None:
        for word in (" and", " more", " and the end"):
            await asyncio.sleep(0.15)
            with path.open("a") as file:
                file.write(word)

    writer = asyncio.create_task(go_on_writing())
    await desk.sync()
    assert writer.done()
    assert desk.library.held == {"a.txt": b"one and more and the end"}
    assert len(desk.library.uploads) == 1


async def test_one_that_never_is_finished_is_told(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "PATIENCE", 0.1)
    desk.write("log.txt", "one", age=0)
    desk.write("a.txt", "two")
    summary = await desk.sync()
    assert [(each.path, each.reason) for each in summary.failures] == [
        ("log.txt", "It is still being written.")
    ]
    assert set(desk.library.held) == {"a.txt"}


async def test_a_file_that_changes_while_it_is_sent_is_not_taken_for_what_it_was(
    desk: Desk,
) -> None:
    path = desk.write("a.txt", "one")

    def change(request: Request) -> None:
        if request.method == "GET":
            path.write_text("TWO")

    desk.library.meddle = change
    summary = await desk.sync()
    assert "changed while it was sent" in summary.failures[0].reason
    assert desk.library.held == {}
    desk.library.meddle = lambda request: None
    desk.write("a.txt", "TWO")
    await desk.sync()
    assert desk.library.held == {"a.txt": b"TWO"}


async def test_what_cannot_be_read_is_told_and_not_deleted(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write("a.txt", "one")
    desk.write("b.txt", "two")
    await desk.sync(DELETE)
    read = contents._read

    def refusing(path: Path) -> contents.Content | None:
        if path.name == "a.txt":
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(contents, "_read", refusing)  # root may read everything
    desk.write("a.txt", "new", age=10)
    summary = await desk.sync(DELETE)
    assert summary.failures[0].reason == "It cannot be read: Permission denied."
    assert set(desk.library.held) == {"a.txt", "b.txt"}


async def test_an_empty_folder_deletes_nothing(desk: Desk) -> None:
    desk.write("a.txt", "one")
    await desk.sync()
    shutil.rmtree(desk.folder)
    with pytest.raises(SyncError, match="cannot be read"):
        await desk.sync(DELETE)
    desk.folder.mkdir()
    with pytest.raises(SyncError, match="has no files to sync, so nothing was deleted"):
        await desk.sync(DELETE)
    assert set(desk.library.held) == {"a.txt"}


async def test_one_at_a_time(desk: Desk) -> None:
    desk.write("a.txt", "one")
    folder = desk.ledger.folder("test", LIBRARY, desk.folder)
    with desk.ledger.lock(folder), pytest.raises(SyncError, match="being synced already"):
        await desk.sync()
    assert (await desk.sync()).uploaded == 1


async def test_stopping_and_going_on(desk: Desk) -> None:
    for number in range(30):
        desk.write(f"d/{number}.txt", f"text {number}")
    begun = asyncio.Event()

    def report(progress: SyncProgress) -> None:
        if progress.files >= 5 and progress.phase == "syncing":
            begun.set()

    task = asyncio.create_task(desk.sync(report=report))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    held = len(desk.library.held)
    summary = await desk.sync()
    assert set(desk.library.held) == {f"d/{number}.txt" for number in range(30)}
    assert 30 - held <= summary.uploaded + summary.renamed <= 25


async def test_progress_goes_up_to_all_of_it(desk: Desk) -> None:
    desk.write("a.txt", "x" * 900_000)
    desk.write("b.txt", "y" * 100_000)
    seen: list[SyncProgress] = []
    await desk.sync(report=seen.append)
    last = seen[-1]
    assert (last.files, last.of_files, last.bytes, last.of_bytes) == (2, 2, 1_000_000, 1_000_000)
    assert [each.phase for each in seen] == sorted(each.phase for each in seen)
    assert all(before.bytes <= after.bytes for before, after in itertools.pairwise(seen)
               if before.phase == after.phase)  # fmt: skip


async def test_a_preview_changes_nothing(desk: Desk) -> None:
    desk.write("a.txt", "one")
    async with desk.client() as client:
        preview = await desk.runner(client, DELETE).preview()
    assert [upload.path for upload in preview.plan.uploads] == ["a.txt"]
    assert preview.bytes == 3
    assert desk.library.asked("POST") == 0
    assert desk.ledger.folders("test") == []


async def test_a_preview_tells_that_another_document_has_the_name_and_stays(desk: Desk) -> None:
    desk.write("d/a.txt", "one")
    await desk.sync()
    another = desk.library.documents[desk.library.add("d/a.txt", b"of another folder")]
    another["name"] = "d/a.txt"
    desk.write("d/a.txt", "two")
    desk.write("b.txt", "three")
    async with desk.client() as client:
        rows = plan_rows(await desk.runner(client).preview())
    assert [(row.action, row.path, row.note) for row in rows] == [
        ("Upload", "b.txt", "5 B"),
        ("Update", "d/a.txt", "3 B · another document of this name stays"),
    ]
    await desk.sync()
    assert another in desk.library.documents.values()


async def test_synced_folders_are_remembered_as_they_were_synced(desk: Desk) -> None:
    settings = SyncSettings(True, ("*.txt",), ("b*",))
    desk.write("a.txt", "one")
    before = time.time()
    await desk.sync(settings)
    [folder] = desk.ledger.folders("test")
    assert (folder.library_id, folder.path, folder.settings) == (LIBRARY, desk.folder, settings)
    assert folder.synced_at is not None
    assert before <= folder.synced_at <= time.time()
    assert desk.ledger.folders("another service") == []
    desk.ledger.forget(folder)
    assert desk.ledger.folders("test") == []
    assert set(desk.library.held) == {"a.txt"}


async def test_a_sync_that_is_cut_off_is_remembered_where_it_stood(desk: Desk) -> None:
    for number in range(3):
        desk.write(f"{number}.txt", f"text {number}")
    desk.library.meddle = lambda request: (
        reply({"detail": "Full."}, 507) if request.method == "POST" and desk.library.held else None
    )
    with pytest.raises(ServiceError):
        await desk.sync()
    [folder] = desk.ledger.folders("test")
    assert folder.reached is not None
    assert folder.reached[0] < folder.reached[1] == 3
    assert folder.synced_at is None, "it has never been in sync"
    desk.library.meddle = lambda request: None
    await desk.sync()
    [folder] = desk.ledger.folders("test")
    assert folder.reached is None
    assert folder.synced_at is not None


async def test_a_lost_ledger_uploads_nothing_twice(desk: Desk, tmp_path: Path) -> None:
    desk.write("d/a.txt", "one")
    await desk.sync()
    with Ledger(tmp_path / "new ledger") as ledger:
        await replace(desk, ledger=ledger).sync()
    assert desk.library.held == {"d/a.txt": b"one"}


def test_a_ledger_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    Ledger(tmp_path).close()
    with sqlite3.connect(tmp_path / "ledger.db") as database:
        database.execute("PRAGMA user_version=99")
    database.close()
    with pytest.raises(SyncError, match="newer version"):
        Ledger(tmp_path)


@pytest.mark.parametrize("format", [1, 2, 3])
async def test_a_ledger_of_an_older_version_is_brought_up(
    desk: Desk, tmp_path: Path, format: int
) -> None:
    desk.write("a.txt", "one")
    home = tmp_path / "older"
    with Ledger(home) as ledger:
        await replace(desk, ledger=ledger).sync()
    with sqlite3.connect(home / "ledger.db") as database:
        if format == 1:
            database.execute("ALTER TABLE folders DROP COLUMN newest")
        if format < 3:
            database.execute("ALTER TABLE files DROP COLUMN ctime_ns")
            database.execute("ALTER TABLE documents DROP COLUMN named")
        for column in ("done", "total", "watched"):
            database.execute(f"ALTER TABLE folders DROP COLUMN {column}")
        database.execute(f"PRAGMA user_version={format}")
    database.close()
    with Ledger(home) as ledger:
        assert not (await replace(desk, ledger=ledger).sync()).changed
    assert desk.library.asked("POST") == 1


async def test_a_full_disk_ends_it_and_is_said(desk: Desk) -> None:
    for number in range(50):
        desk.write(f"{'long name ' * 15}{number}.txt", f"text {number}")
    pages = desk.ledger._database.execute("PRAGMA page_count").fetchone()[0]
    desk.ledger._database.execute(f"PRAGMA max_page_count={pages + 1}")
    with pytest.raises(SyncError, match="database or disk is full"):
        await desk.sync()
    desk.ledger._database.execute("PRAGMA max_page_count=100000")
    await desk.sync()
    assert len(desk.library.held) == 50
