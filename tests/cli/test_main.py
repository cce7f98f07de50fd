"""The command itself: exit codes, global options, errors in a line."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from carrel.config.profiles import Profile, add_profile, folders
from support.command import carrel, start
from support.service import Request, reply, service

EMPTY = {"object": "list", "data": [], "total": 0}


async def test_help_names_the_exit_codes() -> None:
    ended = await carrel("--help")
    assert ended.code == 0
    for line in ("0    done", "1    the service", "2    wrong", "3    no server", "130  inter"):
        assert line in ended.out


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["files"],
        ["files", "list", "--nonsense"],
        ["files", "url"],
        ["ocr", "x.pdf", "--pages", "first"],
        ["ocr", "x.pdf", "--pages", "3-1"],
        ["ocr", "x.pdf", "--pages", "0-2"],
        ["ocr", "x.pdf", "--format", "docx"],
        ["agents", "switch", "a", "latest"],
        ["agents", "alias", "a", "prod", "latest"],
        ["agents", "edit", "a"],
        ["agents", "create", ""],
        ["libraries", "edit", "a"],
        ["libraries", "search", "a", "rent", "--attribute", "year"],
        ["chat", "a", " "],
        ["serve", "--model", "/no/such.gguf"],
        ["serve", "--model-url", "localhost:11434"],
        ["serve", "--model", "/dev/null", "--model-url", "http://h/v1"],
        ["--profile", "nobody", "files", "list"],
    ],
)
async def test_wrong_usage_ends_with_2(arguments: list[str]) -> None:
    async with service(reply(EMPTY)) as odd:
        ended = await carrel(*arguments, CARREL_URL=odd.url)
    assert ended.code == 2
    assert ended.out == ""
    assert ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["keys", "add", "anna", "--data", "no/such"], 2, "There is no data folder at no/such."),
        (["keys", "list", "--data", "no"], 2, "There is no data folder at no."),
        (["serve", "--data", "a.txt"], 1, "a.txt cannot be used: it is a file."),
        (["serve", "--host", "300.1.1.1", "--data", "d"], 1, "Choose another --host"),
        (["files", "upload", "a.txt", "no.pdf"], 1, "There is no file at no.pdf."),
        (["libraries", "add", "papers", "a.txt", "."], 1, ". is a folder."),
        (["sync", "no", "--library", "papers"], 2, "There is no folder at"),
        (["sync", "a.txt", "--library", "papers"], 2, "There is no folder at"),
        (["ocr", "no.pdf"], 1, "There is no file at no.pdf."),
    ],
)
async def test_a_wrong_path_is_one_line_and_nothing_is_sent(
    arguments: list[str],
    code: int,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "a.txt").write_text("a")
    monkeypatch.chdir(tmp_path)
    async with service(reply(EMPTY)) as odd:
        ended = await carrel(*arguments, CARREL_URL=odd.url)
    assert (ended.code, ended.out, odd.requests) == (code, "", [])
    assert words in ended.err
    assert ended.err.count("\n") == 1
    assert not (tmp_path / "no").exists()


async def test_no_server_ends_with_3() -> None:
    ended = await carrel("files", "list", CARREL_URL="http://127.0.0.1:1")
    assert (ended.code, ended.out) == (3, "")
    assert ended.err == (
        "carrel: No server answers at 127.0.0.1:1. Check the address, and that it is running.\n"
    )


async def test_a_refusal_ends_with_1_and_one_line() -> None:
    async with service(reply({"detail": "Unauthorized"}, 401)) as odd:
        ended = await carrel("files", "list", CARREL_URL=odd.url, CARREL_API_KEY="sk-secret")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.count("\n") == 1
    assert "did not accept the API key" in ended.err
    assert "sk-secret" not in ended.err


async def test_a_local_server_that_cannot_start_ends_with_3() -> None:
    folders().server.mkdir(parents=True)
    (folders().server / "format").write_text("999")
    ended = await carrel("files", "list")
    assert ended.code == 3
    assert "format 999" in ended.err
    assert "local-server.log" in ended.err


@pytest.mark.parametrize("position", [0, 2])
async def test_a_profile_may_stand_before_and_after_the_command(position: int) -> None:
    async with service(reply(EMPTY)) as odd, service(reply(EMPTY)) as other:
        add_profile(Profile("work", odd.url, "k"))
        arguments = ["files", "list"]
        arguments[position:position] = ["--profile", "work"]
        ended = await carrel(*arguments, CARREL_URL=other.url)
    assert ended.code == 0
    assert odd.requests[0].headers["authorization"] == "Bearer k"
    assert other.requests == []


async def test_the_environment_wins_over_the_configured_profile() -> None:
    async with service(reply(EMPTY)) as odd:
        ended = await carrel("files", "list", CARREL_URL=odd.url, CARREL_API_KEY="k")
    assert ended.code == 0
    assert odd.requests[0].headers["authorization"] == "Bearer k"


async def test_a_read_only_profile_changes_nothing() -> None:
    async with service(reply(EMPTY)) as odd:
        add_profile(Profile("work", odd.url, "k", read_only=True))
        refused = await carrel("--profile", "work", "libraries", "create", "x")
        unread = await carrel("--profile", "work", "ocr", __file__)
        allowed = await carrel("--profile", "work", "files", "list")
    assert (refused.code, unread.code, allowed.code) == (1, 1, 0)
    assert "read-only" in refused.err
    assert len(odd.requests) == 1


async def test_the_app_needs_a_terminal() -> None:
    ended = await carrel()
    assert (ended.code, ended.out) == (2, "")
    assert "needs a terminal" in ended.err


async def test_an_interrupt_ends_with_130() -> None:
    asked = asyncio.Event()

    async def never(request: Request) -> None:
        asked.set()
        await request.closed()

    async with service(never) as odd:
        process = await start("files", "list", CARREL_URL=odd.url)
        await asyncio.wait_for(asked.wait(), 30)
        process.send_signal(signal.SIGINT)
        out, err = await asyncio.wait_for(process.communicate(), 10)
    assert (process.returncode, out, err) == (130, b"", b"")


async def test_a_reader_that_leaves_early_is_no_crash() -> None:
    files = [
        {
            "id": str(number), "bytes": 1, "created_at": 0, "filename": "x" * 200,
            "purpose": "ocr", "sample_type": "ocr_input", "source": "upload",
        }
        for number in range(2000)
    ]  # fmt: skip
    async with service(reply({"data": files, "total": 2000})) as odd:
        read, write = os.pipe()
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "carrel", "files", "list",
            stdout=write, stderr=asyncio.subprocess.PIPE, env={**os.environ, "CARREL_URL": odd.url},
        )  # fmt: skip
        os.close(write)
        os.close(read)
        _, err = await asyncio.wait_for(process.communicate(), 30)
    assert process.returncode == 1
    assert b"Traceback" not in err
    assert b"Broken" not in err


def test_a_crash_leaves_a_report_without_secrets() -> None:
    script = (
        "import carrel.config.profiles\n"
        "def crash(name): raise RuntimeError('Authorization: Bearer sk-secret')\n"
        "carrel.cli.session.load_profile = crash\n"
        "carrel.cli.main.main(['files', 'list'])\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", f"import carrel.cli.main, carrel.cli.session\n{script}"],
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 1
    assert ended.stdout == ""
    (report,) = (folders().state / "crashes").iterdir()
    assert str(report) in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "RuntimeError" in report.read_text()
    assert "sk-secret" not in report.read_text() + ended.stderr


async def test_a_failure_names_the_request_for_the_log() -> None:
    failure = reply({"message": "The server failed."}, 500, x_request_id="8f1c-\x1b[31m7")
    async with service(failure) as odd:
        ended = await carrel("files", "list", CARREL_URL=odd.url)
    assert (ended.code, ended.err) == (1, "carrel: The server failed. Request ID: 8f1c-31m7\n")
    async with service(reply({"message": "No such thing."}, 404, x_request_id="7")) as odd:
        ended = await carrel("files", "list", CARREL_URL=odd.url)
    assert "Request ID" not in ended.err


_STUCK = """
import asyncio, time
from carrel.cli import main

def stuck(*arguments, **options):
    async def wait():
        print("waiting", flush=True)
        await asyncio.to_thread(time.sleep, 60)
    asyncio.run(wait())

main._app = lambda nouns: stuck
main.main(["sync"])
"""


def test_two_interrupts_end_a_command_whose_thread_is_stuck() -> None:
    with subprocess.Popen([sys.executable, "-c", _STUCK], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"waiting\n"
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.5)
        assert process.wait(20) == 130
