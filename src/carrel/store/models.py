"""Model servers of this machine, as alternatives to the local server's built-in model."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.store.core.actions.action import Policy, Service, action
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.shared import Area, Shared

if TYPE_CHECKING:
    from carrel.local import ModelServer as ModelServer

PATIENCE = 60.0
"""Timeout in seconds for the server to reload its settings."""


@dataclass(frozen=True, slots=True)
class ModelsState:
    """The model servers found on this machine."""

    found: tuple[ModelServer, ...] = ()
    error: Problem | None = None


class ModelsService(Area, Service[ModelsState]):
    def __init__(self, shared: Shared) -> None:
        super().__init__(shared, ModelsState())

    @action(Policy.SINGLE)
    async def look(self, addresses: Mapping[str, str]) -> tuple[ModelServer, ...]:
        """Look for model servers at known local addresses; a hosted profile has none."""
        if not self._profile.local:
            return ()
        from carrel.local import find_model_servers

        await self._session.client()  # the local server starts first
        own = self._session.slice.value.url
        others = {name: url for name, url in addresses.items() if url != own}
        found = await find_model_servers(others)
        self.slice.set(found=found)
        return found

    @action(Policy.SINGLE, changes=True)
    async def use(self, server: ModelServer, model: str) -> None:
        """Let the local server answer with a model of this model server."""
        await self._use(server, model)

    @action(Policy.SINGLE, changes=True)
    async def use_built_in(self) -> None:
        """Let the local server answer with its built-in test model again."""
        await self._use(None, None)

    async def _use(self, server: ModelServer | None, model: str | None) -> None:
        if not self._profile.local:
            raise ProblemError(
                "Not the server of this machine", "Its models are chosen where it runs."
            )
        from carrel.local import use_model

        before = self._session.slice.value.models
        url = server.url if server else None
        changed = await asyncio.to_thread(use_model, self._profile.folders.server, url, model)
        name = server.name if server else "the built-in test model"
        try:
            async with asyncio.timeout(PATIENCE):
                while changed and not _lists(self._session.slice.value.models, before, model):
                    await asyncio.sleep(0.5)
                    await self._session.load_models()
        except TimeoutError:
            self._notifications.notify(f"The server will use {name} when it has read its settings.")
        else:
            model = self._session.slice.value.model
            self._notifications.notify(f"Answers come from {name} now ({model}).")


def _lists(models: tuple[str, ...], before: tuple[str, ...], model: str | None) -> bool:
    """Return whether the server has applied its changed settings."""
    return models != before if model is None else models[:1] == (model,)
