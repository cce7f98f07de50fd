"""The options of OCR."""

from collections.abc import Sequence
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Label, RadioSet
from textual.widgets.selection_list import Selection

from carrel.store import advice
from carrel.store.core.formatting import one_line
from carrel.store.core.problem import ProblemError
from carrel.store.documents.reader import OCROptions
from carrel.tui.dialogs.core.dialog import Dialog, buttons, hint
from carrel.tui.terminal.textual_private import MarkedRadioButton
from carrel.tui.widgets.inputs.choices import Choices
from carrel.tui.widgets.inputs.fields import Field, MultilineField

TABLES = {"text": "in the text", "markdown": "apart, Markdown", "html": "apart, HTML"}
SCORES = {"word": "of every word", "page": "of pages", "none": "none"}


class OCRForm(Dialog[OCROptions]):
    """Pages, tables, headers, scores, pictures, a schema, and the model if there are several."""

    DEFAULT_CSS = """
    OCRForm .dialog { width: 76; height: auto; max-height: 94%; padding: 0 1; }
    OCRForm VerticalScroll { height: auto; max-height: 70vh; }
    OCRForm Label { color: $muted; padding: 0 1; }
    OCRForm RadioSet {
        layout: horizontal; width: 100%; height: 1; border: none; padding: 0 1;
        background: $background;
    }
    OCRForm RadioSet:focus { border: none; background-tint: $foreground 0%; }
    OCRForm RadioButton {
        background: $background; padding: 0; margin-right: 2; width: auto; text-wrap: nowrap;
    }
    OCRForm RadioSet > RadioButton > .toggle--button { background: $background; color: $muted; }
    OCRForm RadioSet > RadioButton.-on > .toggle--button {
        background: $background; color: $accent;
    }
    OCRForm RadioSet > RadioButton.-selected > .toggle--label {
        background: $background; color: $foreground;
    }
    OCRForm RadioSet:focus > RadioButton.-selected > .toggle--label {
        background: $selection; color: $accent; text-style: bold;
    }
    OCRForm Choices { height: 2; padding: 0 1; }
    OCRForm MultilineField { height: 6; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2,ctrl+s", "accept", "Run OCR", id="ocr.read")
    ]

    def __init__(
        self, options: OCROptions, pages: int | None, billed: str = "", models: Sequence[str] = ()
    ) -> None:
        super().__init__("Run OCR")
        self._options = options
        self._pages = pages
        self._billed = billed
        chosen = [options.model] if options.model and options.model not in models else []
        self._models = [*models, *chosen]

    def compose_content(self) -> ComposeResult:
        options = self._options
        with VerticalScroll(can_focus=False):
            known = f" of {self._pages}" if self._pages else ""
            yield Label(f"Pages{known} · such as 1-3, 7; empty for all")
            yield Field(options.pages, id="pages")
            if len(self._models) > 1:
                yield Label("Read by")
                named = {name: one_line(name) for name in self._models}
                yield _radio("model", {"": "the service's choice", **named}, options.model)
            yield Label("Tables")
            yield _radio("tables", TABLES, options.tables)
            yield Label("Scores")
            yield _radio("scores", SCORES, options.scores)
            yield Label("Also")
            yield Choices(
                Selection(Content("headers and footers apart"), "headers", options.headers),
                Selection(Content("pictures with the answer"), "pictures", options.pictures),
            )
            yield Label("A JSON schema to answer the whole document in (optional)")
            yield MultilineField(options.schema, id="schema")
        yield hint(self._billed or advice.ALREADY_READ)
        yield buttons(("cancel", "Cancel"), ("read", "F2 Run OCR"))

    def on_mount(self) -> None:
        self.query_one("#pages").focus()

    def on_input_submitted(self) -> None:
        self.action_accept()

    def action_accept(self) -> None:
        also = self.query_one(Choices).selected
        options = OCROptions(
            pages=self.query_one("#pages", Field).value.strip(),
            tables=_choice(self.query_one("#tables", RadioSet)),
            headers="headers" in also,
            scores=_choice(self.query_one("#scores", RadioSet)),
            pictures="pictures" in also,
            schema=self.query_one("#schema", MultilineField).text.strip(),
            model=_choice(self.query_one("#model", RadioSet)) if len(self._models) > 1 else "",
        )
        try:
            options.check()
        except ProblemError as error:
            self.refuse(str(error.problem))
        else:
            self.dismiss(options)


def _radio(id: str, words: dict[str, str], chosen: str) -> RadioSet:
    made = [
        MarkedRadioButton(Content(text), key == chosen, name=key) for key, text in words.items()
    ]
    return RadioSet(*made, id=id, compact=True)


def _choice(radio: RadioSet) -> Any:
    pressed = radio.pressed_button
    assert pressed is not None, "one is always chosen"
    return pressed.name
