"""Formatting of the search across libraries and chats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from carrel.store.core.formatting import counted

if TYPE_CHECKING:
    from carrel.store.search.service import FoundPassage, SearchedPlaces, SearchState


def group_hits(found: Iterable[FoundPassage]) -> Iterator[tuple[str, list[FoundPassage]]]:
    """Yield each group with its title: `contracts · 3 passages`, `Chats · 1`."""
    for (kind, _), hits in groupby(found, key=lambda hit: (hit.kind, hit.library_id)):
        some = [*hits]
        title = some[0].group if kind == "document" else "Chats"
        yield f"{title} · {counted(len(some), 'passage')}", some


def place_of(hit: FoundPassage) -> str:
    """Return `lease.pdf p. 2`, or `How long is the notice period? · support`."""
    if hit.kind == "chat":
        return " · ".join(filter(None, (hit.name, hit.group)))
    return hit.name if hit.page is None else f"{hit.name} p. {hit.page_number}"


def result_words(state: SearchState) -> str:
    """Return the searched places, the reason for an empty result, or an empty string."""
    if state.error is not None:
        return f"✕ {state.error.title}. {state.error.detail}"
    if state.searching:
        return "Searching …"
    if state.places is None:
        return ""
    return ("" if state.found else "Nothing found. ") + places_words(state.places) + "."


def places_words(places: SearchedPlaces) -> str:
    """Return `Looked through 3 libraries and 12 chats of this machine`."""
    words = f"Looked through {counted(places.libraries, 'library', 'libraries')}"
    if places.chats is not None:
        words += f" and {counted(places.chats, 'chat', 'chats')} of this machine"
    if places.unsearched:
        words += (
            f"; this service cannot search {counted(places.unsearched, 'library', 'libraries')}"
        )
    return words
