"""Keys typed faster than what they open is drawn, in a real terminal against a real server."""

import asyncio
import sys
import time
from collections.abc import Iterator
from typing import ClassVar

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.pilot import Pilot

from carrel.client import Client
from carrel.config.profiles import Profile
from carrel.tui.terminal.typeahead import HELD, LATE, TypeAhead
from carrel.tui.theme.themes import with_roles
from carrel.tui.widgets.inputs.fields import Field
from carrel.tui.widgets.tables.columns import Column
from carrel.tui.widgets.tables.table import Row, VirtualTable
from carrel.wire.generation.agents import AgentCreate
from support.process import RunningServer
from support.service import Request
from support.strict import strict_library
from support.terminal import Terminal, terminal
from support.workbench import workbench

CARREL = [sys.executable, "-m", "carrel"]


@pytest.fixture
def app(server: RunningServer) -> Iterator[Terminal]:
    """The program, once it shows Files."""
    with terminal(CARREL, CARREL_URL=server.url, CARREL_API_KEY=server.api_key) as app:
        app.wait_for("● ready")
        yield app


def test_what_is_typed_behind_the_key_of_a_form_is_in_the_form(app: Terminal) -> None:
    app.rush("4", "n", "enter", *"support", "tab", "tab", *"Be kind.", "f2")
    app.wait_for("Made support, v0")
    app.rush("e", "tab", "tab", *" Be brief.", "f2", "enter")
    app.wait_for(r"● v1 +active")
    app.wait_for(r"Be kind\. Be brief\.")


def test_what_is_typed_behind_a_dialog_goes_back_to_the_place(app: Terminal) -> None:
    app.rush("2", "n", *"papers", "enter", "n", *"letters", "enter", "1", "u", *"/no/such", "enter")
    app.wait_for("There is no file at this path")
    app.wait_for("/no/such")
    app.wait_for("Upload ─")
    app.press("esc")  # with a digit right behind it, it would be alt with that digit
    app.wait_for("Upload ─", gone=True)
    app.press("2")
    app.wait_for("papers")
    app.wait_for("letters")


def test_what_is_typed_while_the_program_starts_is_done(server: RunningServer) -> None:
    with terminal(CARREL, CARREL_URL=server.url, CARREL_API_KEY=server.api_key) as app:
        app.wait_for("starting|connecting|Files")
        app.rush("6")
        app.wait_for(r"\[6 Activity\]")


def test_a_path_pasted_behind_the_key_is_in_the_field(app: Terminal) -> None:
    app.rush("u", "\x1b[200~/no/such place\x1b[201~", "enter")
    app.wait_for("There is no file at this path")
    app.wait_for("/no/such place")


async def test_a_draft_that_is_tried_is_asked_what_is_typed_behind_the_key(
    server: RunningServer,
) -> None:
    async with Client(server.url, server.api_key) as client:
        await client.agents.create(AgentCreate(name="minutes", model="smollm2"))
    with terminal(CARREL, CARREL_URL=server.url, CARREL_API_KEY=server.api_key) as app:
        app.wait_for("● ready")
        app.rush("4")
        app.wait_for("minutes +v0")
        app.rush("e", "tab", "tab", *"Be brief.", "esc")
        app.wait_for("Kept as a draft")
        app.rush("t", *"what is new?")
        app.wait_for(r"\[5 Chat\]")
        app.wait_for(r"what is new\?")


async def test_a_paste_keeps_its_lines_however_the_terminal_breaks_them(
    server: RunningServer, app: Terminal
) -> None:
    async with Client(server.url, server.api_key) as client:
        await client.agents.create(AgentCreate(name="lines", model="smollm2"))
    app.rush("4", "n", "enter", "tab", "tab")
    app.wait_for("Instructions")
    for lines in ("one\rtwo", "\r\nthree\r\nfour", "\nfive"):
        app.paste(lines)
    app.wait_for(r"one +│(?s:.*?)two +│(?s:.*?)three +│(?s:.*?)four +│(?s:.*?)five +│")


def test_alt_with_a_digit_types_no_digit(app: Terminal) -> None:
    app.press("u", *"/no", "alt+2", *"thing")
    app.wait_for("/nothing")


@pytest.mark.usefixtures("offline")
async def test_keys_wait_for_what_opens_and_ctrl_c_does_not() -> None:
    async with workbench(Profile("local")) as bench:
        bench.app.type_ahead.hold("what opens")
        await bench.press("6")
        assert "[1 Files]" in bench.text()
        bench.app.type_ahead.release("what opens")
        await bench.shows("[6 Activity]")
        bench.app.type_ahead.hold("what opens")
        await bench.press("1", "ctrl+c")
        await bench.shows("ctrl+q quits.", "[6 Activity]")


async def test_keys_wait_for_a_list_that_loads_and_those_that_leave_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("carrel.tui.terminal.typeahead.LISTING", 60)
    async with (
        strict_library() as library,
        workbench(Profile("test", library.service.url)) as bench,
    ):
        await bench.until(lambda: bench.store.session.slice.value.connection == "ready")
        library.gate.clear()
        await bench.press("2")
        await bench.shows("[2 Libraries]")
        await bench.press("6")
        await bench.shows("[6 Activity]")
        await bench.press("2")
        await bench.shows("[2 Libraries]")
        await bench.press("s")
        assert "library first" not in bench.text()
        library.gate.set()
        await bench.shows("Sync a folder into contracts")


async def test_keys_wait_while_the_service_starts() -> None:
    async with strict_library() as library:
        library.gate.clear()
        async with workbench(Profile("test", library.service.url)) as bench:
            await bench.press("2")
            await bench.shows("[2 Libraries]")
            await bench.press("s")
            assert bench.store.session.slice.value.connection == "starting"
            assert "library first" not in bench.text()
            library.gate.set()
            await bench.shows("Sync a folder into contracts")


async def test_keys_wait_for_the_documents_of_a_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carrel.tui.terminal.typeahead.LISTING", 60)
    async with (
        strict_library() as library,
        workbench(Profile("test", library.service.url)) as bench,
    ):
        library.add("lease.pdf", b"%PDF-1.7")
        await bench.until(lambda: bench.store.session.slice.value.connection == "ready")

        def hold_documents(request: Request) -> None:
            if request.target.startswith("/v1/libraries?"):
                library.gate.clear()

        library.meddle = hold_documents
        await bench.press("2")
        await bench.shows("contracts")
        await bench.press("tab", "D")
        assert "no document" not in bench.text()
        library.meddle = lambda request: None
        library.gate.set()
        await bench.shows("Delete this document?", "lease.pdf")


class ListApp(App[None]):
    """A list of 100 rows above a field."""

    def __init__(self) -> None:
        super().__init__()
        self.type_ahead = TypeAhead(self, super().on_event)

    async def on_event(self, event: events.Event) -> None:
        await self.type_ahead.take(event)

    async def on_type_ahead_handled(self, message: TypeAhead.Handled) -> None:
        self.type_ahead.end_step(message)

    def get_css_variables(self) -> dict[str, str]:
        return with_roles(super().get_css_variables())

    def compose(self) -> ComposeResult:
        yield VirtualTable(Column("Row"))
        yield Field()

    def on_mount(self) -> None:
        table = self.query_one(VirtualTable)
        table.show([Row(str(number), (Content(str(number)),)) for number in range(100)])
        table.focus()

    async def held_back(self, pilot: Pilot[None], *keys: str) -> None:
        """Types keys that wait for longer than repeats do."""
        self.type_ahead.hold(self)
        for key in keys:
            self.post_message(events.Key(key, key if len(key) == 1 else None))
        await asyncio.sleep(2 * LATE)
        self.type_ahead.release(self)
        for _ in range(500):
            if self.type_ahead.is_done:
                break
            await asyncio.sleep(0.02)
        assert self.type_ahead.is_done


@pytest.mark.parametrize("key", ["down", "j"])
async def test_a_held_key_stops_when_it_is_let_go(key: str) -> None:
    app = ListApp()
    async with app.run_test() as pilot:
        table = app.query_one(VirtualTable)
        await app.held_back(pilot, *[key] * 60, "up")
        assert table.cursor == HELD - 1
        # Keys that were pressed one by one all count.
        await app.held_back(pilot, *[key] * HELD, "up", *[key] * HELD)
        assert table.cursor == 3 * HELD - 2
        # A table that keeps up misses none.
        await pilot.press(*[key] * 40)
        assert table.cursor == 3 * HELD + 38


class SlowApp(ListApp):
    """A key that keeps the app busy before it opens the field."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("o", "open")]

    async def action_open(self) -> None:
        for _ in range(20):
            self._work()
            await asyncio.sleep(0)
        self.query_one(Field).focus()

    def _work(self) -> None:
        time.sleep(0.06)


async def test_keys_wait_as_long_as_the_app_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carrel.tui.terminal.typeahead.PATIENCE", 0.3)
    monkeypatch.setattr("carrel.tui.terminal.typeahead.TICK", 0.02)
    app = SlowApp()
    async with app.run_test() as pilot:
        await app.held_back(pilot, "o", "x")
        assert app.query_one(Field).value == "x"


async def test_a_letter_that_is_held_in_a_field_is_text() -> None:
    app = ListApp()
    async with app.run_test() as pilot:
        app.query_one(Field).focus()
        await app.held_back(pilot, *"j" * 60)
        assert app.query_one(Field).value == "j" * 60
