"""Libraries and agents by their names."""

from collections.abc import Sequence
from typing import TypeVar

from carrel.notebook.calls import done
from carrel.notebook.errors import BenchError
from carrel.store.core.problem import Problem
from carrel.store.store import Store
from carrel.wire.agents import Agent
from carrel.wire.libraries import Library

N = TypeVar("N", Library, Agent)


class Names:
    """Finds items of the service by name or id; each method waits for the service.

    All raise BenchError where more than one item has the name.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def library(self, library: str | Library, *, create: bool = False) -> Library:
        """The library; with `create` a new one if there is none of this name.

        Raises:
            BenchError: there is none.
        """
        if isinstance(library, Library):
            return library
        there = done(self._store, self._store.libraries.every())
        found = _find("library", library, there)
        if found is None and create:
            return done(self._store, self._store.libraries.create(library))
        return found or _missing("library", library, there)

    def agent(self, agent: str | Agent) -> Agent:
        """The agent.

        Raises:
            BenchError: there is none.
        """
        if isinstance(agent, Agent):
            return agent
        there = done(self._store, self._store.agents.every())
        return _find("agent", agent, there) or _missing("agent", agent, there)

    def find_agent(self, name: str) -> Agent | None:
        """The agent, if there is one."""
        return _find("agent", name, done(self._store, self._store.agents.every()))


def _find(kind: str, name: str, there: Sequence[N]) -> N | None:
    matching = [one for one in there if name in (one.name, one.id)]
    if len(matching) > 1:
        ids = ", ".join(one.id for one in matching)
        raise BenchError(Problem(f"More than one {kind} is named “{name}”", ids, "Give the id."))
    return matching[0] if matching else None


def _missing(kind: str, name: str, there: Sequence[N]) -> N:
    names = ", ".join(f"“{one.name}”" for one in there[:10])
    known = f"Available: {names}." if names else "There are none yet."
    raise BenchError(Problem(f"There is no {kind} “{name}”", known))
