"""The terminal's picture protocol, detected without a query."""

import io
import os
import struct
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Literal

from carrel.config.settings import Images

PictureProtocol = Literal["kitty", "sixel", "halfblock"]


def picture_protocol(environ: Mapping[str, str], wanted: Images = "auto") -> PictureProtocol:
    """Return the protocol of the settings, else the one that the environment suggests.

    A query would stall on a terminal that never answers. Inside a multiplexer only half-blocks are
    safe.
    """
    if wanted in ("kitty", "sixel", "halfblock"):
        return wanted
    term = environ.get("TERM", "")
    program = environ.get("TERM_PROGRAM", "").lower()
    if "TMUX" in environ or "ZELLIJ" in environ or term.startswith(("tmux", "screen")):
        return "halfblock"
    if "KITTY_WINDOW_ID" in environ or term in ("xterm-kitty", "xterm-ghostty"):
        return "kitty"
    if program == "ghostty":
        return "kitty"
    # Konsole knows only the older part of kitty's protocol.
    if program in ("wezterm", "iterm.app", "mintty") or "KONSOLE_VERSION" in environ:
        return "sixel"
    if term.startswith(("foot", "mlterm", "contour")):
        return "sixel"
    return "halfblock"


@lru_cache(maxsize=1)
def image_widgets() -> tuple[type[Any], type[Any]]:
    """Return textual-image's widgets for kitty's protocol and for sixel."""
    width, height = cell_pixels()
    # textual-image would ask the terminal, and take typed keys for an answer that never comes.
    os.environ.setdefault("TEXTUAL_CELL_WIDTH", str(width))
    os.environ.setdefault("TEXTUAL_CELL_HEIGHT", str(height))
    with _silent_terminal():
        from textual_image.widget import SixelImage, TGPImage
    return TGPImage, SixelImage


def cell_pixels() -> tuple[int, int]:
    """Return a cell's width and height in pixels from the kernel, else a typical size."""
    try:
        import fcntl
        import termios

        answer = fcntl.ioctl(sys.__stdout__, termios.TIOCGWINSZ, b"\0" * 8)  # type: ignore[arg-type]
        rows, columns, width, height = struct.unpack("HHHH", answer)
        if rows and columns and width and height:
            return width // columns, height // rows
    except (ImportError, OSError, ValueError):
        pass
    return 10, 20


@contextmanager
def _silent_terminal() -> Iterator[None]:
    """Keep textual-image from querying the terminal, whose answers Textual would read as keys.

    It queries during import, through `sys.__stdout__`, and has no switch against it.
    """
    stdout = sys.__stdout__
    sys.__stdout__ = io.StringIO()  # type: ignore[misc,assignment]
    try:
        yield
    finally:
        sys.__stdout__ = stdout  # type: ignore[misc]
