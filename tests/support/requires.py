"""Parts of the tests that need a program this machine may lack.

Without the program a test skips with the command that installs it;
with `CARREL_TEST_REQUIRE=all` it fails instead.
"""

import os
import shutil

import pytest


def _require(program: str, install: str) -> str:
    path = shutil.which(program)
    if path is None:
        reason = f"needs {program}: {install}"
        if os.environ.get("CARREL_TEST_REQUIRE") == "all":
            pytest.fail(reason)
        pytest.skip(reason)
    return path


def chromium() -> str:
    """The path of the system's Chromium."""
    return _require("chromium", "apt-get install chromium")


def node() -> str:
    """The path of Node.js."""
    return _require("node", "apt-get install nodejs")
