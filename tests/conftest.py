"""Every test runs with an empty home and none of the developer's settings."""

from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def _serve_below(folder: Path) -> Iterator[RunningServer]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        _own_home(monkeypatch, folder / "home")
        with serve(folder / "data") as running:
            yield running


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """One real server on an empty data folder, shared by the tests of a worker."""
    with _serve_below(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="module")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A real server that no other module's tests talk to."""
    with _serve_below(tmp_path_factory.mktemp("own")) as running:
        yield running
