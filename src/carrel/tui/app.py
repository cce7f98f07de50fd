"""The terminal app: its six places over one store."""

import asyncio
import gc
import importlib
from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast
from urllib.parse import urlsplit

from textual import events, work
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.filter import LineFilter
from textual.screen import Screen
from textual.worker import Worker, WorkerState

from carrel.config import Profile, profiles
from carrel.settings import Settings, SettingsError, settings_file
from carrel.tui.looks.appearance import Appearance
from carrel.tui.looks.themes import with_roles
from carrel.tui.screens.starting import Starting
from carrel.tui.terminal.steadiness import Recent, Steady
from carrel.tui.terminal.typeahead import TypeAhead
from carrel.tui.widgets.prose import prose_theme
from carrel.tui.widgets.topbar import PLACES

if TYPE_CHECKING:
    from carrel.store.core.problem import Problem
    from carrel.store.finder.state import FoundItem
    from carrel.store.notifications.state import NotificationsState
    from carrel.store.store import Store
    from carrel.tui.place import Place
    from carrel.wire.files import File

KEY_NAMES = {
    "f1": "F1",
    "f2": "F2",
    "f3": "F3",
    "f4": "F4",
    "f5": "F5",
    "slash": "/",
    "colon": ":",
    "question_mark": "?",
    "escape": "esc",
    "plus": "+",
    "minus": "-",
    "equals_sign": "=",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "pageup": "page up",
    "pagedown": "page down",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
}
"""How keys are called on screen, where that differs from their names in the bindings."""
# Textual reads alt with a digit as the character that option types on a Mac.
for _digit in range(1, len(PLACES) + 1):
    cast("dict[str, object]", ANSI_SEQUENCES_KEYS).pop(f"\x1b{_digit}", None)

DRAWN_AFTER = 0.1
"""Seconds after which a place is drawn once more: twice as long as updates are delayed."""
FAILURES, WITHIN = 10, 10.0
"""The app gives up after this many unexpected errors of a kind within this many seconds: one that
comes back at every drawing leaves nothing to work with."""


class CarrelApp(Steady, TypeAhead[Profile]):
    """The workbench in a terminal. It ends with the profile to go on with, if there is one.

    The frame is painted first; the store and the places are imported after that.
    """

    TITLE = "Carrel"
    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(f"{n}", f"go('{place}')", words, show=False, id=f"app.go_{place}")
            for n, (place, words) in enumerate(PLACES.items(), 1)
        ),
        # With priority, because to a text field alt with a digit is a digit.
        *(
            Binding(
                f"alt+{n}",
                f"go('{place}')",
                words,
                show=False,
                priority=True,
                id=f"app.go_{place}_from_text",
            )
            for n, (place, words) in enumerate(PLACES.items(), 1)
        ),
        Binding("ctrl+q", "quit", "Quit", show=False, priority=True, id="app.quit"),
        Binding("ctrl+c", "interrupt", "Stop", show=False, system=True, id="app.interrupt"),
        Binding("ctrl+p", "palette", "Actions", show=False, priority=True, id="app.palette"),
        Binding("colon", "palette", "Actions", show=False, id="app.palette_colon"),
        Binding("at", "requests", "Requests", show=False, key_display="@", id="app.requests"),
        Binding("m", "models", "Use a model of this machine", show=False, id="app.models"),
        Binding("f3", "connect", "Connect to a service", show=False, id="app.connect"),
        Binding("f1", "help", "Help", priority=True, id="app.help"),
        Binding("question_mark", "help", "Help", show=False, id="app.help_outside_text"),
    ]

    store: "Store"

    def __init__(self, profile: Profile, settings: Settings | None = None) -> None:
        super().__init__()
        self.profile = profile
        self.settings = settings or Settings()
        self.failures: deque[BaseException] = deque(maxlen=FAILURES)
        self._recent = Recent(WITHIN)
        self.hiding: LineFilter | None = None
        self._started = False
        self._shown_notice = 0
        self._trail: list[str] = []
        """The places from which the one that is shown was opened."""
        self.appearance = Appearance(self, self.settings.theme)

    def get_css_variables(self) -> dict[str, str]:
        return with_roles(super().get_css_variables())

    def get_key_display(self, binding: Binding) -> str:
        if binding.key_display:
            return binding.key_display
        return KEY_NAMES.get(binding.key) or binding.key

    def get_default_screen(self) -> Screen[Any]:
        return Starting(self.profile)

    def on_mount(self) -> None:
        self._colour_prose()
        if self.settings.hide:
            self.toggle_hiding()
        self.hold_keys(self._load)
        self.call_after_refresh(self._load)

    async def on_unmount(self) -> None:
        if self._started:
            await self.store.close()

    def redraw_theme(self) -> None:
        """Draws everything anew after the theme in force has got other colours."""
        self._watch_theme(self.theme)
        for screen in self._all_screens():
            for widget in screen.walk_children(with_self=True):
                widget.notify_style_update()

    def _watch_theme(self, theme_name: str) -> None:
        # First: what is drawn while the theme changes is kept.
        self._colour_prose()
        super()._watch_theme(theme_name)

    def _colour_prose(self) -> None:
        self.console.push_theme(prose_theme(self.get_css_variables()), inherit=True)

    @work(exit_on_error=False, description="load")
    async def _load(self) -> None:
        await asyncio.to_thread(_import_the_rest)
        from carrel.store.core.loop import OwnerLoop
        from carrel.store.core.watch import watch
        from carrel.store.store import Store
        from carrel.tui.screens.all import PLACE_SCREENS

        self.store = Store(self.profile, OwnerLoop.running())
        await self.store.start()
        self._started = True
        refused = await self._take_keymap()
        for name, place in PLACE_SCREENS.items():
            self.add_mode(name, lambda place=place: place(self.store))  # type: ignore[misc]
        await self.switch_mode("files")
        self.release_keys(self._load)
        watch(self.store.notifications.slice, self._tell, deliver=self.call_later)
        watch(
            self.store.session.slice,
            self._explain_connection,
            select=lambda state: state.error,
            deliver=self.call_later,
        )
        from carrel.tui.flows.model_servers import look

        self.appearance.start()
        look(self)
        if refused is not None:
            self.show_problem(refused)

    async def _take_keymap(self) -> "Problem | None":
        """Puts the keys of one's own in force; says which of them cannot be."""
        if not (keymap := self.settings.keymap):
            return None
        from carrel.store.core.problem import Problem
        from carrel.tui.keymap import mistakes, usable

        # Every module with bindings is imported for it, which takes a while.
        self.set_keymap(await asyncio.to_thread(usable, keymap))
        if not (wrong := await asyncio.to_thread(mistakes, keymap)):
            return None
        return Problem(
            "Some keys of your own are not used",
            str(SettingsError(settings_file(), wrong)),
            "Those actions keep their own keys. Correct it with: carrel config edit",
        )

    # Moving about

    @property
    def place(self) -> "Place | None":
        """The place that is shown, under whatever lies over it; None while starting."""
        from carrel.tui.place import Place

        screen = self.screen_stack[0]
        return screen if isinstance(screen, Place) else None

    async def action_go(self, place: str) -> None:
        if self._started:
            self._trail.clear()
            await self._switch(place)

    async def open_place(self, place: str) -> None:
        """Goes where something is opened; esc there comes back."""
        here = self.place
        if here is not None and place != here.PLACE:
            self._trail.append(here.PLACE)
        await self._switch(place)

    async def open_chat(self, opening: object) -> None:
        """Goes to the field of the chat that is open; keys that wait for `opening` go there."""
        from carrel.tui.screens.chat import ChatPlace

        try:
            await self.open_place("chat")
            if isinstance(place := self.place, ChatPlace):
                place.begin()
        finally:
            self.release_keys(opening)

    @property
    def came_from(self) -> str | None:
        """The place that esc comes back to, where what is shown was opened from another."""
        return self._trail[-1] if self._trail else None

    async def go_back(self) -> None:
        """Goes back to the place from which this one was opened."""
        if self._trail:
            await self._switch(self._trail.pop())

    async def _switch(self, place: str) -> None:
        await self.switch_mode(place)
        # What Textual draws while it delays updates after a switch is now and then lost.
        self.set_timer(DRAWN_AFTER, self.screen.refresh)

    async def _check_bindings(self, key: str, priority: bool = False) -> bool:
        # The one place that every key comes to which no field and no binding has taken.
        taken = await super()._check_bindings(key, priority)
        if not taken and not priority and self.screen is self.place:
            self.place.explain_key(key)
        return taken

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        # A dialog is answered or closed before one goes elsewhere.
        return not (action == "go" and len(self.screen_stack) > 1)

    def action_interrupt(self) -> None:
        place = self.place
        if place is not None and place.can_stop():
            place.stop()
        elif place is not None:
            place.notice("ctrl+q quits.")

    def action_help(self) -> None:
        from carrel.tui.dialogs.help import Help, keys_of

        if isinstance(self.screen, Help):
            self.pop_screen()
            return
        place = self.place
        title = PLACES[place.PLACE] if place else "Help"
        self.push_screen(Help(title, place.HELP if place else "", keys_of(self.screen)))

    def action_palette(self) -> None:
        from carrel.tui.dialogs.palette import Command, Palette
        from carrel.tui.flows.palette import app_commands, commands_of, open_found

        def chosen(command: Command | None) -> None:
            self.appearance.restore()
            if command is not None:
                self.call_later(command.run)

        def found(thing: "FoundItem") -> None:
            self.run_worker(open_found(self, thing), exit_on_error=False, group="found")

        if not self._started or len(self.screen_stack) > 1:
            return
        commands = [*commands_of(self.screen), *app_commands(self)]
        self.push_screen(
            Palette(commands, self.store.finder, found, self.appearance.restore),
            chosen,
        )

    def action_requests(self) -> None:
        from carrel.tui.dialogs.requests import RequestLog

        if self._started and len(self.screen_stack) == 1:
            self.push_screen(RequestLog(self.store))

    def action_models(self) -> None:
        from carrel.tui.flows.model_servers import choose

        if self._started and len(self.screen_stack) == 1:
            choose(self)

    def action_connect(self) -> None:
        from carrel.tui.flows.services import choose

        if self._started and len(self.screen_stack) == 1:
            choose(self)

    def toggle_hiding(self) -> None:
        """Hides what a shared screen should not show, or shows it again."""
        from carrel.tui.terminal.hiding import Hiding

        if self.hiding is None:
            self.hiding = Hiding(self._secrets())
            self._filters.append(self.hiding)
        else:
            self._filters.remove(self.hiding)
            self.hiding = None
        for screen in self._all_screens():
            for widget in screen.walk_children(with_self=True):
                widget.refresh()

    def _secrets(self) -> Iterable[str]:
        for profile in (self.profile, *profiles()):
            if not profile.local:
                yield profile.name
            yield from (profile.api_key or "", urlsplit(profile.url or "").hostname or "")
        yield str(Path.home())

    def _all_screens(self) -> Iterable[Screen[Any]]:
        return {screen for stack in self._screen_stacks.values() for screen in stack}

    def say(self, words: str, *, failed: bool = False) -> None:
        """A short line on the place that is shown."""
        if self.place is not None:
            self.place.notice(words, failed=failed)

    # Files from anywhere

    def upload(self, files: Iterable[Path]) -> None:
        """Uploads files and goes to where they show."""
        place = self.place
        if place is None:
            return
        for file in files:
            place.do(self.store.files.upload(file), self._uploaded)
        if place.PLACE != "files":
            self.call_later(self.open_place, "files")

    def play_sample(self) -> None:
        """Plays the sample over the place that is shown, and goes to what is chosen of it."""
        from carrel.tui.dialogs.sample import SampleDialog

        def chosen(place: str | None) -> None:
            if place is not None:
                self.call_later(self.open_place, place)

        self.push_screen(SampleDialog(self.store.sample), chosen)

    async def offer_folder(self, folder: Path) -> None:
        """Goes to Libraries, which offers to sync a folder with one of them."""
        from carrel.tui.screens.libraries import LibrariesPlace

        await self.open_place("libraries")
        if isinstance(place := self.place, LibrariesPlace):
            place.offer(folder)

    def _uploaded(self, file: "File") -> None:
        from carrel.tui.screens.files import FilesPlace

        if isinstance(place := self.place, FilesPlace):
            place.reveal(file.id)

    # What went wrong, and what is worth a line

    def _tell(self, state: "NotificationsState") -> None:
        place = self.place
        if place is not None and state.items and state.items[-1].id != self._shown_notice:
            newest = state.items[-1]
            self._shown_notice = newest.id
            place.notice(newest.text, failed=newest.level == "error")

    def _explain_connection(self, error: "Problem | None") -> None:
        if error is not None:
            self.show_problem(error)

    def show_problem(self, problem: "Problem") -> None:
        """A panel for a real error; a second one while it is open becomes a line."""
        from carrel.tui.dialogs.problem import ProblemPanel

        if isinstance(self.screen, ProblemPanel) and self.place is not None:
            self.place.notice(str(problem), failed=True)
        else:
            self.push_screen(ProblemPanel(problem))

    def handle_bindings_clash(self, clashed_bindings: set[Binding], node: DOMNode) -> None:
        """Keys wanted twice are sorted out, and said, when the app starts."""

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            self._handle_exception(event.worker.error)

    def _handle_exception(self, error: Exception | BaseException) -> None:
        # Textual would end the app here. A person's work is worth more than one wrong drawing.
        from carrel.store.core.problem import Problem

        self.failures.append(error)
        problem = Problem.of(error)
        if self._recent.add(error) >= FAILURES or not isinstance(error, Exception):
            self.exit(return_code=1, message=str(problem))
        elif self._started:
            self.call_later(self.show_problem, problem)
        else:
            self.exit(return_code=1, message=str(problem))

    async def on_event(self, event: events.Event) -> None:
        # Restyling everything because the terminal window lost the focus can take seconds.
        if not isinstance(event, events.AppFocus | events.AppBlur):
            await super().on_event(event)


@cache
def _import_the_rest() -> None:
    for module in ("carrel.store.store", "carrel.tui.screens.all"):
        importlib.import_module(module)
    # All of this stays. Looking through it at every full collection would stop the app for 0.1 s.
    gc.freeze()


def run(profile: Profile, settings: Settings, *, mouse: bool | None = None) -> int:
    """Runs the terminal app on a profile until it is quit; gives the exit code.

    `mouse` says whether it takes the mouse, instead of the settings.
    """
    while True:
        app = CarrelApp(profile, settings)
        other = app.run(mouse=settings.mouse if mouse is None else mouse)
        if other is None:
            return app.return_code or 0
        profile = other
        # Another service looks the same, and shows no more on a shared screen.
        settings = replace(settings, theme=app.appearance.wanted, hide=app.hiding is not None)
