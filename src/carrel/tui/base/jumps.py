"""Back and forward navigation among screens, documents and pages."""

from collections.abc import Awaitable, Callable

from carrel.store.cache.copies import DocumentSource
from carrel.store.documents.state import DocumentState
from carrel.store.navigation import Spot
from carrel.store.store import Store


class Jumps:
    """Records the spots that are left, and returns to them."""

    def __init__(
        self, store: Store, place: Callable[[], str], switch: Callable[[str], Awaitable[None]]
    ) -> None:
        self._store = store
        self._place = place
        self._switch = switch
        self._going = False
        store.documents.slice.changed.connect(self._document_changed)

    def close(self) -> None:
        """Stop recording."""
        self._store.documents.slice.changed.disconnect(self._document_changed)

    def leave(self) -> None:
        """Record the current spot before another is shown."""
        self._store.trail.leave(self._current_spot())

    async def go_back(self, place: str | None = None) -> bool:
        """Go back to the last spot, or the last one in `place`; return False if there is none."""
        return await self._go(self._store.trail.go_back(self._current_spot(), place))

    async def forward(self) -> bool:
        """Go forward; return False if there is nothing ahead."""
        return await self._go(self._store.trail.forward(self._current_spot()))

    async def _go(self, spot: Spot | None) -> bool:
        if spot is None:
            return False
        self._going = True
        try:
            await self._switch(spot.place)
            # Another key may have navigated meanwhile.
            if self._place() == spot.place:
                self._open(spot)
        finally:
            self._going = False
        return True

    def _open(self, spot: Spot) -> None:
        """Open the spot's item, unless it is open already."""
        store = self._store
        if isinstance(spot.thing, DocumentSource):
            if spot.thing != store.documents.slice.value.source:
                store.documents.open(spot.thing, spot.page)
            else:
                store.documents.go(spot.page)
        elif spot.thing is None or spot.thing == self._current_spot().thing:
            return
        elif spot.place == "libraries":
            store.libraries.select(spot.thing)
        elif spot.place == "agents":
            store.agents.select(spot.thing)
        elif spot.place == "chat":
            store.chat.resume(spot.thing)

    def _current_spot(self) -> Spot:
        place, store = self._place(), self._store
        match place:
            case "document":
                state = store.documents.slice.value
                return Spot(place, state.source, state.current)
            case "libraries":
                return Spot(place, store.libraries.slice.value.selected)
            case "agents":
                return Spot(place, store.agents.slice.value.selected)
            case "chat":
                return Spot(place, store.chat.slice.value.session_id)
        return Spot(place)

    def _document_changed(self, new: DocumentState, old: DocumentState) -> None:
        if self._going or old.source is None or self._place() != "document":
            return
        # A step from page to page is not recorded.
        if new.source != old.source or abs(new.current - old.current) > 1:
            self._store.trail.leave(Spot("document", old.source, old.current))
