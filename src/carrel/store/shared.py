"""Parts of the store that all areas share, and the base of the areas' services."""

from dataclasses import dataclass

from carrel.config.profiles import Profile
from carrel.pages.renderer import Renderer
from carrel.store.activity.service import ActivityService
from carrel.store.cache.copies import Copies
from carrel.store.cache.last_seen import LastSeen
from carrel.store.cache.results import ResultCache
from carrel.store.core.actions.action import Policy, Service, action
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.actions.slice import S
from carrel.store.notifications import NotificationsService
from carrel.store.session.service import SessionService
from carrel.store.trash.service import TrashService


@dataclass(frozen=True)
class Shared:
    """Dependencies of an area's service that are not other areas."""

    loop: OwnerLoop
    profile: Profile
    session: SessionService
    activity: ActivityService
    notifications: NotificationsService
    trash: TrashService
    last_seen: LastSeen
    copies: Copies
    results: ResultCache
    renderer: Renderer


class AreaService(Service[S]):
    """The actions of an area, which use the profile's service and what all areas share."""

    def __init__(self, shared: Shared, state: S) -> None:
        super().__init__(shared.loop, state, shared.session)
        self._profile = shared.profile
        self._session = shared.session
        self._activity = shared.activity
        self._notifications = shared.notifications
        self._trash = shared.trash
        self._last_seen = shared.last_seen
        self._copies = shared.copies
        self._renderer = shared.renderer


class ListService(AreaService[S]):
    """The actions of an area that begins with a list."""

    @action(Policy.JOIN)
    async def load(self) -> None:
        """Load what is shown again."""
        await self._load()

    @action(Policy.RENEW, lane="load")
    async def reload(self) -> None:
        """Load again after a change, without joining a load that began before the change."""
        await self._load()

    async def _load(self) -> None:
        raise NotImplementedError
