"""The folders synced with a library, and their status."""

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static

from carrel.store.sync.formatting import FolderRow
from carrel.tui.theme import labels

NOTES = 3
"""Most lines of one folder's notes."""


class SyncedFolders(Static):
    """A few lines below the list of libraries; hidden without synced folders."""

    DEFAULT_CSS = """
    SyncedFolders {
        height: auto; max-height: 50%; border: round $line; border-title-color: $foreground;
        padding: 0 1;
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._rows: Sequence[FolderRow] = ()

    def on_mount(self) -> None:
        self.display = False

    def on_resize(self) -> None:
        self.show(self._rows)

    def show(self, rows: Sequence[FolderRow]) -> None:
        """Replace the shown folders."""
        self._rows = rows
        self.display = bool(rows)
        width = max(self.size.width, 8)
        self.border_title = labels.title("Synced folder" if len(rows) == 1 else "Synced folders")
        parts: list[Content] = []
        for row in rows:
            status = labels.badge(row.status)
            if row.interrupted:
                status += labels.muted(" · s resumes")
            parts += [labels.line(row.name), *_fold(status, width)]
            if row.percent is not None:
                parts.append(labels.bar(row.percent / 100, width))
            parts += [labels.line(note, "$muted") for note in row.notes[:NOTES]]
        self.update(Content("\n").join(parts))


def _fold(words: Content, width: int) -> list[Content]:
    """Wrap text at its dots in lines of this width."""
    first, *rest = words.split(" · ")
    lines = [first]
    for part in rest:
        if lines[-1].cell_length + 3 + part.cell_length <= width:
            lines[-1] += Content(" · ") + part
        else:
            lines.append(Content("  ") + part)
    return lines
