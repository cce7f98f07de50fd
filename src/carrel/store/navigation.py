"""The history of visited screens, for back and forward."""

from dataclasses import dataclass

from carrel.store.cache.copies import DocumentSource
from carrel.store.core.actions.slice import Slice

KEPT = 100
"""Number of spots that are kept."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A visited screen and its open item: a document at a page, or an item by id.

    Pages count from 0.
    """

    place: str
    thing: DocumentSource | str | None = None
    page: int = 0


@dataclass(frozen=True, slots=True)
class TrailState:
    """The spots behind and ahead, the nearest last."""

    back: tuple[Spot, ...] = ()
    forward: tuple[Spot, ...] = ()


class TrailService:
    """The navigation history of one face. Used on the owner loop."""

    def __init__(self) -> None:
        self.slice = Slice(TrailState())

    def leave(self, here: Spot) -> None:
        """Record the spot that is left for another; the spots ahead are forgotten."""
        back = self.slice.value.back
        if not back or back[-1] != here:
            back = (*back, here)[-KEPT:]
        self.slice.set(back=back, forward=())

    def go_back(self, here: Spot, place: str | None = None) -> Spot | None:
        """Return the spot before `here`, or with `place` the last one there; None if there is
        none."""
        state, ahead = self.slice.value, [here]
        for number in range(len(state.back) - 1, -1, -1):
            spot = state.back[number]
            if spot == here:
                continue
            if place in (None, spot.place):
                self.slice.set(back=state.back[:number], forward=(*state.forward, *ahead))
                return spot
            ahead.append(spot)
        return None

    def forward(self, here: Spot) -> Spot | None:
        """Return the spot after `here`, or None."""
        state = self.slice.value
        if not state.forward:
            return None
        *ahead, spot = state.forward
        self.slice.set(back=(*state.back, here), forward=tuple(ahead))
        return spot
