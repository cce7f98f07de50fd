"""A list with multiple selection."""

from rich.segment import Segment
from textual.strip import Strip
from textual.widgets import SelectionList


class Choices(SelectionList[str]):
    """A list that shows chosen rows by a mark, not only by colour."""

    DEFAULT_CSS = """
    Choices > .selection-list--button, Choices:focus > .selection-list--button,
    Choices > .selection-list--button-highlighted,
    Choices:focus > .selection-list--button-highlighted {
        color: $muted; background: $background; text-style: none;
    }
    Choices > .selection-list--button-selected, Choices:focus > .selection-list--button-selected,
    Choices > .selection-list--button-selected-highlighted,
    Choices:focus > .selection-list--button-selected-highlighted {
        color: $accent; background: $background; text-style: bold;
    }
    """

    def render_line(self, y: int) -> Strip:
        line = super().render_line(y)
        index = self.scroll_offset.y + y
        if not 0 <= index < self.option_count:
            return line
        chosen = self.get_option_at_index(index).value in self.selected
        # Textual draws the same X in every row, in different colours only.
        segments = list(line)
        mark = Segment("[✓]" if chosen else "[ ]", segments[1].style)
        return Strip([mark, *segments[3:]], line.cell_length)
