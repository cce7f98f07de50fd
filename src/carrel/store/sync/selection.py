"""The files and folders that a sync would take."""

from __future__ import annotations

from collections.abc import Iterable


def select_names(
    folder: str, names: Iterable[str], rules: Iterable[tuple[str, str]], *, folders: bool = False
) -> list[str]:
    """Return the names of a folder's files, or of the folders in it, that a sync would take.

    `folder` is its path below the topmost one, "" for that itself; `rules` are the texts of the
    `.gitignore` and `.carrelignore` files that hold there, each with its folder, the topmost first.
    """
    from carrel.sync.rules import RULE_FILES, Rules, passing

    ruled = Rules()
    for where, text in rules:
        ruled = ruled.below(where, text, RULE_FILES[0])
    prefix = f"{folder}/" if folder else ""
    return [
        name
        for name in names
        if not passing(name) and not ruled.reason(prefix + name, folder=folders)
    ]
