"""A field for a model's name, with the service's models as suggestions."""

from collections.abc import Sequence
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Label

from carrel.tui.dialogs.core.ask import Choose, Option
from carrel.tui.widgets.inputs.fields import Field


class ModelField(Field):
    """Accepts any name: a service may have unlisted models."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "choose", "Down the models", show=False, id="model.choose")
    ]

    def __init__(self, value: str, models: Sequence[str], *, id: str) -> None:
        super().__init__(value, id=id)
        self._models = models

    @work(exit_on_error=False)
    async def action_choose(self) -> None:
        if not self._models:
            return
        options = [
            Option(model, model, "this one" if model == self.value else "")
            for model in self._models
        ]
        model = await self.app.push_screen(Choose("Model", options), wait_for_dismiss=True)
        if model is not None:
            self.value = model
            self.cursor_position = len(model)


def model_label(models: Sequence[str]) -> Label:
    """Return the label above a model field."""
    return Label(Content(f"Model (↓ lists {len(models):,})" if models else "Model"))
