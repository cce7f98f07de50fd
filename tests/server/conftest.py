"""A client of the shared server, and one embedded model for the tests of a worker."""

from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
import pytest_asyncio

from carrel.server.models.engine import Engine
from support.home import new_server
from support.libraries import connect
from support.process import RunningServer
from support.spoken import SpokenModel, spoken_model


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A real server on an empty data folder, shared by the tests of a module and no others."""
    with new_server(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="module")
def talking(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[RunningServer, SpokenModel]]:
    """A server and its model, which is one at an address; shared by the tests of a module."""
    folder = tmp_path_factory.mktemp("server")
    with spoken_model() as model, new_server(folder, "--model-url", model.url) as server:
        yield server, model


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
