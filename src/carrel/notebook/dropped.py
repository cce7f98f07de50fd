"""Panels that folders can be dropped on: they take what a sync of the folder would take."""

from carrel.notebook.panel import Json, Panel, intent
from carrel.store.sync.selection import wanted


class DropPanel(Panel):
    """A panel that files and folders can be dropped on."""

    @intent
    async def _on_sift(
        self, folder: str, files: list[str], folders: list[str], rules: list[tuple[str, str]]
    ) -> Json:
        """Which of a dropped folder's files to take, and which of its folders to look into."""
        return {
            "files": wanted(folder, files, rules),
            "folders": wanted(folder, folders, rules, folders=True),
        }
