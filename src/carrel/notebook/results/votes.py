"""Votes per version, with a display in a cell."""

from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING

from carrel.notebook.html.tables import table
from carrel.notebook.results.frames import frame
from carrel.store.comparison.votes import HEADINGS, Votes

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class VoteCount:
    """The votes of all comparisons; `rows` has one per version, most votes first."""

    rows: tuple[Votes, ...]

    def to_pandas(self) -> "DataFrame":
        """Return one row per version.

        Raises:
            BenchError: pandas is not installed.
        """
        return frame([one.name for one in fields(Votes)], [astuple(row) for row in self.rows])

    def __repr__(self) -> str:
        said = (
            f"{row.answerer}: {row.won} won, {row.lost} lost, {row.tied} tied" for row in self.rows
        )
        return "\n".join(said) or "No answers were judged yet."

    def _repr_html_(self) -> str:
        return table("Votes", HEADINGS, [row.cells for row in self.rows])
