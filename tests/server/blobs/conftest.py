"""Both kinds of store, each with nothing in it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from carrel.server.blobs.bucket import Bucket
from carrel.server.blobs.local import LocalBlobs
from carrel.server.blobs.s3 import OwnTurns, S3Blobs
from carrel.server.blobs.store import Blobs
from support.s3 import S3Server, s3_server, stored


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """A real S3 server, shared by all tests of a process."""
    with s3_server(tmp_path_factory.mktemp("s3")) as server:
        yield server


def s3_blobs(bucket: Bucket, folder: Path) -> S3Blobs:
    """A store that no other server uses."""
    return S3Blobs(bucket, folder, OwnTurns(), signs=True)


@dataclass(frozen=True)
class StoreUnderTest:
    """A store whose inside can be seen."""

    blobs: Blobs
    folder: Path
    url: str | None
    s3: S3Server | None

    def stored(self) -> set[str]:
        """The names of all that it keeps."""
        if self.s3 and self.url:
            return stored(self.s3.bucket(self.url))
        return {path.name for path in self.folder.rglob("*") if path.is_file()}

    def again(self) -> Blobs:
        """Another store over the same bytes, as after a new start."""
        if self.s3 and self.url:
            return s3_blobs(self.s3.bucket(self.url), self.folder)
        return LocalBlobs(self.folder)


@pytest.fixture(params=["local", pytest.param("s3", marks=pytest.mark.xdist_group("s3"))])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> StoreUnderTest:
    """An empty store of each kind."""
    folder = tmp_path / "blobs"
    if request.param == "local":
        return StoreUnderTest(LocalBlobs(folder), folder, None, None)
    s3: S3Server = request.getfixturevalue("s3")
    url = f"s3://tests/{uuid4().hex}/deep"
    return StoreUnderTest(s3_blobs(s3.bucket(url), folder), folder, url, s3)


@pytest.fixture
def s3_store(s3: S3Server, tmp_path: Path) -> StoreUnderTest:
    """An empty store of the S3 kind."""
    url = f"s3://tests/{uuid4().hex}"
    folder = tmp_path / "blobs"
    return StoreUnderTest(s3_blobs(s3.bucket(url), folder), folder, url, s3)
