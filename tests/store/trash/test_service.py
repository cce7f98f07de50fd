"""Deletions are undone over a real server."""

import os
import time
from pathlib import Path

import pytest

from carrel.config.profiles import Profile, folders
from carrel.store.chat.conversation import Conversation, Turn
from carrel.store.chat.sessions.saved import ChatSession
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.session.state import READ_ONLY
from carrel.store.store import Store
from carrel.store.trash.formatting import deleted_rows, way_back
from carrel.store.trash.service import NOTHING
from carrel.wire.generation.agents import AgentCreate
from support.process import RunningServer, serve
from support.slices import until


async def ready(store: Store) -> Store:
    await store.session.ready()
    return store


def news(store: Store) -> tuple[str, bool]:
    newest = store.notifications.slice.value.items[-1]
    return newest.text, newest.undo


async def test_files_come_back_together(store: Store, tmp_path: Path) -> None:
    await ready(store)
    ids = []
    for number in range(3):
        path = tmp_path / f"{number}.txt"
        path.write_text("x")
        file = await store.files.upload(path)
        assert file is not None
        ids.append(file.id)
    await store.files.delete(ids)
    assert news(store) == ("Deleted 3 files.", True)
    gone = store.trash.slice.value.last("files")
    assert gone is not None
    assert gone.what == "3 files"
    await store.trash.undo()
    assert news(store) == ("Restored 3 files.", False)
    state = await until(store.files.slice, lambda state: len(state.items) == 3)
    assert {file.id for file in state.items} == set(ids)
    again = store.trash.undo()
    await again.settled()
    assert again.error == NOTHING


async def test_the_last_deletion_comes_back_first_or_the_last_of_an_area(store: Store) -> None:
    await ready(store)
    library = await store.libraries.create("mine")
    agent = await store.agents.create(AgentCreate(name="clerk", model="m"))
    assert library is not None
    assert agent is not None
    await store.libraries.delete([library.id])
    await store.agents.delete(agent.id)
    assert news(store) == ("Deleted one agent.", True)
    await store.trash.undo("libraries")
    assert news(store)[0] == "Restored one library."
    await until(store.libraries.slice, lambda state: state.library(library.id) is not None)
    await store.trash.undo()
    await until(store.agents.slice, lambda state: agent.id in [each.id for each in state.items])


async def test_a_document_whose_library_is_gone_says_so(store: Store, tmp_path: Path) -> None:
    await ready(store)
    library = await store.libraries.create("mine")
    assert library is not None
    (tmp_path / "a.txt").write_text("x")
    document = await store.libraries.upload(library.id, tmp_path / "a.txt")
    assert document is not None
    await store.libraries.delete_documents(library.id, [document.id])
    await store.libraries.delete([library.id])
    await store.trash.undo("libraries")
    await store.libraries.delete([library.id])
    client = await store.session.client()
    await client.trash.delete(library.id)
    handle = store.trash.undo("libraries")
    await handle.settled()
    assert handle.error is not None
    assert handle.error.title == "Not restored"


async def test_a_service_without_a_trash_says_so(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "settings.toml").write_text("[limits]\ntrash_days = 0\n")
    with serve(data) as server:
        store = Store(Profile("test", server.url, server.api_key), OwnerLoop.running())
        await store.start()
        await ready(store)
        assert "cannot be undone" in way_back(store.session.slice.value)
        library = await store.libraries.create("mine")
        assert library is not None
        await store.libraries.delete([library.id])
        assert news(store) == ("Deleted one library.", False)
        assert store.trash.slice.value.deletions == ()
        await store.close()


async def test_a_trial_leaves_nothing_in_the_trash(store: Store) -> None:
    from carrel.store.agents.trials import remove_trial

    client = await (await ready(store)).session.client()
    assert way_back(store.session.slice.value) == "You can undo this for 7 days."
    await client.trash.empty()
    agent = await client.agents.create(AgentCreate(name="trial", model="m"))
    await remove_trial(client, agent.id)
    assert (await client.trash.list()).data == []


async def test_a_read_only_profile_restores_nothing(server: RunningServer, store: Store) -> None:
    await ready(store)
    library = await store.libraries.create("mine")
    assert library is not None
    await store.libraries.delete([library.id])
    store.session.slice.set(read_only=True)
    handle = store.trash.undo()
    await handle.settled()
    assert handle.error == READ_ONLY
    assert store.trash.slice.value.deletions


async def test_what_a_lost_service_did_not_restore_can_be_undone_again(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serve(data) as server:
        store = Store(Profile("test", server.url, server.api_key), OwnerLoop.running())
        await store.start()
        await ready(store)
        library = await store.libraries.create("mine")
        assert library is not None
        await store.libraries.delete([library.id])
        deletion = store.trash.slice.value.last()
        server.process.kill()
        server.process.wait()
        handle = store.trash.undo()
        await handle.settled()
        assert handle.error is not None
        assert handle.error.lost
        assert store.trash.slice.value.last() == deletion
        await store.close()


async def test_a_chat_comes_back_from_this_machine(store: Store) -> None:
    from carrel.store.chat.sessions.saved import ChatSession

    store.chats.save(ChatSession("one", "agent", "clerk", time.time()))
    await store.chat.load_sessions()
    await store.chat.delete_session("one")
    assert store.chat.slice.value.sessions == ()
    assert news(store) == ("Deleted one chat.", True)
    await store.trash.undo("chats")
    state = await until(store.chat.slice, lambda state: bool(state.sessions))
    assert [each.id for each in state.sessions] == ["one"]


async def test_an_old_deleted_chat_is_removed(store: Store) -> None:
    from carrel.store.chat.sessions.saved import ChatSession

    await store.chat.load_sessions()  # the one of the start
    for id in ("old", "new"):
        store.chats.save(ChatSession(id, "agent", "clerk", time.time()))
        store.chats.delete(id)
    [old] = folders().state.rglob("old.json")
    os.utime(old, (1, 1))
    await store.chat.load_sessions()
    assert [path.name for path in folders().state.rglob("*.json")] == ["new.json"]
    with pytest.raises(FileNotFoundError):
        store.chats.restore("old")
    store.chats.restore("new")
    assert [each.id for each in store.chats.all()] == ["new"]


async def test_the_whole_trash_is_listed_and_marked_items_are_restored(
    server: RunningServer, tmp_path: Path
) -> None:
    profile = Profile("earlier", server.url, server.api_key)
    first = await ready(await _started(profile))
    ids = []
    for name in ("a.txt", "b.txt", "c.txt"):
        (tmp_path / name).write_text("x")
        file = await first.files.upload(tmp_path / name)
        assert file is not None
        ids.append(file.id)
    library = await first.libraries.create("minutes of the earlier run")
    assert library is not None
    await first.files.delete(ids)
    await first.libraries.delete([library.id])
    await first.close()

    # Another run knows of them.
    later = await ready(await _started(profile))
    await later.files.load()
    await later.libraries.load()
    await later.trash.load()
    items = {item.id: item for item in later.trash.slice.value.items}
    assert items.keys() >= {*ids, library.id}
    assert (items[ids[0]].kind, items[ids[0]].name) == ("file", "a.txt")
    rows = {row.id: row for row in deleted_rows(later.trash.slice.value, time.time())}
    row = rows[library.id]
    assert (row.kind, row.name) == ("Library", "minutes of the earlier run")
    assert (row.deleted, row.left) == ("now", "7 d more")
    for id in (ids[0], library.id, ids[1], ids[1]):
        later.trash.mark(id)
    assert later.trash.slice.value.marked == {ids[0], library.id}
    assert await later.trash.restore(later.trash.slice.value.marked) == 2
    assert news(later) == ("Restored 2 items.", False)
    await until(later.files.slice, lambda state: state.find(ids[0]) is not None)
    await until(later.libraries.slice, lambda state: state.library(library.id) is not None)
    state = await until(later.trash.slice, lambda state: ids[0] not in {i.id for i in state.items})
    assert ids[1] in {item.id for item in state.items} and not state.marked

    # One that went meanwhile stops no other.
    client = await later.session.client()
    await client.trash.delete(ids[1])
    restoring = later.trash.restore([ids[1], ids[2]])
    await restoring.settled()
    assert restoring.error is not None and restoring.error.title == "1 not restored"
    await until(later.files.slice, lambda state: state.find(ids[2]) is not None)
    await later.close()


async def test_a_deleted_chat_is_in_the_list(server: RunningServer) -> None:
    store = await ready(await _started(Profile("chats", server.url, server.api_key)))
    store.chats.save(
        ChatSession("c-1", "agent", "support", 1.0, Conversation.of(Turn("user", "Hi?")))
    )
    await store.chat.delete_session("c-1")
    await store.trash.load()
    (item,) = (item for item in store.trash.slice.value.items if item.id == "c-1")
    assert (item.kind, item.name) == ("conversation", "Hi?")
    assert await store.trash.restore(["c-1"]) == 1
    await until(store.chat.slice, lambda state: any(one.id == "c-1" for one in state.sessions))
    await store.close()


async def _started(profile: Profile) -> Store:
    store = Store(profile, OwnerLoop.running())
    await store.start()
    return store
