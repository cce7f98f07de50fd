"""`carrel tools`, and the tools of the settings in `carrel chat`."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from carrel.config.settings import settings_file
from support.command import carrel
from support.service import Request, reply, service

AGENT = {
    "id": "ag_" + "0" * 32, "name": "guide", "model": "m", "version": 0, "versions": [0],
    "created_at": "2026-01-02T03:04:05Z", "updated_at": "2026-01-02T03:04:05Z",
}  # fmt: skip
HEAD = b"HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
CALL = {
    "id": "a23456789",
    "type": "function",
    "function": {"name": "weather", "arguments": '{"city": "Rome"}'},
}


@pytest.fixture
def runs(tmp_path: Path) -> str:
    """The settings have the command `weather`; the line that it is shown as."""
    path = tmp_path / "weather.py"
    path.write_text("import json, sys\nprint('Fine in', json.load(sys.stdin)['city'])\n")
    command = [sys.executable, str(path)]
    settings_file().parent.mkdir(parents=True, exist_ok=True)
    settings_file().write_text(tomli_w.dumps({"tools": {"weather": {"command": command}}}))
    return shlex.join(command)


def streaming(delta: dict[str, Any], reason: str) -> Any:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    chunk = json.dumps({"id": "c", "model": "m", "choices": [choice]})

    async def answer(request: Request) -> None:
        await request.write(HEAD, f"data: {chunk}\n\n".encode())

    return answer


CALLS = streaming({"content": "", "tool_calls": [{"index": 0, **CALL}]}, "tool_calls")
ANSWERS = streaming({"content": "Take a hat."}, "stop")


async def test_a_tool_is_listed_allowed_and_forgotten(runs: str) -> None:
    listed = {"name": "weather", "kind": "command", "runs": runs, "allowed": False}
    assert (await carrel("tools", "list", "--json")).json == [listed]
    allowed = await carrel("tools", "allow", "weather")
    assert (allowed.code, allowed.err) == (0, f"Agents may use weather: {runs}\n")
    assert (await carrel("tools", "list", "--json")).json == [{**listed, "allowed": True}]
    forgotten = await carrel("tools", "forget", "weather")
    assert (forgotten.code, "asked for again" in forgotten.err) == (0, True)
    table = await carrel("tools", "list")
    assert table.out.splitlines()[1].split()[:3] == ["weather", "command", "no"]
    unknown = await carrel("tools", "allow", "wether")
    assert (unknown.code, unknown.out) == (2, "")
    assert "no tool “wether”" in unknown.err


async def test_an_agent_uses_a_tool_of_the_settings(runs: str) -> None:
    async with service(reply([AGENT]), CALLS, ANSWERS) as there:
        await carrel("tools", "allow", "weather", CARREL_URL=there.url)
        ended = await carrel("chat", "guide", "Rome?", "--tool", "weather", CARREL_URL=there.url)
    assert (ended.code, ended.out.strip()) == (0, "Take a hat.")
    assert "weather" in ended.err and "Fine in Rome" in ended.err
    first, second = (json.loads(request.body) for request in there.requests[1:])
    assert [tool["function"]["name"] for tool in first["tools"]] == ["weather"]
    asked, called, result = second["messages"]
    assert (asked["role"], called["tool_calls"][0]["id"]) == ("user", CALL["id"])
    assert (result["tool_call_id"], result["content"]) == (CALL["id"], "Fine in Rome")


async def test_a_script_is_told_how_to_allow_a_tool(runs: str) -> None:
    async with service(reply([AGENT]), CALLS) as there:
        ended = await carrel("chat", "guide", "Rome?", "--tool", "weather", CARREL_URL=there.url)
    assert (ended.code, ended.out) == (1, "")
    assert runs in ended.err
    assert "Allow it with: carrel tools allow weather" in ended.err
    assert len(there.requests) == 2, "the agent was not asked again without a result"
