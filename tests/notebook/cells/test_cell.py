"""Progress below a running cell."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from carrel.notebook.cells import cell
from carrel.notebook.cells.cell import CellProgress, work_progress
from carrel.store.activity.state import ActivityItem, ActivityState
from carrel.store.session.state import SessionState

READY = SessionState("work", hosted=False, read_only=False, connection="ready")


def item(**fields: object) -> ActivityItem:
    made = ActivityItem("1", "ocr", "lease <1>.pdf", "running", 3, 12, "pages", started=1.0)
    return replace(made, **fields)  # type: ignore[arg-type]


def test_running_work_is_a_bar_with_its_name() -> None:
    shown = work_progress(READY, ActivityState((item(), item(id="2", status="done"))))
    assert shown.count("<progress") == 1
    assert "lease &lt;1&gt;.pdf" in shown and 'value="0.250"' in shown and "3 of 12 pages" in shown


def test_a_service_that_is_not_ready_is_named() -> None:
    starting = replace(READY, connection="starting", detail="connecting")
    assert "connecting" in work_progress(starting, ActivityState())
    assert work_progress(READY, ActivityState()) == ""


def test_progress_is_shown_when_it_changes_and_then_removed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown: list[tuple[str, str]] = []
    monkeypatch.setattr(cell, "get_ipython", lambda: SimpleNamespace(kernel=True))
    monkeypatch.setattr(cell, "_display", lambda b, **_: shown.append(("new", b["text/html"])))
    monkeypatch.setattr(cell, "_update", lambda b, **_: shown.append(("same", b["text/html"])))
    words = ["", "one", "one", "two"]
    progress = CellProgress(lambda: words.pop(0))
    while words:
        progress.show()
    progress.close()
    assert shown == [("new", "one"), ("same", "two"), ("same", "")]


def test_nothing_is_shown_outside_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cell, "_display", lambda *_, **__: pytest.fail("it is shown"))
    progress = CellProgress(lambda: "one")
    progress.show()
    progress.close()
