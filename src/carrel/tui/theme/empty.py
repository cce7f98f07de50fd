"""Empty panes: their purpose, and the keys that fill them."""

from dataclasses import dataclass

from textual.content import Content

from carrel.tui.theme import labels


@dataclass(frozen=True)
class Way:
    """One way to fill an empty pane: its key and its effect."""

    key: str
    words: str


def empty(sentence: str, *ways: Way) -> tuple[Content, ...]:
    """Return the lines of an empty pane: a sentence, then each way to fill it."""
    rows = [
        Content.assemble(("▸ ", "$accent"), way.words, "  ", (way.key, "bold $accent"))
        for way in ways
    ]
    width = max((row.cell_length for row in rows), default=0)
    return (
        labels.line(sentence),
        Content(""),
        *(row.pad_right(width - row.cell_length) for row in rows),
    )
