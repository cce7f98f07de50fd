"""Calls from code: they wait for their result and raise errors in plain words."""

import contextlib
import functools
import inspect
import json
import math
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from PIL import Image

from carrel.notebook.answer import Answer, Source
from carrel.notebook.cell import CellProgress, Draw, working
from carrel.notebook.errors import BenchError
from carrel.notebook.panel import no_option
from carrel.notebook.pictures import SURE, framed, opened
from carrel.notebook.reading import Reading, ReadPage
from carrel.store.chat.conversation import Turn
from carrel.store.chat.state import ChatState
from carrel.store.chat.words import call_words
from carrel.store.core.handle import Handle
from carrel.store.core.problem import Problem
from carrel.store.documents.service import DocumentsService
from carrel.store.documents.words import option_words
from carrel.store.store import Store
from carrel.store.tools.words import consent_question
from carrel.wire.completions import Passage, Usage
from carrel.wire.ocr import Page

if TYPE_CHECKING:
    from carrel.notebook.document import DocumentPanel

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


UNREACHED = 10.0
"""Seconds without the service before a call is given up."""

PICTURE_SECONDS = 10.0
"""Seconds to wait for a page's picture."""

LOOK = 0.25
"""Seconds between two looks at the connection and the progress."""


def done(
    store: Store,
    handle: Handle[T],
    timeout: float | None = None,
    draw: Draw | None = None,
    *,
    look: Callable[[], None] = lambda: None,
) -> T:
    """The action's result; until then the cell shows its progress, as `draw` gives it.

    `look` is called now and then meanwhile, on the cell's thread.

    Raises:
        BenchError: it failed, was stopped, took longer than `timeout` seconds, or the service
            was out of reach for UNREACHED seconds.
    """
    result = ended(store, handle, timeout, draw, look=look)
    if handle.error is not None:
        raise BenchError(handle.error)
    if handle.outcome == "cancelled":
        raise BenchError(Problem("It was stopped", "", "Run the cell again to start anew."))
    return result  # type: ignore[return-value]  # None only where T has it


def ended(
    store: Store,
    handle: Handle[T],
    timeout: float | None = None,
    draw: Draw | None = None,
    *,
    look: Callable[[], None] = lambda: None,
) -> T | None:
    """Waits for work on the store's loop and returns its result; an interrupt stops the work.

    Raises:
        BenchError: it took longer than `timeout` seconds, or the service was out of reach for
        UNREACHED seconds.
    """
    began = time.time()
    deadline = math.inf if timeout is None else began + timeout
    session, activity = store.session.slice, store.activity.slice
    progress = CellProgress(draw or (lambda: working(session.value, activity.value)))
    try:
        while True:
            now = time.time()
            with contextlib.suppress(TimeoutError):
                return handle.result(max(0.0, min(LOOK, deadline - now)))
            if now >= deadline:
                raise BenchError(
                    Problem("It took too long", f"It was stopped after {timeout:g} seconds.")
                )
            _check_reached(store, began, now)
            progress.show()
            look()
    except BaseException:
        handle.cancel()
        raise
    finally:
        progress.close()


def permission(store: Store) -> Callable[[], None]:
    """Asks in the cell for the permission that a tool of the settings needs."""

    def look() -> None:
        for consent in store.tools.slice.value.asking:
            try:
                said = input(f"{consent_question(consent)} [y/N] ")
            except (EOFError, OSError, NotImplementedError):
                said = ""  # nobody sits at this notebook
            store.tools.answer(consent, said.strip().lower() in ("y", "yes")).result()

    return look


def _check_reached(store: Store, began: float, now: float) -> None:
    session = store.session.slice.value
    # The server on this machine may take its time to start.
    unanswered = not store.session.answered and not store.profile.local
    since = began if unanswered else max(session.since, began)
    if (unanswered or session.connection == "lost") and now - since >= UNREACHED:
        raise BenchError(
            Problem(
                f"The service of profile {session.profile} does not answer",
                f"It was tried for {UNREACHED:g} seconds.",
                "Check its address and that it runs, then run the cell again.",
            )
        )


def checked(method: F) -> F:
    """Turns errors of a bench's method into plain words: unknown keywords, calls after close.

    The traceback of an error begins with the caller.
    """
    _, *names = inspect.signature(method).parameters

    @functools.wraps(method)
    def call(bench: Any, *args: Any, **kwargs: Any) -> Any:
        for name in kwargs.keys() - set(names):
            raise TypeError(no_option(f"bench.{method.__name__}", name, names))
        check_open(bench._store)
        try:
            return method(bench, *args, **kwargs)
        except (BenchError, KeyboardInterrupt) as error:
            raise error.with_traceback(None) from None

    return cast(F, call)


def check_open(store: Store) -> None:
    """Raises a BenchError once the bench is closed."""
    if store.loop.closed:
        raise BenchError(Problem("The bench is closed", "", "carrel.connect() makes another."))


def as_reading(
    store: Store,
    service: DocumentsService,
    pages: Sequence[Page],
    open_panel: "Callable[..., DocumentPanel]",
) -> Reading:
    """The pages of the document that a service has open, for plain code."""

    def draw(page: int, width: int) -> Image.Image:
        return opened(done(store, service.picture(page, width), PICTURE_SECONDS))

    state = service.slice.value
    assert state.source is not None, "its pages are read"
    annotation = None if state.annotation is None else json.loads(state.annotation)
    read = tuple(ReadPage(page, draw) for page in pages)
    words = option_words(state.options)
    return Reading(state.source.name, read, annotation, open_panel, words)


def last_answer(store: Store, state: ChatState) -> Answer:
    """The result of a question.

    Raises:
        BenchError: no answer, but calls of functions.
    """
    if calls := state.conversation.open_calls():
        raise BenchError(
            Problem(
                "The agent calls a function that is not registered",
                call_words(calls[0]),
                "Register one of this name with @bench.tool, or name a command for it in the "
                "settings.",
            )
        )
    return as_answer(store, state.agent_name, state.turns[-1])


def as_answer(store: Store, agent: str, turn: Turn) -> Answer:
    """An agent's turn, for plain code."""

    def draw(passage: Passage, width: int) -> Image.Image:
        excerpt = done(store, store.sources.excerpt(passage, width), PICTURE_SECONDS)
        return framed(opened(excerpt.png), [(excerpt.box, SURE)] if excerpt.box else [])

    sources = tuple(Source(passage, draw) for passage in turn.sources)
    taken, written = turn.prompt_tokens or 0, turn.completion_tokens or 0
    usage = Usage(prompt_tokens=taken, completion_tokens=written, total_tokens=taken + written)
    return Answer(agent, turn.text, sources, usage, turn.version)
