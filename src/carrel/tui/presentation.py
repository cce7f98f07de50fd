"""The app in presentation mode: without its frame, with captions, playing a demo's file."""

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.css.query import NoMatches
from textual.screen import Screen

from carrel.config.profiles import Profile
from carrel.config.settings import Settings
from carrel.recording.recorder import Recorder
from carrel.store.demo.script import Demo, Show
from carrel.store.demo.showing import ScreenName, put
from carrel.store.demo.state import DemoState
from carrel.tui.app import CarrelApp
from carrel.tui.base.screen import MainScreen
from carrel.tui.dialogs.core.ask import Choose, Option
from carrel.tui.dialogs.core.dialog import Dialog
from carrel.tui.terminal.textual_private import key_name, screen_lines
from carrel.tui.widgets.frame.caption import Caption

if TYPE_CHECKING:
    from carrel.store.demo.player import Field, Player

OWN = {"f7", "f8", "f9", "f10", "ctrl+q", "ctrl+c"}
"""Keys reserved for the presenter even while keys type characters."""
HANDLED = 0.01
"""Poll interval in seconds for a key to be handled."""
CHARACTERS = {"space": " ", "enter": "\r", "tab": "\t"}
"""Characters of named keys."""


class Presentation(CarrelApp):
    """Plays a demo; the user's own keys work at any time.

    It ends with `again` set to the number of steps to replay fast from the beginning, if it is to
    continue there.
    """

    CSS = """
    TopBar, KeyBar { display: none; }
    #panes { padding: 1 3 0 3; }
    .pane { padding: 1 2; }
    """
    # Without ids: the presenter's keys stay as in the caption, and take none from the app.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f8", "next_step", "Next step", show=False, priority=True),
        Binding("f7", "step_back", "Step back", show=False, priority=True),
        Binding("f9", "pause", "Pause the demo", show=False, priority=True),
        Binding("f10", "jump_to_step", "Jump to a step…", show=False, priority=True),
    ]

    def __init__(
        self,
        profile: Profile,
        settings: Settings | None,
        demo: Demo,
        begin: int = 0,
        recorder: Recorder | None = None,
    ) -> None:
        super().__init__(profile, settings, recorder)
        self.player: Player | None = None
        self.again: int | None = None
        self._demo = demo
        self._begin = begin
        self._steps: Choose | None = None
        self._sent: list[events.Key] = []
        self._awaits_key: asyncio.Future[None] | None = None

    def on_mount(self) -> None:
        self.screen_change_signal.subscribe(self, self._caption)

    async def action_quit(self) -> None:
        # Whatever runs is the demo's own and goes with it: nothing is asked.
        self.exit()

    def _caption(self, screen: Screen[Any]) -> None:
        """Add the caption to a screen without one; start at the first screen."""
        if self.player is None and isinstance(screen, MainScreen):
            from carrel.store.demo.player import Player

            store = self.store
            watched = (store.libraries.slice, store.documents.slice, store.chat.slice)
            self.player = Player(store.loop, self._demo, self, *watched)
            self._teardown.push_async_callback(self.player.close)
            self.player.slice.changed.connect(self._mark)
            if self._begin:
                self.player.forward(self._begin)
        if self.player is not None and not screen.query(Caption):
            screen.mount(Caption(self.player.slice))

    def _mark(self, now: DemoState, before: DemoState) -> None:
        """Mark the beginning of a step in the recording."""
        if self._recorder is not None and now.phase == "playing" != before.phase:
            self._recorder.mark(f"{now.played + 1}  {self._demo.steps[now.played].summary}")

    # The presenter's keys

    def action_next_step(self) -> None:
        if self.player is None or self.place is None:
            return
        if self.player.slice.value.phase == "playing":
            self.show_notice("The step still plays: F8 goes on at its end.")
        else:
            self.place.do(self.player.next())

    def action_step_back(self) -> None:
        if self.player is not None and self.place is not None:
            self.place.do(self.player.step_back())

    def action_pause(self) -> None:
        if self.player is not None:
            self.player.pause()

    def action_jump_to_step(self) -> None:
        if self.player is not None and self.screen is not self._steps:
            self.run_worker(self._jump(), exit_on_error=False)

    async def _jump(self) -> None:
        # The id of each counts those before it.
        options = [
            Option(str(at), f"{at + 1}  {step.summary}") for at, step in enumerate(self._demo.steps)
        ]
        self._steps = Choose("Jump to a step", options)
        chosen = await self.push_screen(self._steps, wait_for_dismiss=True)
        if chosen is not None:
            # Only a step from the beginning starts in a known state.
            self.again = int(chosen)
            self.exit()

    # The face of the player

    has_keys = True

    async def show(self, show: Show) -> None:
        await self._on_top(await put(self.store, show))
        inside = show.library is not None or show.page is not None
        if inside and (place := self.place) is not None and place.one_pane:
            # The documents beside the libraries, and the text beside the page.
            place.focus_pane(1)

    async def focus(self, field: "Field") -> None:
        from carrel.tui.screens.chat import ChatScreen
        from carrel.tui.screens.libraries import LibrariesScreen

        await self._on_top("libraries" if field == "search" else "chat")
        place = self.place
        if isinstance(place, LibrariesScreen):
            place.search("")
        elif isinstance(place, ChatScreen):
            place.prompt.clear()
            place.begin()

    async def _on_top(self, place: ScreenName) -> None:
        """Show a screen without any dialog that the user opened over it."""
        while isinstance(self.screen, Dialog):
            await self.screen.dismiss(None)
        await self.action_go(place)

    async def press(self, key: str) -> None:
        character = CHARACTERS.get(key, key if len(key) == 1 else None)
        event = events.Key(key_name(key) if len(key) == 1 else key, character)
        self._sent.append(event)
        self.post_message(event)
        while True:
            await asyncio.sleep(HANDLED)
            if self.type_ahead.is_done and not any(one is event for one in self._sent):
                return

    async def next_key(self) -> None:
        self._awaits_key = asyncio.get_running_loop().create_future()
        try:
            await self._awaits_key
        finally:
            self._awaits_key = None

    def shows(self, text: str) -> bool:
        lines = screen_lines(self)
        try:
            below = self.screen.query_one(Caption).region.y
        except NoMatches:
            below = len(lines)
        return any(text in line for line in lines[:below])

    @property
    def _paused(self) -> bool:
        return self.player is not None and self.player.slice.value.paused

    async def on_event(self, event: events.Event) -> None:
        if not isinstance(event, events.Key) or event.is_forwarded:
            await super().on_event(event)
        elif any(event is one for one in self._sent):
            await super().on_event(event)
            self._sent = [one for one in self._sent if one is not event]
        elif (waits := self._awaits_key) and event.key not in OWN and not self._paused:
            if not waits.done():
                waits.set_result(None)
        else:
            await super().on_event(event)
