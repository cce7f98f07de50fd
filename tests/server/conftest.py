"""A client of the shared server."""

from collections.abc import Iterator

import httpx
import pytest

from support.libraries import connect
from support.process import RunningServer


@pytest.fixture
def http(server: RunningServer) -> Iterator[httpx.Client]:
    """A client that carries the server's key."""
    with connect(server) as client:
        yield client
