"""A server whose model is one at an address, shared by the tests of a module."""

from collections.abc import Iterator

import httpx
import pytest

from support.home import own_home
from support.libraries import connect
from support.process import RunningServer, serve
from support.spoken import SpokenModel, echo, spoken_model


@pytest.fixture(scope="module")
def talking(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[RunningServer, SpokenModel]]:
    """The server and its model."""
    folder = tmp_path_factory.mktemp("server")
    with pytest.MonkeyPatch.context() as patch, spoken_model() as model:
        own_home(patch, folder / "home")
        with serve(folder / "data", "--model-url", model.url) as server:
            yield server, model


@pytest.fixture
def model(talking: tuple[RunningServer, SpokenModel]) -> Iterator[SpokenModel]:
    """The model, which says everything again."""
    model = talking[1]
    model.asked.clear()
    yield model
    model.answer = echo


@pytest.fixture
def http(talking: tuple[RunningServer, SpokenModel]) -> Iterator[httpx.Client]:
    """A client that carries the server's key."""
    with connect(talking[0]) as client:
        yield client
