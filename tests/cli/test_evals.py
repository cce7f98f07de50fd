"""Test cases run against an agent by commands: kept, killed and gone on with, compared."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from carrel.client import Client
from carrel.config.profiles import folders
from carrel.wire.generation.agents import AgentCreate
from support.command import Ended, carrel, start
from support.process import RunningServer
from support.service import Request, reply, service
from support.spoken import SpokenModel

Run = Callable[..., Awaitable[Ended]]
CASES = """\
name: greetings
cases:
- question: hello
  checks:
  - contains: hello
- question: goodbye
  checks:
  - contains: hello
"""


@pytest.fixture
def run(talking: tuple[RunningServer, SpokenModel], model: SpokenModel) -> Run:
    server = talking[0]

    async def run(*arguments: str | Path, code: int = 0) -> Ended:
        ended = await carrel(*arguments, CARREL_URL=server.url, CARREL_API_KEY=server.api_key)
        assert ended.code == code, ended
        return ended

    return run


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    path = tmp_path / "cases.yaml"
    path.write_text(CASES)
    return path


async def test_cases_are_run_compared_and_shown(run: Run, cases: Path, tmp_path: Path) -> None:
    await run("agents", "create", "echo", "--model", "spoken")
    failed = await run("agents", "try", "echo", "--set", cases, code=4)
    assert "✗ failed" in failed.out and "● passed" in failed.out
    assert "contains “hello”: it is not there" in failed.out
    assert "1 failed · 1 passed · 50 %" in failed.out
    junit = tmp_path / "junit.xml"
    again = ("agents", "try", "echo", "--set", cases, "--baseline", "last", "--junit", junit)
    same = await run(*again)
    assert "No case differs from echo v0" in same.out
    suite = ElementTree.parse(junit).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "0")
    kept = (await run("agents", "runs", "--json")).json
    assert [one["finished"] for one in kept] == [True, True]
    shown = await run("agents", "runs", kept[0]["id"], "--baseline", kept[1]["id"], "--json")
    assert shown.json[0]["baseline"] == kept[1]["id"] and not shown.json[0]["worse"]
    answers = await run("agents", "runs", kept[0]["id"], "--case", "goodbye")
    assert "── echo v0, attempt 1\ngoodbye" in answers.out
    assert "✗ contains “hello”: it is not there" in answers.out
    only = await run("agents", "runs", kept[0]["id"], "--only", "failed")
    assert "goodbye" in only.out and "● passed" not in only.out
    assert "is not a result" in (await run("agents", "runs", "--only", "bad", code=2)).err
    listed = (await run("agents", "runs")).out
    assert "echo v0" in listed and "greetings" in listed
    await run("agents", "delete", "echo")


async def test_a_version_made_worse_is_caught_and_another_is_not(
    run: Run, model: SpokenModel, cases: Path
) -> None:
    def answer(body: dict[str, Any]) -> dict[str, Any]:
        told = body["messages"][0]["content"]
        return {"content": "nothing" if "Say nothing." in told else "hello"}

    model.answer = answer
    made = ("--model", "spoken", "--instructions")
    await run("agents", "create", "guide", *made, "Say hello.")
    await run("agents", "edit", "guide", "--instructions", "Say nothing.")
    await run("agents", "edit", "guide", "--instructions", "Say hello again.")
    tried = ("agents", "try", "guide", "--set", cases, "--repeat", "6")
    worse = await run(*tried, "--version", "0", "--version", "v1", code=4)
    assert "▼ regressed" in worse.out and "Worse than guide v0" in worse.out
    fine = await run(*tried, "--version", "0", "--version", "2", "--json")
    assert [one["baseline"] is None for one in fine.json] == [True, False]
    assert all(one["result"] == "passed" for one in fine.json[1]["cases"])
    lacking = await run(*tried, "--version", "9", code=1)
    assert "guide has versions 0–2; there is no version 9." in lacking.err
    agents = (await run("agents", "list", "--json")).json
    assert [one["name"] for one in agents] == ["guide"], "the agents made for it are gone"


async def test_a_killed_run_goes_on(
    run: Run, talking: tuple[RunningServer, SpokenModel], model: SpokenModel, tmp_path: Path
) -> None:
    server = talking[0]
    async with Client(server.url, server.api_key) as client:
        slow = await client.agents.create(AgentCreate(name="slow", model="spoken"))
        await client.agents.update(slow.id, instructions="Other.")
    path = tmp_path / "many.jsonl"
    path.write_text("".join(json.dumps({"question": f"q{n}"}) + "\n" for n in range(12)))
    line = ("agents", "try", "slow", "--set", path, "--version", "0", "--jobs", "1")
    process = await start(*line, CARREL_URL=server.url, CARREL_API_KEY=server.api_key)
    await asyncio.to_thread(model.wait_for_questions, 4)
    process.kill()
    await process.communicate()
    async with Client(server.url, server.api_key) as client:
        left = [one.name async for one in client.agents.every()]
    assert "slow · trial" in left
    (file,) = folders().evals.glob("*.jsonl")
    kept = file.read_text().count('"case"')
    asked = len(model.asked)
    done = await run(*line, "--resume", "--json")
    assert done.json[0]["finished"] and len(done.json[0]["cases"]) == 12
    assert all(one["attempts"] == 1 for one in done.json[0]["cases"])
    assert len(model.asked) - asked <= 12 - kept + 4
    async with Client(server.url, server.api_key) as client:
        assert "slow · trial" not in [one.name async for one in client.agents.every()]


async def test_a_pause_that_the_service_asks_for_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text('{"question": "hello"}\n')
    agent = {
        "id": "a", "name": "echo", "model": "m", "version": 0, "versions": [0],
        "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    asked = 0

    async def answer(request: Request) -> None:
        nonlocal asked
        if request.method == "GET":
            await request.write(reply([agent]))
            return
        asked += 1
        if asked == 1:
            busy = reply({"message": "slow down"}, 429)
            await request.write(busy.replace(b"\r\n", b"\r\nRetry-After: 1\r\n", 1))
            return
        said = {"message": {"content": "hello"}, "index": 0, "finish_reason": "stop"}
        await request.write(
            reply({"id": "c", "model": "m", "created": 1, "usage": {}, "choices": [said]})
        )

    async with service(answer) as busy:
        ended = await carrel("agents", "try", "echo", "--set", path, CARREL_URL=busy.url)
    assert (ended.code, asked) == (0, 2), ended
    assert "the service asks to slow down: waiting 1 s" in ended.err


async def test_a_malformed_set_is_refused_before_anything_is_sent(
    run: Run, model: SpokenModel, tmp_path: Path
) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text("cases:\n- question: hello\n  checks:\n  - contain: x\n")
    refused = await run("agents", "try", "echo", "--set", path, code=2)
    assert f"{path}, line 4: cases.0.checks.0.contain: did you mean contains?" in refused.err
    assert model.asked == []
