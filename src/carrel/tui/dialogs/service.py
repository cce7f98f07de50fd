"""Connecting to a service: its address and key, kept as a profile."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Button, Input, Label, Static
from textual.widgets.selection_list import Selection

from carrel.config import ConfigError, Profile, add_profile, load_profile, profiles
from carrel.tui import labels
from carrel.tui.dialogs.dialog import Dialog, buttons, hint
from carrel.tui.widgets.choices import Choices
from carrel.tui.widgets.fields import Field

HOW = "Kept as a profile; the key in a file that only you can read. enter goes on · esc closes"


class ServiceForm(Dialog[Profile]):
    """Gives a profile that is kept already."""

    DEFAULT_CSS = """
    ServiceForm Label { color: $muted; padding: 0 1; }
    ServiceForm Choices { height: auto; margin: 1 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2,ctrl+s", "connect", "Save", id="service.connect"),
    ]

    def __init__(self) -> None:
        super().__init__("Connect to a service")

    def inside(self) -> ComposeResult:
        yield Label("Address")
        yield Field(id="url", placeholder="https://api.example.com")
        yield Label("API key")
        yield Field(id="key", password=True)
        yield Label("What it is called here")
        yield Field(id="name", placeholder="such as work")
        yield Choices(Selection("Read-only: change nothing there", "read-only"))
        yield hint(HOW)
        yield buttons(("cancel", "Leave it"), ("connect", "F2 Connect"))

    def on_button_pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "connect":
            self.action_connect()
        else:
            self.dismiss(None)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        fields = [*self.query(Field)]
        empty = next((field for field in fields if not field.value.strip()), None)
        if event.input is not fields[-1] and empty is not None:
            empty.focus()
        else:
            self.action_connect()

    def action_connect(self) -> None:
        url, key, name = (field.value.strip() for field in self.query(Field))
        read_only = "read-only" in self.query_one(Choices).selected
        try:
            if name in {profile.name for profile in profiles()}:
                raise ConfigError(f"There is a profile “{name}” already. Choose another name.")
            add_profile(Profile(name, url, key or None, read_only))
        except ConfigError as error:
            self.query_one(".hint", Static).update(labels.line(str(error), "$failed"))
        else:
            self.dismiss(load_profile(name))
