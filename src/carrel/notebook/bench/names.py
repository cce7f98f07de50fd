"""Resolution of libraries and agents by name."""

import warnings
from collections.abc import Sequence
from typing import TypeVar

from carrel.notebook.cells.errors import BenchError, bench_errors
from carrel.notebook.cells.wait import wait_for
from carrel.store.agents.formatting import lack_words
from carrel.store.core.naming import find_id, missing_problem
from carrel.store.store import Store
from carrel.wire.generation.agents import Agent
from carrel.wire.libraries import Library

N = TypeVar("N", Library, Agent)


class Names:
    """Finds items of the service by name or id; each method waits for the service.

    All methods raise BenchError if the name is ambiguous.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def library(self, library: str | Library, *, create: bool = False) -> Library:
        """Return the library; `create` makes a new one if there is none of this name.

        Raises:
            BenchError: there is no such library.
        """
        if isinstance(library, Library):
            return library
        there = wait_for(self._store, self._store.libraries.list_all())
        found = _find("library", library, there)
        if found is None and create:
            return wait_for(self._store, self._store.libraries.create(library, if_absent=True))
        return found or _refuse_name("library", library, there)

    def agent(self, agent: str | Agent) -> Agent:
        """Return the agent.

        Raises:
            BenchError: there is no such agent.
        """
        if isinstance(agent, Agent):
            return agent
        there = wait_for(self._store, self._store.agents.list_all())
        return _find("agent", agent, there) or _refuse_name("agent", agent, there)

    def warn_of_twins(self, kind: str, made: Library | Agent) -> None:
        """Warn if a created item has the name of an existing one."""
        store = self._store
        there: list[Library | Agent]
        if isinstance(made, Library):
            there = [*wait_for(store, store.libraries.list_all())]
        else:
            there = [*wait_for(store, store.agents.list_all())]
        ids = [one.id for one in there if one.name == made.name and one.id != made.id]
        if ids:
            warnings.warn(
                f"More than one {kind} is named “{made.name}” now. The new one is {made.id}; "
                f"there was {', '.join(ids)}. With create=True a cell takes up the one that is "
                "there.",
                stacklevel=5,
            )

    def version(self, agent_id: str, version: int | None) -> int | None:
        """Return a version of an agent; None is the active one.

        Raises:
            BenchError: the agent has no such version.
        """
        if version is None:
            return None
        there = wait_for(self._store, self._store.agents.list_all())
        agent = next((one for one in there if one.id == agent_id), None)
        if agent is not None and (lack := lack_words(agent, version)):
            raise BenchError(lack)
        return version

    def find_agent(self, name: str) -> Agent | None:
        """Return the agent, if there is one."""
        return _find("agent", name, wait_for(self._store, self._store.agents.list_all()))


def _find(kind: str, name: str, there: Sequence[N]) -> N | None:
    with bench_errors():
        id = find_id(kind, name, {item.id: item.name for item in there})
    return next((item for item in there if item.id == id), None)


def _refuse_name(kind: str, name: str, there: Sequence[N]) -> N:
    raise BenchError(missing_problem(kind, name, [item.name for item in there]))
