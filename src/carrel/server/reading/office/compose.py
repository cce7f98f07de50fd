"""Parts to the page that travels. All of it is certain, and nothing has a place on paper."""

import io
import warnings
from collections.abc import Sequence

from PIL import Image

from carrel.server.reading.markdown import IDS_PER_PAGE, data_url
from carrel.server.reading.office.parts import Part
from carrel.server.reading.options import ReadOptions
from carrel.server.reading.scored_text import ScoredText
from carrel.server.reading.tables.forms import pieces
from carrel.server.reading.tables.table import Table
from carrel.wire.ocr import (
    Block,
    BlockScores,
    BlockType,
    Dimensions,
    Page,
    PageImage,
    PageScores,
    PageTable,
    TableFormat,
    WordScore,
)

PAPERLESS = Dimensions(dpi=200, height=2339, width=1654)
"""What is said of a page that was never paper: A4."""
_MAX_PIXELS = 50_000_000
"""A larger embedded picture is left out."""


def compose_parts(index: int, parts: Sequence[Part], options: ReadOptions) -> Page:
    """The page that travels."""
    return _Composer(index, options).page(parts)


class _Composer:
    """Puts one page together, part by part."""

    def __init__(self, index: int, options: ReadOptions) -> None:
        self._index = index
        self._options = options
        self._text = ScoredText()
        self._images: list[PageImage] = []
        self._tables: list[PageTable] = []
        self._blocks: list[Block] = []

    def page(self, parts: Sequence[Part]) -> Page:
        for part in parts:
            if part.table is not None:
                self._add_table(part.table, part.text)
            elif part.picture is not None:
                self._add_picture(part.picture)
            else:
                self._add(part.text)
                self._add_block(part.kind, str(part.text))
        granularity = self._options.granularity
        scores = PageScores(
            average_page_confidence_score=1.0,
            minimum_page_confidence_score=1.0,
            word_confidence_scores=_scored(self._text) if granularity == "word" else None,
        )
        return Page(
            index=self._index,
            markdown=str(self._text),
            images=self._images,
            dimensions=PAPERLESS,
            tables=self._tables,
            hyperlinks=list(dict.fromkeys(link for part in parts for link in part.links)),
            confidence_scores=scores if granularity else None,
            blocks=self._blocks if self._options.include_blocks else None,
        )

    def _add(self, text: ScoredText) -> None:
        if self._text.length:
            self._text.syntax("\n\n")
        self._text.append(text)

    def _add_placeholder(self, text: str) -> None:
        scored = ScoredText()
        scored.syntax(text)
        self._add(scored)

    def _add_table(self, table: Table, source: ScoredText) -> None:
        form = self._options.table_format
        as_is = form is None and source.length
        content = source if as_is else _written(table, form or "markdown")
        name = None
        if form is None:
            self._add(content)
        else:
            number = self._index * IDS_PER_PAGE + len(self._tables)
            name = f"tbl-{number}.{'html' if form == 'html' else 'md'}"
            scores = _scored(content) if self._options.granularity == "word" else None
            self._tables.append(
                PageTable(id=name, content=str(content), format=form, word_confidence_scores=scores)
            )
            self._add_placeholder(f"[{name}]({name})")
        self._add_block("table", str(content), table_id=name)

    def _add_picture(self, data: bytes) -> None:
        limit = self._options.image_limit
        if limit is not None and len(self._images) >= limit:
            return
        picture = _decoded(data)
        if picture is None or min(picture.size) < (self._options.image_min_size or 0):
            return
        name = f"img-{self._index * IDS_PER_PAGE + len(self._images)}.jpeg"
        self._images.append(
            PageImage(
                id=name,
                top_left_x=None,
                top_left_y=None,
                bottom_right_x=None,
                bottom_right_y=None,
                image_base64=data_url(picture) if self._options.include_image_base64 else None,
            )
        )
        self._add_placeholder(f"![{name}]({name})")
        self._add_block("image", f"![{name}]({name})", image_id=name)

    def _add_block(
        self,
        kind: BlockType,
        content: str,
        *,
        table_id: str | None = None,
        image_id: str | None = None,
    ) -> None:
        scores = None
        if self._options.granularity == "block":
            certain = None if kind == "image" else 1.0
            scores = BlockScores(
                average_content_confidence_score=certain, minimum_content_confidence_score=certain
            )
        self._blocks.append(
            Block(
                type=kind,
                top_left_x=None,
                top_left_y=None,
                bottom_right_x=None,
                bottom_right_y=None,
                content=content,
                table_id=table_id,
                image_id=image_id,
                confidence_scores=scores,
            )
        )


def _written(table: Table, form: TableFormat) -> ScoredText:
    text = ScoredText()
    for piece in pieces(table, form):
        if piece.content:
            text.content(piece.text, ())
        else:
            text.syntax(piece.text)
    return text


def _scored(text: ScoredText) -> list[WordScore]:
    return [WordScore(**word._asdict()) for word in text.words()]


def _decoded(data: bytes) -> Image.Image | None:
    """The picture; None for a drawing, a broken one, and one of too many pixels."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            picture: Image.Image = Image.open(io.BytesIO(data))
        if picture.width * picture.height > _MAX_PIXELS:
            return None
        if picture.has_transparency_data:
            layer = picture.convert("RGBA")
            picture = Image.new("RGB", layer.size, "white")
            picture.paste(layer, mask=layer.getchannel("A"))
        return picture.convert("RGB")
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError):
        return None
