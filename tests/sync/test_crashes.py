"""`carrel sync` killed at any moment: it goes on, and the library becomes the folder."""

import asyncio
import contextlib
import json
import random
import signal
from collections.abc import Awaitable
from pathlib import Path

import pytest

from carrel.client import Client
from support.command import start
from support.folders import write
from support.libraries import connect, new_library
from support.process import RunningServer
from support.rounds import rounds
from support.strict import LIBRARY, strict_library

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3000)]


def fill(folder: Path, count: int, seed: int) -> dict[str, bytes]:
    """Makes a folder of small files; gives their contents by name."""
    chosen = random.Random(seed)
    files = {
        f"{chosen.choice(['', 'a/', 'b/c/'])}note {number}.txt": (
            f"Note {number} of {seed}. {'The tide. ' * chosen.randrange(40)}".encode()
        )
        for number in range(count)
    }
    for name, content in files.items():
        write(folder / name, content)
    return files


async def killed(
    folder: Path,
    library: str,
    after: float,
    environ: dict[str, str],
    begun: Awaitable[object],
) -> bool:
    """Runs a sync and kills it some seconds after it has begun; False if it ended before."""
    process = await start("sync", folder, "--library", library, "--delete", **environ)
    ended, begin = (asyncio.ensure_future(end) for end in (process.wait(), begun))
    await asyncio.wait([ended, begin], timeout=60, return_when=asyncio.FIRST_COMPLETED)
    begin.cancel()
    await asyncio.wait([ended], timeout=after)
    with contextlib.suppress(ProcessLookupError):  # it ended just now
        process.send_signal(signal.SIGKILL)
    await process.communicate()
    return process.returncode == -signal.SIGKILL


async def another_document(client: Client, library: str) -> None:
    """Returns when a library holds more documents than now."""
    before = (await client.documents.list(library)).pagination.total_items
    while (await client.documents.list(library)).pagination.total_items == before:  # noqa: ASYNC110
        await asyncio.sleep(0.01)


async def finished(folder: Path, library: str, environ: dict[str, str]) -> dict[str, int]:
    """Runs a sync to its end; gives its summary."""
    command = ("sync", folder, "--library", library, "--delete", "--json")
    process = await start(*command, **environ)
    out, err = await process.communicate()
    assert process.returncode == 0, err
    summary: dict[str, int] = json.loads(out)
    return summary


async def test_killed_against_the_documented_endpoints(tmp_path: Path) -> None:
    folder, chosen = tmp_path / "folder", random.Random(7)
    files = fill(folder, rounds(120, 500), 7)
    kills = 0
    async with strict_library() as library:
        environ = {"CARREL_URL": library.service.url}

        async def kill() -> bool:
            begun = asyncio.Event()
            library.meddle = lambda request: begun.set()
            return await killed(folder, LIBRARY, chosen.uniform(0, 0.5), environ, begun.wait())

        for _ in range(rounds(3, 30)):
            kills += await kill()
        await finished(folder, LIBRARY, environ)
        assert library.held == files
        assert kills
        # Only what was on its way at a kill, six files at most, may be sent once more.
        assert len(library.uploads) <= len(files) + 6 * kills
        # And all of it is the folder's own: renamed and deleted as the folder is.
        for number, name in enumerate(sorted(files)):
            (folder / name).rename(folder / f"renamed {number}.txt")
        sent = len(library.uploads)
        for _ in range(rounds(1, 10)):
            await kill()
        await finished(folder, LIBRARY, environ)
        assert sorted(library.held.values()) == sorted(files.values())
        assert set(library.held) == {f"renamed {number}.txt" for number in range(len(files))}
        assert len(library.uploads) == sent
        # A killed deletion goes on, too, and takes nothing else along.
        by_hand = library.add("by hand.txt", b"not of this folder")
        gone = {f"renamed {number}.txt" for number in range(0, len(files), 3)}
        for name in gone:
            (folder / name).unlink()
        for _ in range(rounds(1, 10)):
            await kill()
        await finished(folder, LIBRARY, environ)
        left = {f"renamed {number}.txt" for number in range(len(files))} - gone
        assert set(library.held) == left | {"by hand.txt"}
        assert by_hand in library.documents


async def test_killed_against_the_server(server: RunningServer, tmp_path: Path) -> None:
    folder, chosen = tmp_path / "folder", random.Random(8)
    files = fill(folder, rounds(60, 500), 8)
    environ = {"CARREL_URL": server.url, "CARREL_API_KEY": server.api_key}
    with connect(server) as http:
        library = new_library(http).id
    kills = 0
    async with Client(server.url, server.api_key) as client:
        for _ in range(rounds(2, 30)):
            begun = asyncio.create_task(another_document(client, library))
            kills += await killed(folder, library, chosen.uniform(0, 0.3), environ, begun)
    summary = await finished(folder, library, environ)
    assert kills
    assert summary["files"] == len(files)
    held = []
    async with Client(server.url, server.api_key) as client:
        for page in range(-(-len(files) // 100) + 1):
            held += (await client.documents.list(library, page=page)).data
    assert sorted(document.name for document in held) == sorted(files)
    assert {document.name: document.size for document in held} == {
        name: len(content) for name, content in files.items()
    }
    again = await finished(folder, library, environ)
    assert (again["uploaded"], again["found"], again["renamed"], again["updated"]) == (0, 0, 0, 0)
