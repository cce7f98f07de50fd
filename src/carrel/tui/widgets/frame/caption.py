"""The caption of a demo, below any screen or dialog."""

from collections.abc import Callable

from textual.app import RenderResult
from textual.content import Content
from textual.widget import Widget

from carrel.store.core.actions.slice import Slice
from carrel.store.core.actions.watch import watch
from carrel.store.demo.state import RECORDED, DemoState, way_on
from carrel.tui.theme import labels

KEYS = "F8 next · F7 back · F9 pause · F10 jump · ctrl+q end"


class Caption(Widget, can_focus=False):
    """The step's text, and on the right the demo's progress."""

    DEFAULT_CSS = """
    Caption {
        dock: bottom;
        height: auto;
        min-height: 4;
        max-height: 60%;
        padding: 1 4;
        background: $panel;
        color: $foreground;
        text-style: bold;
    }
    """

    def __init__(self, demo: Slice[DemoState]) -> None:
        super().__init__()
        self._demo = demo
        self._close: Callable[[], None] | None = None

    def on_mount(self) -> None:
        self._close = watch(self._demo, self._show, deliver=self.call_later)

    def on_unmount(self) -> None:
        if self._close is not None:
            self._close()

    def _show(self, _: DemoState) -> None:
        self.refresh(layout=True)

    def render(self) -> RenderResult:
        return caption(self._demo.value)


def caption(state: DemoState) -> Content:
    """Return the caption with a failed step's message and the keys."""
    lines = [labels.block(state.caption) + _place(state)]
    if state.phase == "failed":
        trouble = labels.line(f"✕ {state.trouble}", "not bold $failed")
        lines.append(trouble + Content.styled(f" · {way_on(state)}", "not bold $muted"))
    elif state.phase == "recorded":
        lines.append(Content.styled(RECORDED, "$accent"))
        lines.append(labels.block(state.recorded, "not bold"))
    lines.append(Content.styled(_keys(state), "not bold $muted"))
    return Content("\n").join(lines)


def _keys(state: DemoState) -> str:
    if state.ended:
        return "The end · F7 back · F10 jump · ctrl+q end"
    if state.paused:
        return f"Paused · F9 goes on · {KEYS}"
    return KEYS


def _place(state: DemoState) -> Content:
    mark = " ◐" if state.phase == "playing" else ""
    return Content.styled(f"  {state.played}/{state.count}{mark}", "not bold $muted")
