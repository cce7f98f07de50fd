"""Every test runs with an empty home and none of the developer's settings."""

import signal
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from support import storage
from support.ends import ENDS
from support.home import new_server, own_home
from support.organisation import new_organisation
from support.process import RunningServer
from support.reach import reaches_storage
from support.spoken import SpokenModel, echo, spoken_model

# How long an example takes says how busy the machine is.
settings.register_profile("carrel", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("carrel")

# Started in the background, the tests and their processes would ignore Ctrl+C.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Has one worker run a file's tests, so that what they share is made once.

    Those that may take longest come first: one of them at the end would leave the others idle. On
    a storage other than the usual one, runs those that reach the storage.
    """
    if storage.SHARED:
        reaching = [item for item in items if reaches_storage(item)]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(reaching)])
        items[:] = reaching
    sizes, limits = Counter[str](), defaultdict[str, float](float)
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            group = item.path.relative_to(Path(__file__).parent).with_suffix("").as_posix()
            item.add_marker(pytest.mark.xdist_group(group))
        sizes[_group(item)] += 1
        if limit := item.get_closest_marker("timeout"):
            limits[_group(item)] = max(limits[_group(item)], limit.args[0])
    items.sort(key=lambda item: (-limits[_group(item)], -sizes[_group(item)], _group(item)))


def _group(item: pytest.Item) -> str:
    marker = item.get_closest_marker("xdist_group")
    assert marker is not None
    return str(marker.args[0])


def pytest_sessionfinish() -> None:
    ENDS.close()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder, in force for this test and the processes it starts."""
    own_home(monkeypatch, tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture(scope="session")
def common_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A real server that the tests of a worker share: each start costs seconds."""
    with new_server(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="module")
def server(common_server: RunningServer) -> RunningServer:
    """A real server with nothing stored, for the tests of a module."""
    return new_organisation(common_server)


@pytest.fixture(scope="session")
def common_talking(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[RunningServer, SpokenModel]]:
    """A server and its model, which is one at an address, that the tests of a worker share."""
    folder = tmp_path_factory.mktemp("server")
    with spoken_model() as model, new_server(folder, "--model-url", model.url) as server:
        yield server, model


@pytest.fixture(scope="module")
def talking(
    common_talking: tuple[RunningServer, SpokenModel],
) -> tuple[RunningServer, SpokenModel]:
    """Such a server with nothing stored, for the tests of a module."""
    server, model = common_talking
    return new_organisation(server), model


@pytest.fixture
def model(talking: tuple[RunningServer, SpokenModel]) -> Iterator[SpokenModel]:
    """The model of `talking`, which says everything again."""
    model = talking[1]
    model.asked.clear()
    yield model
    model.answer = echo
