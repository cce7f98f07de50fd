"""Dropped folders: selection of the files that a sync of the folder would include."""

from carrel.notebook.panels.core.base import Json, intent
from carrel.store.sync.selection import select_names


class Drops:
    """Dropped files and folders, as a part of a panel."""

    @intent
    async def _on_sift(
        self, folder: str, files: list[str], folders: list[str], rules: list[tuple[str, str]]
    ) -> Json:
        """Return the files of a dropped folder to upload, and the folders to scan."""
        return {
            "files": select_names(folder, files, rules),
            "folders": select_names(folder, folders, rules, folders=True),
        }
