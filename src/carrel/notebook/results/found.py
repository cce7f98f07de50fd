"""The passages that `bench.search()` gives."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from carrel.notebook.html.tables import table
from carrel.notebook.results.answer import Source, as_frame
from carrel.store.core.formatting import count

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class Found(Sequence[Source]):
    """Passages, the best first; shown as a table."""

    query: str
    passages: tuple[Source, ...]

    def to_pandas(self) -> "DataFrame":
        """Return a row a passage: document, page number (from 1), text and score.

        Raises:
            BenchError: pandas is not installed.
        """
        return as_frame(self.passages)

    @overload
    def __getitem__(self, index: int) -> Source: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Source]: ...
    def __getitem__(self, index: int | slice) -> Source | Sequence[Source]:
        return self.passages[index]

    def __len__(self) -> int:
        return len(self.passages)

    @property
    def _words(self) -> str:
        number = len(self)
        return f"{count(number)} passage{'' if number == 1 else 's'} for “{self.query}”"

    def __repr__(self) -> str:
        return f"<{self._words}>"

    def _repr_html_(self) -> str:
        rows = [
            (one.document_name, str(one.page_number or ""), " ".join(one.snippet.split()))
            for one in self
        ]
        return table(self._words, ("Document", "Page", "Passage"), rows)
