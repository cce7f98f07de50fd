"""`carrel sync` against a service that knows the documented endpoints alone."""

import asyncio
import contextlib
import signal
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from support.command import Ended, carrel, start
from support.folders import write
from support.service import reply
from support.strict import LIBRARY, StrictLibrary, strict_library


@pytest.fixture
async def library() -> AsyncIterator[StrictLibrary]:
    async with strict_library() as library:
        yield library


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "folder" / "a.txt", "one")
    write(tmp_path / "folder" / "d" / "b.txt", "two")
    return tmp_path / "folder"


async def sync(library: StrictLibrary, *arguments: str | Path, code: int = 0) -> Ended:
    ended = await carrel(
        "sync", *arguments, "--library", "contracts", CARREL_URL=library.service.url
    )
    assert ended.code == code, ended
    return ended


async def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


async def test_a_folder(library: StrictLibrary, folder: Path) -> None:
    preview = await sync(library, folder, "--dry-run")
    assert preview.err == "2 to upload (6 B).\n"
    assert [line.split() for line in preview.out.splitlines()] == [
        ["DO", "FILE"],
        ["Upload", "a.txt", "3", "B"],
        ["Upload", "d/b.txt", "3", "B"],
    ]
    assert library.held == {}
    done = await sync(library, folder)
    assert (done.out, done.err) == ("", "2 uploaded.\n")
    assert library.held == {"a.txt": b"one", "d/b.txt": b"two"}
    (folder / "a.txt").rename(folder / "c.txt")
    (folder / "d" / "b.txt").unlink()
    rows = (await sync(library, folder, "--dry-run", "--json")).json
    assert rows == [
        {"action": "Rename", "path": "c.txt", "note": "was a.txt"},
        {"action": "Keep", "path": "d/b.txt", "note": "deleted in the folder"},
    ]
    kept = await sync(library, folder)
    assert kept.err == "1 renamed; 1 file deleted here stays in the library.\n"
    summary = (await sync(library, folder, "--delete", "--json")).json
    assert (summary["files"], summary["deleted"], summary["failures"]) == (1, 1, [])
    assert library.held == {"c.txt": b"one"}
    assert (await sync(library, folder)).err == "1 file in sync.\n"


async def test_patterns(library: StrictLibrary, folder: Path) -> None:
    write(folder / "c.pdf", "three")
    write(folder / "old" / "d.pdf", "four")
    await sync(library, folder, "--include", "*.pdf", "--include", "a.*", "--exclude", "old/")
    assert set(library.held) == {"a.txt", "c.pdf"}


async def test_what_failed_is_listed_and_the_exit_code_says_so(
    library: StrictLibrary, folder: Path
) -> None:
    library.meddle = lambda request: (
        reply({"message": "Too large."}, 413) if b"two" in request.body else None
    )
    ended = await sync(library, folder, code=1)
    assert ended.out == ""
    assert ended.err.splitlines()[0].startswith("d/b.txt: ")
    assert ended.err.splitlines()[1] == "1 uploaded; 1 failed."


async def test_wrong_usage(library: StrictLibrary, folder: Path) -> None:
    assert "There is no folder at" in (await sync(library, folder / "gone", code=2)).err
    assert "do not go together" in (await sync(library, folder, "--watch", "--dry-run", code=2)).err
    assert "is not a pattern" in (await sync(library, folder, "--exclude", "!", code=2)).err
    assert "needs --delete" in (await sync(library, folder, "--max-delete", "3", code=2)).err
    missing = await carrel(
        "sync", folder, "--library", "none", "--no-create", CARREL_URL=library.service.url
    )
    assert (missing.code, "There is no library “none”" in missing.err) == (1, True)


async def test_more_deletions_than_half_stop_a_script(library: StrictLibrary, folder: Path) -> None:
    write(folder / "c.txt", "three")
    await sync(library, folder)
    (folder / "a.txt").unlink()
    (folder / "d" / "b.txt").unlink()
    refused = await sync(library, folder, "--delete", code=1)
    assert refused.err == (
        "carrel: This would delete 2 of the 3 documents that came from the folder; the limit is 1. "
        "Nothing was changed. To allow them: --max-delete 2. To see them: --dry-run.\n"
    )
    preview = await sync(library, folder, "--delete", "--dry-run")
    assert [line.split()[0] for line in preview.out.splitlines()] == ["DO", "Delete", "Delete"]
    assert "A sync would ask first: Delete 2 of the 3 documents" in preview.err
    await sync(library, folder, "--delete", "--max-delete", "1", code=1)
    assert len(library.held) == 3
    assert (await sync(library, folder, "--delete", "--max-delete", "2")).err == "2 deleted.\n"


async def test_what_is_left_out_and_why(library: StrictLibrary, folder: Path) -> None:
    await sync(library, folder)
    write(folder / ".gitignore", "# ours\nd/\n")
    write(folder / "empty.txt", "")
    write(folder / "report.tmp", "x")
    (folder / "link.txt").symlink_to(folder / "a.txt")
    write(folder / "new.log", "x")
    options = ("--delete", "--exclude", "*.log", "--dry-run")
    rows = (await sync(library, folder, *options, "--json")).json
    assert {(row["action"], row["path"]): row["note"] for row in rows} == {
        ("Keep", "d/b.txt"): "left out: .gitignore, line 2: d/",
        ("Ignore", ".gitignore"): "hidden",
        ("Ignore", "d/"): ".gitignore, line 2: d/",
        ("Ignore", "empty.txt"): "empty",
        ("Ignore", "link.txt"): "a link",
        ("Ignore", "new.log"): "excluded by “*.log”",
        ("Ignore", "report.tmp"): "temporary",
    }
    kept = await sync(library, folder, *options[:3])
    assert kept.err == "1 file in sync; 1 file left out here stays in the library.\n"
    await sync(library, folder, "--delete-excluded")
    assert set(library.held) == {"a.txt", "new.log"}


async def test_a_library_that_is_not_there_is_made(library: StrictLibrary, folder: Path) -> None:
    library.name = None
    refused = await sync(library, folder, "--no-create", code=1)
    assert "There is no library “contracts”" in refused.err
    preview = await sync(library, folder, "--dry-run")
    assert preview.err == "2 to upload (6 B).\nThe library “contracts” would be created.\n"
    assert library.made == []
    done = await sync(library, folder)
    assert done.err == "Created the library “contracts”.\n2 uploaded.\n"
    assert (await sync(library, folder)).err == "2 files in sync.\n"
    assert library.made == ["contracts"]
    # An id is never a name.
    unknown = "0a1b2c3d-0000-4000-8000-00000000ffff"
    ended = await carrel("sync", folder, "--library", unknown, CARREL_URL=library.service.url)
    assert (ended.code, library.made) == (1, ["contracts"])


async def test_a_read_only_profile(library: StrictLibrary, folder: Path, home: Path) -> None:
    add = ("profiles", "add", "work", "--url", library.service.url, "--read-only")
    await carrel(*add, CARREL_API_KEY="sk-1")
    ended = await carrel("sync", folder, "--library", "contracts", "--profile", "work")
    assert (ended.code, "read-only" in ended.err) == (1, True)
    assert library.requests == []
    ended = await carrel("sync", folder, "--library", LIBRARY, "--profile", "work", "--dry-run")
    assert ended.code == 0


@contextlib.asynccontextmanager
async def watching(folder: Path, url: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await start("sync", folder, "--library", LIBRARY, "--watch", CARREL_URL=url)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def test_watching(library: StrictLibrary, folder: Path) -> None:
    async with watching(folder, library.service.url) as process:
        await until(lambda: len(library.held) == 2)
        assert process.stderr
        assert b"Watching" in await process.stderr.readline()
        assert await process.stderr.readline() == b"2 uploaded.\n"
        (folder / "a.txt").rename(folder / "d" / "a.txt")
        write(folder / "new.txt", "three")
        await until(lambda: set(library.held) == {"d/a.txt", "d/b.txt", "new.txt"})
        told = b""
        while not (b"1 renamed" in told and b"1 uploaded" in told):
            told += await process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert await asyncio.wait_for(process.wait(), 20) == 130
        assert await process.stderr.read() == b""
    assert sorted(library.uploads) == ["a.txt", "b.txt", "new.txt"]


async def test_watching_says_that_no_server_answers_and_goes_on(folder: Path) -> None:
    async with watching(folder, "http://127.0.0.1:1") as process:
        assert process.stderr
        assert b"Watching" in await process.stderr.readline()
        assert b"No server answers" in await process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert await asyncio.wait_for(process.wait(), 20) == 130
