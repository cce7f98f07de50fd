"""Progress below the running cell during a call."""

import time
import uuid
from collections.abc import Callable
from html import escape
from typing import Any

from IPython import display as ipython
from IPython.core.getipython import get_ipython

from carrel.notebook.html.markdown import to_html
from carrel.store.activity.formatting import activity_rows
from carrel.store.activity.state import ActivityState
from carrel.store.chat.formatting import phase_words
from carrel.store.chat.state import ChatState
from carrel.store.evals.formatting import progress_words
from carrel.store.evals.running import Progress
from carrel.store.session.formatting import waiting_words
from carrel.store.session.state import SessionState

SHOWN = 3
"""Most running items that are shown."""

_display: Callable[..., object] = ipython.display
_update: Callable[..., object] = ipython.update_display

Draw = Callable[[], str]
"""Returns the current progress as safe HTML; empty while there is none."""


class CellProgress:
    """An output of the running cell, removed at the call's end; nothing outside a notebook."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._mark = f"carrel-progress-{uuid.uuid4().hex[:12]}"
        self._shown = ""
        self._begun = False

    def show(self) -> None:
        """Show the progress if it has changed."""
        if getattr(get_ipython(), "kernel", None) is None:
            return
        content = self._draw()
        if content != self._shown:
            self._shown = content
            self._put(content)

    def close(self) -> None:
        """Remove the output."""
        if self._begun:
            self._put("")

    def _put(self, content: str) -> None:
        put, self._begun = (_update if self._begun else _display), True
        bundle: dict[str, Any] = {"text/html": content, "text/plain": ""}
        put(bundle, raw=True, display_id=self._mark)


def keep(result: object) -> None:
    """Show a result that no call will return; do nothing outside a notebook."""
    if getattr(get_ipython(), "kernel", None) is not None:
        _display(result)


def work_progress(session: SessionState, activity: ActivityState) -> str:
    """Return the uploads, pages and documents that are worked on; before that the connection."""
    lines = [
        _line(f"{row.kind} {row.name}", (row.progress, row.rate, row.left), row.fraction)
        for row in activity_rows(activity, time.time())
        if row.running
    ][:SHOWN]
    words = waiting_words(session)
    return "".join(lines) or (_line(words, (), None) if words else "")


def answer_progress(session: SessionState, chat: ChatState) -> str:
    """Return the answer so far, or its step before the first word."""
    if chat.phase == "idle" or not chat.turns:
        return work_progress(session, ActivityState())
    turn = chat.turns[-1]
    text = to_html(turn.text) if turn.role == "assistant" else ""
    return f"{text}<p><em>{escape(phase_words(chat, time.time()))}</em></p>"


def run_progress(progress: Progress | None) -> str:
    """Return the progress of a run of test cases."""
    if progress is None:
        return ""
    return _line(progress_words(progress), (), progress.done / progress.run.total)


def _line(name: str, words: tuple[str, ...], fraction: float | None) -> str:
    done = "" if fraction is None else f' value="{fraction:.3f}"'
    said = " · ".join(filter(None, words))
    # The bar first, so that the bars of several lines are aligned.
    return f"<div><progress{done}></progress> {escape(name)} {escape(said)}</div>"
