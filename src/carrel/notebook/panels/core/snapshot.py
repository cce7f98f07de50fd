"""The static page of a panel, saved with the notebook for display without a kernel.

It is a separate output beside the live one. A changing output is redrawn, and a live panel would
lose focus and scroll position with every change; the static page is hidden meanwhile.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol

from IPython import display as ipython

from carrel.notebook.html.tables import moment
from carrel.notebook.panels.core.assets import still_style
from carrel.store.store import Store

_display: Callable[..., object] = ipython.display
_update: Callable[..., object] = ipython.update_display

SETTLED = 1.0
"""Debounce in seconds between a change and the page's update."""


class Drawn(Protocol):
    """A panel as its static page sees it."""

    async def draw_still(self) -> str:
        """Return the content as safe HTML, without absolute paths, keys, addresses and ages."""

    def is_changing(self) -> bool:
        """Return whether the content is about to change, as while an answer is written."""


class Still:
    """Keeps a panel's static page up to date. Lives on the store's loop."""

    def __init__(
        self, store: Store, id: str, panel: Drawn, send: Callable[[dict[str, Any]], None]
    ) -> None:
        self._store = store
        self._mark = f"carrel-still-{id}"
        self._panel = panel
        self._send = send
        self._drawn: str | None = None
        self._waits = False

    def display(self, content: str) -> None:
        """Show the page below the running cell's output so far."""
        self._drawn = content
        _display({"text/html": self._page(content)}, raw=True, display_id=self._mark)

    def touch(self) -> None:
        """Schedule an update after a change of the panel."""
        if self._drawn is not None and not self._waits:
            self._waits = True
            self._store.loop.run(self._follow())

    def renew(self) -> None:
        """Update the page because another browser page shows the panel, whose notebook may be
        older."""
        if self._drawn is not None:
            self._drawn = ""
            self.touch()

    async def _follow(self) -> None:
        await asyncio.sleep(SETTLED)
        self._waits = False
        if self._panel.is_changing():
            self.touch()
            return
        content = await self._panel.draw_still()
        if content == self._drawn:
            return
        self._drawn = content
        page = self._page(content)
        _update({"text/html": page}, raw=True, display_id=self._mark)
        # This reaches only the page that ran the cell. A page loaded later updates its notebook
        # itself.
        self._send({"kind": "still", "mark": self._mark, "html": page})

    def _page(self, content: str) -> str:
        said = f"As of {moment(datetime.now())}. Run the cell again for the live panel."
        return (
            f'<div class="carrel-still {self._mark}"><style>{still_style()}</style>'
            f"{content}<p><em>{said}</em></p></div>"
        )


def display_live(bundle: dict[str, Any]) -> None:
    """Show the live panel in the running cell."""
    _display(bundle, raw=True)
