"""The clipboard, through the terminal (OSC 52, also over ssh) and the system's tool."""

import base64
import contextlib
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any

from textual.app import App

from carrel.tui.terminal.textual_private import write_to_terminal

MAX_BYTES = 74_000
"""Longest OSC 52 sequence in bytes: many terminals drop longer ones."""
PATIENCE = 5
"""Timeout of a system tool in seconds."""

_TOOLS = (
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
)
"""The tools: a variable that must be set for each to work, and its command."""


def copy(app: App[Any], text: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Copy the text to the clipboard; return False if every way failed."""
    tool = native_tool(environ)
    if tool is not None:
        # Off the loop: a tool may wait for an unresponsive display.
        threading.Thread(target=_hand_over, args=(tool, text), daemon=True).start()
    if len(text.encode()) > MAX_BYTES:
        return tool is not None
    # The terminal's own clipboard works over ssh, but some terminals lack it.
    app.copy_to_clipboard(text)
    if "TMUX" in environ:
        # tmux forwards a wrapped sequence to the terminal that it runs in.
        encoded = base64.b64encode(text.encode()).decode()
        write_to_terminal(app, f"\x1bPtmux;\x1b\x1b]52;c;{encoded}\a\x1b\\")
    return True


def native_tool(environ: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return the system's clipboard command, or None."""
    path = environ.get("PATH")
    if sys.platform == "darwin":
        return ("pbcopy",)
    if sys.platform == "win32" or "WSL_DISTRO_NAME" in environ:
        return ("clip.exe",) if shutil.which("clip.exe", path=path) else None
    for variable, command in _TOOLS:
        if environ.get(variable) and shutil.which(command[0], path=path):
            return command
    return None


def _hand_over(command: tuple[str, ...], text: str) -> None:
    # Whatever the tool does, the terminal was asked too.
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(
            command,
            input=text.encode(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=PATIENCE,
        )
