"""Mouse selection in widgets that draw their own lines."""

from collections.abc import Callable

from rich.cells import cell_len
from rich.segment import Segment
from textual.geometry import Offset
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget


def make_selectable(widget: Widget, strip: Strip, line: int) -> Strip:
    """Return a drawn line with its selected part highlighted.

    `line` is its number in the whole text, from 0.
    """
    selection = widget.text_selection
    span = None if selection is None else selection.get_span(line)
    if span is not None:
        text = strip.text
        start, end = (cell_len(text[:at]) if at >= 0 else strip.cell_length for at in span)
        style = widget.screen.get_component_rich_style("screen--selection")
        chosen = Strip(Segment.apply_style(strip.crop(start, end), post_style=style))
        strip = Strip.join([strip.crop(0, start), chosen, strip.crop(end)])
    return strip.apply_offsets(0, line)


def extract_selection(
    selection: Selection, lines: int, text: Callable[[int], str]
) -> tuple[str, str]:
    """Return the selected text of a widget with this many lines, as `Widget.get_selection` does."""
    first = 0 if selection.start is None else selection.start.y
    last = lines - 1 if selection.end is None else min(selection.end.y, lines - 1)
    here = [text(line).rstrip() for line in range(first, last + 1)]
    start, end = (
        None if offset is None else offset - Offset(0, first)
        for offset in (selection.start, selection.end)
    )
    return Selection(start, end).extract("\n".join(here)), "\n"
