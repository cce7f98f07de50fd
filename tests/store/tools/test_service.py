"""Tools of the settings: permission, the calls they answer, and their end."""

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from carrel.config.profiles import KEY_VARIABLES, Profile, folders
from carrel.config.settings import settings_file
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.problem import ProblemError
from carrel.store.tools.consents import Consents
from carrel.store.tools.formatting import consent_choices, consent_lines, consent_question
from carrel.store.tools.service import ToolsService
from carrel.store.tools.state import LONGEST_RESULT, AgentCall, Consent, Permission
from support.process import RunningServer
from support.slices import until

NOTHING: frozenset[str] = frozenset()


@pytest.fixture
async def tools() -> AsyncIterator[ToolsService]:
    service = ToolsService(OwnerLoop.running(), Profile("test", "http://one"), folders().state)
    yield service
    await service.close()


async def allow(tools: ToolsService, permission: Permission = "always") -> Consent:
    """Answers the next question for permission."""
    state = await until(tools.slice, lambda state: bool(state.asking))
    tools.answer(state.asking[0], permission)
    return state.asking[0]


def call(name: str, arguments: str = "{}") -> AgentCall:
    return AgentCall("a23456789", name, arguments)


def command(code: str, **more: Any) -> dict[str, Any]:
    return {"command": [sys.executable, "-c", code], **more}


async def test_a_command_answers_the_calls_of_its_name_once_it_was_allowed(
    tools: ToolsService, settings: Any, weather: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in KEY_VARIABLES:
        monkeypatch.setenv(name, "secret")
    settings(tools={"weather": weather})
    asked = asyncio.ensure_future(
        tools.of_question(("weather",)).result(call("weather", '{"city": "Paris"}'))
    )
    consent = await allow(tools)
    assert weather["command"][-1] in consent_question(consent)
    # Neither a key of this program nor the folder it was started in reaches the command.
    assert await asked == f"Fine in Paris [] {settings_file().parent}"
    assert tools.slice.value.asking == ()
    # It is remembered.
    again = ToolsService(OwnerLoop.running(), Profile("test", "http://one"), folders().state)
    assert (
        await again.of_question(("weather",)).result(call("weather", '{"city": "Rome"}'))
        is not None
    )
    await again.close()


async def test_another_command_or_service_is_asked_for_again(
    tools: ToolsService, settings: Any
) -> None:
    settings(tools={"noon": command("print(12)")})
    (named,) = await tools.list_named() or ()
    await tools.allow(named.consent, True)
    assert await tools.of_question(("noon",)).result(call("noon")) == "12"
    elsewhere = ToolsService(OwnerLoop.running(), Profile("test", "http://two"), folders().state)
    assert [one.allowed for one in await elsewhere.list_named() or ()] == [False]
    settings(tools={"noon": command("print(12)", env={"ZONE": "UTC"})})
    assert [one.allowed for one in await tools.list_named() or ()] == [False]
    settings(tools={"noon": command("print(12)", timeout=5, description="Noon.")})
    assert [one.allowed for one in await tools.list_named() or ()] == [True]
    await tools.allow(named.consent, False)
    assert [one.allowed for one in await tools.list_named() or ()] == [False]


async def test_a_command_answers_no_agent_that_does_not_declare_it(
    tools: ToolsService, settings: Any, weather: Any
) -> None:
    settings(tools={"weather": weather})
    undeclared = tools.of_question()
    await undeclared.offer(NOTHING)
    assert await undeclared.result(call("weather", '{"city": "Paris"}')) is None
    assert not tools.slice.value.asking
    declared = tools.of_question()
    await declared.offer(frozenset({"weather"}))
    asked = asyncio.ensure_future(declared.result(call("weather", '{"city": "Paris"}')))
    await allow(tools)
    assert "Paris" in (await asked or "")


async def test_a_changed_script_is_asked_for_again(
    tools: ToolsService, settings: Any, tmp_path: Path
) -> None:
    script = tmp_path / "noon.py"
    script.write_text("print(12)")
    settings(tools={"noon": {"command": [sys.executable, str(script)]}})
    asked = asyncio.ensure_future(tools.of_question(("noon",)).result(call("noon")))
    await allow(tools)
    assert (await asked or "").strip() == "12"
    assert (await tools.of_question(("noon",)).result(call("noon")) or "").strip() == "12"
    script.write_text("print(13)")
    asked = asyncio.ensure_future(tools.of_question(("noon",)).result(call("noon")))
    await allow(tools)
    assert (await asked or "").strip() == "13"


async def test_a_command_is_allowed_once_in_a_chat_or_always(
    tools: ToolsService, settings: Any, weather: Any
) -> None:
    settings(tools={"weather": weather})
    chat: list[str | None] = ["first"]

    async def ask(city: str, permission: Permission | None) -> Consent | None:
        question = tools.of_question(("weather",), lambda: chat[0])
        asked = asyncio.ensure_future(question.result(call("weather", f'{{"city": "{city}"}}')))
        consent = None if permission is None else await allow(tools, permission)
        assert city in (await asked or "")
        return consent

    consent = await ask("Rome", "once")
    assert consent is not None
    assert consent_lines(consent)[1] == 'An agent calls it with {"city": "Rome"}.'
    assert [*consent_choices(consent)] == ["no", "once", "chat", "always"]
    await ask("Oslo", "chat")
    await ask("Bern", None)
    chat[0] = None
    other = await ask("Bonn", "once")
    assert other is not None and [*consent_choices(other)] == ["no", "once", "always"]
    chat[0] = "second"
    await ask("Lima", "always")
    chat[0] = "third"
    await ask("Kyiv", None)
    (named,) = await tools.list_named() or ()
    await tools.allow(named.consent, False)
    for chat[0] in ("first", "second"):
        await ask("Riga", "once")


async def test_an_answer_for_good_covers_the_calls_that_wait(
    tools: ToolsService, settings: Any, weather: Any
) -> None:
    settings(tools={"weather": weather})
    question = tools.of_question(("weather",), lambda: "chat")
    asked = [
        asyncio.ensure_future(question.result(call("weather", f'{{"city": "{city}"}}')))
        for city in ("Rome", "Oslo", "Bern")
    ]
    await until(tools.slice, lambda state: len(state.asking) == 3)
    await allow(tools, "once")
    await until(tools.slice, lambda state: len(state.asking) == 2)
    await allow(tools, "chat")
    assert all([await one for one in asked])


async def test_a_refused_command_leaves_its_call_open(tools: ToolsService, settings: Any) -> None:
    settings(tools={"noon": command("print(12)")})
    asked = asyncio.ensure_future(tools.of_question(("noon",)).result(call("noon")))
    await allow(tools, "no")
    assert await asked is None
    assert await tools.of_question().result(call("unknown")) is None


async def test_calls_at_once_share_one_question_and_its_answer(
    tools: ToolsService, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings(tools={"noon": command("print(12)")})
    questions: list[Consent] = []
    tools.slice.changed.connect(lambda new, old: questions.extend({*new.asking} - {*old.asking}))
    looked, kept = Consents.has, Consents.set
    slow = {Consents.has: iter((0.0, 0.2, 0.0)), Consents.set: iter((0.2, 0.0))}

    def has(self: Consents, consent: Consent) -> bool:
        found = looked(self, consent)
        time.sleep(next(slow[looked]))
        return found

    def keep(self: Consents, consent: Consent, allowed: bool) -> None:
        time.sleep(next(slow[kept]))
        kept(self, consent, allowed)

    monkeypatch.setattr(Consents, "has", has)
    monkeypatch.setattr(Consents, "set", keep)
    first, second = (
        asyncio.ensure_future(tools.of_question(("noon",)).result(call("noon"))) for _ in "ab"
    )
    await allow(tools)
    await asyncio.sleep(0.05)  # allowed, and not yet written
    third = asyncio.ensure_future(tools.of_question(("noon",)).result(call("noon")))
    assert {await first, await second, await third} == {"12"}
    assert len(questions) == 1


async def test_a_stopped_question_takes_its_request_for_permission_back(
    tools: ToolsService, settings: Any
) -> None:
    settings(tools={"noon": command("print(12)")})
    first = asyncio.ensure_future(tools.of_question(("noon",)).result(call("noon")))
    second = asyncio.ensure_future(tools.of_question(("noon",)).result(call("noon")))
    await until(tools.slice, lambda state: bool(state.asking))
    await asyncio.sleep(0.05)
    first.cancel()
    with suppress(asyncio.CancelledError):
        await first
    assert tools.slice.value.asking, "the other question still waits"
    second.cancel()
    with suppress(asyncio.CancelledError):
        await second
    assert not tools.slice.value.asking


async def test_a_command_is_offered_only_where_it_is_named(
    tools: ToolsService, settings: Any, weather: Any
) -> None:
    settings(tools={"weather": weather})
    assert await tools.of_question().offer(NOTHING) == []
    (tool,) = await tools.of_question(["weather"]).offer(NOTHING)
    assert tool.function.description == "The weather of a city."
    assert tool.function.parameters["required"] == ["city"]
    assert await tools.of_question(["weather"]).offer(frozenset({"weather"})) == []
    with pytest.raises(ProblemError) as refused:
        await tools.of_question(["wether"]).offer(NOTHING)
    assert "“wether”" in str(refused.value.problem)


async def test_a_command_that_fails_or_hangs_is_an_error_for_the_model(
    tools: ToolsService, settings: Any, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    sleeper = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(pid)!r}, 'w').write(str(child.pid))\n"
        "time.sleep(60)"
    )
    settings(
        tools={
            "fails": command("import sys; sys.exit('no \\x1b[31msuch city')"),
            "hangs": command(sleeper, timeout=1.5),
            "gone": {"command": ["/no/such/program"]},
            "loud": command("print('x' * 1000000)"),
        }
    )
    for named in await tools.list_named() or ():
        await tools.allow(named.consent, True)
    asked = tools.of_question()
    await asked.offer(frozenset({"fails", "hangs", "gone", "loud"}))
    assert await asked.result(call("fails")) == (
        "Error: the command ended with exit code 1.\nno [31msuch city"
    )
    assert await asked.result(call("fails", "[1]")) == "Error: the arguments are not a JSON object."
    assert "did not end within 1.5 seconds" in (await asked.result(call("hangs")) or "")
    with pytest.raises(ProcessLookupError):
        for _ in range(100):  # what it started ends with it
            os.kill(int(pid.read_text()), 0)
            await asyncio.sleep(0.05)
    assert "did not start" in (await asked.result(call("gone")) or "")
    loud = await asked.result(call("loud"))
    assert loud is not None and len(loud) < LONGEST_RESULT + 100 and "cut after" in loud


async def test_the_tools_of_an_mcp_server_are_used_once_it_was_allowed(
    tools: ToolsService, settings: Any, numbers: Any
) -> None:
    settings(mcp_servers={"numbers": numbers})
    asked = tools.of_question(["numbers"])
    offered = asyncio.ensure_future(asked.offer(NOTHING))
    await allow(tools)
    assert [tool.function.name for tool in await offered] == ["add", "fail"]
    assert (await offered)[0].function.description == "Adds two numbers."
    assert await asked.result(call("add", '{"a": 2, "b": 3}')) == "5"
    assert (await asked.result(call("fail")) or "").startswith("Error: ")
    assert "Error" in (await asked.result(call("add", '{"a": "x"}')) or "")


async def test_the_tools_of_a_server_at_an_address_are_used_with_its_key(
    tools: ToolsService, settings: Any, server: RunningServer
) -> None:
    headers = {"Authorization": f"Bearer {server.api_key}"}
    settings(mcp_servers={"carrel": {"url": f"{server.url}/mcp", "headers": headers}})
    (named,) = await tools.list_named() or ()
    assert server.api_key not in consent_question(named.consent)
    await tools.allow(named.consent, True)
    asked = tools.of_question(["carrel"])
    assert "list_agents" in {tool.function.name for tool in await asked.offer(NOTHING)}
    assert "agents" in json.loads(await asked.result(call("list_agents")) or "")
    missing = await asked.result(call("read_document", '{"library_id": "x", "document_id": "y"}'))
    assert (missing or "").startswith("Error: ")


async def test_a_refused_server_ends_the_question(
    tools: ToolsService, settings: Any, numbers: Any
) -> None:
    settings(mcp_servers={"numbers": numbers})
    offered = asyncio.ensure_future(tools.of_question(["numbers"]).offer(NOTHING))
    await allow(tools, "no")
    with pytest.raises(ProblemError, match="were not allowed"):
        await offered


async def test_a_server_that_went_away_is_started_again(
    tools: ToolsService, settings: Any, tmp_path: Path, numbers: Any
) -> None:
    pid = tmp_path / "pid"
    numbers["env"] = {"PID": str(pid)}
    settings(mcp_servers={"numbers": numbers})
    asked = tools.of_question(["numbers"])
    offered = asyncio.ensure_future(asked.offer(NOTHING))
    await allow(tools)
    await offered
    first = int(pid.read_text())
    os.kill(first, 9)
    assert "Error" in (await asked.result(call("add", '{"a": 2, "b": 3}')) or "")
    assert await asked.result(call("add", '{"a": 2, "b": 3}')) == "5"
    assert int(pid.read_text()) != first


async def test_a_server_that_does_not_start_says_why(tools: ToolsService, settings: Any) -> None:
    settings(
        mcp_servers={
            "broken": command("import sys; sys.exit('no config')"),
            "nowhere": {"url": "http://127.0.0.1:9/mcp"},
            "gone": {"command": ["/no/such/program"]},
            "silent": command("import time; time.sleep(60)", timeout=1),
        }
    )
    for named in await tools.list_named() or ():
        await tools.allow(named.consent, True)
    said = {}
    for name in ("broken", "nowhere", "gone", "silent"):
        with pytest.raises(ProblemError) as failed:
            await tools.of_question([name]).offer(NOTHING)
        said[name] = str(failed.value.problem)
    assert "“broken” did not start" in said["broken"] and "no config" in said["broken"]
    assert "“nowhere” was not reached" in said["nowhere"]
    assert "no program “/no/such/program”" in said["gone"]
    assert "did not answer within 1 seconds" in said["silent"]


async def test_tools_of_one_name_are_told_apart(
    tools: ToolsService, settings: Any, numbers: Any
) -> None:
    def add(a: int) -> int:
        return a

    tools.add(add)
    settings(mcp_servers={"numbers": numbers})
    (named,) = await tools.list_named() or ()
    await tools.allow(named.consent, True)
    asked = tools.of_question(["numbers"])
    names = [tool.function.name for tool in await asked.offer(NOTHING)]
    assert names == ["add", "numbers_add", "fail"]
    assert await asked.result(call("add", '{"a": 2}')) == "2"
    assert await asked.result(call("numbers_add", '{"a": 2, "b": 3}')) == "5"


async def test_a_command_sees_no_more_of_the_environment_than_it_is_given(
    tools: ToolsService, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CARREL_MODEL_KEY", "AWS_SECRET_ACCESS_KEY", "PGPASSWORD", "OTHER_TOKEN"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("LC_TIME", "C")
    code = "import os; print(sorted(name for name in os.environ if os.environ[name] == 'secret'))"
    settings(tools={"noon": command(code, env={"TOKEN": "$OTHER_TOKEN"})})
    (named,) = await tools.list_named() or ()
    await tools.allow(named.consent, True)
    assert await tools.of_question(["noon"]).result(call("noon")) == "['TOKEN']"
    settings(
        tools={"noon": command("import os; print('PATH' in os.environ, os.environ['LC_TIME'])")}
    )
    (named,) = await tools.list_named() or ()
    await tools.allow(named.consent, True)
    assert await tools.of_question(["noon"]).result(call("noon")) == "True C"
