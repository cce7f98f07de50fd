"""The Demo panel: caption and steps above, the shown panels below."""

import asyncio
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import Any

from carrel.notebook.panels.agent import AgentPanel
from carrel.notebook.panels.chat import ChatPanel
from carrel.notebook.panels.core.base import Json, Panel, intent, problem_json
from carrel.notebook.panels.document import DocumentPanel
from carrel.notebook.panels.library import LibraryPanel
from carrel.store.core.actions.handle import Cancelled
from carrel.store.core.actions.watch import watch
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.demo.player import Field, Player
from carrel.store.demo.script import Demo, Show
from carrel.store.demo.setting import own_place, set_up
from carrel.store.demo.showing import ScreenName, put
from carrel.store.demo.state import AWAITS_KEY, LEFT_OUT, RECORDED, DemoState, place_words, way_on
from carrel.store.store import Store

REMOVED_IN = 30.0
"""Timeout in seconds for a demo's clean-up when its panel is closed."""

_NO_LIBRARY = Problem("No library is shown", "", "A step before this one shows one.")
_NO_CHAT = Problem("No chat is open", "", "A step before this one shows one.")
_NOT_PLAYED = Problem("The demo is not played", "", "Run the cell again to begin it.")


class DemoPanel(Panel, view="demo"):
    """Plays a demo over its own store, which is closed at the demo's end.

    The demo's resources are created first, and removed at its end or when the panel is closed.
    """

    _title = "Demo"
    has_keys = False

    def __init__(self, store: Store, demo: Demo, folder: Path, **options: Any) -> None:
        self._demo = demo
        self._folder = folder
        self._player: Player | None = None
        self._again: asyncio.Future[int | None] | None = None
        self._words = "Getting ready …"
        self._problem: Problem | None = None
        self._place: ScreenName | None = None
        self._field: Field = "search"
        self._typed = ""
        self._awaits_key: asyncio.Future[None] | None = None
        self._looks_for = ""
        self._seen = ""
        self._library = LibraryPanel(store, store.libraries)
        self._chat = ChatPanel(store, store.chat)
        self._panels: dict[ScreenName, Panel] = {
            "libraries": self._library,
            "document": DocumentPanel(store, store.documents),
            "agents": AgentPanel(store, store.agents),
            "chat": self._chat,
        }
        super().__init__(store, panels=self._panels.values(), **{"height": 640, **options})
        self._follow()
        self._run = store.loop.run(self._present())

    async def _present(self) -> None:
        """Set up and play the demo, again after each jump to a step."""
        try:
            async with own_place():
                try:
                    await self._play_all()
                finally:
                    self._place = None
                    # This would start the demo's server again.
                    await self._store.close()
        except Exception as error:
            self._problem = Problem.of(error)
        finally:
            self._tell("" if self._problem else "All that the demo made is removed.")

    async def _play_all(self) -> None:
        store = self._store
        await store.start()
        begin: int | None = 0
        while begin is not None:
            async with set_up(self._demo, self._folder, store.profile, self._tell) as self._demo:
                begin = await self._play(begin)
                self._tell("Removing what the demo made …")

    async def _play(self, begin: int) -> int | None:
        """Play until the end or a jump; return the step to restart at."""
        store = self._store
        watched = (store.libraries.slice, store.documents.slice, store.chat.slice)
        player = Player(store.loop, self._demo, self, *watched)
        end = watch(player.slice, lambda _: self._step_changed(), deliver=store.loop.call)
        self._again = asyncio.get_running_loop().create_future()
        self._player, self._place = player, None
        try:
            if begin:
                player.forward(begin)
            self.refresh()
            return await self._again
        finally:
            end()
            self._player = None
            await player.close()
            await store.chat.leave()

    def _tell(self, words: str) -> None:
        self._words = words
        self.refresh()

    def _step_changed(self) -> None:
        if self._player is not None and self._player.slice.value.phase != "playing":
            self._looks_for = self._seen = ""
        self._refresh_unless_at_rest()

    def _view(self) -> Json:
        state = self._state_of_demo()
        playing = self._player is not None
        awaits_key = self._awaits_key is not None and not state.paused
        place = place_words(state) + (f" · {AWAITS_KEY}" if awaits_key else "")
        return {
            "caption": state.caption,
            "place_words": place if playing else self._words,
            "phase": state.phase if playing else "away",
            "paused": state.paused,
            "trouble": f"✕ {state.trouble} · {way_on(state)}" if state.phase == "failed" else "",
            "note": LEFT_OUT if state.left_out else "",
            "recorded_title": RECORDED,
            "recorded": state.recorded,
            "ended": state.ended,
            "awaits_key": awaits_key,
            "looks_for": self._looks_for,
            "steps": [step.summary for step in self._demo.steps],
            "place": self._place,
            "panels": [
                {"id": name, "label": panel._title, "panel": f"anywidget:{panel.model_id}"}
                for name, panel in self._panels.items()
            ],
            "problem": problem_json(self._problem or state.error),
        }

    def _state_of_demo(self) -> DemoState:
        if self._player is not None:
            return self._player.slice.value
        return DemoState(self._demo.title, len(self._demo.steps), caption=self._demo.title)

    async def draw_still(self) -> str:
        """Return the caption and the shown panel."""
        shown = await self._panels[self._place].draw_still() if self._place else ""
        return f"<p><strong>{escape(self.state['caption'])}</strong></p>{shown}"

    def is_changing(self) -> bool:
        """Return whether a step is played."""
        return self._player is not None and self._player.slice.value.phase == "playing"

    def close(self) -> None:
        """End the demo, remove its resources, and close the panel with its store."""
        first = not self._closed
        if first:
            self._run.cancel()
            with suppress(TimeoutError, Cancelled, ProblemError):
                self._run.result(REMOVED_IN)
        super().close()
        if first:
            with suppress(Cancelled):
                self._store.loop.run(self._store.close()).result()

    # The presenter

    def _require_player(self) -> Player:
        if self._player is None:
            raise ProblemError(_NOT_PLAYED)
        return self._player

    @intent
    async def _on_next(self) -> None:
        self._require_player().next().check()

    @intent
    async def _on_back(self) -> None:
        self._require_player().step_back().check()

    @intent
    async def _on_pause(self) -> None:
        self._require_player().pause()

    @intent
    async def _on_jump(self, step: int) -> None:
        """Restart and replay fast up to a step, counted from 0."""
        self._require_player()
        self._leave(min(max(step, 0), len(self._demo.steps)))

    @intent
    async def _on_end(self) -> None:
        self._require_player()
        self._leave(None)

    def _leave(self, begin: int | None) -> None:
        if self._again is not None and not self._again.done():
            self._again.set_result(begin)

    @intent
    async def _on_key(self) -> None:
        """Type the next character."""
        if self._awaits_key is not None and not self._awaits_key.done():
            self._awaits_key.set_result(None)

    @intent
    async def _on_seen(self, text: str) -> None:
        """Note that a view shows the awaited text."""
        self._seen = text

    @intent
    async def _on_go(self, place: ScreenName) -> None:
        """Show another tab at the user's request."""
        self._go(place)

    # The face of the player

    def _go(self, place: ScreenName) -> None:
        self._place = place
        self.refresh()

    async def show(self, show: Show) -> None:
        self._go(await put(self._store, show))

    async def focus(self, field: Field) -> None:
        if field == "search" and self._store.libraries.slice.value.selected is None:
            raise ProblemError(_NO_LIBRARY)
        if field == "question" and self._store.chat.slice.value.session_id is None:
            raise ProblemError(_NO_CHAT)
        self._field = field
        self._go("libraries" if field == "search" else "chat")
        self._fill("")

    async def press(self, key: str) -> None:
        if key != "enter":
            self._fill(self._typed + (" " if key == "space" else key))
        elif self._field == "search":
            self._store.libraries.search(self._typed).check()
        else:
            self._store.chat.send(self._typed).check()
            self._fill("")

    def _fill(self, text: str) -> None:
        self._typed = text
        (self._library if self._field == "search" else self._chat).type_into(text)

    async def next_key(self) -> None:
        self._awaits_key = asyncio.get_running_loop().create_future()
        self.refresh()
        try:
            await self._awaits_key
        finally:
            self._awaits_key = None
            self.refresh()

    def shows(self, text: str) -> bool:
        if text != self._looks_for:
            self._looks_for, self._seen = text, ""
            self.refresh()
        return self._seen == text
