"""The columns of a table, and their widths by content."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from textual.content import Content

from carrel.store.layout.state import TableLayout

STEP = 8
"""Step in cells by which a column without its own width grows."""
FAR = 10_000
"""Assumed width in cells of a column with unknown content."""
GAP = 2
"""Cells between two columns, and for the cursor's mark on the left."""


@dataclass(frozen=True)
class Column:
    """A column with a fixed `width`, or with 0 a width by its content and the room.

    Columns that need less give their room to others. In a narrow table the columns of the highest
    rank are hidden first, empty ones before others; rank 0 stays, at least `least` wide. A column
    with a `name` can be laid out; a `sorts` one can be sorted by; a `paths` one drops leading
    folders first; a `laid_out` one has a width set by the user.
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
    laid_out: bool = False

    def fit(self, words: Content, width: int) -> Content:
        """Return a cell's content fitted to `width` cells and aligned."""
        if self.paths:
            words = _without_folders(words, width)
        words = words.truncate(width, ellipsis=True)
        missing = width - words.cell_length
        return words.pad_left(missing) if self.right else words.pad_right(missing)


def _without_folders(path: Content, width: int) -> Content:
    """Return a path without leading folders if it is too wide: its last part names the file."""
    if path.cell_length <= width:
        return path
    ends = [path[at:] for at, sign in enumerate(path.plain) if sign == "/"]
    fitting = next((end for end in ends if end.cell_length < width), None)
    if fitting is not None:
        return Content("…") + fitting
    return ends[-1][1:] if ends else path


def lay_out_columns(columns: Sequence[Column], layout: TableLayout) -> list[Column]:
    """Return the columns with a layout's widths and sort arrow; hidden ones are marked as such."""
    changed = []
    for column in columns:
        title, laid_out = column.title, layout.widths.get(column.name, 0)
        width = laid_out or column.width
        if layout.sort is not None and column.name == layout.sort.column:
            title += layout.sort.arrow
        changed.append(
            replace(
                column,
                title=title,
                width=max(width, len(title)) if width else 0,
                laid_out=bool(laid_out),
                hidden=bool(column.name) and column.name in layout.hidden,
            )
        )
    return changed


def column_widths(
    columns: Sequence[Column], width: int, needs: Sequence[int], *, fill: bool = False
) -> list[int]:
    """Return the width of each column in cells, 0 for hidden ones.

    `needs` are the widths of the longest contents; all 0 while there is none. With `fill` the first
    growing column takes the remaining width.
    """
    known = any(needs)
    shown = {at: column for at, column in enumerate(columns) if not column.hidden}
    needed_width = {at: _measure(column, needs[at], known=known) for at, column in shown.items()}
    widths = {
        at: needed_width[at] if column.width else min(column.least, needs[at] or needed_width[at])
        for at, column in shown.items()
    }

    def room(cells: Mapping[int, int]) -> int:
        return width - sum(cells[at] for at in shown) - GAP * (len(shown) - 1)

    def drop(cells: Mapping[int, int], ranked: Iterable[int]) -> None:
        for at in sorted(ranked, key=lambda at: (columns[at].rank, at), reverse=True):
            if room(cells) >= 0:
                break
            del shown[at]

    # A column without content is hidden before anything is cut.
    drop(needed_width, [at for at in shown if columns[at].rank and known and not needs[at]])
    drop(widths, [at for at in shown if columns[at].rank])
    free = [at for at in shown if not columns[at].width]
    widths |= dict.fromkeys(free, 0)
    usual = {at: max(needed_width[at], columns[at].width) for at in shown}
    for wished, growing in ((needed_width, free), (usual, shown)):
        while (left := room(widths)) > 0:
            if not (short := [at for at in growing if widths[at] < wished[at]]):
                break
            for at in short[:left]:
                widths[at] += min(max(left // len(short), 1), wished[at] - widths[at])
    if fill and free:
        widths[free[0]] += max(room(widths), 0)
    return [widths[at] if at in shown else 0 for at in range(len(columns))]


def _measure(column: Column, need: int, *, known: bool) -> int:
    """Return the width in cells at which nothing in a column is cut, within its limits."""
    if column.laid_out:
        return column.width
    if not known:
        return column.width or FAR
    if not column.width:
        # In steps, so that longer content rarely moves the other columns.
        need = -(-need // STEP) * STEP
    need = max(need, len(column.title))
    return min(column.width, need) if column.width else need
