"""Asking an agent through the tools: its steps, giving up, and the tools that write."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from carrel.config.profiles import Profile, add_profile
from support.command import carrel
from support.home import own_home
from support.libraries import connect
from support.mcp import DOORS, Door, agent_at, data, said
from support.model import write_stream
from support.process import RunningServer, serve
from support.service import Request, reply, service

pytestmark = pytest.mark.asyncio(loop_scope="module")

every_door = pytest.mark.parametrize("door", DOORS)


class Model:
    """A model that answers one question and never the other."""

    def __init__(self) -> None:
        self.asked, self.left = asyncio.Event(), asyncio.Event()

    async def __call__(self, request: Request) -> None:
        if request.target == "/v1/models":
            await request.write(reply({"data": [{"id": "fake"}]}))
        elif request.target != "/v1/chat/completions":
            await request.write(reply({"detail": "Not Found"}, 404))
        elif b"never" in request.body:
            self.asked.set()
            await request.closed()
            self.left.set()
        else:
            await write_stream(request.connection[1], 3)


@pytest.fixture(scope="module")
def model() -> Model:
    return Model()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(
    model: Model, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[RunningServer]:
    """A server with that model, whose agents may write."""
    folder = tmp_path_factory.mktemp("server")
    with pytest.MonkeyPatch.context() as monkeypatch:
        own_home(monkeypatch, folder / "home")
        async with service(model) as upstream:
            starting = serve(folder / "data", "--model-url", f"{upstream.url}/v1", "--mcp-write")
            running = await asyncio.to_thread(starting.__enter__)
            yield running
            await asyncio.to_thread(starting.__exit__, None, None, None)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def clerk(server: RunningServer) -> str:
    """The id of an agent."""
    headers = {"authorization": f"Bearer {server.api_key}"}
    async with httpx.AsyncClient(base_url=server.url, headers=headers) as http:
        made = await http.post("/v1/agents", json={"model": "fake", "name": "clerk"})
    return str(made.json()["id"])


@every_door
async def test_an_agent_s_steps_come_before_its_answer(
    server: RunningServer, clerk: str, door: Door
) -> None:
    steps: list[tuple[float, str | None]] = []
    told = asyncio.Event()

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, message))
        told.set()

    async with agent_at(door, server.url, server.api_key) as agent:
        [listed] = data(await agent.call_tool("list_agents", {}))["agents"]
        assert (listed["id"], listed["name"]) == (clerk, "clerk")
        asked = {"agent_id": clerk, "question": "Hello"}
        answer = await agent.call_tool("ask_agent", asked, progress_callback=tell)
        await told.wait()
    assert said(answer).strip() == "word word word"
    assert steps[0] == (1, "waiting for the first word")


@every_door
async def test_giving_up_frees_the_model(
    server: RunningServer, clerk: str, model: Model, door: Door
) -> None:
    model.asked.clear()
    model.left.clear()
    async with agent_at(door, server.url, server.api_key) as agent:
        asked = {"agent_id": clerk, "question": "Will you never answer?"}
        waiting = asyncio.create_task(agent.call_tool("ask_agent", asked))
        await model.asked.wait()
        waiting.cancel()
        await model.left.wait()
        await asyncio.wait({waiting})
        assert data(await agent.call_tool("list_agents", {}))["agents"]


@every_door
async def test_tools_that_write_are_marked_and_work(
    server: RunningServer, door: Door, tmp_path: Path
) -> None:
    (tmp_path / "more.txt").write_text("Of anchors.")
    async with agent_at(door, server.url, server.api_key, "--write", folder=tmp_path) as agent:
        hints = {
            tool.name: (tool.annotations.read_only_hint, tool.annotations.destructive_hint)
            for tool in (await agent.list_tools()).tools
            if tool.annotations
        }
        assert hints["create_library"] == hints["add_document"] == (False, False)
        assert hints["delete_document"] == (False, True)
        library = data(await agent.call_tool("create_library", {"name": f"by {door}"}))["id"]

        async def add(**document: str) -> Any:
            return await agent.call_tool("add_document", {"library_id": library, **document})

        added = data(await add(name="notes.md", text="Of lanterns."))
        assert "Give the name and the text" in said(await add(name="notes.md"))
        by_path = await add(path="more.txt")
        assert by_path.is_error is (door == "http")
        place = {"library_id": library, "document_id": added["id"]}
        assert data(await agent.call_tool("delete_document", place))["deleted"]
    with connect(server) as http:
        left = http.get(f"/v1/libraries/{library}/documents").json()["data"]
    assert [document["name"] for document in left] == (["more.txt"] if door == "stdio" else [])


async def test_a_read_only_profile_offers_nothing_that_writes(server: RunningServer) -> None:
    add_profile(Profile("theirs", server.url, server.api_key, read_only=True))
    refused = await carrel("mcp", "--write", "--profile", "theirs")
    assert refused.code == 1
    assert "is read-only" in refused.err
