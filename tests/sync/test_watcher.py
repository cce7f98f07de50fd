"""Hearing of changes, and following them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
import watchfiles

from carrel.client import Unreachable
from carrel.sync import remote, watcher
from carrel.sync.progress import Summary
from carrel.sync.runner import Runner
from carrel.sync.watcher import changes, follow, watch
from support.folders import Desk
from support.service import Request


async def next_of(heard: AsyncIterator[object], wait: float = 20) -> object:
    return await asyncio.wait_for(anext(heard), wait)


async def test_a_change_is_heard_and_many_are_one(desk: Desk) -> None:
    heard = changes(desk.folder)
    await next_of(heard)
    waiting = asyncio.create_task(next_of(heard))
    await asyncio.sleep(0.3)  # the system begins to listen
    for number in range(50):
        desk.write(f"d/{number}.txt", "x")
    await waiting
    await heard.aclose()


async def test_hidden_and_temporary_files_are_not_heard(desk: Desk) -> None:
    heard = changes(desk.folder)
    await next_of(heard)
    waiting = asyncio.create_task(next_of(heard))
    await asyncio.sleep(0.3)
    desk.write(".git/index", "x")
    desk.write("film.part", "x")
    await asyncio.sleep(1)
    assert not waiting.done()
    desk.write("d/.carrelignore", "*.log")
    await waiting
    await heard.aclose()


async def test_where_nothing_can_be_heard_it_looks_from_time_to_time(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(watchfiles, "awatch", refuse)
    monkeypatch.setattr(watcher, "awatch", refuse)
    monkeypatch.setattr(watcher, "EVERY", 0.05)
    heard = changes(desk.folder)
    for _ in range(3):
        await next_of(heard)
    await heard.aclose()


async def test_following_goes_on_after_the_service_was_lost(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "PAUSES", ())
    monkeypatch.setattr(watcher, "EVERY", 0.1)
    desk.write("a.txt", "one")
    async with desk.client() as client:
        results = follow(desk.runner(client))
        first = await next_of(results)
        assert isinstance(first, Summary)
        assert first.uploaded == 1

        def lose(request: Request) -> bytes:
            return b""

        desk.library.meddle = lose
        desk.write("b.txt", "two")
        while not isinstance(await next_of(results), Unreachable):
            pass
        desk.library.meddle = lambda request: None
        while set(desk.library.held) != {"a.txt", "b.txt"}:
            await next_of(results)
        await results.aclose()
    assert len(desk.library.uploads) == 2


async def test_a_lasting_result_is_news_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "PAUSES", ())
    monkeypatch.setattr(watcher, "EVERY", 0.05)
    desk.write("a.txt", "one")

    @contextlib.asynccontextmanager
    async def connect() -> AsyncIterator[Runner]:
        async with desk.client() as client:
            yield desk.runner(client)

    async with contextlib.aclosing(watch(connect, 0.05)) as results:
        heard = [await asyncio.wait_for(anext(results), 20) for _ in range(3)]
        assert [is_news for _, is_news in heard] == [True, False, False]

        def lose(request: Request) -> bytes:
            return b""

        desk.library.meddle = lose
        lost = [await asyncio.wait_for(anext(results), 20) for _ in range(3)]
        lost = [pair for pair in lost if isinstance(pair[0], Unreachable)]
        assert len(lost) >= 2
        assert [is_news for _, is_news in lost] == [True] + [False] * (len(lost) - 1)
        desk.library.meddle = lambda request: None
        back = [await asyncio.wait_for(anext(results), 20) for _ in range(3)]
        assert [is_news for result, is_news in back if isinstance(result, Summary)] == [
            True,
            *[False] * (sum(isinstance(result, Summary) for result, _ in back) - 1),
        ]
