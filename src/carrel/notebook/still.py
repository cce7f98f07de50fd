"""The static page of a panel that is saved with the notebook: what it shows without a kernel.

It is an output of its own beside the live one. An output that changes is drawn anew, and a live
panel would lose its focus and scrolling with every change; the static page is hidden meanwhile.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol

from IPython import display as ipython

from carrel.notebook.assets import still_style
from carrel.notebook.html import moment
from carrel.store.store import Store

_display: Callable[..., object] = ipython.display
_update: Callable[..., object] = ipython.update_display

SETTLED = 1.0
"""Seconds after a change until the page follows."""


class Drawn(Protocol):
    """A panel as its static page needs it."""

    async def draw_still(self) -> str:
        """The content as safe HTML, without absolute paths, keys, addresses and ages."""

    def unsettled(self) -> bool:
        """Whether the content is about to change again, as while an answer is written."""


class Still:
    """Keeps the static page of a panel in step with it. Lives on the store's loop."""

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
        """Puts the page below what the running cell has shown so far."""
        self._drawn = content
        _display({"text/html": self._page(content)}, raw=True, display_id=self._mark)

    def touch(self) -> None:
        """The panel has changed."""
        if self._drawn is not None and not self._waits:
            self._waits = True
            self._store.loop.run(self._follow())

    def renew(self) -> None:
        """Another page shows the panel: its notebook may have been saved long ago."""
        if self._drawn is not None:
            self._drawn = ""
            self.touch()

    async def _follow(self) -> None:
        await asyncio.sleep(SETTLED)
        self._waits = False
        if self._panel.unsettled():
            self.touch()
            return
        content = await self._panel.draw_still()
        if content == self._drawn:
            return
        self._drawn = content
        page = self._page(content)
        _update({"text/html": page}, raw=True, display_id=self._mark)
        # That reaches only the page that ran the cell. One that was loaded later changes its
        # notebook itself.
        self._send({"kind": "still", "mark": self._mark, "html": page})

    def _page(self, content: str) -> str:
        said = f"As of {moment(datetime.now())}. Run the cell again for the live panel."
        return (
            f'<div class="carrel-still {self._mark}"><style>{still_style()}</style>'
            f"{content}<p><em>{said}</em></p></div>"
        )


def display_live(bundle: dict[str, Any]) -> None:
    """Shows the live panel in the running cell."""
    _display(bundle, raw=True)
