"""Builds the API's page: its Markdown, images, tables as Markdown or HTML, blocks and scores."""

import base64
import html
import io
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from PIL import Image

from carrel.server.reading.fence import fenced
from carrel.server.reading.markdown.inline import address, escaped
from carrel.server.reading.markdown.scored_text import DIGITS, ScoredText
from carrel.server.reading.options import ReadOptions
from carrel.server.reading.page.elements import Box, Line
from carrel.server.reading.page.table import Cell, Table
from carrel.wire import ocr

IDS_PER_PAGE = 1000
"""`img-N` and `tbl-N` count from the page number times this, so IDs of batches never clash."""


class Place(NamedTuple):
    """A place in the page's pixels; None on a page without physical layout."""

    top_left_x: int | None = None
    top_left_y: int | None = None
    bottom_right_x: int | None = None
    bottom_right_y: int | None = None


class Certainty(NamedTuple):
    """The chances that a block follows the right one, and that neighbouring cells are neighbours.

    None if the file itself says so.
    """

    order: float | None = None
    structure: float | None = None


_CERTAIN = Certainty()
NOWHERE = Place()
"""The place of everything on a page without physical layout."""
_JPEG_QUALITY = 90


class PageBuilder:
    """Collects the blocks of a page in order."""

    def __init__(
        self, index: int, options: ReadOptions, locate: Callable[[Sequence[Box]], Place]
    ) -> None:
        """`locate` returns the position of zero or more boxes."""
        apart = {"header": options.extract_header, "footer": options.extract_footer}
        self.heads: dict[str, list[str]] = {kind: [] for kind, wanted in apart.items() if wanted}
        """The running heads that are requested apart from the Markdown."""
        self._index = index
        self._options = options
        self._locate = locate
        self._text = ScoredText()
        self._images: list[ocr.PageImage] = []
        self._tables: list[ocr.PageTable] = []
        self._blocks: list[ocr.Block] = []
        self._certainties: list[Certainty] = []

    def add(
        self,
        kind: ocr.BlockType,
        text: ScoredText,
        boxes: Sequence[Box] = (),
        certainty: Certainty = _CERTAIN,
        *,
        shown: str | None = None,
        table_id: str | None = None,
        image_id: str | None = None,
    ) -> None:
        """Add a block of text; the Markdown has what is `shown` in its place, if anything is."""
        if kind in self.heads:
            self.heads[kind].append(str(text))
        else:
            self._text.syntax("\n\n" if self._text.length else "")
            if shown is None:
                self._text.append(text)
            else:
                self._text.syntax(shown)
        self._certainties.append(certainty)
        if not self._options.include_blocks:
            return
        self._blocks.append(
            ocr.Block(
                type=kind,
                **self._locate(boxes)._asdict(),
                content=str(text),
                table_id=table_id,
                image_id=image_id,
                confidence_scores=self._block_scores(text, certainty),
            )
        )

    def add_image(
        self, size: tuple[int, int], pixels: Callable[[], Image.Image], boxes: Sequence[Box] = ()
    ) -> None:
        """Add an image of `size` pixels, unless it is below the minimum size.

        On a page without physical layout, its position is in its own pixels.
        """
        if min(size) < (self._options.image_min_size or 0):
            return
        name = f"img-{self._index * IDS_PER_PAGE + len(self._images)}.jpeg"
        place = self._locate(boxes)
        place = Place(0, 0, *size) if place == NOWHERE else place
        wanted = self._options.include_image_base64
        jpeg = fenced("image", lambda: as_jpeg(pixels())) if wanted else None
        data = f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode()}" if jpeg else None
        self._images.append(ocr.PageImage(id=name, **place._asdict(), image_base64=data))
        self.add("image", ScoredText(f"![{name}]({name})"), boxes, image_id=name)

    def add_table(
        self,
        table: Table,
        boxes: Sequence[Box] = (),
        source: Sequence[Line] = (),
        markdown: ScoredText | None = None,
        certainty: Certainty = _CERTAIN,
    ) -> None:
        """Add a table; `source` are its lines, `markdown` is its author's own notation."""
        form = self._options.table_format
        if form is None:
            text = markdown or render_table(table, "markdown", source)
            self.add("table", text, boxes, certainty)
            return
        content = render_table(table, form, source)
        number = self._index * IDS_PER_PAGE + len(self._tables)
        name = f"tbl-{number}.{'html' if form == 'html' else 'md'}"
        scored = self._options.granularity is not None
        self._tables.append(
            ocr.PageTable(
                id=name,
                content=str(content),
                format=form,
                word_confidence_scores=self._word_scores(content),
                structure_confidence_score=certainty.structure if scored else None,
            )
        )
        shown = f"[{name}]({name})"
        self.add("table", content, boxes, certainty, shown=shown, table_id=name)

    def page(
        self, dimensions: ocr.Dimensions, links: Iterable[str], lines: Sequence[Line] = ()
    ) -> ocr.Page:
        """Build the page with these lines; without any it is certain."""
        scores = None
        if self._options.granularity:
            known = [word.confidence for line in lines for word in line.words]
            scores = ocr.PageScores(
                average_page_confidence_score=round(statistics.fmean(known or [1.0]), DIGITS),
                minimum_page_confidence_score=round(min(known, default=1.0), DIGITS),
                word_confidence_scores=self._word_scores(self._text),
                order_confidence_score=_mean(one.order for one in self._certainties),
                structure_confidence_score=_mean(one.structure for one in self._certainties),
                text_from_file=not any(line.read for line in lines),
            )
        return ocr.Page(
            index=self._index,
            markdown=str(self._text),
            images=self._images,
            dimensions=dimensions,
            tables=self._tables,
            hyperlinks=list(dict.fromkeys(links)),
            header="\n".join(self.heads.get("header", ())) or None,
            footer="\n".join(self.heads.get("footer", ())) or None,
            confidence_scores=scores,
            blocks=self._blocks if self._options.include_blocks else None,
        )

    def _block_scores(self, text: ScoredText, certainty: Certainty) -> ocr.BlockScores | None:
        """Return a block's scores, with those of its words if scores of blocks were requested."""
        granularity = self._options.granularity
        if granularity != "block" and (granularity != "word" or certainty == _CERTAIN):
            return None
        words = [word.confidence for word in text.words()] if granularity == "block" else []
        return ocr.BlockScores(
            average_content_confidence_score=_mean(words),
            minimum_content_confidence_score=min(words, default=None),
            order_confidence_score=certainty.order,
            structure_confidence_score=certainty.structure,
        )

    def _word_scores(self, text: ScoredText) -> list[ocr.WordScore] | None:
        return list(text.words()) if self._options.granularity == "word" else None


def _mean(scores: Iterable[float | None]) -> float | None:
    known = [score for score in scores if score is not None]
    return round(statistics.fmean(known), DIGITS) if known else None


def as_jpeg(picture: Image.Image) -> bytes:
    """Encode a picture as JPEG."""
    buffer = io.BytesIO()
    picture.convert("RGB").save(buffer, "JPEG", quality=_JPEG_QUALITY)
    return buffer.getvalue()


def render_table(table: Table, form: ocr.TableFormat, source: Sequence[Line] = ()) -> ScoredText:
    """Render a table in one form; `source` are its lines on the page."""
    text = ScoredText()
    add = _add_html if form == "html" else _add_markdown
    add(text, table, source)
    return text


def _add_markdown(text: ScoredText, table: Table, source: Sequence[Line]) -> None:
    """Add a table; Markdown has no spans, so a cell's text goes into its first position."""
    for number, row in enumerate(table.rows()):
        text.syntax("|" if number == 0 else "\n|")
        cells = {cell.column: cell for cell in row}
        for column in range(table.width):
            text.syntax(" ")
            for words, url in _pieces(cells.get(column)):
                text.syntax("[" if url else "")
                text.content(escaped(words, line_start=False).replace("|", "\\|"), source)
                text.syntax(f"]({url})" if url else "")
            text.syntax(" |")
        if number == 0:
            text.syntax("\n|" + " --- |" * table.width)


def _add_html(text: ScoredText, table: Table, source: Sequence[Line]) -> None:
    text.syntax("<table>")
    for number, row in enumerate(table.rows()):
        tag = "th" if number < table.header_rows else "td"
        text.syntax("<tr>")
        for cell in row:
            across = f' colspan="{cell.columns}"' if cell.columns > 1 else ""
            down = f' rowspan="{cell.rows}"' if cell.rows > 1 else ""
            text.syntax(f"<{tag}{across}{down}>")
            for words, url in _pieces(cell):
                text.syntax(f'<a href="{html.escape(url)}">' if url else "")
                text.content(html.escape(words, quote=False), source)
                text.syntax("</a>" if url else "")
            text.syntax(f"</{tag}>")
        text.syntax("</tr>")
    text.syntax("</table>")


def _pieces(cell: Cell | None) -> Iterator[tuple[str, str]]:
    """Yield a cell's text split at its links, with an empty address for plain text."""
    if cell is None or not cell.text:
        return
    place = 0
    for start, end, url in sorted(cell.marks):
        target = address(url)
        if target and start >= place:
            yield cell.text[place:start], ""
            yield cell.text[start:end], target
            place = end
    yield cell.text[place:], ""
