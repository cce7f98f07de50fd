"""A home folder of its own, with none of the developer's settings."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from support import storage
from support.pair import alternating
from support.process import RunningServer, serve


def own_home(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Makes an empty home folder that is in force for this process and those it starts."""
    home.mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("HOME", str(home))
    for kind in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(home / kind.lower()))
    for name in ("CARREL_URL", "CARREL_API_KEY", "MISTRAL_API_KEY", "NO_COLOR", "TEXTUAL_THEME"):
        monkeypatch.delenv(name, raising=False)


@contextmanager
def new_server(folder: Path, *options: str, one: bool = False) -> Iterator[RunningServer]:
    """A real server with a home of its own and nothing stored.

    On the storage of several servers it is two of them, which answer in turn, unless it must be
    `one`.
    """
    with pytest.MonkeyPatch.context() as monkeypatch:
        own_home(monkeypatch, folder / "home")
        with serve(folder / "data", *options) as first:
            if one or not storage.SHARED:
                yield first
                return
            shared = storage.options(folder / "data")
            with (
                serve(folder / "other", *shared, *options) as second,
                alternating([first.url, second.url]) as url,
            ):
                yield replace(first, url=url, others=(second,))
