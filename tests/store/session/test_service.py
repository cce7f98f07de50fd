import asyncio
import json
import os
import signal
import socket
import time
from pathlib import Path

import pytest

from carrel import samples
from carrel.config.profiles import Profile, folders
from carrel.store.cache.copies import DocumentSource
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.problem import Problem
from carrel.store.session.formatting import status
from carrel.store.session.state import SessionState
from carrel.store.store import Store
from support.command import carrel
from support.process import RunningServer, serve
from support.scripted import scripted_service
from support.slices import until


def connected(state: SessionState) -> bool:
    return state.connection == "ready"


async def test_it_becomes_ready_and_knows_the_models(store: Store, server: RunningServer) -> None:
    assert store.session.slice.value.connection == "starting"
    handle = store.session.ready()
    await handle
    state = store.session.slice.value
    assert (handle.outcome, state.connection, state.url) == ("done", "ready", server.url)
    # Only what can chat; the embedding model cannot.
    assert state.models == ("smollm2",)
    assert (state.hosted, state.model) == (False, "smollm2 (test model)")


async def test_the_key_is_in_no_repr(store: Store, server: RunningServer) -> None:
    await store.session.ready()
    assert server.api_key not in repr(store.session.slice.value)


async def test_a_wrong_key_fails_in_words_and_lets_nobody_wait(server: RunningServer) -> None:
    store = Store(Profile("test", server.url, "wrong"), OwnerLoop.running())
    await store.start()
    try:
        state = await until(store.session.slice, lambda state: state.connection == "failed")
        assert state.error is not None
        assert state.error.title == "The key was refused"
        await store.files.load().settled()
        assert store.files.slice.value.error == state.error
        assert store.files.slice.value.loading is False
    finally:
        await store.close()


@pytest.mark.parametrize("models", [None, {"data": "nonsense"}])
async def test_a_service_is_ready_whatever_it_says_of_its_models(
    models: dict[str, str] | None,
) -> None:
    async with scripted_service() as service:
        service.models = models
        store = Store(Profile("test", service.url, "key"), OwnerLoop.running())
        await store.start()
        try:
            await until(store.session.slice, connected)
            assert store.session.slice.value.models == ()
        finally:
            await store.close()


async def test_a_key_that_cannot_be_one_fails_in_words(server: RunningServer) -> None:
    store = Store(Profile("test", server.url, "two words"), OwnerLoop.running())
    await store.start()
    try:
        state = await until(store.session.slice, lambda state: state.connection == "failed")
        assert state.error is not None and "two words" not in str(state.error)
        assert "key" in state.error.detail
    finally:
        await store.close()


async def test_a_service_that_answers_late_is_slow_and_still_used(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.store.session.service.SLOW", 0)
    store = Store(Profile("test", server.url, server.api_key), OwnerLoop.running())
    await store.start()
    try:
        state = await until(store.session.slice, lambda state: state.connection == "slow")
        assert state.detail == "the server answers slowly"
        await store.files.load()
        assert store.files.slice.value.loaded
    finally:
        await store.close()


async def test_a_service_that_never_answers_is_slow_and_then_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("carrel.store.session.service.CHECK_TIMEOUT", 0.1)
    monkeypatch.setattr("carrel.store.session.service.LOST_CHECK", 0.1)
    silent = await asyncio.start_server(_say_nothing, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{silent.sockets[0].getsockname()[1]}"
    store = Store(Profile("test", address, "key"), OwnerLoop.running())
    await store.start()
    try:
        await until(store.session.slice, lambda state: state.connection == "slow")
        await until(store.session.slice, lambda state: state.connection == "lost")
    finally:
        await store.close()
        silent.close()


async def test_a_host_that_is_gone_is_lost_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        # Nobody accepts: the system drops every connection after the first.
        first = socket.create_connection(listener.getsockname())
        store = Store(
            Profile("test", f"http://127.0.0.1:{listener.getsockname()[1]}", "key"),
            OwnerLoop.running(),
        )
        await store.start()
        try:
            state = await until(
                store.session.slice, lambda state: state.connection in ("slow", "lost")
            )
            assert state.connection == "lost"
        finally:
            await store.close()
            first.close()


async def _say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()
    writer.close()


async def test_an_address_where_nobody_answers_is_lost_and_tried_again() -> None:
    store = Store(Profile("test", "http://127.0.0.1:9", "key"), OwnerLoop.running())
    await store.start()
    try:
        state = await until(store.session.slice, lambda state: state.connection == "lost")
        assert state.detail == "the server does not answer, retrying"
        handle = store.files.load()
        await handle.settled()
        assert handle.error is not None
        assert handle.error.title == "The connection failed"
    finally:
        await store.close()


async def test_a_lost_server_is_found_again_and_what_it_left_undone_goes_on(
    tmp_path: Path,
) -> None:
    with serve(tmp_path / "data") as first:
        port = int(first.url.rpartition(":")[2])
        store = Store(Profile("test", first.url, first.api_key), OwnerLoop.running())
        await store.start()
        (tmp_path / "a.txt").write_text("hello")
        (tmp_path / "guide.pdf").write_bytes(samples.content())
        text, guide = [await store.files.upload(tmp_path / n) for n in ("a.txt", "guide.pdf")]
        assert text is not None and guide is not None
        await store.files.load()
        await until(store.session.slice, connected)
    try:
        await store.agents.load().settled()
        await store.files.load()
        answered = time.time()
        state = await until(store.session.slice, lambda state: state.connection == "lost")
        assert 0 < state.since < answered
        await store.previews.show(text).settled()
        await store.documents.open(DocumentSource("file", guide.id, guide.filename)).settled()
        refused = Problem("Not accepted", "")
        store.chat.slice.set(error=refused)
        assert store.files.slice.value.as_of is not None
        for slice in (store.agents.slice, store.previews.slice, store.documents.slice):
            error = slice.value.error
            assert error is not None and error.lost and error.title == "The connection failed"
        with serve(tmp_path / "data", port=port):
            store.session.retry()
            await until(store.session.slice, connected)
            await until(store.agents.slice, lambda state: state.error is None and state.loaded)
            await until(store.files.slice, lambda state: state.as_of is None)
            await until(store.previews.slice, lambda state: state.text == "hello")
            await until(store.documents.slice, lambda state: state.complete)
            assert store.previews.slice.value.error is store.documents.slice.value.error is None
            # A problem of another kind is not over.
            assert store.chat.slice.value.error == refused
            assert await store.files.upload(tmp_path / "a.txt") is not None
    finally:
        await store.close()


async def test_the_server_of_this_machine_is_started_and_started_again_when_killed(
    home: Path,
) -> None:
    store = Store(Profile("local"), OwnerLoop.running())
    await store.start()
    try:
        await until(store.session.slice, connected, 60)
        assert store.session.slice.value.hosted is False
        pid = _pid()
        os.kill(pid, signal.SIGKILL)
        await until(store.session.slice, lambda state: state.connection == "lost")
        assert store.session.slice.value.detail == "the server does not answer, retrying"
        await until(store.session.slice, connected, 60)
        assert _pid() != pid
        handle = store.files.load()
        await handle
        assert handle.outcome == "done"
    finally:
        await store.close()
        os.kill(_pid(), signal.SIGTERM)


def _pid() -> int:
    return int(json.loads((folders().server / "server.json").read_text())["pid"])


async def test_a_portal_serves_a_store_to_other_threads(server: RunningServer) -> None:
    loop = OwnerLoop.in_thread()
    store = Store(Profile("test", server.url, server.api_key), loop)
    try:
        await loop.run(store.start())
        handle = store.files.load()
        await asyncio.to_thread(handle.result, 30)
        assert handle.outcome == "done"
        assert store.files.slice.value.loaded
        await loop.run(store.close())
    finally:
        await asyncio.to_thread(loop.close)


async def test_a_key_that_is_revoked_later_is_refused(server: RunningServer) -> None:
    made = await carrel("keys", "add", "guest", "--data", server.data)
    store = Store(Profile("test", server.url, made.out.strip()), OwnerLoop.running())
    await store.start()
    try:
        await until(store.session.slice, connected)
        assert (await carrel("keys", "revoke", "guest", "--data", server.data)).code == 0
        await store.files.load().settled()
        state = await until(store.session.slice, lambda state: state.connection == "failed")
        assert status(state, time.time()) == (
            "✕ The key was refused. Give another: F3 and e in the app, api_key in a notebook."
        )
    finally:
        await store.close()
