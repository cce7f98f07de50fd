"""Empty panes: their purpose, and the keys that fill them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content

from carrel.tui.theme import labels

if TYPE_CHECKING:
    from carrel.store.core.problem import Problem

LOADING = labels.muted("Loading …")


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


def explain_empty(
    error: "Problem | None", nothing: tuple[Content, ...], *, loaded: bool
) -> tuple[Content, ...]:
    """Return why a list is empty: it failed, it is loading, or there is `nothing`."""
    if error is not None:
        return labels.problem(error)
    return nothing if loaded else (LOADING,)
