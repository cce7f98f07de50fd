"""Highlights marked ranges of a page's Markdown as HTML."""

import re

from carrel.notebook.html.markdown import to_html
from carrel.store.documents.marks import MarkRole, runs, unmarked

# The renderer writes ">" only at the end of a tag.
_TAG = re.compile(r"(<[^>]*>)")


def to_marked_html(markdown: str) -> str:
    """Markdown as safe HTML with each marked range in a `mark` element with the class of its
    role.
    """
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
