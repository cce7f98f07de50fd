"""`carrel resume` after commands that were killed, over the real server."""

import asyncio
import json
import signal
from pathlib import Path

import pytest

from carrel.client import Client
from support.command import Ended, carrel, start
from support.folders import write
from support.process import RunningServer


@pytest.fixture
def environ(server: RunningServer) -> dict[str, str]:
    return {"CARREL_URL": server.url, "CARREL_API_KEY": server.api_key or ""}


def notes(folder: Path, number: int) -> list[Path]:
    return [write(folder / f"note-{n:03}.md", f"# Note {n}\n") for n in range(number)]


async def names(server: RunningServer) -> list[str]:
    async with Client(server.url, server.api_key) as client:
        return sorted([file.filename async for file in client.files.every("note-")])


async def command(*arguments: str | Path, **environ: str) -> Ended:
    return await carrel(*arguments, stdin=b"", **environ)


async def resume(environ: dict[str, str], *options: str) -> Ended:
    ended = await command("resume", *options, **environ)
    assert ended.code == 0, ended
    return ended


@pytest.mark.parametrize("signal_", [signal.SIGKILL, signal.SIGINT])
async def test_uploads_that_were_cut_off_arrive_once(
    server: RunningServer, environ: dict[str, str], tmp_path: Path, signal_: signal.Signals
) -> None:
    folder = tmp_path / signal_.name
    paths = [
        write(folder / f"note-{signal_.name}-{n:03}.md", f"# {signal_.name} {n}\n")
        for n in range(40)
    ]
    running = await start("files", "upload", *paths, **environ)
    assert running.stdout is not None
    for _ in range(5):
        await running.stdout.readline()
    running.send_signal(signal_)
    _, err = await running.communicate()
    if signal_ is signal.SIGINT:
        assert "carrel resume sends the rest" in err.decode()
    one = write(tmp_path / "other.md", "# Other\n")
    again = await command("files", "upload", one, **environ)
    assert "of 40 uploads left by an earlier run: carrel resume" in again.err
    ended = await resume(environ)
    assert "of 40 uploads left." in ended.err
    assert "done." in ended.err
    found = [name for name in await names(server) if signal_.name in name]
    assert found == [path.name for path in paths]
    assert "Nothing is left of earlier runs." in (await resume(environ)).err


async def test_what_is_dropped_is_not_sent(
    server: RunningServer, environ: dict[str, str], tmp_path: Path
) -> None:
    paths = [write(tmp_path / f"drop-{n:03}.md", f"# Drop {n}\n") for n in range(40)]
    running = await start("files", "upload", *paths, **environ)
    assert running.stdout is not None
    await running.stdout.readline()
    running.kill()
    await running.communicate()
    assert "of 40 uploads left." in (await resume(environ, "--drop")).err
    assert "Nothing is left" in (await resume(environ)).err
    async with Client(server.url, server.api_key) as client:
        assert len([file async for file in client.files.every("drop-")]) < 40


async def test_a_sync_that_was_killed_is_finished(
    server: RunningServer, environ: dict[str, str], tmp_path: Path
) -> None:
    notes(tmp_path / "notes", 40)
    made = await command("libraries", "create", "Notes", "--json", **environ)
    library = json.loads(made.out)["id"]
    running = await start("sync", tmp_path / "notes", "--library", library, **environ)
    async with Client(server.url, server.api_key) as client:
        async with asyncio.timeout(60):
            while len((await client.documents.list(library)).data) < 3:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        running.kill()
        await running.communicate()
        assert "Interrupted at " in (await resume(environ)).err
        found = sorted([one.name async for one in client.documents.every(library)])
        assert found == [f"note-{n:03}.md" for n in range(40)]
