"""Something of Rich that is drawn once for each width, however often the screen is laid out."""

from rich.console import RenderableType
from rich.segment import Segment
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget


class Rendered(Widget):
    """As high as what it shows. A `Static` would draw it for its height and again for its lines."""

    DEFAULT_CSS = """
    Rendered { height: auto; }
    """

    def __init__(self, shown: RenderableType) -> None:
        super().__init__()
        self._shown = shown
        self._lines: list[Strip] = []
        self._drawn: tuple[object, ...] = ()

    def update(self, shown: RenderableType, *, layout: bool = True) -> None:
        """Shows something else; without `layout` it is as high as what was there."""
        self._shown = shown
        self._drawn = ()
        self.refresh(layout=layout)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._strips(width))

    def render_line(self, y: int) -> Strip:
        lines = self._strips(self.size.width)
        return lines[y] if y < len(lines) else Strip.blank(self.size.width, self.rich_style)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._drawn = ()

    def _strips(self, width: int) -> list[Strip]:
        style = self.rich_style
        drawn = (width, style, self.app.theme)
        if drawn != self._drawn:
            console = self.app.console
            options = console.options.update(width=width, height=None, highlight=False)
            lines = console.render_lines(self._shown, options, pad=True)
            self._lines = [Strip(Segment.apply_style(line, style), width) for line in lines]
            self._drawn = drawn
        return self._lines
