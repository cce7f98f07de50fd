"""The terminal app: its six screens over one store."""

import asyncio
import contextlib
import gc
import importlib
import sys
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, work
from textual.app import App
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.driver import Driver
from textual.filter import LineFilter
from textual.screen import Screen
from textual.theme import Theme
from textual.widget import Widget

from carrel.config.profiles import Profile
from carrel.config.settings import Settings, SettingsError, settings_file
from carrel.recording.recorder import Recorder, failure_words
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.layout.state import load_layout
from carrel.tui.screens.starting import Starting
from carrel.tui.terminal.clipboard import copy
from carrel.tui.terminal.failures import RecentErrors
from carrel.tui.terminal.hiding import Hiding, secret_keys, secret_names
from carrel.tui.terminal.keys import KEY_NAMES, explain_key
from carrel.tui.terminal.recorded import record_driver
from carrel.tui.terminal.textual_private import (
    LastingStylesheet,
    is_ending,
    read_alt_digits,
    sparing_app,
    steady_app,
)
from carrel.tui.terminal.typeahead import TypeAhead
from carrel.tui.theme import labels
from carrel.tui.theme.appearance import Appearance
from carrel.tui.theme.prose import prose_theme
from carrel.tui.theme.themes import with_roles
from carrel.tui.widgets.frame.topbar import PLACES
from carrel.tui.widgets.inputs.fields import MultilineField

if TYPE_CHECKING:
    from carrel.store.notifications import NotificationsState
    from carrel.store.store import Store
    from carrel.tui.base.jumps import Jumps
    from carrel.tui.base.screen import MainScreen
    from carrel.wire.files import File

read_alt_digits(len(PLACES))

DRAWN_AFTER = 0.1
"""Seconds until a screen is redrawn after a switch: twice the delay of updates."""
NOTICES = 100
"""Number of notices that are kept to be read again."""
FAILURES, WITHIN = 10, 10.0
"""The app exits after this many unexpected errors of a kind within this many seconds: an error at
every redraw leaves nothing to work with."""


def start_imported(module: str, flow: str) -> "Callable[[CarrelApp], None]":
    """Return the action of a key that imports a flow, and starts it over the current screen."""

    def action(app: "CarrelApp") -> None:
        app._run(getattr(importlib.import_module(f"carrel.tui.flows.{module}"), flow))

    return action


@steady_app
@sparing_app
class CarrelApp(App[Profile]):
    """The workbench in a terminal. It returns the profile to continue with, if there is one.

    The frame is painted first; the store and the screens are imported afterwards.
    """

    TITLE = "Carrel"
    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(f"{n}", f"go('{place}')", words, show=False, id=f"app.go_{place}")
            for n, (place, words) in enumerate(PLACES.items(), 1)
        ),
        # With priority: a text field would take alt with a digit as a digit.
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
        Binding("alt+left", "jump(-1)", "Back", show=False, id="app.jump_back"),
        Binding("alt+right", "jump(1)", "Forward", show=False, id="app.jump_forward"),
        Binding("ctrl+q", "quit", "Quit", show=False, priority=True, id="app.quit"),
        Binding("ctrl+z", "suspend_process", "Suspend", show=False, id="app.suspend"),
        Binding("ctrl+c", "interrupt", "Stop", show=False, system=True, id="app.interrupt"),
        Binding("ctrl+p", "palette", "Actions", show=False, priority=True, id="app.palette"),
        Binding("colon", "palette", "Actions", show=False, id="app.palette_colon"),
        Binding("ctrl+f", "search", "Search libraries and chats", show=False, id="app.search"),
        Binding("at", "requests", "Requests", show=False, key_display="@", id="app.requests"),
        Binding(
            "exclamation_mark", "notices", "Notices", show=False, key_display="!", id="app.notices"
        ),
        Binding("U", "undo", "Undo the last delete", show=False, id="app.undo"),
        Binding("ctrl+t", "trash", "Deleted items…", show=False, id="app.trash"),
        Binding("m", "models", "Use a model of this machine", show=False, id="app.models"),
        Binding("f3", "connect", "Connect to a service", show=False, id="app.connect"),
        Binding("f1", "help", "Help", priority=True, id="app.help"),
        Binding("question_mark", "help", "Help", show=False, id="app.help_outside_text"),
    ]

    store: "Store"
    _jumps: "Jumps"
    _variables: tuple[Theme, dict[str, str]] | None = None

    def __init__(
        self, profile: Profile, settings: Settings | None = None, recorder: Recorder | None = None
    ) -> None:
        """Make the app; `recorder` gets everything drawn, with keys and addresses hidden."""
        # First: Textual asks for the driver at once.
        self._recorder = recorder
        super().__init__()
        self.stylesheet = LastingStylesheet(variables=self.get_css_variables())
        self.type_ahead = TypeAhead(self, super().on_event)
        self.profile = profile
        self.settings = settings or Settings()
        self.failures: deque[BaseException] = deque(maxlen=FAILURES)
        self._recent = RecentErrors(WITHIN)
        self._hiding: Hiding | None = None
        self._started = False
        self._teardown = contextlib.AsyncExitStack()
        place = load_layout(profile.folders.state / "layout.json").place
        self._begin_at = place if place in PLACES else "files"
        self._shown_notice = 0
        self._notices: deque[Content] = deque(maxlen=NOTICES)
        self._quitting = False
        self._trail: list[str] = []
        """The screens from which the current one was opened, in order."""
        self.appearance = Appearance(
            self, self.settings.theme, partial(self.show_notice, failed=True), self._redraw
        )

    def get_css_variables(self) -> dict[str, str]:
        # Cached for the theme: making them takes a millisecond, and pages are drawn with them.
        if self._variables is None or self._variables[0] is not self.current_theme:
            self._variables = self.current_theme, with_roles(super().get_css_variables())
        return self._variables[1]

    def get_key_display(self, binding: Binding) -> str:
        if binding.key_display:
            return binding.key_display
        modifiers, plus, key = binding.key.rpartition("+")
        return f"{modifiers}{plus}{KEY_NAMES.get(key, key)}"

    def get_default_screen(self) -> Screen[Any]:
        return Starting(self.profile, self._begin_at)

    def on_mount(self) -> None:
        self.type_ahead.start()
        self._colour_prose()
        if self.settings.hide or self._recorder is not None:
            self.toggle_hiding()
        if self._recorder is not None:
            self._recorder.on_failure = self._on_recorder_failure
        # The terminal lost its content while the app was suspended.
        self.app_resume_signal.subscribe(self, lambda _: self._redraw_soon())
        self.type_ahead.hold(self._load)
        self.call_after_refresh(self._load)

    async def on_unmount(self) -> None:
        await self._teardown.aclose()

    def _redraw_soon(self) -> None:
        self.set_timer(DRAWN_AFTER, self.screen.refresh)

    def _redraw(self) -> None:
        """Redraw everything after the current theme's colours changed."""
        self.mutate_reactive(App.theme)
        for widget in self._all_widgets():
            widget.notify_style_update()

    def watch_theme(self) -> None:
        # Before the next redraw, which is cached.
        self._colour_prose()

    def _colour_prose(self) -> None:
        self.console.push_theme(prose_theme(self.get_css_variables()), inherit=True)

    def exit(self, *args: Any, **options: Any) -> None:
        # Screens added while the app closes its screens would interrupt that.
        self.workers.cancel_group(self, "load")
        super().exit(*args, **options)

    @work(exit_on_error=False, group="load", description="load")
    async def _load(self) -> None:
        await asyncio.to_thread(_import_the_rest)
        if is_ending(self):
            return
        from carrel.store.core.actions.loop import OwnerLoop
        from carrel.store.core.actions.watch import watch
        from carrel.store.store import Store
        from carrel.tui.base.jumps import Jumps
        from carrel.tui.screens.all import PLACE_SCREENS

        self.store = Store(self.profile, OwnerLoop.running())
        self._teardown.push_async_callback(self.store.close)
        await self.store.start()
        self._jumps = Jumps(self.store, self._place_name, self._switch)
        self._teardown.callback(self._jumps.close)
        self._started = True
        refused = await self._take_keymap()
        for name, place in PLACE_SCREENS.items():
            self.add_mode(name, lambda place=place: place(self.store, self))  # type: ignore[misc]
        if library := self.store.layout.slice.value.library:
            self.store.libraries.begin_with(library)
        await self.switch_mode(self._begin_at)
        self.type_ahead.release(self._load)
        watch(self.store.notifications.slice, self._tell, deliver=self.call_later)
        watch(
            self.store.libraries.slice,
            self._note_place,
            select=lambda state: state.selected,
            deliver=self.call_later,
        )
        watch(
            self.store.session.slice,
            self._explain_connection,
            select=lambda state: state.error,
            deliver=self.call_later,
        )
        self.appearance.start()
        start_imported("activity", "offer_left")(self)
        start_imported("agents.model_servers", "offer")(self)
        if refused is not None:
            self.show_problem(refused)

    async def _take_keymap(self) -> Problem | None:
        """Apply the user's key bindings; return a problem that names the invalid ones, or None."""
        if not (keymap := self.settings.keymap):
            return None
        from carrel.tui.keymap import mistakes, usable_keys

        # This imports every module with bindings, which takes a while.
        self.set_keymap(await asyncio.to_thread(usable_keys, keymap))
        if not (wrong := await asyncio.to_thread(mistakes, keymap)):
            return None
        return Problem(
            "Some of your key bindings are not used",
            str(SettingsError(settings_file(), wrong)),
            "Those actions keep their own keys. Correct it with: carrel config edit",
        )

    # Navigation

    @property
    def place(self) -> "MainScreen | None":
        """The current screen, below any dialogs, or None while starting."""
        from carrel.tui.base.screen import MainScreen

        screen = self.screen_stack[0]
        return screen if isinstance(screen, MainScreen) else None

    async def action_go(self, place: str) -> None:
        if self._started:
            self._trail.clear()
            self._leave_for(place)
            await self._switch(place)

    def _leave_for(self, place: str) -> None:
        if self.place is not None and place != self.place.PLACE:
            self._jumps.leave()

    async def action_jump(self, step: int) -> None:
        """Go back or forward in the navigation history."""
        if not self._started:
            return
        went = await (self._jumps.go_back() if step < 0 else self._jumps.forward())
        if went:
            self._trail.clear()
        else:
            self.show_notice(
                "There is nothing to go back to." if step < 0 else "This is the newest."
            )

    async def open_place(self, place: str) -> None:
        """Open a screen, from which esc returns."""
        here = self.place
        if here is not None and place != here.PLACE:
            self._trail.append(here.PLACE)
        self._leave_for(place)
        await self._switch(place)

    async def open_chat(self, opening: object) -> None:
        """Focus the field of the open chat and pass it the keys held back for `opening`."""
        from carrel.tui.screens.chat import ChatScreen

        try:
            await self.open_place("chat")
            if isinstance(place := self.place, ChatScreen):
                place.begin()
        finally:
            self.type_ahead.release(opening)

    @property
    def came_from(self) -> str | None:
        """The screen to which esc returns, or None if the current one was not opened from
        another."""
        return self._trail[-1] if self._trail else None

    async def go_back(self) -> None:
        """Return to the screen that opened this one, else go back in the navigation history."""
        place = self._trail.pop() if self._trail else None
        if not await self._jumps.go_back(place) and place is not None:
            await self._switch(place)

    def _place_name(self) -> str:
        return "" if self.place is None else self.place.PLACE

    def _note_place(self, library: str | None) -> None:
        layout = self.store.layout
        place = self._place_name()
        # No document is open at the next start.
        here = layout.slice.value.place if place in ("", "document") else place
        layout.note(here, library or layout.slice.value.library)

    async def _switch(self, place: str) -> None:
        await self.switch_mode(place)
        self._note_place(self.store.libraries.slice.value.selected)
        # Textual sometimes loses lines drawn while it delays updates after a switch.
        self._redraw_soon()

    async def open_version(self, agent_id: str, version: int | None) -> None:
        """Open an agent and, with `version`, one of its versions."""
        from carrel.tui.screens.agents import AgentsScreen

        await self.open_place("agents")
        await self.store.agents.select(agent_id).settled()
        if version is not None and isinstance(place := self.place, AgentsScreen):
            place.point_at_version(version)

    def explain_key(self, key: str) -> None:
        """Explain why a key had no effect, and name the nearest key that has one."""
        if (place := self.place) is not None and self.screen is place:
            elsewhere = self._bindings_elsewhere(place.PLACE)
            if said := explain_key(place, key, place.why_not, elsewhere):
                place.notice(said)

    def _bindings_elsewhere(self, place: str) -> Iterator[tuple[str, Binding]]:
        """Yield the bindings of all other screens, shown bindings first, each with its screen's
        number and name ("2 Libraries")."""
        from carrel.tui.screens.all import PLACE_SCREENS

        others = [
            (f"{number} {title}", binding)
            for number, (name, title) in enumerate(PLACES.items(), 1)
            if name != place
            for binding in vars(PLACE_SCREENS[name])["BINDINGS"]
        ]
        yield from sorted(others, key=lambda other: not other[1].show)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        # A dialog is answered or closed before navigating.
        return not (action in ("go", "jump") and len(self.screen_stack) > 1)

    def action_interrupt(self) -> None:
        place = self.place
        if place is not None and place.can_stop():
            place.stop()
        elif place is not None:
            place.notice("ctrl+q quits.")

    def action_help(self) -> None:
        from carrel.tui.dialogs.core.dialog import TextDialog
        from carrel.tui.dialogs.core.help import RIGHT, key_lines, keys_of

        if isinstance(self.screen, TextDialog):
            self.pop_screen()
            return
        place = self.place
        title = PLACES[place.PLACE] if place else "Help"
        lines = key_lines(place.HELP if place else "", keys_of(self.screen))
        self.push_screen(TextDialog(title, lines, RIGHT))

    def _run(self, flow: "Callable[[MainScreen], Coroutine[Any, Any, None]]") -> None:
        """Run a flow over the current screen, unless a dialog is open."""
        if (place := self.place) is not None and self.screen is place:
            place.run_flow(flow(place))

    async def action_quit(self) -> None:
        if not self._started or self._quitting or (place := self.place) is None:
            self.exit()
            return
        from carrel.tui.flows.activity import may_leave

        async def leave() -> None:
            try:
                if await may_leave(place):
                    self.exit()
            finally:
                self._quitting = False

        # A second ctrl+q, while the app asks about running work, leaves at once.
        self._quitting = bool(self.store.unfinished.running_words)
        self.run_worker(leave(), exit_on_error=False)

    action_palette = start_imported("palette", "choose")
    action_search = start_imported("palette", "search_everywhere")
    action_models = start_imported("agents.model_servers", "use")
    action_connect = start_imported("services", "connect")

    def action_requests(self) -> None:
        from carrel.tui.dialogs.requests import RequestLog

        if self._started and len(self.screen_stack) == 1:
            self.push_screen(RequestLog(self.store))

    def action_notices(self) -> None:
        from carrel.tui.dialogs.core.dialog import TextDialog

        if (place := self.place) is not None and self.screen is place:
            title = "Notices" if self._notices else "Notices · none yet"
            self.push_screen(TextDialog(title, [*reversed(self._notices)]))

    def action_undo(self) -> None:
        if self.place is not None:
            self.place.do(self.store.trash.undo())

    def action_trash(self) -> None:
        from carrel.tui.dialogs.trash import Trash

        if (place := self.place) is not None and self.screen is place:
            self.push_screen(Trash(self.store.trash, place.do))

    # Hiding

    @property
    def hiding(self) -> bool:
        """Whether keys, ids and addresses are masked."""
        return self._hiding is not None

    def toggle_hiding(self) -> None:
        """Toggle the masking for a shared screen."""
        if self._hiding is not None and self._recorder is not None:
            self.show_notice("A recording shows no keys and addresses.", failed=True)
            return
        if self._hiding is None:
            self._hiding = Hiding(secret_names(self.profile), secret_keys(self.profile))
        else:
            self._hiding = None
        for widget in self._all_widgets():
            widget.refresh()

    def get_line_filters(self) -> Sequence[LineFilter]:
        filters = super().get_line_filters()
        return filters if self._hiding is None else [*filters, self._hiding]

    def _all_widgets(self) -> Iterator[Widget]:
        """Yield the widgets of all visited screens and of the dialogs over them."""
        for mode in (self.DEFAULT_MODE, *PLACES):
            with contextlib.suppress(KeyError):
                for screen in self.get_screen_stack(mode):
                    yield from screen.walk_children(Widget, with_self=True)

    def show_notice(self, words: str, *, failed: bool = False) -> None:
        """Show a notice on the front screen."""
        if self.place is not None:
            self.place.notice(words, failed=failed)

    def note(self, words: str, *, failed: bool) -> Content:
        """Return a notice as it is shown, and keep it to be read again."""
        mark = ("✕ ", "$failed") if failed else ("", "")
        notice = Content.assemble(mark, labels.line(words))
        self._notices.append(labels.muted(f"{time.strftime('%H:%M:%S')}  ") + notice)
        return notice

    # Files from any source

    def upload(self, files: Iterable[Path]) -> None:
        """Upload files and open the screen that shows uploads."""
        place = self.place
        if place is None:
            return
        from carrel.tui.flows.files import upload_all

        place.run_flow(upload_all(place, tuple(files), self._reveal_upload))

    async def offer_folder(self, folder: Path) -> None:
        """Open Libraries, which offers to sync a folder."""
        from carrel.tui.screens.libraries import LibrariesScreen

        await self.open_place("libraries")
        if isinstance(place := self.place, LibrariesScreen):
            place.offer(folder)

    def _reveal_upload(self, file: "File") -> None:
        from carrel.tui.screens.files import FilesScreen

        if isinstance(place := self.place, FilesScreen):
            place.reveal(file.id)

    # Recording

    def get_driver_class(self) -> type[Driver]:
        driver = super().get_driver_class()
        return driver if self._recorder is None else record_driver(driver, self._recorder)

    def _on_recorder_failure(self, error: OSError) -> None:
        self.call_later(self.show_problem, Problem(*failure_words(error)))

    # Problems and notices

    def _tell(self, state: "NotificationsState") -> None:
        place = self.place
        if place is not None and state.items and state.items[-1].id != self._shown_notice:
            newest = state.items[-1]
            self._shown_notice = newest.id
            words = f"{newest.text} U undoes it." if newest.undo else newest.text
            place.notice(words, failed=newest.level == "error")

    def _explain_connection(self, error: Problem | None) -> None:
        if error is not None:
            self.show_problem(error)

    def show_problem(self, problem: Problem) -> None:
        """Show a panel for a problem.

        A notice replaces the panel if another panel is open, or while the connection is lost: the
        top bar shows that, and it may be back before a panel is read.
        """
        from carrel.tui.dialogs.core.problem import ProblemPanel

        line = problem.lost or isinstance(self.screen, ProblemPanel)
        if line and self.place is not None:
            self.place.notice(str(problem), failed=True)
        else:
            self.note(str(problem), failed=True)
            self.push_screen(ProblemPanel(problem))

    def on_text_selected(self) -> None:
        """Copy the text selected with the mouse, as terminals do."""
        if text := self.screen.get_selected_text():
            copied = copy(self, text)
            self.show_notice("Copied." if copied else "Too long for the clipboard of a terminal.")

    def on_multiline_field_not_edited(self, event: MultilineField.NotEdited) -> None:
        self.show_problem(Problem("The editor did not work", event.reason))

    def handle_failure(self, error: BaseException) -> None:
        if isinstance(error, ProblemError) and self._started:
            self.call_later(self.show_problem, error.problem)
            return
        self.failures.append(error)
        problem = Problem.of(error)
        if self._recent.add(error) >= FAILURES or not isinstance(error, Exception):
            self.exit(return_code=1, message=str(problem))
        elif self._started:
            self.call_later(self.show_problem, problem)
        else:
            self.exit(return_code=1, message=str(problem))

    async def on_event(self, event: events.Event) -> None:
        # Restyling everything when the terminal window loses focus can take seconds.
        if isinstance(event, events.Resize) and self._recorder is not None:
            self._recorder.resize(*event.size)
        if not isinstance(event, events.AppFocus | events.AppBlur):
            await self.type_ahead.take(event)

    def on_type_ahead_handled(self, message: TypeAhead.Handled) -> None:
        self.type_ahead.end_step(message)


@cache
def _import_the_rest() -> None:
    for module in ("carrel.store.store", "carrel.tui.base.jumps", "carrel.tui.screens.all"):
        importlib.import_module(module)
    # These objects are permanent. Scanning them at every full collection would stop the app for 0.1
    # s.
    gc.freeze()
    # Drawing makes many objects without cycles: frequent collections would cost as much as drawing.
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


def run(
    profile: Profile,
    settings: Settings,
    *,
    mouse: bool | None = None,
    recorder: Recorder | None = None,
) -> int:
    """Run the terminal app on a profile until the user quits; return the exit code.

    `mouse` overrides the settings' use of the mouse.
    """
    if sys.__stderr__ is None or not sys.__stderr__.isatty():
        # Textual draws on standard error, which is a file in `carrel 2>log`.
        sys.__stderr__ = sys.__stdout__  # type: ignore[misc]
    while True:
        app = CarrelApp(profile, settings, recorder)
        other = app.run(mouse=settings.mouse if mouse is None else mouse)
        if other is None:
            return app.return_code or 0
        profile = other
        # Another service looks the same, and reveals no more on a shared screen.
        settings = replace(settings, theme=app.appearance.wanted, hide=app.hiding)
