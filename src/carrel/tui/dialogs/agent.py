"""Making or editing an agent in a form."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Button, Label, Static
from textual.widgets.selection_list import Selection

from carrel.tui import labels
from carrel.tui.dialogs.dialog import Dialog, buttons, hint
from carrel.tui.widgets.choices import Choices
from carrel.tui.widgets.fields import Area, Field
from carrel.wire.agents import Agent, AgentCreate, AgentUpdate
from carrel.wire.libraries import Library

LIBRARY = "document_library"


@dataclass(frozen=True)
class Draft:
    """What the form holds."""

    name: str
    model: str
    instructions: str
    libraries: tuple[str, ...]
    message: str

    def create(self) -> AgentCreate:
        """The agent to make."""
        body: dict[str, Any] = {"name": self.name, "model": self.model}
        if self.instructions:
            body["instructions"] = self.instructions
        if self.libraries:
            body["tools"] = self._tools([])
        if self.message:
            body["version_message"] = self.message
        return AgentCreate.model_validate(body)

    def change(self, agent: Agent) -> AgentUpdate | None:
        """What differs from the agent, or None when nothing does."""
        body: dict[str, Any] = {}
        if self.name != agent.name:
            body["name"] = self.name
        if self.model != agent.model:
            body["model"] = self.model
        if self.instructions != (agent.instructions or ""):
            body["instructions"] = self.instructions or None
        if set(self.libraries) != set(libraries_of(agent)):
            body["tools"] = self._tools(agent.tools)
        if not body:
            return None
        if self.message:
            body["version_message"] = self.message
        return AgentUpdate.model_validate(body)

    def _tools(self, others: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        tools = [tool for tool in others if tool.get("type") != LIBRARY]
        if self.libraries:
            tools.append({"type": LIBRARY, "library_ids": list(self.libraries)})
        return tools


def libraries_of(agent: Agent) -> list[str]:
    """The libraries that an agent searches."""
    found: list[str] = []
    for tool in agent.tools:
        if tool.get("type") == LIBRARY:
            found += tool.get("library_ids") or []
    return found


class AgentForm(Dialog[Draft]):
    """Name, model, instructions and libraries."""

    DEFAULT_CSS = """
    AgentForm .dialog { width: 84; height: 94%; max-height: 38; padding: 0 1; }
    AgentForm VerticalScroll { height: 1fr; }
    AgentForm Label { color: $muted; padding: 0 1; }
    AgentForm #instructions { height: 7; }
    AgentForm Choices { height: auto; max-height: 6; padding: 0 2; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2,ctrl+s", "save", "Save", id="agent.save"),
    ]

    def __init__(
        self, title: str, agent: Agent | None, models: Sequence[str], libraries: Sequence[Library]
    ) -> None:
        super().__init__(title)
        self._agent = agent
        self._models = models
        self._libraries = libraries

    def inside(self) -> ComposeResult:
        agent = self._agent
        with VerticalScroll(can_focus=False):
            yield Label("Name")
            yield Field(agent.name if agent else "", id="name", placeholder="such as support")
            yield Label(
                Content(
                    f"Model · there are: {', '.join(self._models)}" if self._models else "Model"
                )
            )
            model = agent.model if agent else (self._models[0] if self._models else "")
            yield Field(model, id="model")
            yield Label("Instructions")
            yield Area(agent.instructions or "" if agent else "", id="instructions")
            if self._libraries:
                yield Label("Libraries it searches · space chooses")
                mine = libraries_of(agent) if agent else []
                yield Choices(
                    *(
                        Selection(labels.line(library.name), library.id, library.id in mine)
                        for library in self._libraries
                    )
                )
            yield Label("What this version is about (may stay empty)")
            yield Field(id="message", max_length=500)
        yield hint("")
        yield buttons(("cancel", "Leave it"), ("save", "F2 Save"))

    def on_mount(self) -> None:
        self.query_one("#name").focus()
        instructions = self.query_one("#instructions", Area)
        instructions.move_cursor(instructions.document.end)
        scroll = self.query_one(VerticalScroll)
        self.call_after_refresh(scroll.scroll_home, animate=False)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "save":
            self.action_save()
        else:
            self.dismiss(None)

    def action_save(self) -> None:
        draft = self._draft()
        missing = "name" if not draft.name else "model" if not draft.model else ""
        if missing:
            self.query_one(f"#{missing}").focus()
            self.query_one(".hint", Static).update(
                Content.styled(f"The {missing} is missing.", "$failed")
            )
        else:
            self.dismiss(draft)

    def _draft(self) -> Draft:
        def text(field: str) -> str:
            return self.query_one(f"#{field}", Field).value.strip()

        chosen: tuple[str, ...] = ()
        if self._libraries:
            chosen = tuple(self.query_one(Choices).selected)
        elif self._agent:
            chosen = tuple(libraries_of(self._agent))
        instructions = self.query_one("#instructions", Area).text.strip()
        return Draft(text("name"), text("model"), instructions, chosen, text("message"))
