"""An agent's answer: its text and sources, which show themselves."""

from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from carrel.notebook.cells.errors import BenchError
from carrel.notebook.cells.wait import PICTURE_SECONDS, done
from carrel.notebook.html.markdown import folded_thinking, to_html
from carrel.notebook.results.frames import frame
from carrel.notebook.results.pictures import SURE, as_tag, framed, opened
from carrel.store.chat.conversation import Turn
from carrel.store.chat.formatting import call_words, source_title, sources_title, thought_words
from carrel.store.chat.state import ChatState
from carrel.store.core.problem import Problem
from carrel.store.store import Store
from carrel.system.filenames import file_name
from carrel.wire.generation.completions import Passage, Usage

if TYPE_CHECKING:
    from pandas import DataFrame

Draw = Callable[[Passage, int], Image.Image]
"""Draws the page of a passage with its box, of a width in pixels; raises BenchError where it
cannot."""

SOURCE_WIDTH = 900
THUMBNAIL_WIDTH = 130
"""Widths in pixels."""
THUMBNAILS = 3
"""Sources shown as pictures in a cell; each adds about 5 kB to the notebook."""


@dataclass(frozen=True)
class Source:
    """A passage that the model was given; `data` is the service's answer."""

    data: Passage
    _draw: Draw = field(repr=False, compare=False)

    @property
    def index(self) -> int:
        """The number that it was given to the model under, from 1."""
        return self.data.index

    @property
    def document_name(self) -> str:
        """The document that it is from."""
        return self.data.document_name

    @property
    def document_id(self) -> str:
        """The id of that document."""
        return self.data.document_id

    @property
    def library_id(self) -> str:
        """The id of its library."""
        return self.data.library_id

    @property
    def page(self) -> int | None:
        """Its page, from 0; None if the service gives none."""
        return self.data.page

    @property
    def snippet(self) -> str:
        """The passage."""
        return self.data.snippet

    @property
    def score(self) -> float | None:
        """How well it fits, as the service scores it; higher is better."""
        return self.data.score

    def show(self, width: int = SOURCE_WIDTH) -> Image.Image:
        """Return the page with a box around the passage, `width` pixels wide.

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
        shown = _pictured(self, 360)
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
    """What the model thought before it answered."""
    thought_seconds: float | None = None
    """How long it thought."""

    def to_pandas(self) -> "DataFrame":
        """Return a row a source: document, page (from 1), text and score.

        Raises:
            BenchError: pandas is not installed.
        """
        rows = [
            (one.document_name, None if one.page is None else one.page + 1, one.snippet, one.score)
            for one in self.sources
        ]
        return frame(("document", "page", "text", "score"), rows)

    def to_html(self) -> str:
        """Return the answer with its sources as safe HTML."""
        sources = "".join(f"<li>{escape(_where(one))}</li>" for one in self.sources)
        drawn = f"<p>{self._sources_title}</p><ol>{sources}</ol>" if sources else ""
        thought = folded_thinking(thought_words(self._turn), self.thinking)
        speaker = f"<p><strong>{escape(self._speaker)}</strong></p>"
        return f"{speaker}{thought}{to_html(self.text)}{drawn}"

    def save(self, folder: str | Path) -> Path:
        """Write the answer with its sources as Markdown to a folder and give the path.

        A file of the same name is replaced.
        """
        to = Path(folder).expanduser()
        to.mkdir(parents=True, exist_ok=True)
        path = to / f"{file_name(self._speaker, 'answer')}.md"
        sources = [f"{number}. {_where(one)}" for number, one in enumerate(self.sources, 1)]
        listed = [f"{self._sources_title}:", "\n".join(sources)] if sources else []
        path.write_text("\n\n".join([self.text, *listed]) + "\n", "utf-8")
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
        return f"{self._speaker}: {self.text}"

    def _repr_html_(self) -> str:
        return self.to_html() + "".join(
            _pictured(source, THUMBNAIL_WIDTH) for source in self.sources[:THUMBNAILS]
        )


def _pictured(source: Source, width: int) -> str:
    try:
        return as_tag(source.show(width), source._words)
    except BenchError:
        return ""


def _where(source: Source) -> str:
    page = "" if source.page is None else f" p. {source.page + 1}"
    return f"{source.document_name}{page}"


def last_answer(store: Store, state: ChatState) -> Answer:
    """Return the result of a question.

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
    """Return an agent's turn, for plain code."""

    def draw(passage: Passage, width: int) -> Image.Image:
        excerpt = done(store, store.sources.excerpt(passage, width), PICTURE_SECONDS)
        return framed(opened(excerpt.png), [(excerpt.box, SURE)] if excerpt.box else [])

    sources = tuple(Source(passage, draw) for passage in turn.sources)
    taken, written = turn.prompt_tokens or 0, turn.completion_tokens or 0
    usage = Usage(prompt_tokens=taken, completion_tokens=written, total_tokens=taken + written)
    return Answer(agent, turn.text, sources, usage, turn.version, turn.thinking, turn.thought)
