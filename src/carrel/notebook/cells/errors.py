"""Errors of calls in a cell, and their tracebacks."""

import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from types import TracebackType
from typing import Any

from IPython.core.getipython import get_ipython

from carrel.store.core.problem import Problem, ProblemError
from carrel.text import redact

_HIDDEN = ("carrel", "IPython", "ipykernel")
"""Packages whose frames are left out of tracebacks, as they say nothing about the user's code."""


_SHORTEST = 8
"""Least letters of a key. Shorter ones, such as "none", stand for no key at local servers."""
_keys: set[str] = set()


def hide_key(key: str | None) -> None:
    """Leave a key out of all errors from now on: a cell's error is saved with the notebook."""
    if key and len(key) >= _SHORTEST:
        _keys.add(key)


class BenchError(Exception):
    """A failed call: the cause and the next step.

    `partial` is the Answer so far of a failed or stopped question, or the results so far of a call
    with several documents.
    """

    partial: Any = None

    def __init__(self, problem: Problem | str, detail: str = "", advice: str | None = None) -> None:
        """Make the error of a problem, given as such or in its words."""
        if isinstance(problem, str):
            problem = Problem(problem, detail, advice)
        words = redact(str(problem))
        for key in _keys:
            words = words.replace(key, "…")
        super().__init__(words)
        self.problem = problem

    def _render_traceback_(self) -> list[str]:
        """Return the traceback for a notebook: the user's own frames, then the message."""
        frames = _hide_frames(self.__traceback__)
        shell = get_ipython()
        if shell is None:
            return traceback.format_exception(self.with_traceback(frames))
        lines: list[str] = shell.InteractiveTB.structured_traceback(type(self), self, frames)
        return lines


class CallError(TypeError):
    """A call with other arguments than it takes; its traceback is a BenchError's."""

    _render_traceback_ = BenchError._render_traceback_


@contextmanager
def bench_errors() -> Iterator[None]:
    """Convert a problem of the store to a BenchError."""
    try:
        yield
    except ProblemError as error:
        raise BenchError(error.problem) from None


def _hide_frames(frames: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the frames of hidden packages."""
    if frames is None:
        return None
    rest = _hide_frames(frames.tb_next)
    module = str(frames.tb_frame.f_globals.get("__name__", ""))
    if module.partition(".")[0] in _HIDDEN:
        return rest
    return TracebackType(rest, frames.tb_frame, frames.tb_lasti, frames.tb_lineno)


def no_option_words(owner: str, name: str, options: Iterable[str]) -> str:
    """Return the error message for an unknown keyword argument."""
    near = get_close_matches(name, [*options], n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(options)}."
    return f"{owner} has no option {name!r}: {hint}"
