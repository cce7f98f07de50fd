"""One embedded model, shared by the tests of a worker."""

from collections.abc import AsyncIterator

import pytest_asyncio

from carrel.server.models.engine import Engine


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def engine() -> AsyncIterator[Engine]:
    """An engine with the built-in model."""
    engine = Engine()
    yield engine
    await engine.stop()
