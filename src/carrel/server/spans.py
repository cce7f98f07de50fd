"""Timed pieces of work: requests, jobs, readings, answers of models.

Metrics and traces observe them; without either, a span costs next to nothing.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol

Value = str | int | float | bool

FAILED_STEP = "failed_step."
"""Start of a reading's attributes that count its failed steps by name."""

current_request: ContextVar[str] = ContextVar("current_request", default="-")
"""The id of the current request, or of the one that a job is from; part of each log line."""


@dataclass
class Span:
    """A piece of work. Attributes known only at its end are added then."""

    name: str
    attributes: dict[str, Value] = field(default_factory=dict)
    began: float = field(default_factory=time.perf_counter)
    seconds: float = 0
    """The span's duration, once it has ended."""
    error: str | None = None
    """The name of the exception that ended it."""
    kept: dict[Any, Any] = field(default_factory=dict, repr=False)
    """Each observer's value, kept until the end."""

    def set(self, **attributes: Value) -> None:
        """Add attributes."""
        self.attributes.update(attributes)


class Observer(Protocol):
    """Receives spans, from any thread."""

    def begin(self, span: Span, parent: str | None, inner: bool) -> None:
        """Begin a span. `parent` is the W3C trace context of a span elsewhere.

        With `inner`, spans that begin in this context before its end are its children.
        """

    def end(self, span: Span) -> None:
        """End a span in the context in which it began."""

    def trace_context(self) -> str:
        """Return the W3C trace context of the present span, empty if there is none."""


_observers: list[Observer] = []


@contextmanager
def observe_with(observer: Observer) -> Iterator[None]:
    """Pass spans to an observer while the context lasts."""
    _observers.append(observer)
    try:
        yield
    finally:
        _observers.remove(observer)


@contextmanager
def span(
    name: str, *, parent: str | None = None, inner: bool = True, **attributes: Value
) -> Iterator[Span]:
    """Yield a span around a block. Turn `inner` off if the block yields control to other work."""
    made = Span(name, attributes)
    told = tuple(_observers)
    for observer in told:
        observer.begin(made, parent, inner)
    try:
        yield made
    except BaseException as error:
        made.error = type(error).__name__
        raise
    finally:
        made.seconds = time.perf_counter() - made.began
        for observer in reversed(told):
            observer.end(made)


def origin() -> str:
    """Return the present request and span as one word, which a job passes to its process."""
    here = next(filter(None, (observer.trace_context() for observer in _observers)), "")
    return f"{current_request.get()}/{here}"


@contextmanager
def from_origin(word: str) -> Iterator[str | None]:
    """Put the request id of an origin into log lines and yield its trace context."""
    request, _, parent = word.partition("/")
    token = current_request.set(request or "-")
    try:
        yield parent or None
    finally:
        with suppress(ValueError):
            current_request.reset(token)
