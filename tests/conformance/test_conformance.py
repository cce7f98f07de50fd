"""Released clients, unchanged, against the real server: full life cycles."""

from pathlib import Path

import pytest

from conformance.clients import CLIENTS, Client
from conformance.environments import NotInstalled, installed
from conformance.run import prepare, run
from conformance.table import table, written
from support import requires
from support.process import RunningServer

_EVERYDAY = [client for client in CLIENTS if client.everyday]

pytestmark = [pytest.mark.xdist_group("conformance"), pytest.mark.timeout(900)]


@pytest.fixture(scope="session")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the documents that the drivers send."""
    return prepare(tmp_path_factory.mktemp("conformance"))


@pytest.fixture(scope="session", params=_EVERYDAY, ids=lambda client: client.name)
def client(request: pytest.FixtureRequest) -> Client:
    """Each client in turn."""
    chosen: Client = request.param
    if chosen.npm:
        requires.node()
    return chosen


@pytest.fixture(scope="session")
def environment(client: Client) -> Path:
    """The environment that the client is installed in."""
    try:
        return installed(client)
    except NotInstalled as error:
        requires.missing(f"{client.name} cannot be installed here: {error}")


def test_every_operation_of_the_client_passes(
    client: Client, environment: Path, server: RunningServer, documents: Path
) -> None:
    outcome = run(client, environment, server, documents)
    assert {name: error for name, error in outcome.items() if error} == {}


def test_the_readme_has_the_clients_and_operations_that_run_here() -> None:
    assert written() == table(lambda client, operation: True)
