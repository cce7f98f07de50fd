"""The same questions to several versions of an agent, side by side."""

from collections.abc import Sequence
from html import escape
from typing import Any

from carrel.notebook.assets import module, style
from carrel.notebook.calls import done, last_answer
from carrel.notebook.chat import ChatPanel
from carrel.notebook.panel import Json, Panel, intent
from carrel.notebook.results import Answer
from carrel.store.chat import ChatService
from carrel.store.selectors.chat import title
from carrel.store.store import Store


class ComparePanel(Panel):
    """Chats side by side under one field; `chats` are their panels."""

    _esm = module("compare")
    _css = style("compare")
    _title = "Compare"

    def __init__(self, store: Store, services: Sequence[ChatService], **options: Any) -> None:
        self._services = tuple(services)
        height = options.get("height", 560)
        self.chats = tuple(
            ChatPanel(store, service, asks=False, height=max(height - 90, 160))
            for service in self._services
        )
        super().__init__(store, **{"height": 560, **options})
        self._follow(*(service.slice for service in self._services))

    def ask(self, text: str, *, timeout: float | None = None) -> list[Answer]:
        """Asks all of them at once, as typing does, and waits for their answers, in order."""
        for handle in [service.send(text) for service in self._services]:
            done(handle, timeout)
        return [last_answer(service.slice.value) for service in self._services]

    def _view(self) -> Json:
        states = [service.slice.value for service in self._services]
        return {
            "chats": [
                {"id": index, "panel": f"anywidget:{panel.model_id}"}
                for index, panel in enumerate(self.chats)
            ],
            "busy": any(state.phase != "idle" for state in states),
            "begun": any(state.turns for state in states),
            "problem": None,
        }

    def _fallback(self) -> str:
        names = " · ".join(title(service.slice.value) for service in self._services)
        return f"<p><strong>{escape(names)}</strong></p>" + "".join(
            panel._fallback() for panel in self.chats
        )

    @intent
    async def _on_send(self, text: str) -> None:
        # The answers and their failures show in the chats; the view need not wait for them.
        for service in self._services:
            service.send(text)

    @intent
    async def _on_retry(self) -> None:
        for service in self._services:
            service.retry()

    @intent
    async def _on_stop(self) -> None:
        for service in self._services:
            service.stop()

    def close(self) -> None:
        """Ends the chats and what shows them side by side."""
        for panel in self.chats:
            panel.close()
        super().close()
