"""A fresh library on a real server, and a library service without one."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

from carrel.server.datadir.folder import DataFolder
from support import storage
from support.libraries import LibraryUnderTest, connect, new_library
from support.process import RunningServer
from support.processing import Lab, ScriptedReader


@pytest.fixture
def http(server: RunningServer) -> Iterator[httpx.Client]:
    """A client that carries the server's key."""
    with connect(server) as client:
        yield client


@pytest.fixture
def library(http: httpx.Client) -> LibraryUnderTest:
    """An empty library of the caller."""
    return new_library(http)


@pytest.fixture
async def folder(tmp_path: Path) -> AsyncIterator[DataFolder]:
    """A fresh data folder."""
    with DataFolder(tmp_path / "data") as folder:
        await asyncio.to_thread(storage.prepare, folder)
        yield folder


@pytest.fixture
async def lab(folder: DataFolder) -> AsyncIterator[Lab]:
    """A running library service."""
    lab = Lab(folder, ScriptedReader())
    await lab.open()
    try:
        yield lab
    finally:
        await lab.close()
