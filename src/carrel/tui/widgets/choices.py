"""Things of which any number may be chosen."""

from rich.segment import Segment
from textual.strip import Strip
from textual.widgets import SelectionList


class Choices(SelectionList[str]):
    """A list whose chosen rows have a mark of their own, not only another colour."""

    DEFAULT_CSS = """
    Choices > .selection-list--button, Choices > .selection-list--button-highlighted {
        color: $muted; background: transparent;
    }
    Choices > .selection-list--button-selected,
    Choices > .selection-list--button-selected-highlighted {
        color: $accent; background: transparent; text-style: bold;
    }
    """

    def render_line(self, y: int) -> Strip:
        line = super().render_line(y)
        index = self.scroll_offset.y + y
        if not 0 <= index < self.option_count:
            return line
        chosen = self.get_option_at_index(index).value in self.selected
        # Textual draws the same sides and the same X for every row.
        segments = list(line)
        marks = zip(segments, ("[", "✓" if chosen else " ", "]"), strict=False)
        drawn = [Segment(mark, segment.style) for segment, mark in marks]
        return Strip([*drawn, *segments[3:]], line.cell_length)
