"""A fence around each step of reading: one that fails costs that step, never the page."""

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Failure(NamedTuple):
    """A step of reading that failed.

    `cause` is the error's type and place in the code: the same for every page that it concerns.
    """

    step: str
    cause: str
    trace: str


_failures: list[Failure] = []
"""Failures not yet taken; a process reads one document at a time."""


def fenced(step: str, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
    """Run a step of reading; return None if it fails, and keep the failure to be reported.

    The caller states the plainer reading: `fenced("tables", find_tables, chunks) or []`.
    """
    try:
        return work(*args, **kwargs)
    except Exception as error:
        _failures.append(Failure(step, _cause(error), traceback.format_exc()))
        return None


def take_failures() -> list[Failure]:
    """Return the failures since the last call."""
    taken = _failures[:]
    del _failures[: len(taken)]
    return taken


def _cause(error: Exception) -> str:
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {Path(place.filename).name}:{place.lineno}"
