"""Other programs in the app's terminal."""

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
    """Lend the terminal to another program. The app continues without drawing."""
    # ctrl+c is for that program, which shares our process group.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        with app.batch_update(), app.suspend():
            yield
    finally:
        signal.signal(signal.SIGINT, before)


async def edit_text(app: App[Any], text: str) -> str:
    """Return a text after editing in the user's editor.

    Raises:
        EditorError: there is no editor, or it failed.
    """
    # Readable only by its owner, and removed afterwards.
    with tempfile.TemporaryDirectory(prefix="carrel-") as folder:
        path = Path(folder) / "text.md"
        path.write_text(text, encoding="utf-8")
        async with suspend(app):
            after = await asyncio.to_thread(edit, path)
    # Editors append a line break that the text did not have.
    return after if text.endswith("\n") else after.removesuffix("\n")
