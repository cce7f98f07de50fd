"""The actions of evals: run, stop, show, and turns of a chat as cases."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from carrel.config.profiles import Profile
from carrel.store.chat.conversation import Conversation, Turn
from carrel.store.chat.state import ChatState
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.problem import ProblemError
from carrel.store.evals.cases import case_of, load_set
from carrel.store.evals.running import Plan
from carrel.store.evals.service import EvalsService
from carrel.store.evals.state import EvalsState
from carrel.store.store import Store
from support.engine import Engine
from support.slices import until

SET = "cases:\n- question: hello\n- question: goodbye\n"


class Desk:
    def __init__(self, store: Store, engine: Engine, path: Path) -> None:
        self.store = store
        self.engine = engine
        self.path = path

    @property
    def evals(self) -> EvalsService:
        return self.store.evals

    async def run(self, version: int | None = None, plan: Plan = Plan()) -> Any:  # noqa: B008
        handle = self.evals.run("support", version, self.path, plan)
        run = await handle
        assert handle.error is None, handle.error
        return run


@pytest.fixture
async def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    engine = Engine(lambda agent, question: question, "support")
    store = Store(Profile("there", "http://engine"), OwnerLoop.running())
    client = engine.client()

    async def connected() -> Any:
        return client

    monkeypatch.setattr(store.session, "client", connected)
    path = tmp_path / "set.yaml"
    path.write_text(SET)
    yield Desk(store, engine, path)
    await store.close()
    await client.aclose()


async def test_a_run_is_shown_beside_the_one_before(desk: Desk) -> None:
    first = await desk.run()
    await desk.evals.show(first.id)
    second = await desk.run()
    state = desk.evals.slice.value
    assert [one.id for one in state.runs] == [second.id, first.id]
    assert (state.progress, state.file) == (None, desk.path)
    await until(desk.evals.slice, lambda state: state.report is not None)
    report = desk.evals.slice.value.report
    assert report and report.run == second and report.baseline == first


async def test_another_run_that_was_chosen_stays(desk: Desk) -> None:
    first, _ = await desk.run(), await desk.run()
    desk.engine.pause = 0.02
    handle = desk.evals.run("support", None, desk.path, Plan())
    await asyncio.sleep(0.01)
    await desk.evals.show(first.id)
    second = await handle
    assert second and desk.evals.slice.value.shown == first.id
    late = desk.evals.show(second.id)
    await desk.evals.show(first.id, second.id)
    await late.settled()
    report = desk.evals.slice.value.report
    assert report and report.baseline
    assert (report.run.id, report.baseline.id) == (first.id, second.id)


async def test_a_run_counts_as_running_until_it_is_cancelled(desk: Desk) -> None:
    unfinished = desk.store.unfinished
    desk.engine.pause = 0.02
    handle = desk.evals.run("support", None, desk.path, Plan(jobs=1))
    assert unfinished.running_words == ("1 eval run: E in Agents resumes it",)
    await until(desk.evals.slice, lambda state: bool(state.progress and state.progress.done))
    unfinished.cancel()
    await unfinished.idle()
    assert (handle.outcome, len(unfinished.running_words)) == ("cancelled", 0)
    assert [len(run.attempts) for run in desk.evals.slice.value.runs] == [1]


async def test_a_stopped_run_is_kept_and_goes_on(desk: Desk) -> None:
    desk.engine.pause = 0.02
    handle = desk.evals.run("support", None, desk.path, Plan(jobs=1))
    await until(desk.evals.slice, lambda state: bool(state.progress and state.progress.done))
    second = desk.evals.run("support", None, desk.path, Plan())
    await second.settled()
    assert second.error is not None and second.error.title == "Still busy with the last one"
    await desk.evals.stop()
    await handle.settled()
    assert handle.outcome == "cancelled"
    state = desk.evals.slice.value
    assert state.progress is None and [len(one.attempts) for one in state.runs] == [1]
    (stopped,) = state.runs
    await until(desk.evals.slice, lambda state: bool(state.report) and state.shown == stopped.id)
    desk.path.unlink()  # the run has its cases itself
    done = await desk.evals.resume(stopped.id)
    assert done and done.finished and done.header.hash == stopped.header.hash
    assert [run.id for run in desk.evals.slice.value.runs] == [stopped.id]
    questions = [body["messages"][-1]["content"] for body in desk.engine.asked]
    assert questions.count("hello") == 1, "it was answered before the stop"
    again = desk.evals.resume("none")
    await again.settled()
    assert again.error is not None and again.error.title == "There is no run “none”"


async def test_a_run_is_shown_as_it_goes(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carrel.store.evals.service.LIVE", 0.0)
    first = await desk.run()
    desk.engine.pause = 0.02
    open_cases: list[int] = []

    def changed(new: EvalsState, _: EvalsState) -> None:
        if new.progress and new.report and new.shown == new.progress.run.id:
            open_cases.append(new.report.count("open"))

    desk.evals.slice.changed.connect(changed)
    second = await desk.run(plan=Plan(jobs=1))
    assert sorted(set(open_cases), reverse=True) == [2, 1, 0]
    state = await until(desk.evals.slice, lambda state: state.baseline == first.id)
    assert state.shown == second.id


async def test_a_set_that_is_wrong_is_an_error_in_words(desk: Desk) -> None:
    desk.path.write_text("cases:\n- qestion: a\n")
    handle = desk.evals.run("support", None, desk.path, Plan())
    await handle.settled()
    assert handle.error is not None and "line 2" in handle.error.detail
    assert desk.engine.asked == []


def _chat(**fields: Any) -> ChatState:
    said = (
        Turn("user", "Hello"),
        Turn("assistant", "Good day."),
        Turn("user", "How long is it?"),
        Turn("assistant", ""),
        Turn("tool", "three", call_id="c"),
        Turn("assistant", "Three months."),
    )
    return ChatState(conversation=Conversation.of(*said), **fields)


async def test_a_turn_of_a_chat_becomes_a_case(desk: Desk) -> None:
    good = case_of(_chat(), 5, good=True)
    assert good.question == "How long is it?"
    assert [one.content for one in good.before] == ["Hello", "Good day."]
    bad = case_of(_chat(), 1, good=False)
    path = desk.path.with_name("new.yaml")
    for case in (good, bad):
        added = desk.evals.add_case(path, case)
        await added
        assert added.error is None
    first, second = load_set(path).cases
    assert first.checks[0].similar and first.checks[0].similar.at_least == 0.8
    assert second.checks[0].similar and second.checks[0].similar.at_most == 0.8
    again = desk.evals.add_case(path, bad)
    await again.settled()
    assert again.error is not None and "already exists" in again.error.detail
    for index in (0, 3, 4):
        with pytest.raises(ProblemError, match="No answer to take"):
            case_of(_chat(), index, good=True)
    with pytest.raises(ProblemError, match="The names are hidden"):
        case_of(_chat(alias="Side 1"), 5, good=True)
