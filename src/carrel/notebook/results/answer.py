"""An agent's answer: its text and sources, with a display in a cell."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PIL import Image

from carrel.notebook.cells.errors import BenchError
from carrel.notebook.cells.wait import PICTURE_SECONDS, wait_for
from carrel.notebook.html.markdown import fold_thinking, to_html
from carrel.notebook.results.frames import frame
from carrel.notebook.results.pictures import SURE, as_tag, draw_frame, open_picture
from carrel.store.chat.conversation import Turn
from carrel.store.chat.formatting import (
    call_words,
    end_note,
    source_title,
    sources_title,
    thought_words,
)
from carrel.store.chat.service import ChatService
from carrel.store.chat.state import ChatState
from carrel.store.store import Store
from carrel.system.atomic import replacing
from carrel.system.filenames import file_name
from carrel.wire.generation.completions import Passage, Usage

if TYPE_CHECKING:
    from pandas import DataFrame

Draw = Callable[[Passage, int], Image.Image]
"""Function that draws a passage's page with its box, at a width in pixels; raises BenchError if it
cannot."""

SOURCE_WIDTH = 900
THUMBNAIL_WIDTH = 130
"""Widths in pixels."""
THUMBNAILS = 3
"""Sources shown as pictures in a cell; each adds about 5 kB to the notebook."""


FinishReason = Literal["stop", "length", "error", "cancelled"]

_REASONS: dict[str, FinishReason] = {
    "failed": "error",
    "lost": "error",
    "cut": "error",
    "stopped": "cancelled",
}
_NOTES = {"error": "Cut off: it failed.", "cancelled": "Cut off: it was stopped."}


@dataclass(frozen=True)
class Source:
    """A passage given to the model; `data` is the service's answer."""

    data: Passage
    _draw: Draw = field(repr=False, compare=False)

    @property
    def number(self) -> int:
        """The number by which the answer cites it, from 1."""
        return self.data.index

    @property
    def document_name(self) -> str:
        """The document's name."""
        return self.data.document_name

    @property
    def document_id(self) -> str:
        """The document's id."""
        return self.data.document_id

    @property
    def library_id(self) -> str:
        """The library's id."""
        return self.data.library_id

    @property
    def page_number(self) -> int | None:
        """Its page number, from 1, or None if the service gives none."""
        return None if self.data.page is None else self.data.page + 1

    @property
    def snippet(self) -> str:
        """The text of the passage."""
        return self.data.snippet

    @property
    def score(self) -> float | None:
        """Its relevance as scored by the service; higher is better."""
        return self.data.score

    def show(self, width: int = SOURCE_WIDTH) -> Image.Image:
        """Draw the page with a box around the passage, `width` pixels wide.

        Raises:
            BenchError: this kind of document has no pictures, or it is gone.
        """
        return self._draw(self.data, width)

    @property
    def _words(self) -> str:
        return source_title(self.data)

    def __repr__(self) -> str:
        return f"<{self._words}>"

    def _repr_html_(self) -> str:
        shown = with_picture(self, 360)
        return f"<p><strong>{escape(self._words)}</strong></p>{shown}<p>{escape(self.snippet)}</p>"


@dataclass(frozen=True)
class Answer:
    """An agent's answer: its text, sources and tokens, and the agent's version."""

    agent: str
    text: str
    sources: tuple[Source, ...]
    usage: Usage
    version: int | None
    thinking: str = ""
    """The model's thinking before the answer."""
    thought_seconds: float | None = None
    """The duration of the thinking in seconds, or None."""
    finish_reason: FinishReason = "stop"
    """Reason of the end: complete, cut off at the token limit, failed, or stopped by this
    program."""
    note: str = ""
    """A note on an abnormal end, in words."""
    question: str = ""
    """The question that it answers."""

    def to_pandas(self) -> "DataFrame":
        """Return one row per source: document, page number (from 1), text and score.

        Raises:
            BenchError: pandas is not installed.
        """
        return as_frame(self.sources)

    def to_html(self) -> str:
        """Return the answer with its sources as safe HTML."""
        sources = "".join(f"<li>{escape(_source_place(one))}</li>" for one in self.sources)
        drawn = f"<p>{self._sources_title}</p><ol>{sources}</ol>" if sources else ""
        thought = fold_thinking(thought_words(self._turn), self.thinking)
        speaker = f"<p><strong>{escape(self._speaker)}</strong></p>"
        note = f"<p><em>{escape(self.note)}</em></p>" if self.note else ""
        return f"{speaker}{thought}{to_html(self.text)}{note}{drawn}"

    def save(self, folder: str | Path) -> Path:
        """Write the answer with its sources as Markdown to a folder; return the path.

        A file of the same name is replaced.
        """
        to = Path(folder).expanduser()
        to.mkdir(parents=True, exist_ok=True)
        path = to / f"{file_name(self._speaker, 'answer')}.md"
        sources = [f"{number}. {_source_place(one)}" for number, one in enumerate(self.sources, 1)]
        listed = [f"{self._sources_title}:", "\n".join(sources)] if sources else []
        note = [f"*{self.note}*"] if self.note else []
        with replacing(path) as file:
            file.write(("\n\n".join([self.text, *note, *listed]) + "\n").encode())
        return path

    @property
    def _speaker(self) -> str:
        return self.agent if self.version is None else f"{self.agent} v{self.version}"

    @property
    def _sources_title(self) -> str:
        return sources_title(self._turn)

    @property
    def _turn(self) -> Turn:
        passages = tuple(source.data for source in self.sources)
        return Turn(
            "assistant",
            self.text,
            sources=passages,
            thinking=self.thinking,
            thought=self.thought_seconds,
        )

    def __repr__(self) -> str:
        return "\n".join(filter(None, (f"{self._speaker}: {self.text}", self.note)))

    def _repr_html_(self) -> str:
        return self.to_html() + "".join(
            with_picture(source, THUMBNAIL_WIDTH) for source in self.sources[:THUMBNAILS]
        )


def with_picture(source: Source, width: int) -> str:
    """Return the page of a source as an HTML image, or an empty string if it has none."""
    try:
        return as_tag(source.show(width), source._words)
    except BenchError:
        return ""


def _source_place(source: Source) -> str:
    page = "" if source.page_number is None else f" p. {source.page_number}"
    return f"{source.document_name}{page}"


def last_answer(store: Store, state: ChatState) -> Answer:
    """Return the result of a question.

    Raises:
        BenchError: the agent called functions instead of answering.
    """
    if calls := state.conversation.open_calls():
        raise BenchError(
            "The agent calls a function that is not registered",
            call_words(calls[0]),
            "Register one of this name with @bench.tool, or name a command for it in the settings.",
        )
    return as_answer(store, state.agent_name, state.turns[-1], _question(state))


def partial_answer(store: Store, state: ChatState) -> Answer | None:
    """Return the text so far of a failed or stopped answer, or None."""
    turn = state.turns[-1] if state.turns else None
    if turn is None or turn.role != "assistant" or not turn.text:
        return None
    if turn.status == "writing":
        turn = replace(turn, status="stopped")
    return as_answer(store, state.agent_name, turn, _question(state))


def check_question(text: str) -> None:
    """Raise a BenchError for an empty question before it is sent."""
    if not text.strip():
        raise BenchError("The question is empty", "", "Write what you want to know.")


@contextmanager
def partial_on_error(
    store: Store, chat: ChatService, show: Callable[[Answer], None] = lambda _: None
) -> Iterator[None]:
    """Attach the text so far to the error of a failed or stopped answer, and show it."""
    before = len(chat.slice.value.turns)
    try:
        yield
    except (BenchError, KeyboardInterrupt) as error:
        state = chat.slice.value
        partial = partial_answer(store, state) if len(state.turns) > before else None
        if partial is not None:
            show(partial)
        if isinstance(error, BenchError):
            error.partial = partial
        raise


def collect_turns(history: Sequence[Answer | Mapping[str, str]]) -> Iterator[Turn]:
    """Yield the turns of answers and messages, oldest first.

    Raises:
        BenchError: an item is neither.
    """
    for one in history:
        if isinstance(one, Answer):
            yield Turn("user", one.question)
            yield one._turn
            continue
        match one:
            case {"role": "user" | "assistant" as role, "content": str(content)}:
                yield Turn(role, content)
            case _:
                advice = 'Give answers of bench.ask, or {"role": "user", "content": "…"}.'
                raise BenchError("This is no message", repr(one)[:80], advice)


def _question(state: ChatState) -> str:
    return next((turn.text for turn in reversed(state.turns) if turn.role == "user"), "")


def as_frame(sources: Sequence[Source]) -> "DataFrame":
    """Return one row per passage."""
    rows = [(one.document_name, one.page_number, one.snippet, one.score) for one in sources]
    return frame(("document", "page_number", "text", "score"), rows)


def as_source(store: Store, passage: Passage) -> Source:
    """Return a passage that can show its page."""

    def draw(passage: Passage, width: int) -> Image.Image:
        excerpt = wait_for(store, store.sources.excerpt(passage, width), PICTURE_SECONDS)
        return draw_frame(open_picture(excerpt.png), [(excerpt.box, SURE)] if excerpt.box else [])

    return Source(passage, draw)


def as_answer(store: Store, agent: str, turn: Turn, question: str = "") -> Answer:
    """Return an agent's turn as an Answer."""
    sources = tuple(as_source(store, passage) for passage in turn.sources)
    taken, written = turn.prompt_tokens or 0, turn.completion_tokens or 0
    usage = Usage(prompt_tokens=taken, completion_tokens=written, total_tokens=taken + written)
    reason: FinishReason = "length" if turn.cut else _REASONS.get(turn.status, "stop")
    note = _NOTES.get(reason) or end_note(turn)
    end = (turn.thinking, turn.thought, reason, note, question)
    return Answer(agent, turn.text, sources, usage, turn.version, *end)
