"""What a demo makes at a real server, and that nothing of it stays."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from carrel.client import Client
from carrel.store.demo.making import clear, make
from carrel.store.demo.script import Demo, load_demo
from carrel.wire.generation.conversations import ConversationWrite
from support.process import RunningServer
from support.spoken import SpokenModel

FILE = """\
title: Leases
needs:
  libraries:
  - {name: leases, documents: [lease.txt]}
  agents:
  - {name: judge}
  - {name: clerk, libraries: [leases], handoffs: [judge], metadata: {team: law}}
steps:
- say: Hello.
"""


@pytest.fixture
def demo(tmp_path: Path) -> Demo:
    (tmp_path / "lease.txt").write_text("The notice period is three months.")
    (tmp_path / "demo.yaml").write_text(FILE)
    return load_demo(tmp_path / "demo.yaml")


@pytest.fixture
async def client(talking: tuple[RunningServer, SpokenModel]) -> AsyncIterator[Client]:
    async with Client(talking[0].url, talking[0].api_key) as client:
        yield client


async def left(client: Client) -> list[str | None]:
    """Everything at the service, with its trash."""
    await client.health()
    names: list[str | None] = [one.name async for one in client.agents.every()]
    names += [one.name async for one in client.libraries.every()]
    names += [one.id async for one in client.conversations.every()]
    names += [one.filename async for one in client.files.every()]
    return names + [one.name async for one in client.trash.every()]


async def test_all_that_is_needed_is_made_and_cleared_with_its_chats(
    client: Client, demo: Demo, tmp_path: Path
) -> None:
    assert [words async for words in make(client, demo, tmp_path)]
    agents = {one.name: one async for one in client.agents.every()}
    (library,) = [one async for one in client.libraries.every()]
    assert agents["clerk"].tools[0]["library_ids"] == [library.id]
    assert agents["clerk"].handoffs == [agents["judge"].id]
    assert (agents["clerk"].metadata or {})["team"] == "law"
    assert [one.processing_status async for one in client.documents.every(library.id)] == [
        "Completed"
    ]
    talk = "0d3c4b5a-6978-4869-9a0b-1c2d3e4f5061"
    written = ConversationWrite(agent_id=agents["clerk"].id, entries=[])
    await client.conversations.write(talk, written)
    await client.files.upload(tmp_path / "lease.txt")
    await clear(client)
    assert await left(client) == []
