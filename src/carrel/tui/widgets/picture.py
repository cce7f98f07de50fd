"""A page's picture, in whatever way the terminal can show one."""

import io
import os
import struct
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, ClassVar, Literal

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import ScrollableContainer
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from carrel.tui.steady import Steady
from carrel.tui.widgets.note import Note

Protocol = Literal["kitty", "sixel", "halfblock"]

DETAIL = 4
"""How many pixels are asked for in each direction for one that is drawn: print stays sharper."""

PALE = 80
"""A pixel whose strongest and weakest colour differ by less is as good as grey."""


def picture_protocol(environ: Mapping[str, str]) -> Protocol:
    """How this terminal shows pictures, told from its environment alone.

    Asking the terminal would stall on one that never answers. Inside a multiplexer
    only half-blocks are safe.
    """
    term = environ.get("TERM", "")
    program = environ.get("TERM_PROGRAM", "").lower()
    if "TMUX" in environ or "ZELLIJ" in environ or term.startswith(("tmux", "screen")):
        return "halfblock"
    if "KITTY_WINDOW_ID" in environ or term in ("xterm-kitty", "xterm-ghostty"):
        return "kitty"
    if program == "ghostty":
        return "kitty"
    if program in ("wezterm", "iterm.app", "mintty") or "KONSOLE_VERSION" in environ:
        return "sixel"
    if term.startswith(("foot", "mlterm", "contour")):
        return "sixel"
    return "halfblock"


class HalfBlocks(ScrollView):
    """Pixels drawn two to a cell."""

    DEFAULT_CSS = """
    HalfBlocks { width: auto; height: auto; overflow: hidden hidden; }
    """

    def __init__(self, pixels: bytes, width: int, height: int) -> None:
        super().__init__()
        self._pixels = pixels
        self._width = width
        self._height = height
        self.virtual_size = Size(width, (height + 1) // 2)

    def render_line(self, y: int) -> Strip:
        stride = self._width * 3
        upper = self._pixels[2 * y * stride : (2 * y + 1) * stride]
        lower = self._pixels[(2 * y + 1) * stride : (2 * y + 2) * stride] or upper
        if not upper:
            return Strip.blank(self._width)
        segments: list[Segment] = []
        start = 0
        for x in range(3, stride + 3, 3):
            if upper[x : x + 3] != upper[start : start + 3] or (
                lower[x : x + 3] != lower[start : start + 3]
            ):
                style = _two_colours(upper[start : start + 3], lower[start : start + 3])
                segments.append(Segment("▀" * ((x - start) // 3), style))
                start = x
        return Strip(segments, self._width)


@lru_cache(maxsize=8192)
def _two_colours(upper: bytes, lower: bytes) -> Style:
    return Style(color=Color.from_rgb(*upper), bgcolor=Color.from_rgb(*lower))


class PagePicture(Steady, ScrollableContainer, can_focus=True):
    """A pane that shows a PNG as wide as itself, larger with zoom, and scrolls over it."""

    DEFAULT_CSS = """
    PagePicture { align-horizontal: center; scrollbar-gutter: stable; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", "Down", show=False, id="picture.down"),
        Binding("k", "scroll_up", "Up", show=False, id="picture.up"),
        Binding("g", "scroll_home", "Top", show=False, id="picture.top"),
        Binding("G", "scroll_end", "Bottom", show=False, id="picture.bottom"),
    ]

    class Resized(Message):
        """The pane has another size: a page fits it in another way."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, classes="pane")
        self._protocol: Protocol = "halfblock"
        self.zoom = 1.0

    def compose(self) -> ComposeResult:
        yield Note(Content(""))

    def on_mount(self) -> None:
        if not self.app.is_headless:
            self._protocol = picture_protocol(os.environ)

    def on_resize(self) -> None:
        self.post_message(self.Resized())

    def wanted_width(self) -> int:
        """How many pixels wide the page should be drawn for this pane."""
        cells = max(int((self.scrollable_content_region.width or 60) * self.zoom), 10)
        return cells * (DETAIL if self._protocol == "halfblock" else _cell_pixels()[0])

    async def show(self, png: bytes) -> None:
        """Shows the picture instead of what was shown."""
        await self._replace(
            self._halfblocks(png) if self._protocol == "halfblock" else self._image(png)
        )

    async def explain(self, why: Content) -> None:
        """Shows a sentence where a picture would be."""
        await self._replace(Note(why))

    async def _replace(self, widget: Widget) -> None:
        async with self.batch():
            await self.remove_children()
            await self.mount(widget)

    def _halfblocks(self, png: bytes) -> Widget:
        from PIL import Image

        with Image.open(io.BytesIO(png)) as picture:
            width = max(picture.width // DETAIL, 1)
            height = max(round(picture.height * width / picture.width), 1)
            small = picture.convert("RGB").resize((width, height), Image.Resampling.BOX)
            drawn = _darken(small)
            if self.app.console.color_system != "truecolor":
                drawn = _grey_where_pale(drawn)
            return HalfBlocks(drawn.tobytes(), width, height)

    def _image(self, png: bytes) -> Widget:
        from PIL import Image

        kitty, sixel = _image_widgets()
        with Image.open(io.BytesIO(png)) as picture:
            height_of_width = picture.height / picture.width
        across, down = _cell_pixels()
        cells = max(int(self.scrollable_content_region.width * self.zoom), 10)
        widget: Widget = (kitty if self._protocol == "kitty" else sixel)(io.BytesIO(png))
        widget.styles.width = cells
        widget.styles.height = max(round(cells * across * height_of_width / down), 1)
        return widget


def _darken(picture: Any) -> Any:
    # Thin print turns pale grey when reduced; this gives it back most of its weight.
    curve = [round(255 * (value / 255) ** 1.6) for value in range(256)]
    return picture.point(curve * 3)


def _grey_where_pale(picture: Any) -> Any:
    # 256 colours have many greys but few pale tints: paper would turn pink and green.
    from PIL import ImageChops

    red, green, blue = picture.split()
    most = ImageChops.lighter(ImageChops.lighter(red, green), blue)
    least = ImageChops.darker(ImageChops.darker(red, green), blue)
    pale = ImageChops.subtract(most, least).point(lambda chroma: 255 * (chroma < PALE))
    picture.paste(picture.convert("L").convert("RGB"), mask=pale)
    return picture


def _cell_pixels() -> tuple[int, int]:
    """A cell's width and height in pixels, as the kernel knows them, else a usual size."""
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


@lru_cache(maxsize=1)
def _image_widgets() -> tuple[type[Any], type[Any]]:
    width, height = _cell_pixels()
    os.environ.setdefault("TEXTUAL_CELL_WIDTH", str(width))
    os.environ.setdefault("TEXTUAL_CELL_HEIGHT", str(height))
    with _silent_terminal():
        from textual_image.widget import SixelImage, TGPImage
    return TGPImage, SixelImage


@contextmanager
def _silent_terminal() -> Iterator[None]:
    """Keeps textual-image from asking the terminal, whose answers Textual would read as keys."""
    stdout = sys.__stdout__
    sys.__stdout__ = io.StringIO()  # type: ignore[misc,assignment]
    try:
        yield
    finally:
        sys.__stdout__ = stdout  # type: ignore[misc]
