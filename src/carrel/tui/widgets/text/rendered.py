"""A Rich renderable that is drawn once per width, however often the screen is laid out."""

from rich.console import RenderableType
from rich.segment import Segment
from textual.geometry import Size
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from carrel.tui.widgets.text.pane import Findable
from carrel.tui.widgets.text.selecting import extract_selection, make_selectable


class _Drawn(Widget):
    def __init__(self, shown: RenderableType) -> None:
        super().__init__()
        self._shown = shown
        # Make strips for visible lines only: each has many objects for the collector to scan.
        self._lines: list[list[Segment]] = []
        self._drawn: tuple[object, ...] = ()

    def update(self, shown: RenderableType) -> None:
        """Replace the content."""
        self._shown = shown
        height, self._drawn = len(self._lines), ()
        # Laying out a screen costs more than drawing a few lines: the height rarely changes.
        same = bool(self.size.width) and len(self._draw_lines(self.size.width)) == height
        self.refresh(layout=not same)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._draw_lines(width))

    def render_line(self, y: int) -> Strip:
        width, style = self.size.width, self.rich_style
        lines = self._draw_lines(width)
        if y >= len(lines):
            return Strip.blank(width, style)
        return make_selectable(self, Strip(Segment.apply_style(lines[y], style), width), y)

    def get_selection(self, selection: Selection) -> tuple[str, str]:
        lines = self._draw_lines(self.size.width)
        return extract_selection(selection, len(lines), lambda y: Strip(lines[y]).text)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._drawn = ()

    def _draw_lines(self, width: int) -> list[list[Segment]]:
        drawn = (width, self.app.theme)
        if drawn != self._drawn:
            console = self.app.console
            options = console.options.update(width=width, height=None, highlight=False)
            self._lines = console.render_lines(self._shown, options, pad=True)
            self._drawn = drawn
        return self._lines


class Rendered(Findable, _Drawn):
    """Height follows the content. A `Static` would render it twice: for height and for lines."""

    DEFAULT_CSS = "Rendered { height: auto; }"
