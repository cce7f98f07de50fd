"""The reading of a document: displayable pages, tables, and export to files."""

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PIL import Image

from carrel.notebook.cells.errors import BenchError
from carrel.notebook.cells.wait import PICTURE_SECONDS, wait_for
from carrel.notebook.html.markdown import to_html
from carrel.notebook.html.tables import table
from carrel.notebook.panels.core.base import layout_options
from carrel.notebook.results.frames import frame
from carrel.notebook.results.pictures import DOUBTFUL, SURE, as_tag, draw_frame, open_picture
from carrel.store.core.formatting import counted
from carrel.store.documents.boxes import boxes, sureness
from carrel.store.documents.export.formats import ReadDocument, as_json, markdown
from carrel.store.documents.formatting import option_words, score_words
from carrel.store.documents.service import DocumentsService
from carrel.store.documents.table_rows import Rows, as_csv, as_markdown
from carrel.store.documents.tables import tables
from carrel.store.store import Store
from carrel.system.atomic import replacing
from carrel.wire.ocr import Block, Page

if TYPE_CHECKING:
    from ipywidgets import Layout
    from pandas import DataFrame

    from carrel.notebook.panels.document import DocumentPanel

Draw = Callable[[int, int], Image.Image]
"""Function that draws a page, from 0, at a width in pixels; raises BenchError if it cannot."""

THUMBNAILS = 4
"""Pages shown as pictures in a cell; each adds about 6 kB to the notebook."""
THUMBNAIL_WIDTH = 170
PICTURE_WIDTH = 360
PAGE_WIDTH = 900
"""Widths in pixels."""


@dataclass(frozen=True)
class Table:
    """A table of texts; the first row is the head."""

    rows: Rows

    @property
    def csv(self) -> str:
        """The table as comma-separated values."""
        return as_csv(self.rows)

    @property
    def markdown(self) -> str:
        """The table as Markdown."""
        return as_markdown(self.rows)

    def to_pandas(self) -> "DataFrame":
        """Return the table as a data frame of texts.

        A column without a head is named by its position, and a repeated head gets a number.
        """
        return frame(self.rows[0], self.rows[1:])

    def to_html(self) -> str:
        """Return the table as HTML, every text escaped."""
        return table("", self.rows[0], self.rows[1:])

    def __repr__(self) -> str:
        return f"<Table of {len(self.rows) - 1} rows: {', '.join(self.rows[0])}>"

    def _repr_html_(self) -> str:
        return self.to_html()


@dataclass(frozen=True)
class ReadPage:
    """A page; `data` is the service's answer, with blocks, words and scores."""

    data: Page
    _draw: Draw = field(repr=False, compare=False)

    @property
    def index(self) -> int:
        """The page's index in the document, from 0 as in the interface."""
        return self.data.index

    @property
    def page_number(self) -> int:
        """The page's number in the document, from 1."""
        return self.data.index + 1

    @property
    def markdown(self) -> str:
        """The page's text as Markdown."""
        return self.data.markdown

    @property
    def blocks(self) -> list[Block]:
        """The page's blocks in reading order."""
        return self.data.blocks or []

    @property
    def tables(self) -> list[Table]:
        """The page's tables in reading order."""
        return [Table(one.rows) for one in tables(self.data)]

    @property
    def confidence(self) -> float | None:
        """The average confidence of the page, 0 to 1, or None if the service gives none."""
        scores = self.data.confidence_scores
        return None if scores is None else scores.average_page_confidence_score

    @property
    def image(self) -> Image.Image:
        """The page as a picture, in the size used for reading.

        Raises:
            BenchError: this kind of document has no pictures.
        """
        size = self.data.dimensions
        return self._draw(self.index, (size and size.width) or PAGE_WIDTH)

    @property
    def images(self) -> list[Image.Image]:
        """The pictures on the page, if the document was read with `images=True`."""
        return [picture for image in self.data.images if (picture := _picture(image.image_base64))]

    def show(self, width: int = PAGE_WIDTH) -> Image.Image:
        """Draw the page with its boxes, `width` pixels wide; doubtful parts are orange.

        Raises:
            BenchError: this kind of document has no pictures.
        """
        found = boxes(self.data)
        coloured = ((box.rect, DOUBTFUL if box.heat == "doubtful" else SURE) for box in found)
        return draw_frame(self._draw(self.index, width), coloured)

    def to_html(self) -> str:
        """Return the page's text as safe HTML."""
        return to_html(self.markdown)

    @property
    def _words(self) -> str:
        return " · ".join(filter(None, (f"page {self.page_number}", score_words(self.data))))

    def __repr__(self) -> str:
        return f"<Page {self._words.removeprefix('page ')}>"

    def _repr_html_(self) -> str:
        words = f"<p><strong>{escape(self._words)}</strong></p>"
        return f"{words}{_render_picture(self, PICTURE_WIDTH)}{self.to_html()}"


@dataclass(frozen=True)
class Reading:
    """A document's pages in order, indexed from 0.

    `annotation` is the document in the requested schema, or None; `options` describes the options
    that differ from the defaults.
    """

    name: str
    pages: tuple[ReadPage, ...]
    annotation: Any
    _open_panel: "Callable[..., DocumentPanel]" = field(repr=False, compare=False)
    options: str = ""

    @property
    def markdown(self) -> str:
        """The whole text as Markdown."""
        return markdown(self._document).removesuffix("\n")

    @property
    def tables(self) -> list[Table]:
        """The tables of all pages in order."""
        return [one for page in self.pages for one in page.tables]

    @property
    def confidence(self) -> float | None:
        """The average confidence of the pages, 0 to 1, or None if the service gives none."""
        scores = [page.confidence for page in self.pages if page.confidence is not None]
        return sum(scores) / len(scores) if scores else None

    def panel(
        self, *, height: int | None = None, layout: "Layout | None" = None
    ) -> "DocumentPanel":
        """Return the live Document panel: pictures with boxes beside the text.

        `height` is in pixels.
        """
        return self._open_panel(**layout_options(height, layout))

    def to_pandas(self) -> "DataFrame":
        """Return one row per block: page number (from 1), type, text, confidence, and position in
        fractions of the page.

        Raises:
            BenchError: pandas is not installed.
        """
        rows = []
        for page in self.pages:
            placed = {box.block: box for box in boxes(page.data)}
            for number, block in enumerate(page.blocks):
                box = placed.get(number)
                rect = box and box.rect
                place = (rect.left, rect.top, rect.width, rect.height) if rect else (None,) * 4
                sure = None if box is None else box.sure
                rows.append((page.page_number, block.type, block.content, sure, *place))
        head = ("page_number", "type", "text", "confidence", "left", "top", "width", "height")
        return frame(head, rows)

    def to_html(self) -> str:
        """Return the whole text as safe HTML."""
        return "\n<hr>\n".join(page.to_html() for page in self.pages)

    def save(self, folder: str | Path) -> tuple[Path, ...]:
        """Write the text, the service's answer and the tables to a folder; return the paths.

        Files of the same name are replaced, each as a whole.
        """
        to, document = Path(folder).expanduser(), self._document
        named = [("", ".md", markdown(document)), ("", ".json", as_json(document))]
        named += [(f" table {n}", ".csv", one.csv) for n, one in enumerate(self.tables, 1)]
        to.mkdir(parents=True, exist_ok=True)
        written = []
        for number, ending, text in named:
            written.append(to / f"{document.stem}{number}{ending}")
            with replacing(written[-1]) as file:
                file.write(text.encode())
        return tuple(written)

    @property
    def _document(self) -> ReadDocument:
        annotation = None if self.annotation is None else json.dumps(self.annotation)
        return ReadDocument(self.name, [page.data for page in self.pages], annotation)

    @property
    def _words(self) -> str:
        found = len(self.tables)
        words = [counted(len(self.pages), "page")]
        if found:
            words.append(counted(found, "table"))
        words.append(sureness([page.data for page in self.pages], self.confidence))
        return " · ".join(filter(None, (*words, self.options)))

    def __repr__(self) -> str:
        return f"<Reading of {self.name}: {self._words}>"

    def _repr_html_(self) -> str:
        head = f"<p><strong>{escape(self.name)}</strong> · {escape(self._words)}</p>"
        pictures = "".join(
            _render_picture(page, THUMBNAIL_WIDTH) for page in self.pages[:THUMBNAILS]
        )
        more = len(self.pages) - 1
        rest = f"<p><em>and {more} more page{'' if more == 1 else 's'}</em></p>" if more > 0 else ""
        first = self.pages[0].to_html() if self.pages else ""
        given = json.dumps(self.annotation, ensure_ascii=False, indent=2)
        annotation = "" if self.annotation is None else f"<pre>{escape(given)}</pre>"
        return f"{head}{pictures}{annotation}{first}{rest}"


def _render_picture(page: ReadPage, width: int) -> str:
    try:
        return as_tag(page.show(width), page._words)
    except BenchError:
        return ""


def _picture(url: str | None) -> Image.Image | None:
    """Decode a picture in the answer from its data URL, or return None."""
    try:
        return open_picture(base64.b64decode((url or "").partition(",")[2], validate=True))
    except (binascii.Error, OSError):
        return None


def as_reading(
    store: Store,
    service: DocumentsService,
    pages: Sequence[Page],
    open_panel: "Callable[..., DocumentPanel]",
) -> Reading:
    """Return the pages of the document that a service has open as a Reading."""

    def draw(page: int, width: int) -> Image.Image:
        return open_picture(wait_for(store, service.picture(page, width), PICTURE_SECONDS))

    state = service.slice.value
    assert state.source is not None, "its pages are read"
    annotation = None if state.annotation is None else json.loads(state.annotation)
    read = tuple(ReadPage(page, draw) for page in pages)
    words = option_words(state.options)
    return Reading(state.source.name, read, annotation, open_panel, words)
