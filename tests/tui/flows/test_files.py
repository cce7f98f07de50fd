"""A delete and the way back from it, in a real terminal against a real server."""

import sys
from pathlib import Path

from carrel.config.profiles import Profile, add_profile
from support.libraries import connect
from support.process import RunningServer
from support.terminal import terminal


def test_a_deleted_file_is_restored_with_one_key(server: RunningServer, tmp_path: Path) -> None:
    add_profile(Profile("here", server.url, server.api_key))
    with connect(server) as http:
        file = {"file": ("lease.txt", b"three months")}
        http.post("/v1/files", files=file).raise_for_status()
    with terminal([sys.executable, "-m", "carrel", "--profile", "here"]) as app:
        app.wait_for("▸ lease.txt")
        app.press("D")
        app.wait_for("You can undo this for 7 days")
        app.press("enter")
        app.wait_for(r"Deleted one file\. U undoes it\.")
        app.wait_for("No files yet")
        app.press("U")
        app.wait_for("▸ lease.txt")
        app.press("ctrl+q")
        assert app.wait_for_end() == 0
