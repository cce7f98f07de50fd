"""The elements of HTML, as far as they are told apart."""

from typing import Any

HIDDEN = frozenset(
    [
        "script",
        "style",
        "head",
        "template",
        "noscript",
        "svg",
        "math",
        "iframe",
        "object",
        "canvas",
        "audio",
        "video",
        "select",
        "option",
        "button",
        "input",
        "textarea",
        "dialog",
    ]
)
"""Elements that are not shown, or that show no text of the document."""
BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "center",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "html",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
    ]
)
"""Elements that stand by themselves, not within a line."""
MAX_DEPTH = 200
"""Elements within each other; what lies deeper is left out."""


def name_of(element: Any) -> str:
    """The name of an element without its namespace, in small letters; empty for a comment."""
    tag = element.tag
    return tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""


def holds_blocks(element: Any) -> bool:
    """Whether some of what an element holds stands by itself."""
    return any(name_of(inner) in BLOCKS for inner in element.iterdescendants())
