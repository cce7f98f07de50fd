"""The same questions to several versions of an agent, side by side."""

from collections.abc import Sequence
from typing import Any

from carrel.notebook.answer import Answer
from carrel.notebook.assets import module, style
from carrel.notebook.calls import done, last_answer
from carrel.notebook.chat import ChatPanel
from carrel.notebook.panel import Json, Panel, accepted, intent
from carrel.store.chat.service import ChatService
from carrel.store.store import Store


class ComparePanel(Panel):
    """Chats side by side under one prompt; `chats` are their panels."""

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
        for panel in self.chats:
            panel.put_into(self)

    def ask(self, text: str, *, timeout: float | None = None) -> list[Answer]:
        """Asks all of them at once, as typing does, and waits for the answers, in order."""
        for handle in [service.send(text) for service in self._services]:
            done(self._store, handle, timeout)
        return [last_answer(self._store, service.slice.value) for service in self._services]

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

    async def draw_still(self) -> str:
        """The chats side by side."""
        sides = [f"<div>{await panel.draw_still()}</div>" for panel in self.chats]
        return f'<div class="sides">{"".join(sides)}</div>'

    def unsettled(self) -> bool:
        """Whether an answer is being written."""
        return any(panel.unsettled() for panel in self.chats)

    @intent
    async def _on_send(self, text: str) -> None:
        for handle in [service.send(text) for service in self._services]:
            accepted(handle)

    @intent
    async def _on_retry(self) -> None:
        for service in self._services:
            service.retry()

    @intent
    async def _on_stop(self) -> None:
        for service in self._services:
            service.stop()

    def close(self) -> None:
        """Closes the chats and the panel around them."""
        for panel in self.chats:
            panel.close()
        super().close()
