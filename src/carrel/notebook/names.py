"""Libraries and agents by their names."""

from collections.abc import Sequence
from typing import TypeVar

from carrel.notebook.errors import BenchError
from carrel.store.core.problem import Problem
from carrel.wire.agents import Agent
from carrel.wire.libraries import Library

N = TypeVar("N", Library, Agent)


def named(kind: str, name: str, found: Sequence[N]) -> N:
    """The one item of that name or id.

    Raises:
        BenchError: there is none, or more than one.
    """
    matching = [one for one in found if name in (one.name, one.id)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        ids = ", ".join(one.id for one in matching)
        raise BenchError(Problem(f"More than one {kind} is named “{name}”", ids, "Give the id."))
    names = ", ".join(f"“{one.name}”" for one in found[:10])
    there = f"Available: {names}." if names else "There are none yet."
    raise BenchError(Problem(f"There is no {kind} “{name}”", there))
