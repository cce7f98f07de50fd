"""The state of the trail."""

from __future__ import annotations

from dataclasses import dataclass

from carrel.store.cache.copies import DocumentSource


@dataclass(frozen=True, slots=True)
class Spot:
    """A place by its name, and what was open in it: a document at a page, or something by its id.

    Pages count from 0.
    """

    place: str
    thing: DocumentSource | str | None = None
    page: int = 0


@dataclass(frozen=True, slots=True)
class TrailState:
    """The spots to go back to and forward to, the nearest last."""

    back: tuple[Spot, ...] = ()
    forward: tuple[Spot, ...] = ()
