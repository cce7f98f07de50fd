"""The bench's calls for `await`, which leave the cell's loop free."""

import asyncio
import functools
import inspect
import threading
from collections.abc import Callable, Coroutine
from typing import Any

from carrel.notebook.cells.errors import no_option_words
from carrel.notebook.cells.wait import stop_on

CALLS = (
    "add",
    "ask",
    "create_agent",
    "create_library",
    "delete",
    "edit_agent",
    "evaluate",
    "ocr",
    "restore",
    "sample",
    "search",
    "sync",
    "trash",
    "upload",
    "votes",
    "wait_ready",
)


class AsyncBench:
    """The bench's calls as coroutines, with the same arguments: `await bench.aio.ask(…)`.

    Cancelling a task stops the work behind the call.
    """

    def __init__(self, bench: object) -> None:
        self._bench = bench

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        if name not in CALLS:
            raise AttributeError(no_option_words("bench.aio", name, CALLS))
        method = getattr(self._bench, name)

        @functools.wraps(method)
        async def call(*args: Any, **kwargs: Any) -> Any:
            return await _in_thread(functools.partial(method, *args, **kwargs))

        call.__signature__ = inspect.signature(method)  # type: ignore[attr-defined]
        return call

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *CALLS]

    def __repr__(self) -> str:
        return f"<bench.aio: {', '.join(CALLS)}>"


async def _in_thread(call: Callable[[], Any]) -> Any:
    stop = threading.Event()

    def run() -> Any:
        with stop_on(stop):
            return call()

    # Shielded: a thread cannot be cancelled, only asked to stop.
    running = asyncio.ensure_future(asyncio.to_thread(run))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.gather(running, return_exceptions=True)
        raise
