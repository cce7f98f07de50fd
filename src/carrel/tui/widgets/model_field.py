"""A field for the name of a model, with those the service has to choose from."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Label

from carrel.tui.dialogs.ask import Choose, Thing
from carrel.tui.widgets.fields import Field


class ModelField(Field):
    """Takes any name: a service may have models that it does not list."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "choose", "Down the models", show=False, id="model.choose"),
    ]

    def __init__(
        self, value: str, models: Sequence[str], *, placeholder: str = "", id: str | None = None
    ) -> None:
        super().__init__(value, placeholder=placeholder, id=id)
        self._models = models

    def action_choose(self) -> None:
        if self._models:
            things = [
                Thing(model, model, "this one" if model == self.value else "")
                for model in self._models
            ]
            self.app.push_screen(Choose("Model", things), self._chosen)

    def _chosen(self, model: str | None) -> None:
        if model is not None:
            self.value = model
            self.cursor_position = len(model)


def model_label(models: Sequence[str]) -> Label:
    """What stands over such a field."""
    return Label(Content(f"Model · ↓ chooses from {len(models):,}" if models else "Model"))
