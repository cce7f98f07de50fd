"""The clipboard, by way of the terminal (OSC 52), so that it works over ssh too."""

import base64
import os
from collections.abc import Mapping

from textual.app import App

MAX_BYTES = 74_000
"""Many terminals drop a longer sequence."""


def copy(app: App[object], text: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Puts the text on the clipboard; False when it is too long for a terminal to take."""
    if len(text.encode()) > MAX_BYTES:
        return False
    app.copy_to_clipboard(text)
    if "TMUX" in environ and (driver := app._driver) is not None:
        # tmux forwards what is wrapped, to the terminal that it runs in.
        encoded = base64.b64encode(text.encode()).decode()
        driver.write(f"\x1bPtmux;\x1b\x1b]52;c;{encoded}\a\x1b\\")
    return True
