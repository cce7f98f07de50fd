"""Conversations and responses as events, and the caller, over a real socket."""

import json
from typing import Any

import pytest

from carrel.client import Client
from carrel.client.http.errors import ServiceError, Unreachable
from support.process import RunningServer
from support.service import Request, service
from support.spoken import SpokenModel

HEAD = b"HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


def sends(*events: dict[str, Any]) -> Any:
    async def answer(request: Request) -> None:
        text = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events)
        await request.write(HEAD, text.encode())

    return answer


async def test_a_conversation_is_begun_continued_and_restarted_as_events(
    talking: tuple[RunningServer, SpokenModel], model: SpokenModel
) -> None:
    server, _ = talking
    async with Client(server.url, server.api_key) as client:
        async with client.conversations.stream_start(model="spoken", inputs="One?") as events:
            first = [event async for event in events]
        assert first[0].type == "conversation.response.started"
        assert first[-1].type == "conversation.response.done" and first[-1].usage is not None
        assert any(event.type == "message.output.delta" and event.content for event in first)
        id = first[0].conversation_id or ""
        async with client.conversations.stream_append(id, inputs="Two?") as events:
            assert [event async for event in events][-1].type == "conversation.response.done"
        messages = (await client.conversations.messages(id)).messages
        assert [one.role for one in messages] == ["user", "assistant"] * 2
        restarting = client.conversations.stream_restart(
            id, inputs="Three?", from_entry_id=messages[1].id or ""
        )
        async with restarting as events:
            again = [event async for event in events]
        other = again[0].conversation_id or ""
        assert other != id
        assert len((await client.conversations.messages(other)).messages) == 4


async def test_a_response_comes_whole_and_as_events(
    talking: tuple[RunningServer, SpokenModel], model: SpokenModel
) -> None:
    server, _ = talking
    async with Client(server.url, server.api_key) as client:
        whole = await client.responses.create(model="spoken", input="Hello")
        assert whole.status == "completed" and whole.output
        async with client.responses.stream(model="spoken", input="Hello") as events:
            types = [event.type async for event in events]
        assert (types[0], types[-1]) == ("response.created", "response.completed")


async def test_the_caller_is_known(server: RunningServer) -> None:
    async with Client(server.url, server.api_key) as client:
        me = await client.users.me()
        assert (await client.users.whoami()).principal.id == me.id
        organisations = (await client.users.organisations()).organizations
        assert [one.id for one in organisations] == [me.organization.id]
        (workspace,) = (await client.users.workspaces()).workspaces
        assert workspace.organization_id == me.organization.id


async def test_an_answer_that_fails_or_breaks_off_is_an_error() -> None:
    started = {"type": "conversation.response.started", "created_at": "2026-01-01T00:00:00Z"}
    failed = {"type": "conversation.response.error", "message": "No \x1broom.", "code": 503}
    failed["created_at"] = started["created_at"]
    async with (
        service(sends(started, failed), sends(started)) as odd,
        Client(odd.url, "key") as client,
    ):
        with pytest.raises(ServiceError, match=r"No room\.") as refused:
            async with client.conversations.stream_start(model="m", inputs="?") as events:
                _ = [event async for event in events]
        assert refused.value.status == 503
        with pytest.raises(Unreachable, match="broke off"):
            async with client.conversations.stream_start(model="m", inputs="?") as events:
                _ = [event async for event in events]
