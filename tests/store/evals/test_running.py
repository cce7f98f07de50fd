"""Sets run against a fake engine: kept, gone on with, compared."""

import asyncio
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from carrel.client.http.errors import Unreachable
from carrel.config.profiles import Price, Profile
from carrel.store.core.problem import ProblemError
from carrel.store.evals.cases import Case, CaseSet
from carrel.store.evals.formatting import summary_words, verdict_words
from carrel.store.evals.records import Records, Run
from carrel.store.evals.report import Report, junit, report
from carrel.store.evals.running import OnProgress, Plan, Progress, run_set
from carrel.store.tools.loop import Tools
from carrel.store.tools.state import AgentCall
from carrel.wire.generation.agents import Agent
from carrel.wire.generation.tools import FunctionTool
from support.engine import Engine, completion
from support.rounds import rounds


class Answering:
    """Tools that give what they are told to."""

    def __init__(self, results: dict[str, str]) -> None:
        self._results = results

    async def offer(self, known: frozenset[str]) -> list[FunctionTool]:
        return []

    async def result(self, call: AgentCall) -> str | None:
        return self._results.get(call.name)


NONE = Answering({})
THERE = Profile("there", "http://engine", prices={"fake": Price(1.0, 100.0, "EUR")})


def a_set(count: int, **check: Any) -> CaseSet:
    checks = [check or {"contains": "yes"}]
    cases = [{"question": f"question {n}", "checks": checks} for n in range(count)]
    return CaseSet.model_validate({"name": "set", "cases": cases})


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return Records(tmp_path / "evals")


async def tried(
    engine: Engine,
    records: Records,
    cases: CaseSet,
    plan: Plan = Plan(),  # noqa: B008
    *,
    agent: str = "support",
    version: int | None = None,
    tools: Tools = NONE,
    told: OnProgress = lambda progress: None,
) -> Run:
    async with engine.client() as client:
        chosen = Agent.model_validate(engine.agent(agent))
        return await run_set(
            client, THERE, records, chosen, version, cases, plan, lambda: tools, told
        )


async def test_calls_of_functions_are_answered_on_the_way(records: Records) -> None:
    def answer(agent: dict[str, Any], question: str) -> str | httpx.Response:
        if question == "twice":
            return "yes, twice"
        function = {"name": "double", "arguments": '{"n": 1}'}
        call = {"id": "one", "function": function}
        return httpx.Response(200, json=completion("", tool_calls=[call]))

    cases = a_set(1, contains="twice")
    run = await tried(
        Engine(answer, "support"), records, cases, tools=Answering({"double": "twice"})
    )
    (attempt,) = run.attempts
    assert attempt.passed and attempt.answer == "yes, twice"
    assert (attempt.prompt_tokens, attempt.completion_tokens) == (10, 6)
    open_call = await tried(Engine(answer, "support"), records, cases)
    assert open_call.attempts[0].error == ("The agent calls double, and nothing here answers it.")


def by_chance(seed: int, rate: Callable[[str, int], float]) -> Engine:
    """An engine whose agents say yes with a probability for each question."""
    thrown = random.Random(seed)

    def answer(agent: dict[str, Any], question: str) -> str:
        chance = rate(agent["name"], int(question.split()[-1]))
        return "yes" if thrown.random() < chance else "no"

    return Engine(answer, "support", "twin", "worse")


CHANCES = (1.0, 0.95, 0.8, 0.5, 0.2)


def usual(name: str, question: int) -> float:
    chance = CHANCES[question % 5]
    return chance * 0.5 if name == "worse" else chance


@pytest.mark.soak
@pytest.mark.parametrize("repeats", [1, 6])
async def test_identical_agents_never_regress_and_a_worse_one_is_caught(
    records: Records, repeats: int
) -> None:
    engine, cases = by_chance(7, usual), a_set(50)
    plan = Plan(repeats=repeats, jobs=8)
    before = await tried(engine, records, cases, plan)
    worse = report(await tried(engine, records, cases, plan, agent="worse"), before)
    assert worse.worse and not worse.good
    assert worse.count("regressed") > 3
    assert "Worse than support v0" in verdict_words(worse)
    for _ in range(rounds(6, 20)):
        twin = report(await tried(engine, records, cases, plan, agent="twin"), before)
        assert not twin.worse and not twin.better
        assert twin.count("regressed") == twin.count("fixed") == 0
        assert twin.good


async def test_a_run_is_kept_with_all_that_it_was(records: Records) -> None:
    engine = Engine(lambda agent, question: "yes", "support")
    run = await tried(engine, records, a_set(2), Plan(repeats=2, seed=40))
    (kept,) = records.all()
    assert kept == run == records.get(run.id[:8]) == records.get(str(records.path(run.id)))
    header = kept.header
    assert (header.agent, header.version, header.model, header.seed) == ("support", 0, "fake", 40)
    assert header.hash == a_set(2).hash != a_set(3).hash
    assert sorted(one.seed or 0 for one in kept.attempts) == [40, 40, 41, 41]
    assert sorted(body["random_seed"] for body in engine.asked) == [40, 40, 41, 41]
    assert all((one.prompt_tokens, one.completion_tokens) == (5, 3) for one in kept.attempts)
    assert kept.cost == pytest.approx(4 * (5 * 1.0 + 3 * 100.0) / 1_000_000)
    assert "100 % (95 % interval" in summary_words(report(kept))
    assert summary_words(report(kept)).endswith(" · 0.00122 EUR")
    assert "interval" not in summary_words(report(kept.model_copy(update={"attempts": []})))
    with pytest.raises(ProblemError, match="There is no run “nothing”"):
        records.get("nothing")


async def test_a_stopped_run_goes_on_and_counts_nothing_twice(records: Records) -> None:
    engine, cases = Engine(lambda agent, question: "yes", "support"), a_set(10)
    enough = asyncio.Event()

    def told(progress: Progress) -> None:
        if progress.done >= 4:
            enough.set()

    engine.pause = 0.01
    task = asyncio.create_task(tried(engine, records, cases, told=told))
    await enough.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    (stopped,) = records.all()
    assert 4 <= len(stopped.attempts) < 10 and not stopped.finished
    # What a kill leaves: half a line at the end, and a line that was written twice.
    path = records.path(stopped.id)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines, lines[1]]) + '{"case": "ques')
    already = len(engine.asked)
    done = await tried(engine, records, cases, Plan(resume=True))
    assert done.id == stopped.id and done.finished
    assert len(done.attempts) == len({one.case for one in done.attempts}) == 10
    assert len(engine.asked) - already == 10 - len(stopped.attempts)
    assert records.get(done.id) == done
    again = await tried(engine, records, cases, Plan(resume=True))
    assert again.id != done.id, "a finished run is not gone on with"


async def test_a_run_under_way_is_not_taken_over(records: Records) -> None:
    engine, cases = Engine(lambda agent, question: "yes", "support"), a_set(3)
    engine.pause = 0.05
    begun = asyncio.Event()
    task = asyncio.create_task(tried(engine, records, cases, told=lambda progress: begun.set()))
    await begun.wait()
    with pytest.raises(ProblemError, match="This run is under way"):
        await tried(engine, records, cases, Plan(resume=True))
    assert (await task).finished


async def test_a_service_that_asks_to_wait_is_waited_for(
    records: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    real = asyncio.sleep

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await real(0)

    monkeypatch.setattr("carrel.store.evals.asking.asyncio.sleep", sleep)
    engine = Engine(lambda agent, question: "yes", "support")
    engine.refusals = [
        httpx.Response(429, headers={"retry-after": "7"}, json={"message": "slow down"}),
        httpx.Response(503, json={"message": "busy"}),
    ]
    waited: list[float] = []
    run = await tried(engine, records, a_set(1), told=lambda now: waited.append(now.waiting))
    assert run.attempts[0].passed
    assert [one for one in waited if one] == [7.0, 10.0]
    assert any(6 < one <= 7 for one in slept)


async def test_a_refused_answer_does_not_pass_and_the_run_goes_on(records: Records) -> None:
    def answer(agent: dict[str, Any], question: str) -> str | httpx.Response:
        if question == "question 0":
            return httpx.Response(400, json={"message": "Too long for this model."})
        return "" if question == "question 1" else "yes"

    run = await tried(Engine(answer, "support"), records, a_set(3))
    found = report(run)
    assert [one.outcome for one in found.cases] == ["failed", "failed", "passed"]
    assert [one.reason for one in found.cases[:2]] == [
        "Too long for this model.",
        "The answer is empty.",
    ]


async def test_another_version_answers_by_an_agent_that_is_removed(records: Records) -> None:
    engine = Engine(lambda agent, question: agent["instructions"], "support")
    engine.agents["support"] = [{"instructions": "yes"}, {"instructions": "no"}]
    old = await tried(engine, records, a_set(2), version=0)
    assert [one.answer for one in old.attempts] == ["yes", "yes"]
    assert engine.made == ["made0"] and list(engine.agents) == ["support"]
    new = await tried(engine, records, a_set(2))
    assert [one.answer for one in new.attempts] == ["no", "no"]
    with pytest.raises(ProblemError, match="support has no v7"):
        await tried(engine, records, a_set(2), version=7)


async def test_an_agent_that_a_kill_has_left_is_removed_by_the_next_run(records: Records) -> None:
    engine = Engine(lambda agent, question: "yes", "support")
    engine.agents["support"] *= 2
    run = await tried(engine, records, a_set(1), version=0)
    path = records.path(run.id)
    path.write_text(path.read_text() + '{"trial":"left"}\n')
    engine.agents["left"] = [{"metadata": {"carrel": "trial"}}]
    await tried(engine, records, a_set(1))
    assert list(engine.agents) == ["support"]
    assert path.read_text().endswith('{"trial":""}\n')


async def test_a_version_that_vanishes_ends_the_run_with_words(records: Records) -> None:
    def answer(agent: dict[str, Any], question: str) -> str:
        if question == "question 2":
            engine.agents.clear()
        return "yes"

    engine = Engine(answer, "support")
    with pytest.raises(ProblemError, match="v0 of support is gone"):
        await tried(engine, records, a_set(6), Plan(jobs=1))
    assert len(records.all()[0].attempts) == 3


async def test_an_agent_that_changes_ends_the_run_with_words(records: Records) -> None:
    def answer(agent: dict[str, Any], question: str) -> str:
        if question == "question 1":
            engine.agents["support"].append({"instructions": "other"})
        return "yes"

    engine = Engine(answer, "support")
    with pytest.raises(ProblemError, match="support was changed during the run") as error:
        await tried(engine, records, a_set(6), Plan(jobs=1))
    assert error.value.problem.advice == "Continue with: --version 0 --resume"
    done = await tried(engine, records, a_set(6), Plan(resume=True), version=0)
    assert done.finished and len(records.all()) == 1


async def test_a_lost_service_keeps_what_has_ended(records: Records) -> None:
    def answer(agent: dict[str, Any], question: str) -> str:
        if question == "question 2":
            raise httpx.ConnectError("gone")
        return "yes"

    with pytest.raises(Unreachable):
        await tried(Engine(answer, "support"), records, a_set(5), Plan(jobs=1))
    assert len(records.all()[0].attempts) == 2


async def test_a_full_disk_ends_the_run_and_keeps_what_has_ended(records: Records) -> None:
    engine = Engine(lambda agent, question: "yes", "support")
    run = await tried(engine, records, a_set(1))
    records.path(run.id).unlink()
    records.path("full").symlink_to("/dev/full")
    with (
        pytest.raises(ProblemError) as error,
        records.begin(run.header.model_copy(update={"id": "full"})),
    ):
        pass
    assert error.value.problem.title == "The run cannot be kept"
    assert "No space left on device" in error.value.problem.detail


async def test_every_kind_of_check_has_its_verdict_and_reason(records: Records) -> None:
    passages = [
        {
            "index": 1, "library_id": "l", "document_id": "d", "document_name": "lease.pdf",
            "page": 1, "snippet": "three months",
        }
    ]  # fmt: skip
    text = "Notice: 3 months, rent 1,204.50 a month."

    def answer(agent: dict[str, Any], question: str) -> str | httpx.Response:
        if agent["name"] == "judge":
            kind = "kind" in question
            return "Well: " + json.dumps({"passed": kind, "reason": "It is curt."})
        if question == "json":
            return '```json\n{"months": 3}\n```'
        return httpx.Response(200, json=completion(text, sources=passages))

    checks: list[tuple[dict[str, Any], bool, str]] = [
        ({"contains": "notice:  3 MONTHS"}, True, "it is there"),
        ({"contains": "years"}, False, "it is not there"),
        ({"regex": r"\d+ months"}, True, "found “3 months”"),
        ({"source": "lease.pdf"}, True, "a passage is from there"),
        ({"source": {"document": "lease.pdf", "page": 2}}, True, "a passage is from there"),
        ({"source": {"document": "lease.pdf", "page": 1}}, False, "the passages are from page 2"),
        ({"source": "other.pdf"}, False, "the passages are from lease.pdf"),
        ({"number": 1204.5}, True, "the nearest is 1204.5"),
        ({"number": {"value": 1200, "tolerance": 5}}, True, "the nearest is 1204.5"),
        ({"number": {"value": 1200, "tolerance": 4}}, False, "the nearest is 1204.5"),
        ({"similar": {"to": text, "at_least": 0.99}}, True, "it is 1.00"),
        ({"similar": {"to": "zzz", "at_most": 0.5}}, True, "it is 0.00"),
        ({"similar": {"to": "a notice of months", "at_least": 0.999}}, False, "it is 0.91"),
        ({"similar": {"to": "a notice of months", "at_most": 0.001}}, False, "it is 0.92"),
        ({"judge": {"agent": "judge", "criterion": "kind"}}, True, "It is curt."),
        ({"judge": {"agent": "judge", "criterion": "polite"}}, False, "It is curt."),
        ({"json_schema": {"type": "object"}}, False, "the answer is not JSON"),
    ]
    first = {"question": "text", "checks": [check for check, _, _ in checks]}
    schema = {"type": "object", "properties": {"months": {"type": "string"}}}
    second = {"question": "json", "checks": [{"json_schema": {}}, {"json_schema": schema}]}
    cases = CaseSet.model_validate({"name": "s", "cases": [first, second]})
    engine = Engine(answer, "support", "judge")
    run = await tried(engine, records, cases, Plan(jobs=1))
    found = run.attempts[0].checks
    assert [(one.passed, one.reason) for one in found] == [(p, r) for _, p, r in checks]
    assert run.attempts[0].judging == 16
    assert run.attempts[0].sources == ["lease.pdf, page 2"]
    assert [one.passed for one in run.attempts[1].checks] == [True, False]
    assert run.attempts[1].checks[1].reason == "months: 3 is not of type 'string'"
    lacking = Engine(answer, "support")
    with pytest.raises(ProblemError, match="There is no judge “judge”"):
        await tried(lacking, records, cases)
    assert lacking.asked == []


def test_a_question_takes_what_was_said_before() -> None:
    case = Case.model_validate(
        {"question": "And then?", "before": [{"role": "user", "content": "Hello"}]}
    )
    body = case.request("a", None).body()
    assert [one["content"] for one in body["messages"]] == ["Hello", "And then?"]
    assert "random_seed" not in body


def _report(before: list[bool], now: list[bool], repeats: int) -> Report:
    def run(name: str, passed: list[bool]) -> Run:
        attempts = [
            {"case": "question 0", "repeat": n, "answer": "a", "seconds": 0.5}
            | ({} if one else {"error": "no <answer>"})
            for n, one in enumerate(passed)
        ]
        header = {
            "id": name, "begun": 0, "service": "s", "agent_id": "a", "agent": "support",
            "version": 1, "model": "m", "repeats": repeats, "seed": None, "hash": "h",
            "cases": a_set(1).model_dump(exclude_unset=True),
        }  # fmt: skip
        return Run.model_validate({"header": header, "attempts": attempts})

    return report(run("new", now), run("old", before))


def test_a_flip_is_flaky_and_a_fall_is_a_regression_in_junit_too() -> None:
    flip = _report([True] * 6, [True] * 5 + [False], 6)
    assert [one.outcome for one in flip.cases] == ["flaky"] and flip.good
    assert "skipped" in junit(flip) and 'failures="0"' in junit(flip)
    once = _report([True], [False], 1)
    assert [one.outcome for one in once.cases] == ["flaky"]
    assert "With 6 repeats" in verdict_words(once)
    fall = _report([True] * 6, [False] * 6, 6)
    assert [one.outcome for one in fall.cases] == ["regressed"] and not fall.good
    assert 'failures="1"' in junit(fall)
    assert "no &lt;answer&gt;" in junit(fall)
    risen = _report([False] * 6, [True] * 6, 6)
    assert [one.outcome for one in risen.cases] == ["fixed"] and risen.better
    known = _report([False] * 3, [False] * 3, 3)
    assert [one.outcome for one in known.cases] == ["failed"] and known.good
