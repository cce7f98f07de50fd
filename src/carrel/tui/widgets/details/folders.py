"""The folders that are synced with a library, and how they stand."""

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static

from carrel.store.sync.formatting import FolderRow
from carrel.tui.theme import labels

NOTES = 3
"""Lines of one folder's notes."""


class SyncedFolders(Static):
    """A few lines under the list of libraries; gone where no folder is synced."""

    DEFAULT_CSS = """
    SyncedFolders {
        height: auto; max-height: 50%; border: round $line; border-title-color: $foreground;
        padding: 0 1;
    }
    """

    def on_mount(self) -> None:
        self.display = False

    def show(self, rows: Sequence[FolderRow]) -> None:
        """Show these folders instead of those before."""
        self.display = bool(rows)
        self.border_title = labels.title("Synced folder" if len(rows) == 1 else "Synced folders")
        parts: list[Content] = []
        for row in rows:
            resumes = Content.styled(" · s resumes", "$muted") if row.interrupted else Content("")
            parts += [labels.line(row.name), labels.badge(row.status) + resumes]
            if row.percent is not None:
                parts.append(labels.bar(row.percent / 100, max(8, self.size.width - 4)))
            parts += [labels.line(note, "$muted") for note in row.notes[:NOTES]]
        self.update(Content("\n").join(parts))
