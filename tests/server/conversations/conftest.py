"""A server whose model is one at an address, shared by the tests of a module."""

from collections.abc import Iterator

import httpx
import pytest

from support.libraries import connect
from support.process import RunningServer
from support.spoken import SpokenModel


@pytest.fixture
def http(talking: tuple[RunningServer, SpokenModel]) -> Iterator[httpx.Client]:
    """A client that carries the server's key."""
    with connect(talking[0]) as client:
        yield client
