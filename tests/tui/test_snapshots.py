"""How the places look. After a change that is meant: pytest --snapshot-update, and look at them."""

import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from carrel.config.profiles import Profile
from carrel.store.activity.state import ActivityItem
from carrel.store.cache.copies import DocumentSource
from carrel.store.chat.conversation import Conversation, Turn
from carrel.store.core.problem import Problem
from carrel.store.store import Store
from carrel.tui.app import CarrelApp
from carrel.wire.generation.completions import Progress
from support.states import fill, searched
from support.workbench import Workbench

pytestmark = pytest.mark.usefixtures("offline")

WIDE, NARROW = (120, 36), (80, 24)
PLACES = {
    "files": "1",
    "libraries": "2",
    "document": "3",
    "agents": "4",
    "chat": "5",
    "activity": "6",
}


def prepared(
    app: CarrelApp, *keys: str, put: Callable[[Store], object] = fill
) -> Callable[[Pilot[Profile]], Awaitable[None]]:
    """Puts something into the store, goes to a place and presses keys."""

    async def run(pilot: Pilot[Profile]) -> None:
        bench = Workbench(app, pilot)
        await bench.until(lambda: app.place is not None)
        put(app.store)
        await bench.press(*keys)
        await bench.until(lambda: "local ● ready" in bench.text() or "local ●" in bench.text())

    return run


def ready(store: Store) -> None:
    """A service that is there and empty."""
    store.session.slice.set(connection="ready", model="smollm2 (test model)")
    store.files.slice.set(total=0, loaded=True)
    store.libraries.slice.set(loaded=True)
    store.agents.slice.set(loaded=True)


@pytest.mark.parametrize("place", PLACES)
def test_a_full_place(place: str, snap_compare: Any) -> None:
    app = CarrelApp(Profile("local"))
    run = prepared(app, f"alt+{PLACES[place]}")
    assert snap_compare(app, run_before=run, terminal_size=WIDE)


@pytest.mark.parametrize("place", PLACES)
def test_an_empty_place(place: str, snap_compare: Any) -> None:
    app = CarrelApp(Profile("local"))
    run = prepared(app, f"alt+{PLACES[place]}", put=ready)
    assert snap_compare(app, run_before=run, terminal_size=NARROW)


def loading(store: Store) -> None:
    """A service that has not answered yet."""
    store.session.slice.set(connection="ready")
    store.documents.slice.set(
        source=DocumentSource("file", "file-0", "lease-2024.pdf"), loading=True
    )


def failing(store: Store) -> None:
    """A service that answers with an error."""
    error = Problem("The service answered with an error", "Out of order.", "Try again later.")
    store.session.slice.set(connection="ready")
    store.files.slice.set(error=error)
    store.libraries.slice.set(error=error)
    source = DocumentSource("file", "file-0", "lease-2024.pdf")
    store.documents.slice.set(source=source, error=error, no_picture="This PDF is damaged.")


@pytest.mark.parametrize("put", [loading, failing])
@pytest.mark.parametrize("place", ["files", "libraries", "document"])
def test_a_place_without_an_answer(
    place: str, put: Callable[[Store], None], snap_compare: Any
) -> None:
    async def run(pilot: Pilot[Profile]) -> None:
        await prepared(app, f"alt+{PLACES[place]}", put=put)(pilot)
        put(app.store)  # what the place itself began to load has taken an error away
        await pilot.pause()

    app = CarrelApp(Profile("local"))
    assert snap_compare(app, run_before=run, terminal_size=WIDE)


@pytest.mark.parametrize("place", PLACES)
def test_a_narrow_window(place: str, snap_compare: Any) -> None:
    app = CarrelApp(Profile("local"))
    run = prepared(app, f"alt+{PLACES[place]}")
    assert snap_compare(app, run_before=run, terminal_size=NARROW)


@pytest.mark.parametrize("place", PLACES)
def test_the_light_theme(place: str, snap_compare: Any) -> None:
    app = CarrelApp(Profile("local"))
    app.theme = "carrel-light"
    run = prepared(app, f"alt+{PLACES[place]}")
    assert snap_compare(app, run_before=run, terminal_size=WIDE)


def asked(store: Store, answer: Turn, **chat: Any) -> None:
    """A chat whose question has this answer."""
    fill(store)
    question = Turn("user", "How long is the notice period?")
    store.chat.slice.set(conversation=Conversation.of(question, answer), **chat)


def waiting(store: Store) -> None:
    """What is not here yet."""
    step = Progress(stage="searching")
    since = time.time() - 75
    asked(store, Turn("assistant", "", "writing"), phase="waiting", step=step, started=since)
    store.agents.slice.set(
        items=(), versions=(), selected=None, drafts=(), diff=(), loaded=False, loading=True
    )
    item = ActivityItem("read", "ocr", "lease.pdf", "running", 3, 12, "pages", time.time() - 75)
    store.activity.slice.set(items=(item,))


def failed(store: Store) -> None:
    """What went wrong."""
    asked(store, Turn("assistant", "Three months to the", "failed"))
    problem = Problem("The service failed", "It has no room left.", "Try again in a while.")
    store.agents.slice.set(
        items=(), versions=(), selected=None, drafts=(), diff=(), loaded=False, error=problem
    )
    item = ActivityItem(
        "up", "upload", "lease.pdf", "failed", 3_000_000, 12_000_000, "bytes", time.time() - 75,
        time.time() - 70, error=problem, retryable=True,
    )  # fmt: skip
    store.activity.slice.set(items=(item,))


@pytest.mark.parametrize("put", [waiting, failed])
@pytest.mark.parametrize("place", ["agents", "chat", "activity"])
def test_a_place_without_its_content(place: str, put: Any, snap_compare: Any) -> None:
    app = CarrelApp(Profile("local"))
    run = prepared(app, f"alt+{PLACES[place]}", put=put)
    assert snap_compare(app, run_before=run, terminal_size=WIDE)


def test_a_search(snap_compare: Any) -> None:
    def put(store: Store) -> None:
        fill(store)
        searched(store)

    app = CarrelApp(Profile("local"))
    run = prepared(app, "alt+2", put=put)
    assert snap_compare(app, run_before=run, terminal_size=WIDE)


def test_the_agent_form(snap_compare: Any) -> None:
    app = CarrelApp(Profile("local"))
    run = prepared(app, "alt+4", "e")
    assert snap_compare(app, run_before=run, terminal_size=WIDE)


def test_a_confirmation_shows_what_changes(snap_compare: Any) -> None:
    app = CarrelApp(Profile("local"))
    run = prepared(app, "alt+4", "tab", "j", "A")
    assert snap_compare(app, run_before=run, terminal_size=WIDE)


def test_help(snap_compare: Any) -> None:
    app = CarrelApp(Profile("local"))
    assert snap_compare(app, run_before=prepared(app, "f1"), terminal_size=WIDE)


def test_the_palette(snap_compare: Any) -> None:
    async def run(pilot: Pilot[Profile]) -> None:
        await prepared(app, "ctrl+p", "l", "i")(pilot)
        await Workbench(app, pilot).shows("searching …")

    app = CarrelApp(Profile("local"))
    assert snap_compare(app, run_before=run, terminal_size=WIDE)


def test_a_problem(snap_compare: Any) -> None:
    def put(store: Store) -> None:
        fill(store)
        app.show_problem(Problem("The key was refused", "Unauthorized.", "Check the API key."))

    app = CarrelApp(Profile("local"))
    assert snap_compare(app, run_before=prepared(app, put=put), terminal_size=WIDE)


def test_a_lost_server(snap_compare: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carrel.store.session.formatting.clock", lambda at, now: "14:02")

    def put(store: Store) -> None:
        fill(store)
        lost = time.time() - 125
        store.session.slice.set(connection="lost", since=lost)

    async def run(pilot: Pilot[Profile]) -> None:
        bench = Workbench(app, pilot)
        await bench.until(lambda: app.place is not None)
        put(app.store)
        await bench.shows("Offline: showing a copy from 14:02, 2 min ago")

    app = CarrelApp(Profile("local"))
    assert snap_compare(app, run_before=run, terminal_size=WIDE)
