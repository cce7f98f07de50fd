"""Evals in the terminal: a set is run and compared, and a turn of a chat becomes a case."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from carrel.client import Client
from carrel.store.evals.cases import load_set
from carrel.tui.dialogs.evals import Evals
from carrel.wire.generation.agents import AgentCreate
from support.process import RunningServer
from support.spoken import SpokenModel
from support.workbench import Workbench, profile_of, workbench

CHECK = "  checks:\n  - contains: hello\n"
LONG = "hello, in a question that is too long for the room beside what came of it"
SET = f"cases:\n- question: {LONG!r}\n{CHECK}- question: goodbye\n{CHECK}"


@pytest.fixture
async def bench(
    talking: tuple[RunningServer, SpokenModel],
    model: SpokenModel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[Workbench]:
    server = talking[0]
    monkeypatch.chdir(tmp_path)
    async with Client(server.url, server.api_key) as client:
        async for agent in client.agents.every():
            await client.agents.delete(agent.id)
        await client.agents.create(AgentCreate(name="echo", model="spoken"))
    async with workbench(profile_of(server)) as bench:
        await bench.press("4")
        await bench.shows("echo", "v0")
        yield bench


async def run_set(bench: Workbench, path: Path) -> None:
    await bench.press("r")
    await bench.shows("Path of a YAML or JSONL file", path.name)
    assert "lease.pdf" not in bench.text()
    await bench.fill(str(path))
    await bench.leave("enter")
    await bench.shows("Attempts per case", "6 or more can show significance · enter accepts")
    await bench.leave("enter")


async def test_a_set_is_run_compared_and_its_answers_stand_side_by_side(
    bench: Workbench, model: SpokenModel, tmp_path: Path
) -> None:
    path = tmp_path / "set.yaml"
    path.write_text(SET)
    (tmp_path / "lease.pdf").touch()
    await bench.press("E")
    await bench.shows("Evals · echo", "No runs yet")
    await run_set(bench, path)
    await bench.shows("echo v0", "✗ failed", "● passed", "1 failed · 1 passed", "it is not there")
    await bench.pilot.resize_terminal(80, 24)
    await bench.shows("Why", "contains “hello”")
    await bench.pilot.resize_terminal(120, 36)

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        return {"content": "hello, whatever it is"}

    model.answer = answer
    await run_set(bench, path)
    await bench.shows("1 flaky · 1 passed", "1 case differs, as chance explains.", "0/1")
    assert isinstance(bench.app.screen, Evals)
    bench.app.screen.table.point_at("goodbye")
    await bench.shows("✗ contains “hello”: it is not there", "hello, whatever it is")
    await bench.press("enter")
    await bench.shows("✓ contains “hello”: it is there", "Attempt 1")
    await bench.press("escape")
    await bench.press("o")
    await bench.shows("Show the run", "50 %", "100 %")
    await bench.leave("escape")
    await bench.shows("1 flaky · 1 passed")
    await bench.leave("escape")
    await bench.until(lambda: not isinstance(bench.app.screen, Evals))


async def test_the_last_answer_of_a_chat_becomes_a_case(bench: Workbench, tmp_path: Path) -> None:
    await bench.press("c")
    await bench.shows("[5 Chat]")
    await bench.type("hello")
    await bench.press("enter")
    await bench.until(
        lambda: (
            bench.store.chat.slice.value.phase == "idle"
            and len(bench.store.chat.slice.value.turns) == 2
        )
    )
    await bench.press("escape")
    await bench.press("T")
    await bench.shows("Test case of the last answer", "cases.yaml")
    await bench.leave("enter")
    await bench.shows("Added to cases.yaml: hello")
    (case,) = load_set(tmp_path / "cases.yaml").cases
    assert case.question == "hello" and case.checks[0].similar
    assert case.checks[0].similar.to == "hello"
