"""Marked stretches of a page's Markdown as HTML."""

import re

from carrel.notebook.markdown import to_html
from carrel.store.documents.marks import MarkRole, runs, unmarked

# The renderer writes no ">" within a tag but at its end.
_TAG = re.compile(r"(<[^>]*>)")


def to_marked_html(markdown: str) -> str:
    """Markdown as safe HTML, each marked stretch a `mark` element of the class of its role."""
    parts: list[str] = []
    role: MarkRole | None = None
    for part in _TAG.split(to_html(markdown)):
        if part.startswith("<"):
            parts.append(unmarked(part))
            continue
        for piece, is_now in runs(part, role):
            role = is_now
            shown = role and piece.strip()
            parts.append(f'<mark class="{role}">{piece}</mark>' if shown else piece)
    return "".join(parts)
