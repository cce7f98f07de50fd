"""Connecting to another service, in a real terminal against a real server."""

import sys

from carrel.config import Profile, add_profile, load_profile, profiles
from support.process import RunningServer
from support.terminal import terminal

CARREL = [sys.executable, "-m", "carrel"]


def test_a_service_is_connected_to_and_kept_as_a_profile(server: RunningServer) -> None:
    add_profile(Profile("gone", "http://127.0.0.1:9"))
    with terminal([*CARREL, "--profile", "gone"]) as app:
        app.wait_for(r"\[1 Files\] .* gone")
        app.rush("\x1bOR")
        app.wait_for("Another service")
        app.rush("down", "enter", *server.url, "enter", *server.api_key, "enter", *"gone", "enter")
        app.wait_for("There is a profile “gone” already")
        app.rush(*"ly", "enter")
        app.wait_for(r"\[1 Files\] .* gonely ● ready")
        app.press("ctrl+q")
        assert app.wait_for_end() == 0
    assert [profile.name for profile in profiles()] == ["local", "gone", "gonely"]
    assert load_profile("gonely").api_key == server.api_key
    assert server.api_key not in app.raw.decode(errors="replace")
