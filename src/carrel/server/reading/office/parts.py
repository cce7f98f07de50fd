"""The parts of a document that has no paper, in reading order."""

from dataclasses import dataclass, field

from carrel.server.reading.markdown.scored_text import ScoredText
from carrel.server.reading.page.table import Table
from carrel.wire.ocr import BlockType


@dataclass(frozen=True)
class Part:
    """A block: its Markdown, or a table, or the bytes of a picture file."""

    kind: BlockType
    text: ScoredText = field(default_factory=ScoredText)
    table: Table | None = None
    picture: bytes | None = None
    links: tuple[str, ...] = ()


def text_part(kind: BlockType, text: str, before: str = "", after: str = "") -> Part:
    """Return a part of plain text between Markdown syntax."""
    scored = ScoredText(before)
    scored.content(text, ())
    scored.syntax(after)
    return Part(kind, scored)
