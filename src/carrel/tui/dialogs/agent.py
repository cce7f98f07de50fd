"""A form to create or edit an agent. Its input is saved as a draft."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar, Literal, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.timer import Timer
from textual.widgets import Input, Label, SelectionList, TextArea
from textual.widgets.selection_list import Selection

from carrel.store.agents.drafts import Draft
from carrel.text import clean_text
from carrel.tui.dialogs.core.dialog import Dialog, buttons, hint
from carrel.tui.dialogs.core.model_field import ModelField, model_label
from carrel.tui.theme import labels
from carrel.tui.widgets.inputs.choices import Choices
from carrel.tui.widgets.inputs.fields import Field, MultilineField
from carrel.wire.libraries import Library

Then = Literal["leave", "save", "yaml"]

KEEP_AFTER = 0.5
"""Debounce in seconds before the input is saved."""


class AgentForm(Dialog[tuple[Draft, Then]]):
    """The form of an agent, which returns a draft and the chosen next action.

    `keep` is called with the draft during input.
    """

    DEFAULT_CSS = """
    AgentForm .dialog { width: 94%; max-width: 140; height: 94%; padding: 0 1; }
    AgentForm VerticalScroll { height: 1fr; }
    AgentForm Label { color: $muted; padding: 0 1; }
    AgentForm #instructions { height: 1fr; min-height: 7; }
    AgentForm Choices { height: auto; max-height: 6; margin-bottom: 1; }
    AgentForm .beside { height: auto; }
    AgentForm .beside Vertical { height: auto; width: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2,ctrl+s", "fill('save')", "Save", id="agent.save"),
        Binding("f4", "fill('yaml')", "Edit as YAML", id="agent.yaml"),
        Binding("escape", "fill('leave')", "Close", show=False, id="agent.leave"),
    ]

    def __init__(
        self,
        draft: Draft,
        title: str,
        models: Sequence[str],
        libraries: Sequence[Library],
        keep: Callable[[Draft], object],
    ) -> None:
        super().__init__(title)
        self._start = draft
        self._models = models
        self._libraries = libraries
        self._keep = keep
        self._timer: Timer | None = None

    def compose_content(self) -> ComposeResult:
        fields = self._start.fields
        arguments = fields.get("completion_args", {})
        with VerticalScroll(can_focus=False):
            with Horizontal(classes="beside"):
                with Vertical():
                    yield Label("Name")
                    yield Field(self._start.name, id="name", placeholder="such as support")
                with Vertical():
                    yield model_label(self._models)
                    yield ModelField(fields.get("model", ""), self._models, id="model")
            yield Label("Instructions")
            yield MultilineField(fields.get("instructions", ""), id="instructions")
            if self._libraries:
                yield Label("Libraries it searches · space selects")
                chosen = self._start.libraries
                items = ((labels.line(it.name), it.id, it.id in chosen) for it in self._libraries)
                yield Choices(*(Selection(*item) for item in items))
            yield Label("Connectors, separated by commas")
            yield Field(
                self._start.connectors,
                id="connectors",
                placeholder="names from the server's settings, or web_search",
            )
            yield Label("Version note (optional)")
            yield Field(self._start.message, id="message", max_length=500)
            yield Label("Description")
            yield Field(fields.get("description", ""), id="description")
            with Horizontal(classes="beside"):
                for name, words in _NUMBERS.items():
                    with Vertical():
                        yield Label(words)
                        value = arguments.get(name)
                        text = "" if value is None else str(value)
                        yield Field(text, id=name, placeholder="the model's own")
        yield hint("")
        yield buttons(("leave", "Cancel"), ("yaml", "F4 YAML"), ("save", "F2 Save"))

    def on_mount(self) -> None:
        self.query_one("#name").focus()
        instructions = self.query_one("#instructions", MultilineField)
        instructions.move_cursor(instructions.document.end)
        # Typing appends, but what is seen first is the beginning.
        for scrolled in (instructions, self.query_one(VerticalScroll)):
            self.call_after_refresh(scrolled.scroll_home, animate=False)

    def press(self, button: str) -> None:
        self.action_fill(cast(Then, button))

    @on(Input.Changed)
    @on(TextArea.Changed)
    @on(SelectionList.SelectedChanged)
    def _keep_soon(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(KEEP_AFTER, lambda: self._keep(self._draft()))

    def action_fill(self, then: Then) -> None:
        draft = self._draft()
        missing = next((name for name in ("name", "model") if not draft.fields.get(name)), None)
        wrong = next((name for name in _NUMBERS if self._number(name) is _WRONG), None)
        if then == "save" and missing:
            self._refuse_field(missing, f"The {missing} is missing.")
        elif then != "leave" and wrong:
            self._refuse_field(wrong, f"This is not a number: {self._text(wrong)}")
        else:
            self.dismiss((draft, then))

    def _refuse_field(self, field: str, why: str) -> None:
        self.query_one(f"#{field}").focus()
        self.refuse(why)

    def _text(self, field: str) -> str:
        return self.query_one(f"#{field}", Field).value.strip()

    def _read_text(self, field: str, text: str) -> str:
        """Return an edited text. An unedited text counts as unchanged, even with other white space
        at its ends."""
        before = str(self._start.fields.get(field, ""))
        return before if text == clean_text(before) else text.strip()

    def _number(self, field: str) -> object:
        """Return the value of a number field, or None if it is empty."""
        if not (text := self._text(field)):
            return None
        try:
            return int(text) if text.isdigit() else float(text)
        except ValueError:
            return _WRONG

    def _draft(self) -> Draft:
        texts = {
            name: self.query_one(f"#{name}", Field).value
            for name in ("name", "model", "description")
        }
        texts["instructions"] = self.query_one("#instructions", MultilineField).text
        draft = self._start.changed(
            **{name: self._read_text(name, text) for name, text in texts.items()}
        )
        numbers = {name: self._number(name) for name in _NUMBERS}
        draft = draft.with_arguments(
            **{name: number for name, number in numbers.items() if number is not _WRONG}
        )
        if self._libraries:
            draft = draft.with_libraries(self.query_one(Choices).selected)
        draft = draft.with_connectors(self._text("connectors"))
        return replace(draft, message=self._text("message"))


_NUMBERS = {"temperature": "Temperature, 0 to 1", "max_tokens": "Max answer tokens"}
_WRONG = object()
