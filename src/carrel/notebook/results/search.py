"""The results of a search across libraries and chats, with a display in a cell."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, overload

from carrel.notebook.results.frames import frame
from carrel.store.search.formatting import group_hits, place_of, places_words
from carrel.store.search.service import FoundPassage, SearchedPlaces

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class SearchHits(Sequence[FoundPassage]):
    """The passages found for `query`, grouped by library, and the searched places."""

    query: str
    hits: tuple[FoundPassage, ...]
    places: SearchedPlaces

    def to_pandas(self) -> "DataFrame":
        """Return one row per passage; pages count from 1.

        Raises:
            BenchError: pandas is not installed.
        """
        rows = [(hit.kind, hit.group, hit.name, hit.page_number, hit.passage) for hit in self.hits]
        return frame(["kind", "group", "name", "page_number", "passage"], rows)

    @overload
    def __getitem__(self, index: int) -> FoundPassage: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[FoundPassage]: ...
    def __getitem__(self, index: int | slice) -> FoundPassage | Sequence[FoundPassage]:
        return self.hits[index]

    def __len__(self) -> int:
        return len(self.hits)

    def __repr__(self) -> str:
        lines = [] if self.hits else ["Nothing found."]
        for title, hits in group_hits(self.hits):
            lines += [title, *(f"  {place_of(hit)}: {hit.passage}" for hit in hits)]
        return "\n".join([*lines, f"{places_words(self.places)}."])

    def _repr_html_(self) -> str:
        parts = [] if self.hits else ["<p>Nothing found.</p>"]
        for title, hits in group_hits(self.hits):
            rows = "".join(
                f"<li><strong>{escape(place_of(hit))}</strong><br>{_mark_words(hit.passage)}</li>"
                for hit in hits
            )
            parts.append(f"<p>{escape(title)}</p><ul>{rows}</ul>")
        return "".join([*parts, f"<p><small>{escape(places_words(self.places))}.</small></p>"])


def _mark_words(passage: str) -> str:
    return escape(passage).replace("«", "<mark>").replace("»", "</mark>")
