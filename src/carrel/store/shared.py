"""Parts of the store that all areas share, and the base of the areas' services."""

from dataclasses import dataclass

from carrel.config.profiles import Profile
from carrel.pages.renderer import Renderer
from carrel.store.activity.service import ActivityService
from carrel.store.cache.copies import Copies
from carrel.store.cache.last_seen import LastSeen
from carrel.store.cache.results import ResultCache
from carrel.store.core.actions.loop import OwnerLoop
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


class Area:
    """Gives an area's service the parts that all areas share. List it before `Service`."""

    def __init__(self, shared: Shared, state: object) -> None:
        super().__init__(shared.loop, state, shared.session)  # type: ignore[call-arg]
        self._profile = shared.profile
        self._session = shared.session
        self._activity = shared.activity
        self._notifications = shared.notifications
        self._trash = shared.trash
        self._last_seen = shared.last_seen
        self._copies = shared.copies
        self._renderer = shared.renderer
