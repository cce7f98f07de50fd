"""Data frames, if pandas is installed."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from carrel.notebook.cells.errors import BenchError
from carrel.store.core.problem import Problem

if TYPE_CHECKING:
    from pandas import DataFrame


def frame(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> "DataFrame":
    """Return a data frame with unique column names.

    Raises:
        BenchError: pandas is not installed.
    """
    try:
        from pandas import DataFrame
    except ImportError:
        problem = Problem("pandas is not installed", "", "Install it with: pip install pandas")
        raise BenchError(problem) from None
    return DataFrame([*rows], columns=own_names(columns))


def own_names(columns: Sequence[str]) -> list[str]:
    """Return unique, non-empty names: `Rent`, `Rent 2`, `column 3`."""
    names: list[str] = []
    for place, column in enumerate(columns, 1):
        wanted = " ".join(column.split()) or f"column {place}"
        name, number = wanted, 1
        while name in names:
            number += 1
            name = f"{wanted} {number}"
        names.append(name)
    return names
