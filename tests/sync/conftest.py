"""A folder on disk, the ledger, and a strict library, for the tests of the sync."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from carrel.sync.ledger import Ledger
from support.folders import Desk
from support.strict import StrictLibrary, strict_library


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "folder"
    path.mkdir()
    return path


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "ledger") as ledger:
        yield ledger


@pytest.fixture
async def library() -> AsyncIterator[StrictLibrary]:
    async with strict_library() as library:
        yield library


@pytest.fixture
def desk(folder: Path, library: StrictLibrary, ledger: Ledger) -> Desk:
    return Desk(folder, library, ledger)
