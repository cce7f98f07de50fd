"""The panels' JavaScript and CSS, as the texts that travel to the browser.

They are strings, not paths: a widget whose module is a path is never collected.
"""

from functools import cache
from importlib.resources import files


@cache
def _text(name: str) -> str:
    return files("carrel.notebook").joinpath("static", name).read_text("utf-8")


def module(panel: str) -> str:
    """The panel's module, the shared part joined in front: it cannot import a neighbour."""
    return _text("_shared.js") + "\n" + _text(f"{panel}.js")


def style(panel: str) -> str:
    """The panel's style sheet, the shared part first."""
    return _text("_shared.css") + "\n" + _text(f"{panel}.css")
