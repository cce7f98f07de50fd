"""A store over the real server."""

from collections.abc import AsyncIterator

import pytest

from carrel.config.profiles import Profile
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.store import Store
from support.process import RunningServer


@pytest.fixture
async def store(server: RunningServer) -> AsyncIterator[Store]:
    """A started store of the shared server."""
    store = Store(Profile("test", server.url, server.api_key), OwnerLoop.running())
    await store.start()
    yield store
    await store.close()
