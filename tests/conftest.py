"""Every test runs with an empty home and none of the developer's settings."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.process import RunningServer, serve


def _own_home(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("HOME", str(home))
    for kind in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(home / kind.lower()))
    for name in ("CARREL_URL", "CARREL_API_KEY", "MISTRAL_API_KEY", "NO_COLOR", "TEXTUAL_THEME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder, in force for this test and the processes it starts."""
    _own_home(monkeypatch, tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A real server on an empty data folder, shared by the tests of a module and no others."""
    folder = tmp_path_factory.mktemp("server")
    with pytest.MonkeyPatch.context() as monkeypatch:
        _own_home(monkeypatch, folder / "home")
        with serve(folder / "data") as running:
            yield running
