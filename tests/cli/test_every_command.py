"""What every command that talks to a service does when that goes wrong. A new one is among them."""

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from carrel.cli.main import complete_app, main
from carrel.client import Client
from carrel.config.profiles import Profile, add_profile
from carrel.wire.generation.agents import AgentCreate, AgentUpdate
from carrel.wire.libraries import LibraryCreate
from support.command import fork
from support.process import RunningServer
from support.service import Request, reply, service

GIVEN = {
    "agent": "clerk",
    "definitions": "clerk.yaml",
    "batch": "00000000-0000-4000-8000-000000000000",
    "document": "lease.pdf",
    "file": "lease.pdf",
    "files": "lease.pdf",
    "folder": "papers",
    "item": "lease.pdf",
    "library": "contracts",
    "name": "clerk",
    "old": "0",
    "operation": "ocr",
    "path": "lease.pdf",
    "paths": "lease.pdf",
    "query": "rent",
    "source": "lease.pdf",
    "version": "1",
    "with_id": "00000000-0000-4000-8000-000000000000",
}
"""An argument of each name."""
OPTIONS = {
    ("agents", "edit"): ["--name", "clerk"],
    ("agents", "new"): ["--from", "minutes"],
    ("agents", "try"): ["--set", "cases.yaml"],
    ("chat",): ["When does it end?"],
    ("libraries", "edit"): ["--name", "contracts"],
    ("sync",): ["--library", "contracts"],
}
"""What some commands need besides."""
OFFLINE = {"doctor", "tools"}
"""Those whose --profile only names a service, or whose findings are what goes wrong with it."""
PDF = b"%PDF-1.4 nothing"


def _leaves(command: Any, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, sub in getattr(command, "commands", {}).items():
        yield from _leaves(sub, *path, name)
    if not hasattr(command, "commands"):
        yield path, command


def _talking() -> Iterator[list[str]]:
    """A command line of each command that talks to a service: those have --profile."""
    for path, command in _leaves(typer.main.get_command(complete_app())):
        talks = any(parameter.name == "profile" for parameter in command.params)
        if talks and path[0] not in OFFLINE:
            arguments = [p for p in command.params if p.param_type_name == "argument"]
            given = [GIVEN[argument.name] for argument in arguments if argument.required]
            yield [*path, *given, *OPTIONS.get(path, [])]


def _ids(line: list[str]) -> str:
    return " ".join(line[:2])


every_command = pytest.mark.parametrize("line", list(_talking()), ids=_ids)


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with what the command lines name."""
    (tmp_path / "papers").mkdir()
    for path in ("lease.pdf", "papers/lease.pdf"):
        (tmp_path / path).write_bytes(PDF)
    (tmp_path / "cases.yaml").write_text("cases:\n- question: When does it end?\n")
    (tmp_path / "clerk.yaml").write_text("name: clerk\nmodel: none\ninstructions: Be brief.\n")
    monkeypatch.chdir(tmp_path)


async def _run(line: list[str]) -> object:
    """Runs a command in this process; gives its exit code."""

    def run() -> object:
        try:
            main(line)
        except SystemExit as end:
            return end.code

    return await asyncio.to_thread(run)


async def _refuse(request: Request) -> None:
    await request.write(reply({"detail": "Unauthorized"}, 401))


async def _fill(client: Client) -> None:
    """Makes what the command lines name. Nobody answers in the chat: there is no such model."""
    library = await client.libraries.create(LibraryCreate(name="contracts"))
    await client.documents.upload(library.id, Path("lease.pdf"))
    await client.files.upload(Path("lease.pdf"))
    agent = await client.agents.create(AgentCreate(name="clerk", model="none"))
    await client.agents.update(agent.id, AgentUpdate(instructions="Be brief."))
    await client.agents.set_alias(agent.id, "clerk", 1)


async def _held(client: Client) -> list[object]:
    """What a service holds."""
    libraries = [one async for one in client.libraries.every()]
    agents = [one async for one in client.agents.every()]
    return [
        (await client.files.list()).data,
        (await client.batches.list()).data,
        [(one.id, one.name) for one in libraries],
        [(await client.documents.list(one.id)).pagination.total_items for one in libraries],
        [(one.id, one.version, one.versions) for one in agents],
        [await client.agents.aliases(one.id) for one in agents],
    ]


@every_command
async def test_no_server_is_one_line_and_3(
    line: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARREL_URL", "http://127.0.0.1:1")
    code = await _run(line)
    said = capsys.readouterr()
    assert (code, said.out) == (3, ""), said.err
    assert said.err.splitlines()[-1].startswith("carrel: No server answers at 127.0.0.1:1.")


@every_command
async def test_a_wrong_key_is_one_line_and_1(
    line: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with service(_refuse) as odd:
        monkeypatch.setenv("CARREL_URL", odd.url)
        monkeypatch.setenv("CARREL_API_KEY", "sk-secret")
        code = await _run(line)
    said = capsys.readouterr()
    assert (code, said.out) == (1, ""), said.err
    assert "did not accept the API key" in said.err.splitlines()[-1]
    assert "sk-secret" not in said.err


@every_command
async def test_a_read_only_profile_stays_as_it_is(
    line: list[str], server: RunningServer, capsys: pytest.CaptureFixture[str]
) -> None:
    async with Client(server.url, server.api_key) as client:
        if not await client.agents.list():
            await _fill(client)
        before = await _held(client)
        add_profile(Profile("theirs", server.url, server.api_key, read_only=True))
        code = await _run(["--profile", "theirs", *line])
        assert await _held(client) == before
    said = capsys.readouterr()
    assert code in (0, 1, 4)
    assert "Traceback" not in said.err
    if "is read-only" in said.err:
        assert (code, said.out) == (1, "")


@every_command
async def test_an_interrupt_is_130_and_no_trace(line: list[str]) -> None:
    asked = asyncio.Event()

    async def hang(request: Request) -> None:
        asked.set()
        await asyncio.Event().wait()

    async with service(hang) as silent:
        process = await asyncio.to_thread(fork, *line, CARREL_URL=silent.url)
        reached = asyncio.ensure_future(asked.wait())
        ended = asyncio.ensure_future(asyncio.to_thread(process.communicate))
        await asyncio.wait([reached, ended], return_when=asyncio.FIRST_COMPLETED)
        assert not ended.done()
        process.send_signal(signal.SIGINT)
        assert await ended == (130, b"", b"")
        reached.cancel()


def test_an_argument_that_takes_several_says_so() -> None:
    several = {
        argument.metavar: argument.nargs == -1
        for _, command in _leaves(typer.main.get_command(complete_app()))
        for argument in command.params
        if argument.param_type_name == "argument"
    }
    assert any(several.values())
    assert {name: name.endswith("...") for name in several} == several
