"""Chats that the service keeps: two faces with folders of their own, and one server."""

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from carrel.client import Client
from carrel.client.conversations import Conversations
from carrel.client.http.errors import NotFound, ServiceError
from carrel.config.profiles import Profile, folders
from carrel.store.chat.conversation import Attachment
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.store import Store
from support.process import RunningServer
from support.slices import until
from support.spoken import SpokenModel


@pytest.fixture
def server(talking: tuple[RunningServer, SpokenModel]) -> RunningServer:
    return talking[0]


@pytest.fixture
async def client(server: RunningServer) -> AsyncIterator[Client]:
    async with Client(server.url, server.api_key) as client:
        yield client


@asynccontextmanager
async def face(server: RunningServer, name: str) -> AsyncIterator[Store]:
    """A face that knows the service's chats; each name has a folder of its own."""
    store = Store(Profile(name, server.url, server.api_key), OwnerLoop.running())
    await store.start()
    try:
        await store.chat.load_remote()
        yield store
    finally:
        await store.close()


async def begun(store: Store, client: Client, *questions: str) -> str:
    """A new chat with its answers, kept at the service."""
    agent = await client.agents.create(model="spoken", name="clerk")
    await store.chat.new(agent.id)
    for question in questions:
        await store.chat.send(question)
    session = store.chat.slice.value.session_id or ""
    await said(client, session, texts(store))
    return session


def texts(store: Store) -> list[str]:
    return [turn.text for turn in store.chat.slice.value.turns]


async def said(client: Client, session: str, words: list[str]) -> None:
    """Waits until the service has a chat just so."""
    async with asyncio.timeout(60):
        while True:
            with contextlib.suppress(NotFound):
                entries = (await client.conversations.history(session)).entries
                if [str(one.content) for one in entries if hasattr(one, "content")] == words:
                    return
            await asyncio.sleep(0.02)


async def test_a_chat_goes_on_in_another_face(server: RunningServer, client: Client) -> None:
    async with face(server, "terminal") as terminal, face(server, "notebook") as notebook:
        session = await begun(terminal, client, "One")
        await notebook.chat.load_remote()
        summary = notebook.chat.slice.value.sessions[0]
        assert (summary.id, summary.title, summary.agent_name) == (session, "One", "clerk")
        await notebook.chat.resume(session)
        assert texts(notebook) == ["One", "One"]
        answer = notebook.chat.slice.value.turns[1]
        assert (answer.status, answer.version, answer.completion_tokens) == ("done", 0, 3)
        await notebook.chat.send("Two")
        await said(client, session, ["One", "One", "Two", "Two"])
        await terminal.chat.resume(session)
        assert texts(terminal) == ["One", "One", "Two", "Two"]


async def test_a_deleted_chat_comes_back_in_both_faces(
    server: RunningServer, client: Client
) -> None:
    async with face(server, "here") as here, face(server, "there") as there:
        session = await begun(there, client, "One")
        await here.chat.load_remote()
        await here.chat.delete_session(session)  # one that this face never opened
        with pytest.raises(NotFound):
            await client.conversations.get(session)
        await here.trash.undo("chats")
        await said(client, session, ["One", "One"])
        await until(here.chat.slice, lambda state: session in [one.id for one in state.sessions])
        await here.chat.resume(session)
        assert texts(here) == ["One", "One"]
        await here.chat.send("Two")
        await said(client, session, ["One", "One", "Two", "Two"])


async def test_two_faces_that_go_on_at_once_lose_nothing(
    server: RunningServer, client: Client
) -> None:
    async with face(server, "left") as left, face(server, "right") as right:
        session = await begun(left, client, "One")
        await right.chat.load_remote()
        await right.chat.resume(session)
        await left.chat.send("Left")
        await said(client, session, ["One", "One", "Left", "Left"])
        await right.chat.send("Right")
        # The second shows its own, and the first one's beside it.
        await said(client, session, ["One", "One", "Right", "Right"])
        await until(right.chat.slice, lambda state: state.conversation.variant(2) == (1, 2))
        assert texts(right) == ["One", "One", "Right", "Right"]
        # The first keeps its own until its next answer; the second's are beside them then.
        assert texts(left) == ["One", "One", "Left", "Left"]
        await left.chat.send("More")
        await until(left.chat.slice, lambda state: state.conversation.variant(2)[1] == 2)
        assert texts(left) == ["One", "One", "Left", "Left", "More", "More"]
        await right.chat.choose_variant(2, 2)
        assert texts(right) == ["One", "One", "Left", "Left"]


async def test_a_chat_that_another_face_went_on_with_opens_at_the_newer_turns(
    server: RunningServer, client: Client
) -> None:
    async with face(server, "left") as left, face(server, "right") as right:
        session = await begun(left, client, "One")
        await right.chat.load_remote()
        await right.chat.resume(session)
        await left.chat.send("Left")
        await said(client, session, ["One", "One", "Left", "Left"])
        await right.chat.send("Right")
        await said(client, session, ["One", "One", "Right", "Right"])
        await left.chat.resume(session)
        assert texts(left) == ["One", "One", "Right", "Right"]
        assert left.chat.slice.value.conversation.variant(2)[1] == 2


async def test_variants_and_attachments_come_along(
    server: RunningServer, client: Client, tmp_path: Path
) -> None:
    path = tmp_path / "note.txt"
    path.write_text("A note.")
    async with face(server, "here") as here, face(server, "there") as there:
        session = await begun(here, client, "One")
        await here.chat.edit(0)
        await here.chat.send("Changed")
        await said(client, session, ["Changed", "Changed"])
        await there.chat.load_remote()
        await there.chat.resume(session)
        assert texts(there) == ["Changed", "Changed"]
        file = await client.files.upload(path)
        await there.chat.attach_known(Attachment("file", file.id, "note.txt"))
        await there.chat.send("And this?").settled()
        await said(client, session, ["Changed", "Changed", "And this?", texts(there)[-1]])
        await here.chat.resume(session)
        assert here.chat.slice.value.turns[2].attachments == (
            Attachment("file", file.id, "note.txt"),
        )
        assert here.chat.slice.value.conversation.variant(0) == (2, 2)


async def test_a_chat_deleted_elsewhere_stays_here_and_is_kept_again(
    server: RunningServer, client: Client
) -> None:
    async with face(server, "first") as first, face(server, "second") as second:
        session = await begun(first, client, "One")
        await second.chat.load_remote()
        await second.chat.delete_session(session)
        assert session not in [one.id for one in second.chat.slice.value.sessions]
        with pytest.raises(NotFound):
            await client.conversations.get(session)
        await first.chat.resume(session)
        assert texts(first) == ["One", "One"]
        await first.chat.send("Two")
        await said(client, session, ["One", "One", "Two", "Two"])


async def test_a_conversation_of_another_program_is_a_chat_too(
    server: RunningServer, client: Client
) -> None:
    agent = await client.agents.create(model="spoken", name="clerk")
    started = await client.conversations.start(agent_id=agent.id, inputs="Hello", name="From afar")
    id = started.conversation_id
    async with face(server, "other") as store:
        assert store.chat.slice.value.sessions[0].title == "From afar"
        await store.chat.resume(id)
        assert store.chat.slice.value.agent_name == "clerk"
        await store.chat.send("Again")
        await said(client, id, ["Hello", "Hello", "Again", "Again"])
    again = await client.conversations.append(id, inputs="Third")
    assert again.conversation_id == id
    async with face(server, "other") as store:
        await store.chat.resume(id)
        assert texts(store)[-2:] == ["Third", "Third"]
    # The folder of this machine may go; the chat is kept.
    shutil.rmtree(folders().state / "chats")
    async with face(server, "other") as store:
        await store.chat.resume(id)
        assert len(texts(store)) == 6


async def test_a_read_only_profile_writes_and_deletes_nothing(
    server: RunningServer, client: Client
) -> None:
    agent = await client.agents.create(model="spoken", name="clerk")
    started = await client.conversations.start(agent_id=agent.id, inputs="Hello")
    profile = Profile("reader", server.url, server.api_key, read_only=True)
    store = Store(profile, OwnerLoop.running())
    await store.start()
    await store.chat.load_remote()
    handle = store.chat.delete_session(started.conversation_id)
    await handle.settled()
    assert handle.error is not None and handle.error.title == "Read-only profile"
    await store.chat.resume(started.conversation_id)
    await store.chat.send("Mine")
    assert texts(store) == ["Hello", "Hello", "Mine", "Mine"]
    await store.close()
    assert len((await client.conversations.history(started.conversation_id)).entries) == 2


async def test_a_chat_that_was_not_written_is_written_when_the_service_is_back(
    server: RunningServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with face(server, "first") as store:
        session = await begun(store, client, "One")
        with monkeypatch.context() as busy:

            async def refuse(*_: object) -> None:
                raise ServiceError("Busy.", 503)

            busy.setattr(Conversations, "write", refuse)
            await store.chat.send("Two")
            await store.chat.load_remote()
            assert len((await client.conversations.history(session)).entries) == 2
        await store.chat.load_remote()
        await said(client, session, ["One", "One", "Two", "Two"])
