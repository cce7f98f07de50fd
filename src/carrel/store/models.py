"""Model servers of this machine, offered to the local server instead of its built-in model."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.config import folders
from carrel.store.action import Policy, action
from carrel.store.area import Area
from carrel.store.loop import OwnerLoop
from carrel.store.notifications import NotificationsService
from carrel.store.problem import Problem, ProblemError
from carrel.store.session import SessionService

if TYPE_CHECKING:
    from carrel.config import Profile
    from carrel.local import ModelServer as ModelServer

PATIENCE = 60.0
"""Seconds in which the server must have taken up its changed settings."""


@dataclass(frozen=True, slots=True)
class ModelsState:
    """The model servers that answer here, and the name of the one that was chosen last."""

    found: tuple[ModelServer, ...] = ()
    looked: bool = False
    using: str | None = None
    error: Problem | None = None


class ModelsService(Area[ModelsState]):
    def __init__(
        self,
        loop: OwnerLoop,
        profile: Profile,
        session: SessionService,
        notifications: NotificationsService,
    ) -> None:
        super().__init__(loop, ModelsState(), session)
        self._profile = profile
        self._notifications = notifications

    @action(Policy.SINGLE)
    async def look(self, addresses: Mapping[str, str]) -> tuple[ModelServer, ...]:
        """Looks for model servers at named addresses of this machine; a hosted profile has none."""
        if not self._profile.local:
            return ()
        from carrel.local import find_model_servers

        await self._session.client()  # ours is busy starting until then
        own = self._session.slice.value.url
        others = {name: url for name, url in addresses.items() if url != own}
        found = await find_model_servers(others)
        self.slice.set(found=found, looked=True)
        return found

    @action(Policy.SINGLE, changes=True)
    async def use(self, server: ModelServer | None) -> None:
        """Has the local server ask this one from now on; None: its built-in test model."""
        if not self._profile.local:
            raise ProblemError(
                Problem("Not the server of this machine", "Its models are chosen where it runs.")
            )
        from carrel.local import use_model_server

        before = self._session.slice.value.model
        url = server.url if server else None
        await asyncio.to_thread(use_model_server, folders().server, url)
        name = server.name if server else "the built-in test model"
        self.slice.set(using=server.name if server else None)
        try:
            async with asyncio.timeout(PATIENCE):
                while self._session.slice.value.model == before:
                    await asyncio.sleep(0.5)
                    await self._session.load_models()
        except TimeoutError:
            self._notifications.notify(f"The server will use {name} when it has read its settings.")
        else:
            model = self._session.slice.value.model
            self._notifications.notify(f"Answers come from {name} now ({model}).")
