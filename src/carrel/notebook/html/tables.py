"""Small static HTML for cells without a live panel."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from html import escape


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table of texts and badges as HTML with every text escaped."""
    header = "".join(f"<th>{escape(label)}</th>" for label in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_words(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return (
        f"<table><caption>{escape(caption)}</caption>"
        f"<thead><tr>{header}</tr></thead><tbody>{body}</tbody></table>"
    )


def moment(at: datetime | float) -> str:
    """Return an absolute time for a saved page: `22 Nov 2026, 12:15`."""
    at = at if isinstance(at, datetime) else datetime.fromtimestamp(at)
    at = at.astimezone()
    return f"{at.day} {at:%b %Y, %H:%M}" if at.timestamp() else "–"


def _words(cell: object) -> str:
    if isinstance(cell, dict):
        return str(cell.get("text", ""))
    return "" if cell is None else str(cell)
