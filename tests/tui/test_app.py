"""The app as a whole: keys, help, palette, the connection, and what fails."""

import asyncio
import sys
from collections import Counter, defaultdict
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest
from textual.binding import Binding

from carrel.config.profiles import Profile
from carrel.config.settings import Settings
from carrel.tui.app import FAILURES, WITHIN, CarrelApp, run
from carrel.tui.base.screen import MainScreen
from carrel.tui.dialogs.core.dialog import TextDialog
from carrel.tui.dialogs.core.help import keys_of
from carrel.tui.dialogs.core.problem import ProblemPanel
from carrel.tui.dialogs.palette import Palette
from carrel.tui.keymap import own_bindings, owners
from carrel.tui.presentation import Presentation
from carrel.tui.widgets.frame.keybar import KeyBar
from support.process import RunningServer, serve
from support.states import fill
from support.workbench import profile_of, workbench

LOCAL = Profile("local")

_DOWN = {"Down", "Block", "Bottom", "Last"}
_UP = {"Up", "Block", "Top", "First"}
_DONE = {"Save", "Sync", "Run"}
_MARKS = ("Source", "Word", "Doubtful word", "Hit", "Change", "Variant")
"""What there may be a next one of, and one before."""
MEANT = {
    # What is in the focus is looked through.
    "slash": {"Filter", "Search", "Find"},
    # One step back, whatever that is here.
    "escape": {"Back", "Close"},
    # What one moves over differs.
    "j": _DOWN,
    "down": _DOWN,
    "ctrl+n": _DOWN,
    "k": _UP,
    "up": _UP,
    "g": _UP,
    "G": _DOWN,
    "tab": {"Next", "Complete"},
    # What is under the cursor is opened; what is written is sent, or taken as the answer.
    "enter": {"Open", "Send", "Accept"},
    # One goes sideways: to the other button or page, or with the edge of a column.
    "left": {"Other", "Narrower", "Page"},
    "right": {"Other", "Wider", "Next"},
    # A comparison, a list of runs and a document have letters of their own.
    "b": {"Roll", "Blind", "Baseline"},
    "c": {"Chat", "Contents"},
    "d": {"Dismiss", "Differences"},
    "o": {"Run", "Go", "Other"},
    "p": {"Page", "Parameters"},
    "r": {"Read", "Run", "Resume"},
    "s": {"Save", "Sync", "Same"},
    "t": {"Thumbnails", "Try"},
    "v": {"View", "Vote"},
    "x": {"Stop", "Cancel", "Differences"},
    # A form is finished.
    "f2": _DONE,
    "ctrl+s": _DONE,
}
"""The only keys that have several verbs, each of which says the same."""


def bindings() -> list[Binding]:
    """Every binding that we made."""
    return [binding for _, binding in own_bindings().values()]


def test_every_binding_has_an_id_of_its_own() -> None:
    own_bindings()  # imports every module
    bindings = {
        binding
        for owner in owners()
        # The captions of a demo name its keys, which therefore stay as they are.
        if owner is not Presentation
        for binding in vars(owner).get("BINDINGS", ())
        if isinstance(binding, Binding) or pytest.fail(f"{owner}: {binding} has no id")
    }
    ids = [binding.id for binding in bindings]
    assert all(ids)
    assert not [name for name, times in Counter(ids).items() if times > 1]


def test_a_key_means_the_same_everywhere() -> None:
    meanings: dict[str, set[str]] = defaultdict(set)
    for binding in bindings():
        for key in binding.key.split(","):
            meanings[key.replace("shift+tab", "backtab")].add(binding.description.rstrip("…"))
    verbs = {key: {each.split()[0] for each in words} for key, words in meanings.items()}
    several = {key: words for key, words in verbs.items() if len(words) > 1}
    wrong = {key: words for key, words in several.items() if not words <= MEANT.get(key, set())}
    for key in ("left_square_bracket", "right_square_bracket"):
        names = {words.removeprefix("Next ").removesuffix(" before") for words in meanings[key]}
        assert {name.capitalize() for name in names} <= set(_MARKS)
        wrong.pop(key, None)  # “Next change” goes on from one “Change before”
    assert not wrong, wrong


def test_a_capital_asks_first() -> None:
    asking = {"D", "A", "E", "P", "R", "T"}
    capitals = {
        key
        for binding in bindings()
        for key in binding.key.split(",")
        if len(key) == 1 and key.isupper()
    }
    assert capitals - asking == {"G", "H", "L", "U"}, "these only move, or undo"


@pytest.mark.usefixtures("offline")
async def test_the_footer_shows_at_most_eight_keys_and_help_last() -> None:
    async with workbench(LOCAL, (200, 40)) as bench:
        for place in "123456":
            await bench.press(f"alt+{place}")
            words = str(bench.app.screen.query_one(KeyBar).render()).split("   ")
            assert len(words) <= 8
            assert words[-1] == "F1 Help"


@pytest.mark.usefixtures("offline")
async def test_help_lists_the_live_keys() -> None:
    async with workbench(LOCAL) as bench:
        await bench.press("f1")
        assert isinstance(bench.app.screen, TextDialog)
        await bench.shows("Upload", "Run OCR")
        await bench.press("G")
        await bench.shows("Deleted items…")
        await bench.press("escape")
        assert isinstance(bench.app.screen, MainScreen)


@pytest.mark.usefixtures("offline")
async def test_help_lists_keys_that_have_no_effect_yet() -> None:
    async with workbench(LOCAL) as bench:
        await bench.press("6")
        shown = {id: enabled for _, rows in keys_of(bench.app.screen) for *_, id, enabled in rows}
        assert not shown["activity.resume"] and shown["place.back"]
        await bench.press("f1")
        await bench.shows("activity.resume", "muted: no effect now")


@pytest.mark.usefixtures("offline")
async def test_a_text_field_takes_every_character() -> None:
    """Keys that would be typed are neither in the help nor in the footer; alt with a digit is."""
    async with workbench(LOCAL, (120, 36)) as bench:

        def keys() -> set[str]:
            rows = (row for _, rows in keys_of(bench.app.screen) for row in rows)
            return {key for shown, *_ in rows for key in shown.split()}

        await bench.press("slash")
        footer = bench.app.screen.query_one(KeyBar)
        await bench.until(lambda: "alt+1–6 Screens" in str(footer.render()))
        assert "alt+1" in keys()
        assert not {"/", "@", ":", "1", "D"} & keys()
        await bench.press("escape")
        await bench.until(lambda: "alt+1–6" not in str(footer.render()))
        assert {"/", "@", ":", "1"} <= keys()


@pytest.mark.usefixtures("offline")
async def test_the_palette_runs_an_action() -> None:
    async with workbench(LOCAL) as bench:
        await bench.press("colon")
        assert isinstance(bench.app.screen, Palette)
        await bench.type("light")
        await bench.leave("enter")
        await bench.until(lambda: bench.app.theme == "carrel-light")
        await bench.press("ctrl+p")
        await bench.type("activ")
        await bench.leave("enter")
        await bench.shows("[6 Activity]")


@pytest.mark.usefixtures("offline")
async def test_esc_never_quits() -> None:
    async with workbench(LOCAL) as bench:
        fill(bench.store)
        for place in "123456":
            await bench.press(f"alt+{place}", *["escape"] * 4)
            assert bench.app.is_running


@pytest.mark.usefixtures("offline")
async def test_in_a_narrow_window_tab_shows_one_pane_after_the_other() -> None:
    async with workbench(LOCAL, (80, 24)) as bench:
        fill(bench.store)
        await bench.press("2")
        await bench.shows("Libraries ─", "handbook")
        assert "● Ready" not in bench.text()
        await bench.press("tab")
        await bench.shows("● Ready")
        assert "handbook" not in bench.text()
        await bench.press("tab")
        await bench.shows("Details", "Service says")
        await bench.press("tab")
        await bench.shows("handbook")


@pytest.mark.usefixtures("offline")
async def test_an_unexpected_error_is_shown_reported_and_survived(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with workbench(LOCAL) as bench:
        bench.store.files.slice.set(loaded=True)  # no list is waited for
        monkeypatch.setattr(bench.app.place, "action_upload", lambda: 1 / 0)
        await bench.press("u")
        await bench.until(lambda: isinstance(bench.app.screen, ProblemPanel))
        await bench.shows("ZeroDivisionError", "The report is in")
        await bench.press("escape", "6")
        await bench.shows("[6 Activity]")
        await bench.press("1", "slash")
        await bench.type("still typing")
        await bench.shows("still typing")
        assert [type(error) for error in bench.app.failures] == [ZeroDivisionError]
        bench.app.failures.clear()


@pytest.mark.parametrize("turns", [0, 1, 2, 3, 5, 10, 30])
async def test_it_ends_well_while_it_starts(turns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    app = CarrelApp(LOCAL)

    async def start(_: object) -> None:
        app.exit()
        for _turn in range(turns):
            await asyncio.sleep(0)

    monkeypatch.setattr("carrel.store.store.Store.start", start)
    await app.run_async(headless=True)
    assert app.return_code == 0
    assert not app.failures


async def test_a_lost_server_is_said_and_found_again(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    data = tmp_path_factory.mktemp("lost") / "data"
    with serve(data) as first:
        port = int(first.url.rpartition(":")[2])
        async with workbench(profile_of(first)) as bench:
            await bench.shows("● ready")
            first.process.kill()
            await asyncio.to_thread(first.process.wait)
            await bench.shows("Offline: showing a copy from ", wait=60)
            await bench.press("2", "1")
            with ExitStack() as stack:
                await asyncio.to_thread(stack.enter_context, serve(data, port=port))
                await bench.shows("● ready", wait=60)
                assert "Offline" not in bench.text()


async def test_it_begins_where_one_left(server: RunningServer) -> None:
    profile = Profile("test", server.url, server.api_key)
    async with workbench(profile) as bench:
        await bench.store.libraries.create("contracts")
        await bench.store.libraries.create("handbook")
        await bench.press("2")
        await bench.shows("▸ handbook", "contracts")
        await bench.press("down")
        await bench.shows("▸ contracts", "╭─ contracts · 0 documents")
        # No document would be open at the next start.
        await bench.press("3")
    async with workbench(profile) as bench:
        await bench.shows("[2 Libraries]", "▸ contracts", "╭─ contracts · 0 documents")


async def test_notices_are_read_again_and_found(offline: None) -> None:
    async with workbench(Profile("local")) as bench:
        bench.app.show_notice("Uploaded lease.pdf.")
        bench.app.show_notice("Not stored: the disk is full.", failed=True)
        await bench.press("exclamation_mark")
        await bench.shows("Notices", "✕ Not stored: the disk is full.", "Uploaded lease.pdf.")
        await bench.press("slash", *"disk")
        await bench.shows("find: disk", "1 line")
        await bench.press("enter", "escape")
        await bench.leave("escape")
        await bench.press("f1", "slash", *"quit")
        await bench.shows("find: quit", "1 line", "app.quit")


async def test_a_refused_key_is_explained(server: RunningServer) -> None:
    async with workbench(Profile("test", server.url, "wrong")) as bench:
        await bench.shows(
            "✕ failed", "The key was refused", "F3 and e in the app, api_key in a notebook"
        )
        await bench.leave("escape")
        await bench.shows("✕", "[1 Files]")


async def test_a_read_only_profile_changes_nothing_until_it_is_allowed(
    server: RunningServer,
) -> None:
    async with workbench(Profile("test", server.url, server.api_key, read_only=True)) as bench:
        await bench.shows("read-only")
        await bench.press("2", "n")
        await bench.type("papers")
        await bench.press("enter")
        await bench.shows("Changes are off.")
        await bench.press("escape", "ctrl+p")
        await bench.type("allow")
        await bench.leave("enter")
        await bench.until(lambda: not bench.store.session.slice.value.read_only)
        await bench.until(lambda: "read-only" not in bench.text())


@pytest.mark.usefixtures("offline")
async def test_only_an_error_that_comes_again_and_again_ends_the_app(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with workbench(LOCAL) as bench:
        bench.store.files.slice.set(loaded=True)  # no list is waited for
        clock = [0.0]
        monkeypatch.setattr(
            "carrel.tui.terminal.failures.time", SimpleNamespace(monotonic=lambda: clock[0])
        )
        monkeypatch.setattr(bench.app.place, "action_upload", lambda: 1 / 0)
        for _ in range(FAILURES + 2):
            clock[0] += WITHIN
            await bench.press("u", "escape")
        await bench.shows("[1 Files]")
        assert bench.app.return_code is None
        for _ in range(FAILURES):
            await bench.press("u", "escape")
        await bench.until(lambda: bench.app.return_code == 1)
        bench.app.failures.clear()


async def test_a_long_word_on_the_connection_is_seen_whole(offline: None) -> None:
    async with workbench(Profile("local"), (80, 24)) as bench:
        why = "The service at http://127.0.0.1:8801 refused the connection three times"
        advice = "start it with carrel serve, or choose another profile with --profile"
        bench.store.session.slice.set(connection="lost", since=0.0, detail=f"{why}: {advice}.")
        await bench.until(lambda: "with --profile." in " ".join(bench.text().split()))
        bench.store.session.slice.set(connection="ready", detail="")
        await bench.until(lambda: bench.app.place and bench.app.place.status.size.height == 1)


def test_the_app_draws_on_the_terminal_where_standard_error_is_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn_on: list[object] = []
    monkeypatch.setattr(CarrelApp, "run", lambda app, **_: drawn_on.append(sys.__stderr__))
    with (tmp_path / "log").open("w") as log:
        monkeypatch.setattr(sys, "__stderr__", log)
        assert run(LOCAL, Settings()) == 0
    assert drawn_on == [sys.__stdout__]
