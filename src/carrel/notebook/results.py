"""Results of the bench: plain objects that display themselves as a page or an answer."""

from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.notebook.html import table
from carrel.notebook.markdown import to_html
from carrel.notebook.panel import shown_as
from carrel.store.chat.conversation import Turn
from carrel.store.chat.words import sources_title
from carrel.store.documents.table_rows import Rows, as_csv, as_markdown
from carrel.store.documents.tables import tables
from carrel.store.sync.words import summary_words
from carrel.wire.completions import Passage, Usage
from carrel.wire.ocr import Page

if TYPE_CHECKING:
    from ipywidgets import Layout
    from pandas import DataFrame

    from carrel.notebook.document import DocumentPanel
    from carrel.store.sync.service import Summary


@dataclass(frozen=True)
class Table:
    """A table of texts; the first row is its head."""

    rows: Rows

    @property
    def csv(self) -> str:
        """The table as comma-separated values."""
        return as_csv(self.rows)

    @property
    def markdown(self) -> str:
        """The table as Markdown."""
        return as_markdown(self.rows)

    def __repr__(self) -> str:
        return self.markdown.rstrip()

    def _repr_html_(self) -> str:
        return table("", self.rows[0], self.rows[1:])


@dataclass(frozen=True)
class Reading:
    """A document's pages in order, numbered from 0 like the list."""

    name: str
    pages: tuple[Page, ...]
    _open_panel: "Callable[..., DocumentPanel]" = field(repr=False)

    @property
    def markdown(self) -> str:
        """The whole text."""
        return "\n\n".join(page.markdown for page in self.pages)

    @property
    def tables(self) -> "list[Table] | list[DataFrame]":
        """The tables of all pages in order, as data frames where pandas is installed.

        A table's first row is its data frame's header; every cell is text.
        """
        found = [Table(table.rows) for page in self.pages for table in tables(page)]
        try:
            from pandas import DataFrame
        except ImportError:
            return found
        return [DataFrame([*table.rows[1:]], columns=[*table.rows[0]]) for table in found]

    def panel(
        self, *, height: int | None = None, layout: "Layout | None" = None
    ) -> "DocumentPanel":
        """The live Document panel: pictures and boxes beside the text; `height` in pixels."""
        return self._open_panel(**shown_as(height, layout))

    def __repr__(self) -> str:
        words = f"{len(self.pages)} page{'' if len(self.pages) == 1 else 's'}"
        return f"<Reading of {self.name}: {words}>"

    def _repr_html_(self) -> str:
        first = to_html(self.pages[0].markdown) if self.pages else ""
        more = len(self.pages) - 1
        rest = f"<p><em>and {more} more page{'' if more == 1 else 's'}</em></p>" if more > 0 else ""
        return f"<p><strong>{escape(self.name)}</strong></p>{first}{rest}"


@dataclass(frozen=True)
class Answer:
    """An agent's answer: its text, sources and tokens, and the agent's version."""

    agent: str
    text: str
    sources: tuple[Passage, ...]
    usage: Usage
    version: int | None

    @property
    def _speaker(self) -> str:
        return self.agent if self.version is None else f"{self.agent} v{self.version}"

    @property
    def _sources_title(self) -> str:
        return sources_title(Turn("assistant", self.text, sources=self.sources))

    def __repr__(self) -> str:
        return f"{self._speaker}: {self.text}"

    def _repr_html_(self) -> str:
        sources = "".join(f"<li>{escape(_where(passage))}</li>" for passage in self.sources)
        drawn = f"<p>{self._sources_title}</p><ol>{sources}</ol>" if sources else ""
        return f"<p><strong>{escape(self._speaker)}</strong></p>{to_html(self.text)}{drawn}"


@dataclass(frozen=True)
class Synced:
    """A synced folder; `summary` has counts and failures."""

    folder: Path
    summary: "Summary"

    def __repr__(self) -> str:
        return f"<Sync of {self.folder.name}: {summary_words(self.summary)}>"

    def _repr_html_(self) -> str:
        words = escape(summary_words(self.summary))
        failed = "".join(
            f"<li>{escape(one.path)}: {escape(one.reason)}</li>" for one in self.summary.failures
        )
        reasons = f"<ul>{failed}</ul>" if failed else ""
        return f"<p><strong>{escape(self.folder.name)}</strong> {words}</p>{reasons}"


def _where(passage: Passage) -> str:
    page = "" if passage.page is None else f" p. {passage.page + 1}"
    return f"{passage.document_name}{page}"
