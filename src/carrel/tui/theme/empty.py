"""Empty panes: their purpose, and the keys that fill them."""

from collections.abc import Mapping

from textual.content import Content
from textual.style import Style

from carrel.store.core.problem import Problem
from carrel.tui.theme import labels

LOADING = labels.muted("Loading …")


def empty(sentence: str, ways: Mapping[str, str]) -> tuple[Content, ...]:
    """Return the lines of an empty pane: a sentence, then the keys that fill it and what they do;
    a click presses one."""
    rows = [
        Content.assemble(("▸ ", "$accent"), words, "  ", (key, "bold $accent")).stylize(
            Style.from_meta({"@click": f"app.simulate_key({key.lower()!r})"})
        )
        for key, words in ways.items()
    ]
    width = max((row.cell_length for row in rows), default=0)
    return (
        labels.line(sentence),
        Content(""),
        *(row.pad_right(width - row.cell_length) for row in rows),
    )


def explain_empty(
    error: Problem | None, nothing: tuple[Content, ...], *, loaded: bool
) -> tuple[Content, ...]:
    """Return why a list is empty: it failed, it is loading, or there is `nothing`."""
    if error is not None:
        return labels.problem(error)
    return nothing if loaded else (LOADING,)
