"""The sample, step by step, with links to its results."""

import time
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from carrel import samples
from carrel.store.chat.formatting import source_words
from carrel.store.core.formatting import duration
from carrel.store.sample import SampleService, SampleState, SampleStep
from carrel.tui.dialogs.core.dialog import Dialog, buttons, hint
from carrel.tui.theme import labels

_MARKS = {
    "waiting": ("○", "$muted"),
    "running": ("◐", "$busy"),
    "done": ("●", "$ready"),
    "failed": ("✕", "$failed"),
}


class SampleDialog(Dialog[str]):
    """Plays the sample; returns the screen to open next."""

    DEFAULT_CSS = """
    SampleDialog .dialog { width: 84; }
    SampleDialog .words { max-height: 60vh; margin-bottom: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "app.focus_previous", "Other", show=False, id="sample.before"),
        Binding("right", "app.focus_next", "Other", show=False, id="sample.next"),
    ]

    def __init__(self, service: SampleService) -> None:
        super().__init__("The sample")
        self._service = service

    def compose_content(self) -> ComposeResult:
        with VerticalScroll(classes="words", can_focus=False):
            yield Static(id="steps")
        yield hint("esc stops it. What it makes is called “Sample”; delete it any time.")
        yield buttons(
            ("document", "Its pages"), ("libraries", "Its library"), ("chat", "The answer")
        )

    def on_mount(self) -> None:
        self._begun = (0, time.monotonic())
        self.query_one(".buttons").display = False
        self._ticker = self.set_interval(1, lambda: self._show(self._service.slice.value))
        self._service.play()
        self.follow(self._service.slice, self._show)

    def on_unmount(self) -> None:
        self._service.stop()

    def _show(self, state: SampleState) -> None:
        if not self.is_attached:
            return
        now = time.monotonic()
        done = sum(step.status == "done" for step in state.steps)
        if done != self._begun[0]:
            self._begun = (done, now)
        lines = [_line(step, now - self._begun[1]) for step in state.steps]
        if state.answer is not None:
            lines += [Content(""), Content.styled(samples.QUESTION, "bold")]
            lines.append(labels.block(state.answer.text))
            if state.answer.sources:
                lines.append(labels.line(source_words(state.answer.sources[0]), "$muted"))
        if state.error is not None:
            lines += [Content(""), labels.block(str(state.error), "$failed")]
        self.query_one("#steps", Static).update(Content("\n").join(lines))
        if state.done:
            self._ticker.stop()
            self.query_one(".hint").display = False
            self.query_one(".buttons").display = True
            self.query_one("#chat").focus()

    def press(self, button: str) -> None:
        self.dismiss(button)


def _line(step: SampleStep, seconds: float) -> Content:
    mark, colour = _MARKS[step.status]
    words = labels.line(step.words, "$muted" if step.status == "waiting" else "")
    shown = duration(int(seconds)) if step.status == "running" and seconds >= 1 else step.result
    result = labels.line(f"  {shown}" if shown else "", "$muted")
    return Content.assemble((f"{mark} ", colour), words, result)
