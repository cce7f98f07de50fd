"""Connecting to another service, in a real terminal against a real server."""

import socket
import sys

import pytest

from carrel.config.profiles import Profile, add_profile, folders, load_profile, profiles
from carrel.store.unfinished import Unfinished
from carrel.tui.widgets.inputs.fields import Field
from support.process import RunningServer
from support.service import reply, service
from support.terminal import Terminal, terminal
from support.workbench import workbench

CARREL = [sys.executable, "-m", "carrel"]


F3 = "\x1bOR"


def test_a_service_is_connected_to_and_kept_as_a_profile(server: RunningServer) -> None:
    add_profile(Profile("gone", "http://127.0.0.1:9"))
    with terminal([*CARREL, "--profile", "gone"]) as app:
        app.wait_for(r"\[1 Files\] .* gone")
        app.rush(F3)
        app.wait_for("Another service")
        app.wait_for("gone +here now · http://127.0.0.1:9")
        app.rush(
            "down",
            "down",
            "enter",
            *server.url,
            "enter",
            *server.api_key,
            "enter",
            *"gone",
            "enter",
        )
        app.wait_for("There is a profile “gone” already")
        app.rush(*"ly", "enter")
        app.wait_for(r"\[1 Files\] .* gonely ● ready")
        app.press("ctrl+q")
        assert app.wait_for_end() == 0
    assert [profile.name for profile in profiles()] == ["local", "gone", "gonely"]
    assert load_profile("gonely").api_key == server.api_key
    assert server.api_key not in app.raw.decode(errors="replace")


def test_a_mistyped_key_is_said_before_it_is_kept_and_corrected_after(
    server: RunningServer,
) -> None:
    wrong = f"{server.api_key}x"
    with terminal([*CARREL, "--profile", "local"], CARREL_URL="") as app:
        app.wait_for(r"\[1 Files\]")
        app.rush(F3)
        app.wait_for("Profile name")
        app.rush(*server.url, "enter", *wrong, "enter", *"work", "enter")
        app.wait_for("The key was refused")
        app.wait_for("press F2 again to keep it")
        assert [profile.name for profile in profiles()] == ["local"]
        app.press("f2")
        app.wait_for(r"\[1 Files\] .* work")
        app.wait_for("y Copy +Close")
        app.press("esc")
        app.wait_for("y Copy +Close", gone=True)
        app.rush(F3)
        app.wait_for("work +here now")
        app.rush("down", "e")
        app.wait_for("Edit work")
        app.rush("tab", "end", "backspace", "enter")
        app.wait_for(r"\[1 Files\] .* work ● ready")
        app.rush(F3)
        app.wait_for("work +here now")
        app.rush("down", "D")
        app.wait_for("This service is in use")
    assert load_profile("work").api_key == server.api_key


async def test_a_key_is_not_sent_in_the_clear_before_it_is_said() -> None:
    async with service(reply({"object": "list", "data": []})) as there:
        port = there.url.rpartition(":")[2]
        async with workbench(Profile("here", there.url)) as bench:
            await bench.press("f3", "end", "enter")
            form = bench.app.screen
            # A name of this machine that does not say so.
            for field, text in (("url", f"http://{socket.gethostname()}:{port}"), ("key", "k-1"),
                                ("name", "far")):  # fmt: skip
                form.query_one(f"#{field}", Field).value = text
            keys = len(there.requests)
            await bench.press("f2")
            await bench.shows("http:// is not encrypted", "F2 again")
            assert not any("k-1" in str(request.headers) for request in there.requests[keys:])
            assert [profile.name for profile in profiles()] == ["local"]
            await bench.press("f2")
            await bench.until(lambda: bench.app._exit)
    assert load_profile("far").api_key == "k-1"


@pytest.mark.usefixtures("offline")
async def test_a_profile_is_removed_with_its_key() -> None:
    add_profile(Profile("old", "http://127.0.0.1:9", "k-old"))
    async with workbench(Profile("local")) as bench:
        await bench.press("f3", "down", "D")
        await bench.shows("Remove this profile?", "old · http://127.0.0.1:9")
        await bench.leave("enter")
        await bench.shows("Removed old and its key")
    assert [profile.name for profile in profiles()] == ["local"]
    assert "k-old" not in folders().credentials_file.read_text()


@pytest.mark.usefixtures("offline")
async def test_leaving_for_another_service_asks_while_something_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    add_profile(Profile("far", "http://127.0.0.1:9"))
    monkeypatch.setattr(Unfinished, "running_words", ("Upload: 3",))
    async with workbench(Profile("local")) as bench:
        await bench.press("f3", "down", "enter")
        await bench.shows("Something still runs", "Upload: 3", "Leave and resume later")
        await bench.press("escape")
        assert not bench.app._exit
        await bench.press("f3", "down", "enter", "q")
        await bench.until(lambda: bench.app._exit)


@pytest.mark.usefixtures("offline")
async def test_a_profile_gets_another_name_which_is_no_key() -> None:
    add_profile(Profile("old", "http://127.0.0.1:9", "k-old"))
    add_profile(Profile("other", "http://127.0.0.1:9"))
    async with workbench(Profile("local")) as bench:
        await bench.press("f3", "down", "e")
        await bench.shows("Edit old")
        name = bench.app.screen.query_one("#name", Field)
        for wrong, words in (("sk-proj-abcdefghijklmnop1234", "looks like an API key"),
                             ("k-old", "looks like an API key"),
                             ("other", "a profile “other” already"),
                             ("", "needs a name")):  # fmt: skip
            name.value = wrong
            await bench.press("f2")
            await bench.shows(words)
        name.value = "office"
        await bench.press("f2")
        await bench.shows("press F2 again to keep it")
        await bench.press("f2")
        await bench.until(lambda: bench.app._exit)
    assert [profile.name for profile in profiles()] == ["local", "office", "other"]
    assert (load_profile("office").api_key, load_profile("office").storage_name) == ("k-old", "old")


def test_another_profile_keeps_the_theme() -> None:
    add_profile(Profile("first", "http://127.0.0.1:9"))
    add_profile(Profile("second", "http://127.0.0.1:9"))
    with terminal([*CARREL, "--profile", "first"]) as app:
        app.wait_for(r"\[1 Files\] .* first")
        assert not _is_light(app)
        app.press("ctrl+p")
        app.wait_for("Go to, or do")
        app.type("theme: carrel-light")
        app.wait_for("Theme: carrel-light")
        app.press("down", "enter")
        app.wait_for("Go to, or do", gone=True)
        app.wait_for(lambda _: _is_light(app))
        app.rush(F3)
        app.wait_for("Another service")
        app.rush("down", "down", "enter")
        app.wait_for(r"\[1 Files\] .* second")
        app.wait_for(lambda _: _is_light(app))
        app.press("ctrl+q")
        assert app.wait_for_end() == 0


def _is_light(app: Terminal) -> bool:
    return int(app.background[:2], 16) > 0x80


@pytest.mark.parametrize(("wrong", "words"), [("key", "key was refused"), ("url", "No server")])
async def test_what_was_refused_is_typed_again_at_once(
    server: RunningServer, wrong: str, words: str
) -> None:
    fields = {"url": server.url, "key": server.api_key or "", "name": "far"}
    fields[wrong] = {"key": "wrong", "url": "http://127.0.0.1:9"}[wrong]
    async with workbench(Profile("here", server.url, server.api_key)) as bench:
        await bench.press("f3", "end", "enter")
        form = bench.app.screen
        for field, text in fields.items():
            form.query_one(f"#{field}", Field).value = text
        form.query_one("#name").focus()
        await bench.press("f2")
        await bench.shows(words, "press F2 again")
        await bench.until(lambda: form.focused is form.query_one(f"#{wrong}"))
        await bench.type("x")
        assert form.query_one(f"#{wrong}", Field).value == "x"
