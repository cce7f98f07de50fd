"""Text longer than its pane, moved over with the keys that move over tables."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll


class TextPane(VerticalScroll, can_focus=True):
    """A pane of text."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", "Down", show=False, id="scroll.down"),
        Binding("k", "scroll_up", "Up", show=False, id="scroll.up"),
        Binding("g", "scroll_home", "Top", show=False, id="scroll.top"),
        Binding("G", "scroll_end", "Bottom", show=False, id="scroll.bottom"),
        Binding("ctrl+d", "half(1)", "Half a page down", show=False, id="scroll.half_down"),
        Binding("ctrl+u", "half(-1)", "Half a page up", show=False, id="scroll.half_up"),
    ]

    def action_half(self, way: int) -> None:
        self.scroll_relative(y=way * max(self.size.height // 2, 1), animate=False)
