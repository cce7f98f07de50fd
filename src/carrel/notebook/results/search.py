"""The results of a search across libraries and chats, with a display in a cell."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import count
from typing import TYPE_CHECKING, overload

from carrel.notebook.results.answer import (
    THUMBNAIL_WIDTH,
    THUMBNAILS,
    Source,
    as_source,
    with_picture,
)
from carrel.notebook.results.frames import frame
from carrel.store import advice
from carrel.store.search.formatting import group_hits, place_of, places_words
from carrel.store.search.service import FoundPassage, SearchedPlaces, SearchState
from carrel.store.store import Store
from carrel.wire.generation.completions import Passage

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class SearchHits(Sequence[FoundPassage]):
    """The passages found for `query`, grouped by library, and the searched places.

    `sources` has those of documents, and shows their pages: `found.sources[0].show()`.
    """

    query: str
    hits: tuple[FoundPassage, ...]
    places: SearchedPlaces
    sources: tuple[Source, ...] = field(repr=False, compare=False)

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
        lines = [] if self.hits else [advice.NOTHING_FOUND]
        for title, hits in group_hits(self.hits):
            lines += [title, *(f"  {place_of(hit)}: {hit.passage}" for hit in hits)]
        return "\n".join([*lines, f"{places_words(self.places)}."])

    def _repr_html_(self) -> str:
        parts = [] if self.hits else [f"<p>{advice.NOTHING_FOUND}</p>"]
        pages = {source.number: source for source in self.sources[:THUMBNAILS]}
        number = count(1)
        for title, hits in group_hits(self.hits):
            rows = "".join(
                f"<li><strong>{escape(place_of(hit))}</strong><br>{_mark_words(hit.passage)}"
                f"{_picture(pages.get(next(number)))}</li>"
                for hit in hits
            )
            parts.append(f"<p>{escape(title)}</p><ul>{rows}</ul>")
        return "".join([*parts, f"<p><small>{escape(places_words(self.places))}.</small></p>"])


def _picture(page: Source | None) -> str:
    picture = with_picture(page, THUMBNAIL_WIDTH) if page else ""
    return f"<br>{picture}" if picture else ""


def _mark_words(passage: str) -> str:
    return escape(passage).replace("«", "<mark>").replace("»", "</mark>")


def as_hits(store: Store, state: SearchState) -> SearchHits:
    """Return the result of a search, which can show the pages of its passages."""
    passages = (
        Passage(
            index=number, library_id=hit.library_id, document_id=hit.id, document_name=hit.name,
            page=hit.page, snippet=hit.passage, box=hit.box,
        )
        for number, hit in enumerate(state.found, 1)
        if hit.library_id is not None
    )  # fmt: skip
    sources = tuple(as_source(store, passage) for passage in passages)
    return SearchHits(state.query, state.found, state.places or SearchedPlaces(), sources)
