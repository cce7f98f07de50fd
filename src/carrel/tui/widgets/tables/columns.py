"""The columns of a table, and how wide each is drawn."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from textual.content import Content

from carrel.store.layout.state import TableLayout

GAP = 2
"""Cells between two columns; as many hold the cursor's mark on the left."""


@dataclass(frozen=True)
class Column:
    """A column. Width 0 takes what the others leave, `least` or more.

    When it gets narrow the columns of the highest rank go first; rank 0 stays. One with a
    `name` can be laid out; one that `sorts` can be sorted by; one of `paths` drops folders first.
    """

    title: str
    width: int = 0
    least: int = 22
    rank: int = 0
    right: bool = False
    name: str = ""
    sorts: bool = True
    paths: bool = False
    hidden: bool = False

    def fitted(self, words: Content, width: int) -> Content:
        """Return a cell of this column in as many cells, at the column's side."""
        if self.paths:
            words = _without_folders(words, width)
        words = words.truncate(width, ellipsis=True)
        missing = width - words.cell_length
        return words.pad_left(missing) if self.right else words.pad_right(missing)


def _without_folders(path: Content, width: int) -> Content:
    """Return a path without its first folders where it is too wide: the last part names the
    file.
    """
    if path.cell_length <= width:
        return path
    ends = [path[at:] for at, sign in enumerate(path.plain) if sign == "/"]
    fitting = next((end for end in ends if end.cell_length < width), None)
    if fitting is not None:
        return Content("…") + fitting
    return ends[-1][1:] if ends else path


def lay_out_columns(columns: Sequence[Column], layout: TableLayout) -> list[Column]:
    """Return the columns with the widths of a layout; those that it hides are marked so."""
    changed = []
    for column in columns:
        width = layout.widths.get(column.name, column.width)
        if layout.sort is not None and column.name == layout.sort.column and width:
            width = max(width, len(column.title) + 1)  # room for the arrow
        hidden = bool(column.name) and column.name in layout.hidden
        changed.append(replace(column, width=width, hidden=hidden))
    return changed


def column_widths(columns: Sequence[Column], width: int) -> list[int]:
    """Return the width of each column, in cells; 0 for those that find no room."""
    shown = [column for column in columns if not column.hidden]

    def needed() -> int:
        return sum((column.width or column.least) + GAP for column in shown) - GAP

    while len(shown) > 1 and needed() > width:
        last = max(reversed(shown), key=lambda column: column.rank)
        if not last.rank:
            break
        shown.remove(last)
    free = [column for column in shown if not column.width]
    left = width - sum(column.width for column in shown) - GAP * (len(shown) - 1)
    each, rest = divmod(max(left, 0), len(free)) if free else (0, 0)
    widths = []
    for column in columns:
        if column not in shown:
            widths.append(0)
        elif column.width:
            widths.append(column.width)
        else:
            widths.append(each + (rest if column is free[0] else 0))
    return widths
