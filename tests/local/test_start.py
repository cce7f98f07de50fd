"""The server of this machine: one, however many ask, and found again."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.config.profiles import folders
from carrel.local import LocalError, ensure, find
from support.service import reply, service

ASK = """
import asyncio, sys
from pathlib import Path
from carrel.local import ensure
print(asyncio.run(ensure(Path(sys.argv[1]))).url)
"""


def pid_of(data: Path) -> int:
    return int(json.loads((data / "server.json").read_text())["pid"])


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def stop(pid: int, number: signal.Signals) -> None:
    os.kill(pid, number)
    deadline = time.monotonic() + 20
    while not gone(pid):
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A folder for a server; the one that runs on it at the end is stopped."""
    folder = tmp_path / "data"
    yield folder
    if (folder / "server.json").exists() and not gone(pid_of(folder)):
        stop(pid_of(folder), signal.SIGTERM)


@pytest.fixture
def unserved(tmp_path: Path) -> Path:
    """A folder that no server runs on, whatever is written into it."""
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest.fixture
def dead_pid() -> int:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    return ended.pid


async def test_the_first_starts_it_and_the_next_finds_it(data: Path) -> None:
    told: list[str] = []
    first = await ensure(data, on_start=lambda: told.append("starting"))
    second = await ensure(data, on_start=lambda: told.append("starting"))
    assert (first.started, second.started) == (True, False)
    assert (first.url, first.api_key) == (second.url, second.api_key)
    assert told == ["starting"]
    assert first.api_key not in repr(first)


def test_two_processes_at_once_end_with_one_server(data: Path) -> None:
    asking = [
        subprocess.Popen([sys.executable, "-c", ASK, str(data)], stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    answers = {process.communicate(timeout=90)[0] for process in asking}
    assert len(answers) == 1
    assert answers.pop().startswith(b"http://127.0.0.1:")
    assert all(process.returncode == 0 for process in asking)


async def test_a_killed_server_is_started_again_with_the_same_key(data: Path) -> None:
    first = await ensure(data)
    stop(pid_of(data), signal.SIGKILL)
    assert (data / "server.json").exists()
    assert await find(data) is None
    second = await ensure(data)
    assert second.started
    assert second.api_key == first.api_key


async def test_who_took_over_a_dead_servers_port_is_not_asked(
    unserved: Path, dead_pid: int
) -> None:
    async with service(reply({"status": "ok"})) as stranger:
        said = {"url": stranger.url, "api_key": "k", "pid": dead_pid}
        (unserved / "server.json").write_text(json.dumps(said))
        assert await find(unserved) is None
    assert stranger.requests == []


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"url": 1, "api_key": 2, "pid": "x"}', "\xff"])
async def test_a_damaged_announcement_is_no_server(text: str, unserved: Path) -> None:
    (unserved / "server.json").write_text(text, encoding="latin-1")
    assert await find(unserved) is None


async def test_an_announced_server_that_does_not_answer_is_none(unserved: Path) -> None:
    said = {"url": "http://127.0.0.1:1", "api_key": "k", "pid": os.getpid()}
    (unserved / "server.json").write_text(json.dumps(said))
    assert await find(unserved) is None


async def test_a_failed_start_shows_the_last_line_and_the_log(unserved: Path) -> None:
    (unserved / "format").write_text("999")
    with pytest.raises(LocalError, match=r"did not start: .*format 999") as error:
        await ensure(unserved)
    log = folders().state / "local-server.log"
    assert str(log) in str(error.value)
    assert "format 999" in log.read_text()


async def test_a_folder_that_cannot_be_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LocalError, match="cannot be started"):
        await ensure(tmp_path / "file" / "data")


async def test_a_folder_that_stays_locked_ends_the_waiting(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ensure(data)
    (data / "server.json").rename(data / "hidden.json")
    monkeypatch.setattr("carrel.local.start._PATIENCE", 3.0)
    try:
        with pytest.raises(LocalError, match="did not answer within 3 s"):
            await ensure(data)
    finally:
        (data / "hidden.json").rename(data / "server.json")


async def test_the_current_folder_cannot_replace_the_servers_parts(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "uvicorn.py").write_text("raise SystemExit('replaced')")
    assert (await ensure(data)).started


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_the_server_does_not_inherit_keys(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MISTRAL_API_KEY", "sk-inherited")
    await ensure(data)
    environ = await asyncio.to_thread(Path(f"/proc/{pid_of(data)}/environ").read_bytes)
    assert b"sk-inherited" not in environ
    assert b"HOME=" in environ
