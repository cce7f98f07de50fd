"""Groups of HTML elements that the readers distinguish."""

from typing import Any

HIDDEN = frozenset([
    "audio", "button", "canvas", "dialog", "head", "iframe", "math", "noscript", "object",
    "option", "script", "select", "style", "svg", "template", "textarea", "video",
])  # fmt: skip
"""Elements that are hidden, or show no text of the document."""
BLOCKS = frozenset([
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "div", "dl",
    "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6",
    "header", "hr", "html", "li", "main", "nav", "ol", "p", "pre", "section", "summary", "table",
    "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
])  # fmt: skip
"""Block-level elements."""
MAX_DEPTH = 200
"""Deepest nesting of elements; deeper ones are left out."""


def name_of(element: Any) -> str:
    """Return an element's tag name without its namespace in lower case, empty for a comment."""
    tag = element.tag
    return tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""


def holds_blocks(element: Any) -> bool:
    """Return whether an element contains block-level elements."""
    return any(name_of(inner) in BLOCKS for inner in element.iterdescendants())
