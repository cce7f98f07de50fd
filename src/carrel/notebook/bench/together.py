"""Synchronization of services of one area: a panel's own beside the workbench's."""

from collections.abc import Callable
from typing import cast

from carrel.store.agents.service import AgentsService
from carrel.store.agents.state import AgentsState
from carrel.store.core.actions.slice import Slice
from carrel.store.core.actions.watch import watch
from carrel.store.libraries.service import LibrariesService
from carrel.store.libraries.state import LibrariesState
from carrel.store.store import Store

Area = LibrariesService | AgentsService


class Together:
    """Reloads the other services of an area when one changes its data."""

    def __init__(self, store: Store) -> None:
        self._loop = store.loop
        self._areas: dict[Area, Callable[[], bool]] = {}
        self.join(store.libraries)
        self.join(store.agents)

    def join(self, area: Area, *, rests: Callable[[], bool] = lambda: False) -> Callable[[], None]:
        """Add a service; return a function that removes it. A resting service is not reloaded."""
        self._areas[area] = rests
        end = watch(
            cast("Slice[AgentsState | LibrariesState]", area.slice),
            lambda _: self._reload_others(area),
            deliver=self._loop.call,
            select=lambda state: (state.items, getattr(state, "documents", ())),
            hz=2,
        )

        def leave() -> None:
            self._areas.pop(area, None)
            end()

        return leave

    def _reload_others(self, area: Area) -> None:
        for other, rests in tuple(self._areas.items()):
            alike = other is not area and type(other) is type(area)
            if alike and other.slice.value.loaded and not rests():
                other.reload()
