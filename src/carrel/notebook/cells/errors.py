"""Errors of calls in a cell, and their tracebacks."""

import traceback
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from types import TracebackType
from typing import Any

from IPython.core.getipython import get_ipython

from carrel.store.core.problem import Problem

SHOWN = 10
"""Most names that an error lists."""

_HIDDEN = ("carrel", "IPython", "ipykernel")
"""Packages whose frames are left out of tracebacks, as they say nothing about the user's code."""


class BenchError(Exception):
    """A failed call: the cause and the next step.

    `partial` is the Answer so far of a failed or stopped question, or the results so far of a call
    with several documents.
    """

    partial: Any = None

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem

    def _render_traceback_(self) -> list[str]:
        """Return the traceback for a notebook: the user's own frames, then the message."""
        frames = _own(self.__traceback__)
        shell = get_ipython()
        if shell is None:
            return traceback.format_exception(self.with_traceback(frames))
        lines: list[str] = shell.InteractiveTB.structured_traceback(type(self), self, frames)
        return lines


def _own(frames: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the frames of hidden packages."""
    if frames is None:
        return None
    rest = _own(frames.tb_next)
    module = str(frames.tb_frame.f_globals.get("__name__", ""))
    if module.partition(".")[0] in _HIDDEN:
        return rest
    return TracebackType(rest, frames.tb_frame, frames.tb_lasti, frames.tb_lineno)


def available(name: str, names: Sequence[str]) -> str:
    """Return known names, the nearest to a missing one first."""
    if not names:
        return "There are none yet."
    near = get_close_matches(name, names, n=1)
    hint = f"Did you mean “{near[0]}”? " if near else ""
    listed = ", ".join(f"“{one}”" for one in names[:SHOWN])
    more = len(names) - SHOWN
    return f"{hint}Available: {listed}{f' and {more} more' if more > 0 else ''}."


def no_option(owner: str, name: str, options: Iterable[str]) -> str:
    """Return the error message for an unknown keyword argument."""
    near = get_close_matches(name, [*options], n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(options)}."
    return f"{owner} has no option {name!r}: {hint}"
