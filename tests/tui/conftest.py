"""Terminal tests are the same at every run: nothing blinks, and time zones do not differ."""

import time
from collections.abc import Iterator

import pytest
from textual.app import App
from textual.widgets import Input, TextArea

from support.svg import self_contained

_EXPORT = App.export_screenshot


@pytest.fixture(autouse=True)
def still(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A cursor that does not blink, and a clock in UTC."""
    monkeypatch.setattr(Input, "_toggle_cursor", lambda self: None)
    monkeypatch.setattr(TextArea, "_toggle_cursor_blink_visible", lambda self: None)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture(autouse=True)
def own_fonts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Snapshots without the web addresses of fonts."""
    export = lambda app, **how: self_contained(_EXPORT(app, **how))  # noqa: E731
    monkeypatch.setattr(App, "export_screenshot", export)


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that never connects: it shows what a test puts into its slices."""

    async def stay(self: object) -> None:
        return None

    monkeypatch.setattr("carrel.store.store.Store.start", stay)
