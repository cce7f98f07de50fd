"""Watching of a folder."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from watchfiles import Change, awatch

from carrel.client.http.errors import ClientError, Unreachable
from carrel.sync.errors import SyncError
from carrel.sync.progress import Summary
from carrel.sync.rules import RULE_FILES, exclusion_reason
from carrel.sync.runner import Runner

EVERY = 30.0
"""Seconds between syncs without events. Covers unreported changes: on network disks, during sleep,
or while the service was unreachable."""

_QUIET_MS = 400
"""Changes are gathered until the folder is quiet for this time, but at most five times as long."""


async def watch(
    connect: Callable[[], AbstractAsyncContextManager[Runner]],
    pause: float,
    lost: tuple[type[Exception], ...] = (Unreachable,),
) -> AsyncGenerator[tuple[Summary | Exception, bool]]:
    """Follow a folder over one connection after another; yield each result and whether it is news.

    A lost service may return at another address: after `pause` seconds a new runner is connected,
    also if connecting failed with one of `lost`.
    """
    known = _findings(Summary())
    async with contextlib.aclosing(_results(connect, pause, lost)) as results:
        async for result in results:
            found = _findings(result)
            changed = isinstance(result, Summary) and result.changed
            yield result, changed or not found <= known
            known = found


def _findings(result: Summary | Exception) -> set[object]:
    """Return the parts of a result that are not reported again while they last."""
    if isinstance(result, Summary):
        return {Summary, result.held, *result.failures}
    return {str(result)}


async def _results(
    connect: Callable[[], AbstractAsyncContextManager[Runner]],
    pause: float,
    lost: tuple[type[Exception], ...],
) -> AsyncGenerator[Summary | Exception]:
    while True:
        try:
            async with connect() as runner, contextlib.aclosing(follow(runner)) as results:
                async for result in results:
                    yield result
                    if isinstance(result, Unreachable):
                        break
        except lost as error:
            yield error
        await asyncio.sleep(pause)


async def follow(runner: Runner) -> AsyncGenerator[Summary | ClientError | SyncError]:
    """Sync now, after every change and every EVERY seconds; yield each result.

    Continues after an error. Deletions above the limit are held, because nobody can confirm
    them.
    """
    async with contextlib.aclosing(changes(runner.folder.path)) as due:
        async for _ in due:
            try:
                result: Summary | ClientError | SyncError = await runner.run(hold=True)
            except (ClientError, SyncError) as error:
                result = error
            yield result


async def changes(folder: Path) -> AsyncGenerator[None]:
    """Yield now, after every change in the folder, and every EVERY seconds.

    Without file system events, only the timer remains.
    """
    heard = asyncio.Event()
    listener = asyncio.create_task(_listen(folder, heard))
    try:
        while True:
            yield
            with contextlib.suppress(TimeoutError):
                # Not wait_for: Python 3.11's may swallow a cancellation.
                async with asyncio.timeout(EVERY):
                    await heard.wait()
            heard.clear()
            if listener.done():
                listener = asyncio.create_task(_listen(folder, heard))
    finally:
        listener.cancel()
        await asyncio.gather(listener, return_exceptions=True)


async def _listen(folder: Path, heard: asyncio.Event) -> None:
    def counts(change: Change, path: str) -> bool:
        parts = Path(path).relative_to(folder).parts
        return parts[-1:] in {(name,) for name in RULE_FILES} or not any(
            map(exclusion_reason, parts)
        )

    # The folder may be missing, or the inotify limit reached.
    with contextlib.suppress(OSError, RuntimeError):
        async for _ in awatch(folder, watch_filter=counts, step=_QUIET_MS, debounce=5 * _QUIET_MS):
            heard.set()
