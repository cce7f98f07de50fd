"""Blocking calls: wait for a result and raise errors in plain words."""

import contextlib
import functools
import inspect
import math
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextvars import ContextVar
from typing import Any, TypeVar, cast

from carrel.notebook.cells.cell import CellProgress, Draw, work_progress
from carrel.notebook.cells.errors import BenchError, CallError, no_option_words
from carrel.store.core.actions.handle import Cancelled, Handle
from carrel.store.core.problem import ProblemError
from carrel.store.store import Store
from carrel.store.tools.formatting import answer_words, consent_question, read_answer

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


UNREACHED = 10.0
"""Seconds without the service before a call fails."""

PICTURE_SECONDS = 10.0
"""Timeout in seconds for a page's picture."""

LOOK = 0.25
"""Poll interval in seconds for the connection and the progress."""

_stop: ContextVar[threading.Event | None] = ContextVar("stop", default=None)


def wait_for(
    store: Store,
    handle: Handle[T],
    timeout: float | None = None,
    draw: Draw | None = None,
    *,
    look: Callable[[], None] = lambda: None,
) -> T:
    """Return the action's result; until then the cell shows its progress, as `draw` gives it.

    `look` is called now and then meanwhile, on the cell's thread. An interrupt stops the work.

    Raises:
        BenchError: it failed, was stopped, took longer than `timeout` seconds, or the service
            was out of reach for UNREACHED seconds.
    """
    began = time.time()
    deadline = math.inf if timeout is None else began + timeout
    session, activity = store.session.slice, store.activity.slice
    progress = CellProgress(draw or (lambda: work_progress(session.value, activity.value)))
    try:
        while True:
            now = time.time()
            with contextlib.suppress(TimeoutError):
                return handle.result(max(0.0, min(LOOK, deadline - now)))
            if (stop := _stop.get()) is not None and stop.is_set():
                raise Cancelled
            if now >= deadline:
                raise BenchError("It took too long", f"It was stopped after {timeout:g} seconds.")
            _check_reached(store, began, now)
            progress.show()
            look()
    except Cancelled:
        handle.cancel()
        raise BenchError("It was stopped", "", "Run the cell again to start anew.") from None
    except ProblemError as error:
        raise BenchError(error.problem) from None
    # An interrupt of the cell ends the wait, too.
    except BaseException:
        handle.cancel()
        raise
    finally:
        progress.close()


def run(store: Store, coroutine: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
    """Run a coroutine on the store's loop and return its result, as `wait_for` does."""
    return wait_for(store, store.loop.run(coroutine), timeout)


@contextlib.contextmanager
def stop_on(event: threading.Event) -> Iterator[None]:
    """Stop the calls inside, as an interrupt does, once the event is set."""
    token = _stop.set(event)
    try:
        yield
    finally:
        _stop.reset(token)


def can_continue(store: Store) -> bool:
    """Return whether a call of several steps may continue after a failed step."""
    stop = _stop.get()
    return store.session.slice.value.connection != "lost" and not (stop and stop.is_set())


def permission(store: Store) -> Callable[[], None]:
    """Ask in the cell for the consent that a tool of the settings needs."""

    def look() -> None:
        for consent in store.tools.slice.value.asking:
            try:
                said = input(f"{consent_question(consent)} {answer_words(consent)} ")
            except (EOFError, OSError, NotImplementedError):
                said = ""  # nobody is at the notebook to answer
            store.tools.answer(consent, read_answer(said)).result()

    return look


def _check_reached(store: Store, began: float, now: float) -> None:
    session = store.session.slice.value
    # A local server may need time to start.
    unanswered = not store.session.answered and not store.profile.local
    since = began if unanswered else max(session.since, began)
    if (unanswered or session.connection == "lost") and now - since >= UNREACHED:
        raise BenchError(
            f"The service of profile {session.profile} does not answer",
            f"It was tried for {UNREACHED:g} seconds.",
            "Check its address and that it runs, then run the cell again.",
        )


def check_handle(method: F, *, waits: bool = True) -> F:
    """Turn errors of a bench's method into plain words: other arguments, calls after close.

    `waits` first waits for a lost server of this machine. The traceback of an error begins with the
    caller.
    """
    signature = inspect.signature(method)
    _, *names = signature.parameters

    @functools.wraps(method)
    def call(bench: Any, *args: Any, **kwargs: Any) -> Any:
        for name in kwargs.keys() - set(names):
            raise CallError(no_option_words(f"bench.{method.__name__}", name, names))
        try:
            signature.bind(bench, *args, **kwargs)
        except TypeError as error:
            raise CallError(f"{call_words(method)}: {error}") from None
        check_open(bench._store)
        try:
            if waits:
                run(bench._store, bench._store.session.wait_until_back())
            return method(bench, *args, **kwargs)
        except (BenchError, KeyboardInterrupt) as error:
            raise error.with_traceback(None) from None

    return cast(F, call)


def call_words(method: Callable[..., Any]) -> str:
    """Return a call with the names of its arguments: `bench.ask(agent, text, *, version, …)`."""
    arguments = list(inspect.signature(method).parameters.values())
    names = [f"*{one.name}" if one.kind is one.VAR_POSITIONAL else one.name for one in arguments]
    by_name = next((at for at, one in enumerate(arguments) if one.kind is one.KEYWORD_ONLY), None)
    if by_name is not None and not any(name.startswith("*") for name in names):
        names.insert(by_name, "*")
    return f"bench.{method.__name__}({', '.join(name for name in names if name != 'self')})"


def check_open(store: Store) -> None:
    """Raise a BenchError once the bench is closed."""
    if store.loop.closed:
        raise BenchError("The bench is closed", "", "carrel.connect() makes another.")
