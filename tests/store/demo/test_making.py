"""What a demo makes at a real server, and that nothing of it stays."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from carrel.client import Client
from carrel.store.chat.sessions.saved import ChatSession, SavedSessions
from carrel.store.core.problem import ProblemError
from carrel.store.demo.journal import Journal
from carrel.store.demo.making import make, remove
from carrel.store.demo.script import Demo, load_demo
from carrel.wire.generation.agents import AgentCreate
from carrel.wire.generation.conversations import ConversationWrite
from carrel.wire.libraries import LibraryCreate
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
    return names + [one.name async for one in client.trash.every()]


async def test_all_that_is_needed_is_made_and_removed_with_its_chats(
    client: Client, demo: Demo, tmp_path: Path
) -> None:
    journal, sessions = Journal(tmp_path / "demo.json"), SavedSessions(tmp_path / "state", "local")
    assert [words async for words in make(client, demo, tmp_path, journal)]
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
    sessions.save(ChatSession(talk, agents["clerk"].id, "clerk", 1.0))
    sessions.save(ChatSession("mine", "another", "another", 1.0))
    await remove(client, journal, sessions)
    assert await left(client) == []
    assert [one.id for one in sessions.all()] == ["mine"]
    assert journal.record is None


async def test_a_name_that_is_taken_is_refused_before_anything_is_made(
    client: Client, demo: Demo, tmp_path: Path
) -> None:
    agent = await client.agents.create(AgentCreate(name="judge", model="spoken"))
    journal = Journal(tmp_path / "demo.json")
    with pytest.raises(ProblemError) as refused:
        [words async for words in make(client, demo, tmp_path, journal)]
    assert "“judge”" in str(refused.value.problem)
    assert journal.record is None
    assert await left(client) == ["judge"]
    await client.agents.delete(agent.id)
    await client.trash.empty()


async def test_what_was_made_but_not_noted_is_removed_too(client: Client, tmp_path: Path) -> None:
    demo = Demo.model_validate({"title": "x", "steps": [{"say": "x"}], "needs": {
        "libraries": [{"name": "leases"}], "agents": [{"name": "clerk"}],
    }})  # fmt: skip
    journal, sessions = Journal(tmp_path / "demo.json"), SavedSessions(tmp_path / "state", "local")
    mine = await client.libraries.create(LibraryCreate(name="mine"))
    async for _ in make(client, demo, tmp_path, journal):
        pass
    record = journal.record
    assert record is not None
    # As a kill between the answer of the service and the write leaves it.
    journal.write(record.model_copy(update={"agents": [], "libraries": []}))
    await remove(client, journal, sessions)
    assert await left(client) == ["mine"]
    await client.libraries.delete(mine.id)
    await client.trash.empty()


def test_two_demos_do_not_share_a_journal(tmp_path: Path) -> None:
    with (
        Journal(tmp_path / "demo.json").held(),
        pytest.raises(ProblemError),
        Journal(tmp_path / "demo.json").held(),
    ):
        pass
    with Journal(tmp_path / "demo.json").held() as journal:
        assert journal.record is None
