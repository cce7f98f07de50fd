"""Small static HTML: what a cell shows where no live panel can be."""

from collections.abc import Iterable, Sequence
from html import escape


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of texts and badges, every text escaped."""
    header = "".join(f"<th>{escape(label)}</th>" for label in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_words(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return (
        f"<table><caption>{escape(caption)}</caption>"
        f"<thead><tr>{header}</tr></thead><tbody>{body}</tbody></table>"
    )


def _words(cell: object) -> str:
    if isinstance(cell, dict):
        return str(cell.get("text", ""))
    return "" if cell is None else str(cell)
