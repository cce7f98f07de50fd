"""A page's picture in the terminal's protocol."""

import io
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Self

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import ScrollableContainer
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from carrel.config.settings import Settings
from carrel.store.documents.blocks import Rect
from carrel.tui.terminal.graphics import (
    PictureProtocol,
    cell_pixels,
    image_widgets,
    picture_protocol,
)
from carrel.tui.terminal.textual_private import steady
from carrel.tui.widgets.text.pane import Note

DETAIL = 4
"""Requested pixels per drawn pixel in each direction, for sharper print."""

PALE_FRAME = 0.35
"""Opacity of an unmarked frame."""

PALE = 80
"""Largest difference between a grey-like pixel's strongest and weakest colour."""


class HalfBlocks(ScrollView, can_focus=False):
    """Pixels drawn two to a cell."""

    DEFAULT_CSS = "HalfBlocks { width: auto; height: auto; overflow: hidden hidden; }"

    def __init__(self, picture: Any) -> None:
        super().__init__()
        self._pixels = b""
        self.draw(picture)

    def fits(self, picture: Any) -> bool:
        """Return whether an image takes the same room as the shown one."""
        return bool((picture.width, (picture.height + 1) // 2) == self.virtual_size)

    def draw(self, picture: Any) -> None:
        """Replace the shown picture by an RGB image of one pixel a column."""
        before, self._pixels = self._pixels, picture.tobytes()
        self._width, height = picture.size
        size = Size(self._width, (height + 1) // 2)
        if size != self.virtual_size:
            self.virtual_size = size
            self.refresh()
            return
        line = 2 * 3 * self._width
        for y in range(size.height):
            if self._pixels[y * line : (y + 1) * line] != before[y * line : (y + 1) * line]:
                self.refresh(Region(0, y, self._width, 1))

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


@dataclass(frozen=True)
class PictureFrame:
    """A box over the picture, in fractions of its width and height.

    The marked frame is drawn full, the others pale, doubtful ones dashed: colour is never the only
    sign. `heat` is the strength of the tint, from 0 to 1.
    """

    rect: Rect
    colour: str
    marked: bool = False
    dashed: bool = False
    heat: float = 0.0


@steady
class PagePicture(ScrollableContainer, can_focus=True):
    """A scrolling pane that shows a PNG of a given width in columns, with frames over it."""

    DEFAULT_CSS = "PagePicture { align-horizontal: center; scrollbar-gutter: stable; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("g", "scroll_home", "Top", show=False, id="picture.top"),
        Binding("G", "scroll_end", "Bottom", show=False, id="picture.bottom"),
    ]

    class Resized(Message):
        """The pane was resized: the page fits differently."""

    @dataclass
    class Pointed(Message):
        """The picture was clicked, at a point in fractions of its width and height."""

        x: float
        y: float

    def __init__(self, *, id: str | None = None, classes: str = "pane") -> None:
        super().__init__(id=id, classes=classes)
        self._protocol: PictureProtocol = "halfblock"
        self._off = False
        self._png = b""
        self._columns = 0
        self._plain: Any = None
        self._frames: tuple[PictureFrame, ...] = ()
        self._titling = False
        """Whether only the border changes."""

    def compose(self) -> ComposeResult:
        yield Note(Content(""))

    def on_mount(self) -> None:
        settings: Settings = getattr(self.app, "settings", Settings())
        self._off = settings.images == "off"
        if not self.app.is_headless:
            self._protocol = picture_protocol(os.environ, settings.images)

    def on_resize(self) -> None:
        self.post_message(self.Resized())

    @property
    def columns(self) -> int:
        """The width of a fitting picture, in columns."""
        return max(self.scrollable_content_region.width or 60, 10)

    def pixels(self, columns: int) -> int:
        """Return the width in pixels of a picture of `columns` columns."""
        return columns * (DETAIL if self._protocol == "halfblock" else cell_pixels()[0])

    def columns_for(self, pixels: float) -> int:
        """Return the width in columns that shows `pixels` pixels one to one."""
        return math.ceil(pixels / self._cell[0])

    @property
    def _cell(self) -> tuple[int, int]:
        """The width and height of a cell in drawn pixels."""
        return (1, 2) if self._protocol == "halfblock" else cell_pixels()

    def rows_of(self, png: bytes, columns: int) -> int:
        """Return the height in rows of a picture of `columns` columns."""
        from PIL import Image

        across, down = self._cell
        with Image.open(io.BytesIO(png)) as picture:
            return math.ceil(columns * across * picture.height / picture.width / down)

    def columns_of_whole(self, png: bytes) -> int:
        """Return the width in columns at which the pane shows a whole picture."""
        from PIL import Image

        across, down = self._cell
        with Image.open(io.BytesIO(png)) as picture:
            height = self.scrollable_content_region.height * down
            return int(height * picture.width / picture.height / across)

    def set_titles(self, above: Content, below: Content) -> None:
        """Replace the words on the border; the picture within is not drawn anew."""
        self._titling = True
        self.border_title, self.border_subtitle = above, below
        self._titling = False

    def refresh(self, *regions: Region, **options: bool) -> Self:
        if self._titling:
            frame = self.outer_size.region.translate(-self.content_offset)
            regions = (frame.split_horizontal(1)[0], frame.split_horizontal(-1)[1])
        return super().refresh(*regions, **options)

    async def show(self, png: bytes, columns: int = 0, frames: Sequence[PictureFrame] = ()) -> None:
        """Replace the picture, `columns` wide, or in its own width with 0."""
        if self._off:
            await self.explain(Content("Pictures are off: “images” in the settings."))
            return
        self._png, self._columns, self._frames = png, columns, tuple(frames)
        if self._protocol == "halfblock":
            self._plain = self._reduce(png, columns)
            drawn = _draw_framed(self._plain, self._frames, 1)
            # There is none where a replacement was cancelled.
            child = next(iter(self.children), None)
            if isinstance(child, HalfBlocks) and child.fits(drawn):
                child.draw(drawn)
            else:
                await self._replace(HalfBlocks(drawn))
        else:
            await self._replace(self._image())

    async def frame(self, frames: Sequence[PictureFrame]) -> None:
        """Replace the frames over the same picture."""
        if not self._png or tuple(frames) == self._frames:
            return
        self._frames = tuple(frames)
        if self._protocol != "halfblock":
            await self._replace(self._image())
        elif isinstance(child := self.children[0], HalfBlocks):
            child.draw(_draw_framed(self._plain, self._frames, 1))

    def reveal(self, rect: Rect) -> None:
        """Scroll a part of the picture into view."""
        child = self.children[0]
        width, height = child.virtual_region.size
        across, down = rect.left * width, rect.top * height
        size = (math.ceil(rect.width * width), math.ceil(rect.height * height))
        place = Region(int(across), int(down), *size).translate(child.virtual_region.offset)
        self.scroll_to_region(place, animate=False, force=True)

    async def explain(self, why: Content) -> None:
        """Show a sentence in place of a picture."""
        self._png = b""
        await self._replace(Note(why))

    def on_click(self, event: events.Click) -> None:
        child = self.children[0]
        if self._png and child.region.contains(*event.screen_offset):
            x, y = event.screen_offset - child.region.offset
            width, height = child.region.size
            self.post_message(self.Pointed((x + 0.5) / width, (y + 0.5) / height))

    async def _replace(self, widget: Widget) -> None:
        async with self.batch():
            await self.remove_children()
            await self.mount(widget)

    def _reduce(self, png: bytes, columns: int) -> Any:
        from PIL import Image

        with Image.open(io.BytesIO(png)) as picture:
            width = columns or max(picture.width // DETAIL, 1)
            height = max(round(picture.height * width / picture.width), 1)
            small = picture.convert("RGB").resize((width, height), Image.Resampling.BOX)
        drawn = _darken(small)
        truecolor = self.app.console.color_system == "truecolor"
        return drawn if truecolor else _grey_where_pale(drawn)

    def _image(self) -> Widget:
        from PIL import Image

        kitty, sixel = image_widgets()
        with Image.open(io.BytesIO(self._png)) as picture:
            framed = _draw_framed(picture.convert("RGB"), self._frames, 2)
        across, down = cell_pixels()
        cells = self._columns or self.columns
        widget: Widget = (kitty if self._protocol == "kitty" else sixel)(framed)
        widget.styles.width = cells
        widget.styles.height = max(round(cells * across * framed.height / framed.width / down), 1)
        return widget


def _draw_framed(picture: Any, frames: Sequence[PictureFrame], line: int) -> Any:
    """Return a copy of the picture with frames drawn around their parts, not over them."""
    from PIL import Image, ImageDraw

    picture = _tint(picture, frames)
    plain = picture.copy()
    pale = [frame for frame in frames if not (frame.marked or frame.heat)]
    _draw_frames(ImageDraw.Draw(plain), pale, plain, line)
    # Print stays visible below the many frames; the marked one must stand out.
    framed = Image.blend(picture, plain, PALE_FRAME)
    marked = [frame for frame in frames if frame.marked]
    for frame in marked:
        # Outside of it are its neighbours' frames.
        left, top, right, bottom = _edges(frame.rect, picture)
        inside = (left, top, right + 1, bottom + 1)
        framed.paste(picture.crop(inside), inside)
    _draw_frames(ImageDraw.Draw(framed), marked, framed, line)
    return framed


def _tint(picture: Any, frames: Sequence[PictureFrame]) -> Any:
    """Return a copy of the picture with warm parts tinted; print keeps its darkness."""
    from PIL import Image, ImageChops

    heated = picture.copy()
    for frame in frames:
        left, top, right, bottom = _edges(frame.rect, picture)
        if frame.heat and right > left and bottom > top:
            part = picture.crop((left, top, right, bottom))
            tint = Image.new("RGB", part.size, frame.colour)
            warm = Image.blend(part, ImageChops.multiply(part, tint), frame.heat)
            heated.paste(warm, (left, top))
    return heated


def _edges(rect: Rect, picture: Any) -> tuple[int, int, int, int]:
    """Return the corners of a part of a picture in pixels."""
    width, height = picture.size
    return (
        int(rect.left * width),
        int(rect.top * height),
        int((rect.left + rect.width) * width),
        int((rect.top + rect.height) * height),
    )


def _draw_frames(draw: Any, frames: Iterable[PictureFrame], picture: Any, line: int) -> None:
    width, height = picture.size
    for frame in frames:
        left, top, right, bottom = _edges(frame.rect, picture)
        for out in range(1, line + 1):
            # A part that reaches beyond the page would lack a frame on that side.
            edges = (
                max(left - out, 0),
                max(top - out, 0),
                min(right + out, width - 1),
                min(bottom + out, height - 1),
            )
            _rectangle(draw, edges, frame.colour, dash=3 * line if frame.dashed else 0)


def _rectangle(draw: Any, edges: tuple[int, int, int, int], colour: str, *, dash: int) -> None:
    left, top, right, bottom = edges
    if not dash or right <= left or bottom <= top:
        draw.rectangle((left, top, max(right, left), max(bottom, top)), outline=colour)
        return
    for x in range(left, right, 2 * dash):
        for y in (top, bottom):
            draw.line((x, y, min(x + dash - 1, right), y), fill=colour)
    for y in range(top, bottom, 2 * dash):
        for x in (left, right):
            draw.line((x, y, x, min(y + dash - 1, bottom)), fill=colour)


def _darken(picture: Any) -> Any:
    # Thin print turns pale grey when reduced; this restores most of its weight.
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
