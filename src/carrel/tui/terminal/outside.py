"""Another program in the terminal of the app."""

import asyncio
import contextlib
import signal
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from textual.app import App

from carrel.system.editor import edit


@contextlib.asynccontextmanager
async def suspend(app: App[Any]) -> AsyncIterator[None]:
    """Give the terminal to another program. The app goes on meanwhile, and draw nothing."""
    # ctrl+c is for that program, which is in the same group of processes.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        with app.batch_update(), app.suspend():
            yield
    finally:
        signal.signal(signal.SIGINT, before)


async def edit_text(app: App[Any], text: str) -> str:
    """Return a text as it is after it was edited in the user's editor.

    Raises:
        EditorError: there is no editor, or it failed.
    """
    # Readable by its owner only, and gone afterwards.
    with tempfile.TemporaryDirectory(prefix="carrel-") as folder:
        path = Path(folder) / "text.md"
        path.write_text(text, encoding="utf-8")
        async with suspend(app):
            after = await asyncio.to_thread(edit, path)
    # An editor ends the last line, which the text did not.
    return after if text.endswith("\n") else after.removesuffix("\n")
