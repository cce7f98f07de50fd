"""Environments of Python made for a test, with what this machine's cache of packages has."""

import os
import subprocess
import sys
from pathlib import Path

from support import requires

# Read on import: the tests have a home of their own, without uv's cache.
_ENVIRON = os.environ.copy()


def uv(*arguments: str | Path) -> None:
    """Runs uv with this machine's cache."""
    command = [_ENVIRON.get("UV", "uv"), *map(str, arguments), "--quiet"]
    ended = subprocess.run(command, env=_ENVIRON, capture_output=True, text=True, timeout=500)
    if ended.returncode:
        requires.missing(f"uv cannot install here: {ended.stderr}")


def environment(folder: Path, *packages: str, python: str = sys.executable) -> Path:
    """A new environment with these packages, which may be moved; the folder of its programs."""
    uv("venv", "--relocatable", "--python", python, folder)
    programs = folder / ("Scripts" if sys.platform == "win32" else "bin")
    uv("pip", "install", "--python", programs / "python", *packages)
    return programs
