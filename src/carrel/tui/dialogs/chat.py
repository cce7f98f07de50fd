"""Dialogs of chats: parameters, export, and the votes on answers."""

from collections.abc import Sequence
from pathlib import Path

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Input, Label

from carrel.store.chat.formatting import code_blocks
from carrel.store.chat.parameters import Parameters
from carrel.store.chat.service import ChatService
from carrel.store.chat.state import ChatState
from carrel.store.comparison.state import HEADINGS, Votes
from carrel.store.core.problem import Problem
from carrel.system.atomic import replacing
from carrel.tui.dialogs.core.dialog import Dialog, buttons, hint
from carrel.tui.dialogs.core.model_field import ModelField, model_label
from carrel.tui.theme import labels
from carrel.tui.widgets.inputs.fields import Field
from carrel.tui.widgets.tables.columns import Column
from carrel.tui.widgets.tables.table import Row, VirtualTable
from carrel.wire.generation.completions import Passage

FIELDS = {
    "temperature": "Temperature, 0 to 1",
    "top_p": "Top p, 0 to 1",
    "max_tokens": "Max answer tokens",
    "seed": "Seed: the same answer again",
    "stop": "Stop at this text",
    "tools": "Tools of the settings",
}


class ParametersForm(Dialog[Parameters]):
    """The sampling parameters of a chat; an empty field keeps the agent's value."""

    DEFAULT_CSS = """
    ParametersForm .dialog { height: 94%; max-height: 24; padding: 0 1; }
    ParametersForm VerticalScroll { height: 1fr; }
    ParametersForm Label { color: $muted; padding: 0 1; }
    ParametersForm .beside, ParametersForm .beside Vertical { height: auto; }
    ParametersForm .beside Vertical { width: 1fr; }
    """

    def __init__(self, parameters: Parameters, models: Sequence[str], tools: Sequence[str]) -> None:
        """Make the form. `models` are listed by the service, `tools` named in the settings."""
        super().__init__("Parameters of this chat")
        self._parameters = parameters
        self._models = models
        self._tools = tools

    def compose_content(self) -> ComposeResult:
        with VerticalScroll(can_focus=False):
            yield from self._fields()
        yield hint(
            "Empty fields keep the agent's values. For another model, temperature or top p each"
            " answer gets an agent of its own, which is removed afterwards."
        )
        yield buttons(("cancel", "Cancel"), ("save", "Apply"))

    def _fields(self) -> ComposeResult:
        yield model_label(self._models)
        yield ModelField(self._parameters.model or "", self._models, id="model")
        names = [*FIELDS]
        for pair in zip(names[::2], names[1::2], strict=True):
            with Horizontal(classes="beside"):
                for name in pair:
                    with Vertical():
                        yield from self._field(name)

    def _field(self, name: str) -> ComposeResult:
        value, words = getattr(self._parameters, name), FIELDS[name]
        if name == "tools":
            value = ", ".join(value)
            words = f"{words}: {', '.join(self._tools) or 'none'}"
        # More than one stop text can only come from a notebook; they are kept.
        value = value[0] if isinstance(value, tuple) and value else value
        yield Label(words, markup=False)
        yield Field("" if value in (None, ()) else str(value), id=name)

    def on_input_submitted(self) -> None:
        self.action_accept()

    def action_accept(self) -> None:
        values: dict[str, object] = {
            name: self.query_one(f"#{name}", Field).value.strip() for name in ("model", *FIELDS)
        }
        stop = self._parameters.stop
        if stop and values["stop"] == stop[0]:
            values["stop"] = stop
        try:
            self.dismiss(Parameters.of(values))
        except ValueError as error:
            self.refuse(str(error))


class SaveDialog(Dialog[Path]):
    """Saves the chat to a file: Markdown as shown, or JSON with every variant."""

    def __init__(self, chat: ChatService) -> None:
        super().__init__("Save this chat")
        self._chat = chat

    def compose_content(self) -> ComposeResult:
        yield Field("~/chat.md")
        yield hint("enter saves · .md is what is shown, .json has every variant · esc closes")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        path = Path(event.value.strip()).expanduser()
        text = self._chat.export("json" if path.suffix.lower() == ".json" else "markdown")
        try:
            if path.exists():
                self.refuse("There is a file of this name already. Choose another.")
                return
            with replacing(path) as file:
                file.write(text.encode())
        except (OSError, ValueError) as error:
            self.refuse(str(Problem.of(error)))
        else:
            self.dismiss(path)


def copies(state: ChatState, source: Passage | None) -> dict[str, str]:
    """Return the copyable parts of a chat by name."""
    answers = [turn for turn in state.turns if turn.role == "assistant" and turn.text]
    texts: dict[str, str] = {}
    if answers:
        texts["answer"] = answers[-1].text
        blocks = code_blocks(answers[-1].text)
        for number, block in enumerate(blocks, 1):
            texts["code" if number == 1 else f"code block {number}"] = block
    if source is not None:
        texts["source"] = source.snippet
    return texts


class VotesDialog(Dialog[None]):
    """The votes of all comparisons, with a row for each version."""

    DEFAULT_CSS = """
    VotesDialog .dialog { width: 76; height: auto; max-height: 86%; padding: 0 1; }
    VotesDialog VirtualTable { height: 12; border: none; }
    """

    def __init__(self, votes: Sequence[Votes]) -> None:
        super().__init__("Votes of all comparisons")
        self._votes = votes

    def compose_content(self) -> ComposeResult:
        name, *figures = HEADINGS
        columns = (Column(figure, 9, right=True) for figure in figures)
        yield VirtualTable(Column(name, least=20), *columns, classes="")
        yield hint("esc closes")

    def on_mount(self) -> None:
        table = self.query_one(VirtualTable)
        table.show(
            [Row(vote.answerer, tuple(map(labels.line, vote.cells))) for vote in self._votes]
        )
        none = "No answers were judged yet: v votes, where chats stand side by side."
        table.show_message(labels.muted(none))
        table.focus()
