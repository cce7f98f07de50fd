"""The uses of private parts of Textual that have no public counterpart.

`tests/tui/terminal/test_textual_private.py` names the part that broke after an upgrade.
"""

import logging
from typing import Any, TypeVar, cast

from rich.console import Console
from rich.control import Control
from textual import events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._compositor import ChopsUpdate, CompositorUpdate
from textual.app import App
from textual.binding import Binding
from textual.content import Content
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.driver import Driver
from textual.keys import _character_to_key
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.widgets import RadioButton, TextArea
from textual.worker import Worker, WorkerState

N = TypeVar("N", bound=MessagePump)
A = TypeVar("A", bound=App[Any])

Painted = dict[int, dict[int, tuple[int, str]]]
"""What stands on the terminal: by row and first column, the column after the text, and the text."""

_PICTURE = "\x1bP"
"""Start of a sixel picture."""

_log = logging.getLogger(__name__)


class LastingStylesheet(Stylesheet):
    """A stylesheet that parses each source once for a theme.

    Textual's parses all of them anew with each screen and dialog that brings its own.
    """

    def set_variables(self, variables: dict[str, str]) -> None:
        """Replace the variables; what was parsed with others is dropped."""
        if variables != self._variables:
            super().set_variables(variables)

    def reparse(self) -> None:
        """Parse the sources not yet parsed with these variables."""
        self.parse()


def read_alt_digits(count: int) -> None:
    """Make Textual report alt with a digit from 1 to `count` as that key.

    Textual reads it as the character that option types on a Mac. Its table of escape sequences is
    global, and has no public setter.
    """
    for digit in range(1, count + 1):
        cast("dict[str, object]", ANSI_SEQUENCES_KEYS).pop(f"\x1b{digit}", None)


def key_name(character: str) -> str:
    """Return Textual's name of a character's key: `question_mark` for `?`."""
    return _character_to_key(character)


def bindings_of(node: DOMNode, key: str) -> list[Binding]:
    """Return a widget's own bindings of a key, with the user's keymap applied."""
    return node._bindings.key_to_bindings.get(key, [])


def keys_of(app: App[Any], binding: Binding) -> list[str]:
    """Return the keys of a binding, with the user's keymap applied."""
    return app._keymap.get(binding.id or "", binding.key).split(",")


def write_to_terminal(app: App[Any], sequence: str) -> None:
    """Send an escape sequence to the terminal; do nothing if the app has none."""
    if (driver := app._driver) is not None:
        driver.write(sequence)


def screen_lines(app: App[Any]) -> list[str]:
    """Return the text on the screen line by line, with the dialogs over it."""
    strips = app.screen._compositor.render_strips(app.size)
    return ["".join(segment.text for segment in strip) for strip in strips]


def report(app: App[Any], error: BaseException) -> None:
    """Pass an exception to the app, which may exit."""
    app._handle_exception(cast("Exception", error))


def steady(kind: type[N]) -> type[N]:
    """Make a class of widgets, screens or apps survive exceptions in their handlers.

    Textual ends a widget's message loop at the first exception: the widget would stay visible but
    dead. This passes the exception to the app and continues. Exceptions in workers are passed too.
    """
    dispatch = kind._dispatch_message

    async def dispatch_or_report(self: N, message: Message) -> None:
        try:
            await dispatch(self, message)
        except Exception as error:
            report(self.app, error)

    def on_worker_state_changed(self: N, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            report(self.app, event.worker.error)

    own = cast("Any", kind)
    own._dispatch_message = dispatch_or_report
    own.on_worker_state_changed = on_worker_state_changed
    return kind


def is_ending(app: App[Any]) -> bool:
    """Return whether the app is exiting."""
    return app._exit


def steady_app(kind: type[A]) -> type[A]:
    """Make an app survive exceptions; `handle_failure` gets each exception, `explain_key` each
    unbound key."""
    check_bindings = kind._check_bindings

    def handle_exception(self: A, error: Exception) -> None:
        # Textual would end the app here. The user's work is worth more than one wrong frame.
        if is_ending(self):
            # A running handler finds the screen half gone.
            _log.info("after the end: %r", error)
        else:
            cast("Any", self).handle_failure(error)

    async def check_bindings_or_explain(self: A, key: str, priority: bool = False) -> bool:
        # Every key that no field and no binding handled arrives here.
        taken = await check_bindings(self, key, priority)
        if not taken and not priority:
            cast("Any", self).explain_key(key)
        return taken

    own = cast("Any", kind)
    own._handle_exception = handle_exception
    own._check_bindings = check_bindings_or_explain
    return steady(kind)


class _Changes(CompositorUpdate):
    """The spans of an update that the terminal does not show yet."""

    def __init__(self, update: ChopsUpdate, painted: Painted) -> None:
        self._update = update
        self._painted = painted

    def render_segments(self, console: Console) -> str:
        update = self._update
        sequences: list[str] = []
        for y, start, stop in update.spans:
            row = self._painted.setdefault(y, {})
            changed = False
            for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
                if strip is None or x >= stop or end <= start:
                    continue
                inside = min(end, stop)
                text = strip.crop(0, inside - x).render(console)
                # Terminals disagree on some widths, so all behind a change is written. So is a
                # picture: text in other rows may have covered it.
                changed = changed or row.get(x) != (inside, text) or _PICTURE in text
                if changed:
                    for other in [at for at in row if at < inside and row[at][0] > x]:
                        del row[other]
                    row[x] = inside, text
                    sequences.append(f"{Control.move_to(x, y)}{text}")
        return "".join(sequences)


def sparing_app(kind: type[A]) -> type[A]:
    """Make an app write to the terminal only what does not stand there.

    Textual writes each row of a widget that changed, 16 kB for an answer that grows by a word:
    over a slow line the keys would wait behind them.
    """
    painted: Painted = {}
    display, suspend, on_event = kind._display, kind._suspend_signal, kind.on_event

    def display_changes(self: A, screen: Screen[Any], renderable: Any) -> None:
        if isinstance(renderable, ChopsUpdate):
            renderable = _Changes(renderable, painted)
        elif renderable is not None:
            painted.clear()
        display(self, screen, renderable)

    def forget_and_suspend(self: A) -> None:
        painted.clear()
        suspend(self)

    async def forget_and_handle(self: A, event: events.Event) -> None:
        if isinstance(event, events.Resize | Driver.SignalResume):
            painted.clear()
        await on_event(self, event)

    own = cast("Any", kind)
    own._display = display_changes
    own._suspend_signal = forget_and_suspend
    own.on_event = forget_and_handle
    return kind


class KeyedTextArea(TextArea):
    """A text area mixin that offers each key to `takes` before typing it."""

    def take_key(self, key: str) -> bool:
        """Handle a key, or return False to type it."""
        raise NotImplementedError

    async def _on_key(self, event: events.Key) -> None:
        # A binding with priority would overtake the text that was typed before it.
        if self.take_key(event.key):
            event.stop()
            event.prevent_default()
        else:
            await super()._on_key(event)


class MarkedRadioButton(RadioButton):
    """A radio button that shows its state by a mark, not only by colour."""

    @property
    def _button(self) -> Content:
        return Content.styled("●" if self.value else "○", self.get_visual_style("toggle--button"))
