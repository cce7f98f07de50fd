"""The panels' JavaScript and CSS as text for the browser.

Strings, not paths: a widget whose module is a path is never garbage-collected.
"""

import json
import re
from functools import cache
from importlib.resources import files

from carrel.store import advice
from carrel.store.core.lists import TYPING_PAUSE

SHARED = ("_search", "_shared")
"""Modules and style sheets that every panel has."""

PARTS = {
    "activity": ("_grid", "_progress"),
    "agent": ("_grid", "_choices", "_changes"),
    "chat": ("_choices", "_uploads", "_compose", "_source"),
    "compare": ("_changes",),
    "document": ("_reading", "_corrections", "_pages"),
    "evals": ("_grid", "_progress"),
    "files": ("_details", "_grid", "_uploads", "_progress"),
    "library": ("_details", "_grid", "_choices", "_uploads", "_progress", "_folders"),
}
"""Shared modules and style sheets that a panel adds to its own."""

_LEFT_OUT = re.compile(r"^\s*(?:/\*\*.*?\*/|//[^\n]*)\n|^ +", re.DOTALL | re.MULTILINE)
"""Comments on lines of their own and indents: the module travels with every widget."""


@cache
def _text(name: str) -> str:
    return files("carrel.notebook").joinpath("static", name).read_text("utf-8")


def module(panel: str) -> str:
    """Return the panel's module with the shared parts in front, because it cannot import files."""
    pause = f"const TYPING_PAUSE_MS = {1000 * TYPING_PAUSE:.0f};\n"
    words = {name: text for name, text in vars(advice).items() if name.isupper()}
    return f"{pause}const ADVICE = {json.dumps(words)};\n" + _LEFT_OUT.sub("", _join(panel, "js"))


def style(panel: str) -> str:
    """Return the panel's style sheet, the shared parts first."""
    return _join(panel, "css")


def still_style() -> str:
    """Return the style sheet of a panel's static page."""
    return _text("still.css")


def _join(panel: str, kind: str) -> str:
    return "\n".join(_text(f"{name}.{kind}") for name in (*SHARED, *PARTS.get(panel, ()), panel))
