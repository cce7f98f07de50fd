"""The state shared by all calls of a bench."""

from collections.abc import Coroutine
from typing import Any, TypeVar
from weakref import WeakSet

from carrel.notebook.bench.names import Names
from carrel.notebook.cells.wait import wait_for
from carrel.notebook.panels.core.base import Panel
from carrel.store.store import Store

T = TypeVar("T")
P = TypeVar("P", bound=Panel)


class BenchBase:
    """A store, and the panels over it that close with the bench."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._names = Names(store)
        self._panels: WeakSet[Panel] = WeakSet()

    def _keep(self, panel: P) -> P:
        self._panels.add(panel)
        return panel

    def _run(self, coroutine: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        return wait_for(self._store, self._store.loop.run(coroutine), timeout)
