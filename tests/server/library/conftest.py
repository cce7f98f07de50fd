"""A fresh library on a real server."""

from collections.abc import Iterator

import httpx
import pytest

from support.libraries import LibraryUnderTest, connect, new_library
from support.process import RunningServer


@pytest.fixture
def http(server: RunningServer) -> Iterator[httpx.Client]:
    """A client that carries the server's key."""
    with connect(server) as client:
        yield client


@pytest.fixture
def library(http: httpx.Client) -> LibraryUnderTest:
    """An empty library of the caller."""
    return new_library(http)
