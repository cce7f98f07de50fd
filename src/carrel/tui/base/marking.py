"""Keys that mark several rows of a list."""

from collections.abc import Callable
from typing import Literal

from textual.binding import Binding, BindingType

from carrel.store.activity.service import ActivityService
from carrel.store.files.service import FilesService
from carrel.store.libraries.service import LibrariesService
from carrel.tui.base.screen import MainScreen
from carrel.tui.widgets.tables.table import VirtualTable

MARK_KEYS: list[BindingType] = [
    Binding("space", "mark('row')", "Mark", show=False, id="marks.toggle"),
    Binding(
        "ctrl+@,ctrl+space,ctrl+v", "mark('range')", "Mark up to here",
        key_display="ctrl+space", show=False, id="marks.range",
    ),
    Binding("ctrl+a", "mark('all')", "Mark all", show=False, id="marks.all"),
    Binding("asterisk", "mark('others')", "Invert marks", key_display="*", show=False,
        id="marks.invert",
    ),
    Binding("ctrl+backslash", "mark('none')", "Mark none", show=False, id="marks.none"),
]  # fmt: skip
"""The bindings of a screen that has `change_marks` as its `action_mark`."""
MarkChange = Literal["row", "range", "all", "others", "none"]


def change_marks(
    screen: MainScreen,
    change: MarkChange,
    table: VirtualTable,
    marks: ActivityService | FilesService | LibrariesService,
    toggle: Callable[[str], bool],
) -> None:
    """Change the marks of a table; `toggle` marks a row, or returns False if the row cannot be
    marked."""
    match change:
        case "row":
            if table.key is not None and toggle(table.key):
                table.set_anchor()
                table.action_move(1)
        case "range":
            keys = table.keys_from_anchor()
            marks.mark_range([key for key in keys if key is not None])
            if missing := keys.count(None):
                screen.notice(f"{missing:,} rows between are not loaded yet and stay unmarked.")
        case "all":
            screen.do(marks.mark_all())
        case "others":
            screen.do(marks.invert_marks())
        case "none":
            marks.mark_none()
