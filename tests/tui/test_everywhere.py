"""What works in every place: the palette, filters, the request log, themes, keys, hiding."""

import asyncio
import base64
import contextlib
import re
import sys
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from textual import events
from textual.strip import Strip

from carrel.client import Call
from carrel.config.profiles import Profile, folders
from carrel.config.settings import Settings, field_docs, load_settings
from carrel.store.cache.copies import DocumentSource
from carrel.tui.app import DRAWN_AFTER, CarrelApp
from carrel.tui.base.screen import MainScreen
from carrel.tui.dialogs.core.problem import ProblemPanel
from carrel.tui.dialogs.palette import Palette
from carrel.tui.dialogs.requests import RequestLog
from carrel.tui.keymap import mistakes
from carrel.tui.screens.agents import AgentsScreen
from carrel.tui.terminal.clipboard import copy, native_tool
from carrel.tui.theme.themes import shipped_folder
from carrel.tui.widgets.tables.table import VirtualTable
from carrel.wire.generation.agents import AgentCreate
from support.process import RunningServer
from support.states import fill
from support.terminal import terminal
from support.workbench import Workbench, profile_of, workbench

LOCAL = Profile("local")
HOSTED = Profile("work", "https://api.example.com", "k-of-mine", read_only=True, colour="red")
DUSK = (
    'name: dusk\ndark: true\ncolours:\n  background: "#101010"\n  foreground: "#eeeeee"\n'
    '  accent: "#ff8800"\n'
)


@contextlib.asynccontextmanager
async def offline_bench(
    settings: Settings | None = None, size: tuple[int, int] = (120, 36)
) -> AsyncIterator[Workbench]:
    async with workbench(LOCAL, size, settings) as bench:
        fill(bench.store)
        yield bench


def put_theme(text: str) -> Path:
    path = folders().config / "themes" / "dusk.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


async def run(bench: Workbench, words: str) -> None:
    """Runs the first action that the palette finds."""
    await bench.press("ctrl+p")
    await bench.type(words)
    await bench.leave("enter")
    await bench.until(lambda: not isinstance(bench.app.screen, Palette))


# The palette


async def test_the_palette_finds_things_at_the_service_and_goes_there(
    server: RunningServer, tmp_path: Path
) -> None:
    (tmp_path / "an old lease.txt").write_text("Three months.")
    async with workbench(profile_of(server)) as bench:
        await bench.store.files.upload(tmp_path / "an old lease.txt")
        agent = await bench.store.agents.create(AgentCreate(name="lease agent", model="smollm2"))
        assert agent is not None
        await bench.press("6", "ctrl+p")
        await bench.type("lease")
        await bench.shows("an old lease.txt", "ocr · file", "lease agent", "v0 · agent")
        await bench.leave("enter")
        await bench.shows("[3 Document]", "an old lease.txt")
        await bench.press("colon")
        await bench.type("lease agent v")
        await bench.shows("active · version")
        await bench.press("down")
        await bench.leave("enter")
        await bench.until(lambda: isinstance(bench.app.place, AgentsScreen))
        assert bench.store.agents.slice.value.selected == agent.id


@pytest.mark.usefixtures("offline")
async def test_after_an_angle_bracket_the_palette_finds_actions_alone() -> None:
    async with offline_bench() as bench:
        await bench.press("ctrl+p")
        await bench.type(">uplo")
        await bench.shows("Upload")
        assert bench.store.finder.slice.value.text == ""
        await bench.type("qqq")
        await bench.shows("nothing found")
        await bench.leave("escape")
        await bench.until(lambda: not isinstance(bench.app.screen, Palette))


@pytest.mark.usefixtures("offline")
async def test_a_theme_is_previewed_taken_back_and_kept() -> None:
    async with offline_bench() as bench:
        await bench.press("ctrl+p")
        await bench.type("theme: carrel")
        await bench.press("down", "down")
        await bench.until(lambda: bench.app.theme != "carrel-dark")
        await bench.leave("escape")
        await bench.until(lambda: bench.app.theme == "carrel-dark")
        await run(bench, "theme: carrel-contrast")
        await bench.until(lambda: bench.app.theme == "carrel-contrast")
        assert load_settings().theme == "carrel-contrast"


# What was typed before


@pytest.mark.usefixtures("offline")
async def test_filters_that_were_typed_come_back() -> None:
    async with offline_bench() as bench:
        await bench.press("6", "slash")
        await bench.type("lease")
        await bench.press("enter", "escape", "slash")
        await bench.type("gone")
        await bench.press("enter", "4", "slash", "up", "up", "up")
        await bench.shows("filter: lease")
        await bench.press("down", "down")
        await bench.until(lambda: "filter: lease" not in bench.text())
        saved = folders().state / "histories" / "local.json"
        await bench.until(lambda: saved.exists() and "gone" in saved.read_text())
    async with offline_bench() as bench:
        await bench.press("4", "slash", "up", "up")
        await bench.shows("filter: lease")


@pytest.mark.usefixtures("offline")
async def test_a_question_is_written_in_the_editor(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    editor = tmp_path / "editor.py"
    editor.write_text("import sys\nopen(sys.argv[1], 'a').write(' and the rent?\\n')")
    monkeypatch.setenv("EDITOR", f"{sys.executable} {editor}")
    monkeypatch.setattr(CarrelApp, "suspend", lambda self: contextlib.nullcontext())
    async with offline_bench() as bench:
        await bench.press("alt+5", "f1")
        await bench.shows("Edit in your editor")
        await bench.leave("escape")
        await bench.until(lambda: bench.app.screen is bench.app.place)
        await bench.type("the notice")
        await bench.press("f4")
        await bench.shows("the notice and the rent?")
        monkeypatch.setenv("EDITOR", "no-such-editor")
        await bench.press("f4")
        await bench.shows("The editor did not work", "no-such-editor")


# Panes, and text that is selected


@pytest.mark.usefixtures("offline")
async def test_panes_are_resized_and_zoomed_and_stay_so() -> None:
    saved = folders().state / "layout.json"

    def details() -> int:
        return bench.app.screen.query_one(".details").region.width

    async with offline_bench() as bench:
        await bench.until(lambda: details() == 36)
        await bench.press("ctrl+right")
        await bench.until(lambda: details() == 32)
        await bench.pilot.mouse_down(offset=(87, 5))
        await bench.pilot.hover(offset=(79, 5))
        await bench.pilot.mouse_up(offset=(79, 5))
        await bench.until(lambda: details() == 40)
        await bench.press("z")
        await bench.until(lambda: details() == 0)
        await bench.press("tab")
        await bench.until(lambda: details() in (0, 120))
        await bench.press("4", "z")
        await bench.until(lambda: "versions" not in bench.text())
        await bench.press("z", "1", "z")
        await bench.until(lambda: details() == 40)
        await bench.until(lambda: '"files": {"1"' in saved.read_text())
    async with offline_bench() as bench:
        await bench.until(lambda: details() == 40)
        await bench.pilot.resize_terminal(80, 24)
        await bench.until(lambda: details() == 0)
        await bench.press("ctrl+right")
        await bench.shows("One pane is seen at a time here")


@pytest.mark.usefixtures("offline")
async def test_a_column_is_as_wide_as_its_edge_was_dragged() -> None:
    def size() -> int:
        return bench.app.screen.query_one("#files", VirtualTable).widths["size"]

    def edge() -> int:
        line = bench.text().splitlines()[2]
        return line.index("Size") + len("Size")

    async with offline_bench() as bench:
        await bench.shows("Size")
        before = size()
        x = edge()
        await bench.pilot.mouse_down(offset=(x, 2))
        await bench.pilot.hover(offset=(x + 2, 2))
        await bench.pilot.hover(offset=(x + 5, 2))
        await bench.pilot.mouse_up(offset=(x + 5, 2))
        await bench.until(lambda: size() == before + 5)
        assert bench.store.layout.slice.value.table("files").sort is None, "that was no click"
        saved = folders().state / "layout.json"
        await bench.until(lambda: f'"size": {before + 5}' in saved.read_text())
    async with offline_bench() as bench:
        await bench.until(lambda: size() == before + 5)


@pytest.mark.usefixtures("offline")
async def test_text_selected_with_the_mouse_is_copied() -> None:
    async with offline_bench() as bench:
        await bench.pilot.mouse_down(offset=(3, 3))
        await bench.pilot.hover(offset=(17, 3))
        await bench.pilot.mouse_up(offset=(17, 3))
        await bench.shows("Copied.")
        assert bench.app.clipboard.strip(), bench.text()
        assert bench.app.clipboard.strip() in bench.text().splitlines()[3]


# Back and forward


@pytest.mark.usefixtures("offline")
async def test_one_goes_back_and_forward_among_places_and_pages() -> None:
    async with offline_bench() as bench:
        await bench.press("alt+left")
        await bench.shows("There is nothing to go back to.")
        await bench.press("2", "3")
        await bench.shows("[3 Document]", "page 1 of 3")
        await bench.press("L")
        await bench.shows("page 3 of 3")
        await bench.press("alt+left")
        await bench.shows("page 1 of 3")
        await bench.press("alt+left")
        await bench.shows("[2 Libraries]")
        await bench.press("alt+left")
        await bench.shows("[1 Files]")
        await bench.press("alt+right", "alt+right")
        await bench.shows("[3 Document]", "page 1 of 3")
        await bench.press("alt+right")
        await bench.shows("page 3 of 3")
        await bench.press("alt+right")
        await bench.shows("This is the newest.")
        await bench.press("6", "escape")
        await bench.shows("[3 Document]", "page 3 of 3")


@pytest.mark.usefixtures("offline")
async def test_a_document_is_named_with_its_library() -> None:
    async with offline_bench() as bench:
        library = bench.store.libraries.slice.value.items[1]
        source = DocumentSource("document", "document-0", "lease.pdf", library.id)
        bench.store.documents.slice.set(source=source)
        await bench.press("3")
        await bench.shows(f"{library.name} › lease.pdf · page 1 of 3")


# Themes


@pytest.mark.usefixtures("offline")
async def test_a_theme_of_ones_own_is_read_again_when_it_is_saved() -> None:
    path = put_theme(DUSK)
    async with offline_bench(Settings(theme="dusk")) as bench:
        assert bench.app.theme == "dusk"
        assert bench.app.current_theme.accent == "#FF8800"
        path.write_text(DUSK.replace("ff8800", "00ff00"))
        await bench.until(lambda: bench.app.current_theme.accent == "#00FF00")
        path.write_text(DUSK.replace("accent", "acent"))
        await bench.shows("dusk.yaml cannot be used")
        await run(bench, "problems of my themes")
        await bench.shows("line 6:", "“acent”. Did you mean “accent”?")
        assert bench.app.current_theme.accent == "#00FF00", "the last good one stays"


@pytest.mark.usefixtures("offline")
async def test_a_theme_that_does_not_exist_is_said() -> None:
    async with offline_bench(Settings(theme="sunrise")) as bench:
        await bench.shows("There is no theme “sunrise”")
        assert bench.app.theme == "carrel-dark"


def test_our_themes_come_with_the_package() -> None:
    assert sorted(path.name for path in shipped_folder().glob("*.yaml"))


@pytest.mark.usefixtures("offline")
async def test_every_place_is_drawn_anew_in_another_theme() -> None:
    order = ("agents", "chat", "activity", "document", "libraries", "files")
    async with workbench(LOCAL, settings=Settings(theme="carrel-light")) as bench:
        fill(bench.store)
        fresh = {place: await _seen(bench, place) for place in order}
    async with workbench(LOCAL, settings=Settings(theme="carrel-dark")) as bench:
        fill(bench.store)
        for place in order:
            await _seen(bench, place)
        bench.app.theme = "carrel-light"
        for place in order:
            assert await _seen(bench, place) == fresh[place], place


async def _seen(bench: Workbench, place: str) -> list[list[tuple[str, object]]]:
    """Every letter of a place with its colours."""
    await bench.app.action_go(place)
    await bench.until(lambda: bench.app.place and place == bench.app.place.PLACE)
    await asyncio.sleep(5 * DRAWN_AFTER)
    strips = bench.app.screen._compositor.render_strips(bench.app.size)
    return [_colours(strip) for strip in strips]


def _colours(strip: Strip) -> list[tuple[str, object]]:
    return [(letter, segment.style and (segment.style.color, segment.style.bgcolor))
            for segment in strip for letter in segment.text]  # fmt: skip


# Keys


@pytest.mark.usefixtures("offline")
async def test_keys_of_ones_own_are_in_force_and_shown() -> None:
    keymap = {"files.upload": "alt+u", "app.requests": "f9"}
    async with offline_bench(Settings(keymap=keymap)) as bench:
        await bench.shows("alt+u Upload")
        await bench.press("f9")
        await bench.until(lambda: isinstance(bench.app.screen, RequestLog))
        await bench.press("escape", "u")
        await bench.shows("[1 Files]")
        await bench.press("f1")
        await bench.shows("alt+u", "files.upload")


@pytest.mark.usefixtures("offline")
async def test_wrong_keys_are_named_with_their_line() -> None:
    path = folders().config / "settings.toml"
    path.parent.mkdir(parents=True)
    path.write_text('mouse = true\n[keymap]\n"files.uplod" = "u"\nfiles.read = "hyperspace"\n')
    async with workbench(LOCAL, settings=load_settings()) as bench:
        await bench.until(lambda: isinstance(bench.app.screen, ProblemPanel))
        await bench.shows("line 3: there is no binding “files.uplod”", "“files.upload”?")
        await bench.shows("line 4: “hyperspace” is not a key", "keep their own keys")


@pytest.mark.usefixtures("offline")
async def test_a_key_that_another_action_has_is_said_and_takes_nothing_away() -> None:
    # The table's own, the place's own, the app's own; and two that change places.
    keymap = {"files.upload": "ctrl+u", "files.read": "D", "files.copy": "f3", "files.add": "w",
              "files.save": "a"}  # fmt: skip
    async with offline_bench(Settings(keymap=keymap)) as bench:
        await bench.shows("ctrl+u is the key of “table.half_up” already")
        await bench.shows("D is the key of “files.delete” already")
        await bench.shows("f3 is the key of “app.connect” already")
        assert "files.save" not in bench.text()
        await bench.press("escape")
        await bench.shows("u Upload", "o Run OCR", "w Add to library", "y Copy…", "D Delete")


@pytest.mark.usefixtures("offline")
async def test_a_key_that_does_nothing_says_so_and_names_the_nearest_that_works() -> None:
    async with offline_bench() as bench:
        for key, said in (
            ("d", "Nothing on d here. D: Delete"),
            ("x", "Nothing on x here. In 6 Activity: Cancel"),
            ("circumflex_accent", "Nothing on ^ here. F1 shows every key."),
        ):
            await bench.press(key)
            await bench.shows(said)
        await bench.press("4", "space")
        await bench.shows("space marks versions: tab goes to them.")
        bench.store.documents.slice.set(source=None, page_count=None)
        await bench.press("3", "plus")
        await bench.shows("No document is open")
        # What moves to the end of a list does nothing more there, and says nothing.
        await bench.press("1")
        bench.app.place._forget_notice()  # type: ignore[union-attr]
        await bench.press("G", "G", "j")
        assert "does nothing" not in bench.text()


@pytest.mark.usefixtures("offline")
async def test_a_read_only_profile_says_so_instead_of_asking() -> None:
    async with offline_bench() as bench:
        bench.store.session.slice.set(read_only=True)
        for keys in (("1", "D"), ("1", "u"), ("2", "D"), ("2", "n"), ("4", "D"), ("4", "b")):
            bench.app.place._forget_notice()  # type: ignore[union-attr]
            await bench.press(*keys)
            await bench.shows("Read-only profile. Changes are off.")
            assert isinstance(bench.app.screen, MainScreen)


def test_the_documented_keymap_can_be_used() -> None:
    documented = tomllib.loads(field_docs(Settings)["keymap"].rpartition(": ")[2].rstrip("."))
    assert documented
    assert mistakes(documented) == []


# Where one came from


@pytest.mark.usefixtures("offline")
async def test_esc_goes_back_to_where_one_came_from() -> None:
    async with offline_bench() as bench:
        await bench.press("2", "tab", "enter")
        await bench.shows("[3 Document]")
        await bench.press("escape", "escape")
        await bench.shows("[2 Libraries]")
        await bench.press("escape", "escape")
        await bench.shows("[1 Files]")
        await bench.press("escape", "escape")
        assert "[1 Files]" in bench.text(), "there is nothing before the first place"


@pytest.mark.usefixtures("offline")
async def test_an_answer_under_way_is_seen_from_every_place() -> None:
    async with offline_bench() as bench:
        bench.store.chat.slice.set(phase="writing")
        for place in "12346":
            await bench.press(place)
            await bench.shows("5 Chat ◐")
        bench.store.chat.slice.set(phase="idle")
        await bench.until(lambda: "5 Chat ◐" not in bench.text())


@pytest.mark.usefixtures("offline")
async def test_details_are_gone_to_where_one_pane_is_seen_at_a_time() -> None:
    async with offline_bench(size=(80, 24)) as bench:
        for place, in_details in (("1", "Source"), ("2", "Made"), ("6", "/tmp/gone.pdf")):
            await bench.press(place)
            assert in_details not in bench.text()
            await bench.press("i")
            await bench.shows(in_details)
            await bench.press("i")
            await bench.shows("▸")
            assert in_details not in bench.text()


# Filters


@pytest.mark.usefixtures("offline")
async def test_a_list_is_filtered_with_inverse_words_and_esc_goes_back_step_by_step() -> None:
    async with offline_bench() as bench:
        await bench.press("6", "slash")
        await bench.type("!gone")
        await bench.shows("filter:", "2 of 3 · esc clears")
        assert "gone.pdf" not in bench.text()
        await bench.press("escape")
        assert bench.app.screen.focused is not None
        await bench.shows("2 of 3 · esc clears")
        await bench.press("escape")
        await bench.shows("gone.pdf")
        assert "esc clears" not in bench.text()
        await bench.press("slash")
        await bench.type("nothing like it")
        await bench.shows("Nothing matches the filter.")


# The request log


CALL = Call("GET", "/v1/files", "search=lease", 200, 0.01, 1204, "", "", '{"data": ["a b"]}')


@pytest.mark.usefixtures("offline")
async def test_the_request_log_opens_and_copies_a_call() -> None:
    async with offline_bench() as bench:
        bench.store.requests.log(CALL)
        bench.store.requests.log(Call("GET", "/healthz", "", None, 5.0, 0))
        await bench.press("at")
        await bench.shows("GET /v1/files?search=", "● 200", "○ no answer", "10 ms")
        await bench.press("slash")
        await bench.type("lease")
        await bench.press("enter")
        await bench.shows('"a b"', "Answer")
        await bench.press("enter")
        await bench.shows("200 OK · 10 ms · 1.2 kB")
        await bench.press("y")
        await bench.shows("Copy curl", "Copy Python", "Copy command")
        await bench.press("enter")
        assert bench.app.clipboard.startswith("curl")
        for _ in range(3):  # out of the call, out of the filter, out of the log
            assert isinstance(bench.app.screen, RequestLog)
            await bench.leave("escape")
        await bench.until(lambda: not isinstance(bench.app.screen, RequestLog))


@pytest.mark.usefixtures("offline")
async def test_esc_beside_the_table_of_calls_goes_back_to_it() -> None:
    async with offline_bench() as bench:
        bench.store.requests.log(CALL)
        await bench.press("at")
        await bench.shows("200 OK")
        await bench.press("tab")
        assert isinstance(bench.app.screen, RequestLog)
        table = bench.app.screen.table
        assert bench.app.focused is not table
        await bench.press("escape")
        assert bench.app.focused is table
        await bench.leave("escape")
        await bench.until(lambda: not isinstance(bench.app.screen, RequestLog))


@pytest.mark.usefixtures("offline")
async def test_a_signed_address_is_neither_shown_nor_copied() -> None:
    async with offline_bench() as bench:
        bench.store.requests.log(Call("GET", "(signed address)", "", 200, 0.01, 10))
        await bench.press("at")
        await bench.shows("(signed address)")
        await bench.press("y")
        await bench.shows("A signed address is a key: not copied")


# Hiding


@pytest.mark.usefixtures("offline")
async def test_hiding_is_a_switch_for_all_that_is_drawn() -> None:
    async with workbench(HOSTED) as bench:
        fill(bench.store)
        bench.store.notifications.notify("Saved /home/ada/x.pdf of k-of-mine at api.example.com.")
        await bench.shows("work  ▲", "k-of-mine")
        await run(bench, "hide keys")
        await bench.shows("•••• ", "Saved •••")
        for secret in ("work  ▲", "k-of-mine", "/home/ada", "api.example"):
            assert secret not in bench.text()
        await run(bench, "show keys")
        await bench.shows("work ")


@pytest.mark.usefixtures("offline")
async def test_hiding_may_be_on_from_the_start() -> None:
    async with workbench(HOSTED, settings=Settings(hide=True)) as bench:
        await bench.shows("•••• ")
        assert "work" not in bench.text()


# The connection and the profile


async def test_a_profile_is_read_only_and_coloured_from_the_first_frame() -> None:
    app = CarrelApp(HOSTED)
    async with app.run_test(size=(120, 36)) as pilot:
        top = app.screen.query_one("TopBar")
        header = top.header[0]  # type: ignore[attr-defined]
        assert str(header) == " work  ◐ starting, read-only"
        assert any("#FF0000" in str(span.style) for span in header.spans)
        bench = Workbench(app, pilot)
        await bench.until(lambda: app.place is not None)


@pytest.mark.usefixtures("offline")
async def test_a_lost_connection_says_how_old_the_screen_is() -> None:
    async with offline_bench() as bench:
        bench.store.session.slice.set(connection="lost", since=1.0)
        await bench.shows("Offline: showing a copy from ", " ago", "lease-2024.pdf")


@pytest.mark.usefixtures("offline")
async def test_a_hosted_service_is_named_before_something_is_done_that_it_bills(
    tmp_path: Path,
) -> None:
    async def asks(bench: Workbench, *keys: str) -> None:
        await bench.press(*keys)
        await bench.shows("work (api.example.com)", "bills")
        await bench.leave("escape")
        await bench.until(lambda: isinstance(bench.app.screen, MainScreen))

    async with workbench(HOSTED) as bench:
        fill(bench.store)
        bench.store.session.slice.set(url=HOSTED.url, hosted=True, read_only=False)
        await asks(bench, "D")
        await asks(bench, "space", "space", "o", "enter")  # now, file by file
        await asks(bench, "2", "D")
        await asks(bench, "tab", "R")
        await asks(bench, "D")
        bench.app.post_message(events.Paste(str(tmp_path)))
        await asks(bench)
        await asks(bench, "3", "o")
        pages = frozenset(range(400))
        bench.store.documents.slice.set(
            pages=(None,) * 400, page_count=400, wanted=pages, read=0, reading=False
        )
        await bench.press("r")
        await bench.shows("Run OCR of 400 pages?")
        await asks(bench)
        await asks(bench, "4", "D")


# The clipboard


async def test_a_tool_of_the_system_gets_the_text_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "bin" / "wl-copy"
    tool.parent.mkdir()
    tool.write_text(
        f"#!/bin/sh\ncat > {tmp_path}/copied.part && mv {tmp_path}/copied.part {tmp_path}/copied\n"
    )
    tool.chmod(0o755)
    environ = {"WAYLAND_DISPLAY": "wayland-0", "PATH": str(tool.parent)}
    assert native_tool(environ) == ("wl-copy",)
    assert native_tool({"PATH": str(tool.parent)}) is None
    monkeypatch.setenv("PATH", f"{tool.parent}:/bin:/usr/bin")
    app = CarrelApp(LOCAL)
    async with app.run_test() as pilot:
        bench = Workbench(app, pilot)
        await bench.until(lambda: app.place is not None)
        long = "x" * 100_000
        assert copy(app, long, environ), "too long for a terminal, not for a tool"
        await bench.until((tmp_path / "copied").exists)
        assert (tmp_path / "copied").read_text() == long
        assert not copy(app, long, {})
        assert copy(app, "é", {})
        assert base64.b64encode("é".encode()) and app.clipboard == "é"


# The terminal


@pytest.mark.parametrize(
    ("options", "environ", "mouse", "colour"),
    [
        ((), {}, True, True),
        (("--no-mouse",), {}, False, True),
        ((), {"NO_COLOR": "1"}, True, False),
    ],
)
def test_a_real_terminal_is_asked_for_no_more_than_wanted(
    options: tuple[str, ...], environ: dict[str, str], mouse: bool, colour: bool
) -> None:
    command = (sys.executable, "-m", "carrel", *options)
    nobody = {"CARREL_URL": "http://127.0.0.1:9", "COLORTERM": "truecolor"}
    with terminal(command, columns=80, rows=24, **nobody, **environ) as screen:
        screen.wait_for("○ the server does not answer")
        assert (b"\x1b[?1000h" in screen.raw) is mouse
        colours = set(re.findall(rb"[34]8;2;(\d+);(\d+);(\d+)", bytes(screen.raw)))
        grey = all(red == green == blue for red, green, blue in colours)
        assert grey is not colour
        screen.press("ctrl+q")
        assert screen.wait_for_end() == 0
