"""A form for a document's name and attributes."""

from collections.abc import Mapping
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Label

from carrel.store.core.problem import ProblemError
from carrel.store.libraries.attributes import KINDS, from_text, to_text
from carrel.tui.dialogs.core.dialog import Dialog, buttons, hint
from carrel.tui.widgets.inputs.fields import Field, MultilineField


class DocumentForm(Dialog[tuple[str, Mapping[str, Any]]]):
    """A form for a non-empty name, and one attribute per line. Returns both."""

    DEFAULT_CSS = """
    DocumentForm .dialog { padding: 0 1; }
    DocumentForm Label { color: $muted; padding: 0 1; }
    DocumentForm MultilineField { height: 8; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2,ctrl+s", "accept", "Save", id="document_form.save")
    ]

    def __init__(self, name: str, attributes: Mapping[str, Any]) -> None:
        super().__init__("Edit document")
        self._name_before = name
        self._attributes = attributes

    def compose_content(self) -> ComposeResult:
        yield Label("Name")
        yield Field(self._name_before)
        yield Label("Attributes, one a line, such as year: 2024")
        yield MultilineField(to_text(self._attributes))
        yield hint(KINDS)
        yield buttons(("cancel", "Cancel"), ("save", "F2 Save"))

    def on_mount(self) -> None:
        self.query_one(Field).focus()

    def on_input_submitted(self) -> None:
        self.action_accept()

    def action_accept(self) -> None:
        name = self.query_one(Field).value.strip()
        try:
            attributes = from_text(self.query_one(MultilineField).text)
        except ProblemError as error:
            self.refuse(str(error.problem))
            return
        if name:
            self.dismiss((name, attributes))
