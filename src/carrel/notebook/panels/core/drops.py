"""Dropped folders: selects the files that a sync of the folder would take."""

from carrel.notebook.panels.core.base import Json, Panel, intent
from carrel.store.sync.selection import wanted


class DropPanel(Panel):
    """A panel that accepts dropped files and folders."""

    @intent
    async def _on_sift(
        self, folder: str, files: list[str], folders: list[str], rules: list[tuple[str, str]]
    ) -> Json:
        """Return the files of a dropped folder to take, and the folders to scan."""
        return {
            "files": wanted(folder, files, rules),
            "folders": wanted(folder, folders, rules, folders=True),
        }
