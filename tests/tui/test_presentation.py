"""A demo in the terminal app, against a real server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from carrel import samples
from carrel.client import Client
from carrel.store.demo.script import load_demo
from carrel.store.demo.setting import set_up
from carrel.tui.presentation import Presentation
from carrel.tui.terminal.textual_private import is_ending
from support.process import RunningServer
from support.spoken import SpokenModel
from support.workbench import Workbench, profile_of

FILE = """\
title: Leases for everybody
needs:
  libraries:
  - {name: leases, documents: [lease.txt]}
  agents:
  - {name: clerk}
steps:
- say: These are three months.
  press: ["2"]
  wait: {text: lease.txt}
- press: ["4"]
  wait: {text: clerk}
- press: [c]
- say: The clerk is asked.
  type: Who pays?
  pace: each key
  press: [enter]
  wait: answer finished
  recorded: The tenant, by a recorded clerk.
- say: A dialog has a caption, too.
  press: [escape, f1]
  wait: {text: esc closes}
- search: notice
  pace: at once
  wait: passages found
- say: Never.
  wait: {text: three months}
  limit: 0.2
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "lease.txt").write_text("The notice period is long.")
    path = tmp_path / "demo.yaml"
    path.write_text(FILE)
    return path


@asynccontextmanager
async def presented(
    server: RunningServer, file: Path, begin: int = 0, size: tuple[int, int] = (120, 36)
) -> AsyncIterator[Workbench]:
    """A presentation of a file, and what it needs."""
    # The demo that ships is in the package, where no test may write.
    with TemporaryDirectory() as home:
        profile = replace(profile_of(server), home=Path(home))
        async with set_up(load_demo(file), file.parent, profile, print) as demo:
            app = Presentation(profile, None, demo, begin)
            async with app.run_test(size=size) as pilot:
                running = Workbench(app, pilot)
                await running.until(lambda: app.player is not None)
                yield running
                assert not app.failures, app.failures
    async with Client(server.url, server.api_key) as client:
        assert [one async for one in client.agents.every()] == []
        assert [one async for one in client.conversations.every()] == []


async def played(bench: Workbench, count: int) -> None:
    """Plays the next step to its end."""
    await bench.leave("f8")
    await bench.until(lambda: _player(bench) == (count, "ready"))


def _player(bench: Workbench) -> tuple[int, str]:
    assert isinstance(bench.app, Presentation)
    assert bench.app.player is not None
    state = bench.app.player.slice.value
    return state.played, state.phase


async def test_a_demo_is_played_by_one_key_and_taken_over_by_hand(
    talking: tuple[RunningServer, SpokenModel], model: SpokenModel, file: Path
) -> None:
    model.answer = lambda body: {"content": "The tenant."}
    async with presented(talking[0], file) as bench:
        await bench.shows(" Files ", "Leases for everybody", "F8 next")
        assert "F1 Help" not in bench.text()
        await played(bench, 1)
        await bench.shows("These are three months.", "lease.txt")
        await bench.press("1")  # by hand, in between
        await bench.shows("No files yet")
        await played(bench, 2)
        await played(bench, 3)
        await bench.leave("f8")
        for count in range(len("Who pays?")):
            await bench.until(lambda: _waits(bench))
            assert len(_prompt(bench)) == count
            if count == 0:
                await bench.leave("f8")
                await bench.shows("The step still plays: F8 goes on at its end.")
            if count == 1:
                await bench.leave("f9")
                await bench.shows("Paused")
                await bench.leave("y")  # by hand
                await bench.until(lambda: _prompt(bench) == "Wy")
                await bench.leave("backspace")
                await bench.leave("f9")
                await bench.until(lambda: _prompt(bench) == "W")
            await bench.leave("x")  # types the next character, whichever it is
            await bench.until(lambda n=count: len(_prompt(bench)) != n or _player(bench)[0] == 4)  # type: ignore[misc]
        await bench.until(lambda: _player(bench) == (4, "ready"))
        assert model.questions == ["Who pays?"]
        await bench.shows("The tenant.", "The clerk is asked.")
        await played(bench, 5)
        await bench.shows("A dialog has a caption, too.", "esc closes")
        # The dialog makes way for the place of the next step.
        await played(bench, 6)
        await bench.shows("esc clears", "/ notice")
        await bench.leave("f8")
        # A caption had the text, which does not count.
        await bench.shows("“three months” on the screen", "F8 goes on")
        await bench.leave("f8")
        await bench.shows("The end")


async def test_a_demo_ends_by_one_key_whatever_runs(server: RunningServer, file: Path) -> None:
    async with presented(server, file) as bench:
        bench.store.activity.begin("ocr", "lease.txt")
        await bench.until(lambda: bool(bench.store.unfinished.running_words))
        await bench.leave("ctrl+q")
        await bench.until(lambda: bench.app._exit)


async def test_an_answer_that_fails_is_recorded_and_a_jump_begins_anew(
    talking: tuple[RunningServer, SpokenModel], model: SpokenModel, file: Path
) -> None:
    release = asyncio.Event()
    loop = asyncio.get_running_loop()

    def late(body: object) -> dict[str, str]:
        asyncio.run_coroutine_threadsafe(release.wait(), loop).result()
        return {"content": "Too late."}

    model.answer = late
    async with presented(talking[0], file, begin=3) as bench:
        await bench.until(lambda: _player(bench) == (3, "ready"))
        await bench.leave("f8")
        for _ in "Who pays?":
            await bench.until(lambda: _waits(bench))
            await bench.leave("x")
        await asyncio.to_thread(model.wait_for_questions, 1)
        bench.store.chat.stop()
        await bench.shows("The answer was stopped", "F8 shows the recorded answer")
        release.set()
        await bench.leave("f8")
        await bench.shows("⚑ Recorded answer", "The tenant, by a recorded clerk.")
        await bench.leave("f10")
        await bench.shows("Jump to a step", "2  4")
        await bench.leave("down")
        await bench.leave("enter")
        await bench.until(lambda: is_ending(bench.app))
        assert isinstance(bench.app, Presentation)
        assert bench.app.again == 1


def _waits(bench: Workbench) -> bool:
    assert isinstance(bench.app, Presentation)
    return bench.app._awaits_key is not None


def _prompt(bench: Workbench) -> str:
    from carrel.tui.widgets.chat.prompt import Prompt

    return bench.app.screen_stack[0].query_one(Prompt).text


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 60)])
async def test_the_demo_that_ships_comes_to_its_end(
    talking: tuple[RunningServer, SpokenModel], model: SpokenModel, size: tuple[int, int]
) -> None:
    model.answer = lambda body: {"content": "Documents that an agent can search."}
    count = len(load_demo(samples.demo()).steps)
    async with presented(talking[0], samples.demo(), count, size) as bench:
        await bench.until(
            lambda: _player(bench) in ((count, "ready"), (_player(bench)[0], "failed"))
        )
        assert _player(bench) == (count, "ready"), bench.text()
        await bench.shows("The end")


async def test_the_demo_that_ships_comes_to_its_end_without_an_answer(
    talking: tuple[RunningServer, SpokenModel], model: SpokenModel
) -> None:
    def breaks_off(body: object) -> dict[str, str]:
        raise ConnectionResetError

    model.answer = breaks_off
    count = len(load_demo(samples.demo()).steps)
    async with presented(talking[0], samples.demo(), begin=count) as bench:
        await bench.until(
            lambda: (
                _player(bench)[0] == count or (_player(bench)[1] == "failed" and not _offers(bench))
            ),
            wait=60,
        )
        assert _player(bench) == (count, "ready"), bench.text()
        await bench.shows("The end")


def _offers(bench: Workbench) -> bool:
    assert isinstance(bench.app, Presentation)
    assert bench.app.player is not None
    return bench.app.player.slice.value.offers
