"""Selection of the files and folders that a sync includes."""

from collections.abc import Iterable


def select_names(
    folder: str, names: Iterable[str], rules: Iterable[tuple[str, str]], *, folders: bool = False
) -> list[str]:
    """Return the names in a folder, of files or of folders, that a sync would include.

    `folder` is its path below the root, empty for the root; `rules` are the texts of the
    `.gitignore` and `.carrelignore` files that apply, each with its folder, from the root down.
    """
    from carrel.sync.rules import RULE_FILES, Rules, exclusion_reason

    ruled = Rules()
    for where, text in rules:
        ruled = ruled.below(where, text, RULE_FILES[0])
    prefix = f"{folder}/" if folder else ""
    return [
        name
        for name in names
        if not exclusion_reason(name) and not ruled.reason(prefix + name, folder=folders)
    ]
