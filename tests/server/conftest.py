"""A client of the shared server, and one embedded model for the tests of a worker."""

from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
import pytest_asyncio

from carrel.server.models.engine import Engine
from support.libraries import connect
from support.process import RunningServer


@pytest.fixture
def http(server: RunningServer) -> Iterator[httpx.Client]:
    """A client that carries the server's key."""
    with connect(server) as client:
        yield client


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def engine() -> AsyncIterator[Engine]:
    """An engine with the built-in model."""
    engine = Engine()
    yield engine
    await engine.stop()
