"""The wheel, built once for the tests of a worker."""

from pathlib import Path

import pytest

from support.environments import uv

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    uv("build", "--wheel", "--out-dir", folder, ROOT)
    return next(folder.glob("*.whl"))
