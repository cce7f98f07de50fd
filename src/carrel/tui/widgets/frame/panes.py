"""Panes side by side, with movable borders; one of them may fill the window."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from textual import events
from textual.containers import Horizontal
from textual.message import Message
from textual.widget import Widget

LEAST = 12
"""Least width of a pane in cells."""


class Panes(Horizontal):
    """Panes from left to right. While several are visible, widths in percent apply."""

    @dataclass
    class Resized(Message):
        """A border was moved."""

        widths: Mapping[int, float]
        """Widths in percent by pane index, from 0."""

    def on_mount(self) -> None:
        self._widths: dict[int, float] = {}
        self._alone = False
        self._dragged: tuple[Widget, Widget] | None = None

    @property
    def seen(self) -> list[Widget]:
        """The visible panes from left to right."""
        return [pane for pane in self.children if pane.display and pane.region.width]

    def lay_out(self, widths: Mapping[int, float], *, alone: bool) -> None:
        """Set the panes' widths in percent; ignored while one pane is visible `alone`."""
        if (dict(widths), alone) == (self._widths, self._alone):
            return
        self._widths, self._alone = dict(widths), alone
        for number, pane in enumerate(self.children):
            width = None if alone else self._widths.get(number)
            for rule in ("width", "min_width", "max_width"):
                pane.styles.clear_rule(rule)
            if width is not None:
                pane.styles.width = f"{width}%"
                pane.styles.min_width = LEAST
                pane.styles.max_width = "100%"

    def widen(self, pane: Widget, cells: int) -> None:
        """Move the right border of a pane, or the left border of the last one."""
        seen = self.seen
        if pane not in seen or len(seen) < 2:
            return
        at = seen.index(pane)
        if at + 1 < len(seen):
            self._move(pane, seen[at + 1], cells)
        else:
            self._move(seen[at - 1], pane, -cells)

    def _move(self, left: Widget, right: Widget, cells: int) -> None:
        """Move the border between two panes to the right by `cells`."""
        both = left.region.width + right.region.width
        width = max(LEAST, min(left.region.width + cells, both - LEAST))
        if width == left.region.width:
            return
        panes, whole = list(self.children), self.size.width
        widths = dict(self._widths)
        # One pane always takes the remaining width.
        free = next((one for one in (right, left) if _takes_the_rest(one)), right)
        if free is not left:
            widths[panes.index(left)] = _percent(width, whole)
        if free is not right or not any(map(_takes_the_rest, self.seen)):
            widths[panes.index(right)] = _percent(both - width, whole)
        self.lay_out(widths, alone=False)
        self.post_message(self.Resized(widths))

    # The mouse

    def on_mouse_down(self, event: events.MouseDown) -> None:
        for left, right in zip(self.seen, self.seen[1:], strict=False):
            if event.screen_x in (left.region.right - 1, right.region.x):
                self._dragged = left, right
                self.capture_mouse()
                self.screen.clear_selection()
                event.stop()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._dragged is not None:
            left, right = self._dragged
            self._move(left, right, event.screen_x + 1 - left.region.right)

    def on_mouse_up(self) -> None:
        if self._dragged is not None:
            self._dragged = None
            self.release_mouse()


def _takes_the_rest(pane: Widget) -> bool:
    width = pane.styles.width
    return width is not None and width.is_fraction


def _percent(width: int, whole: int) -> float:
    """Return a share in percent, rounded up because fractions of a cell are cut off."""
    return ceil(100_000 * width / whole) / 1000
