"""The API client with blocking calls, which work in a running loop too."""

import functools
import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any, TypeVar

from carrel.notebook.cells.errors import BenchError
from carrel.notebook.cells.wait import check_open, run
from carrel.store.core.problem import ProblemError
from carrel.store.store import Store

T = TypeVar("T")

_AREAS = ("files", "agents", "ocr", "completions", "libraries", "documents", "models")


class SyncClient:
    """The client's areas with blocking calls: `client.files.list()`. A stream is a `with` block
    over a plain iterator."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @functools.cached_property
    def aio(self) -> Any:
        """The asynchronous client for the notebook's own loop: `await` its calls."""
        return _wait(self._store, self._store.session.another_client())

    def __getattr__(self, name: str) -> Any:
        if name not in _AREAS:
            raise AttributeError(f"The client has {', '.join(_AREAS)} and aio, not {name!r}.")
        check_open(self._store)
        return _Area(self._store, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *_AREAS]

    def __repr__(self) -> str:
        return f"<SyncClient of profile {self._store.profile.name}: {', '.join(_AREAS)}, aio>"


class _Area:
    """One area of the client, with blocking methods."""

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self._name = name

    def __repr__(self) -> str:
        return f"<client.{self._name}>"

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):  # a host that asks for display methods must not start a connection
            raise AttributeError(name)
        method = getattr(self._area(), name, None)
        if method is None:
            calls = ", ".join(dir(self))
            raise AttributeError(f"client.{self._name} has {calls}, not {name!r}.")

        @functools.wraps(method)
        def call(*args: Any, **kwargs: Any) -> Any:
            _wait(self._store, self._store.session.wait_until_back())
            made = method(*args, **kwargs)
            if inspect.iscoroutine(made):
                return _wait(self._store, made)
            if isinstance(made, AbstractAsyncContextManager):
                return _open_stream(self._store, made)
            if isinstance(made, AsyncIterator):
                return _iterate(self._store, made)
            return made

        # The bound method's signature: `wraps` copies the function's, with `self`.
        call.__signature__ = inspect.signature(method)  # type: ignore[attr-defined]
        return call

    def __dir__(self) -> list[str]:
        return [name for name in dir(self._area()) if not name.startswith("_")]

    def _area(self) -> Any:
        return getattr(_wait(self._store, self._store.session.client()), self._name)


@contextmanager
def _open_stream(store: Store, stream: AbstractAsyncContextManager[Any]) -> Iterator[Iterator[Any]]:
    items = _wait(store, stream.__aenter__())
    try:
        yield _iterate(store, items)
    finally:
        _wait(store, stream.__aexit__(None, None, None))


def _iterate(store: Store, items: Any) -> Iterator[Any]:
    async def next_item() -> tuple[Any, bool]:
        try:
            return await anext(items), True
        except StopAsyncIteration:
            return None, False

    while (found := _wait(store, next_item()))[1]:
        yield found[0]


def _wait(store: Store, coroutine: Coroutine[Any, Any, T]) -> T:
    """Run on the store's loop; return the result or raise the error."""
    failed: list[BaseException] = []

    async def outcome() -> T | None:
        try:
            return await coroutine
        except Exception as error:
            failed.append(error)
            return None

    result = run(store, outcome())
    if failed and isinstance(failed[0], ProblemError):
        raise BenchError(failed[0].problem) from None
    if failed:
        raise failed[0].with_traceback(None)
    return result  # type: ignore[return-value]
