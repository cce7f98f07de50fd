"""The list of saved services, and the form of a service."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, Label, Static
from textual.widgets.selection_list import Selection

from carrel.config.profiles import (
    ConfigError,
    Profile,
    add_profile,
    check_name,
    check_url,
    load_profile,
    profiles,
)
from carrel.store.session.probe import is_unencrypted, probe
from carrel.tui.dialogs.core.ask import Menu, Option
from carrel.tui.dialogs.core.dialog import Dialog, buttons, hint
from carrel.tui.widgets.inputs.choices import Choices
from carrel.tui.widgets.inputs.fields import Field

HOW = "Kept as a profile; the key in a file that only you can read. enter: next field · esc closes"
AGAIN = "Correct it, or press F2 again to keep it anyway."
PLAIN = "http:// is not encrypted: others can read the key on its way.\nF2 again continues."


ServiceVerb = Literal["connect", "edit", "remove"]


class ServiceList(Dialog[tuple[ServiceVerb, str]]):
    """Returns the name of a service, and the action for it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "choose('edit')", "Edit", id="services.edit"),
        Binding("D", "choose('remove')", "Delete", id="services.remove"),
    ]

    def __init__(self, options: Sequence[Option]) -> None:
        super().__init__("Services")
        self._options = options

    def compose_content(self) -> ComposeResult:
        yield Menu(self._options, self)
        yield hint("enter connects · e edits · D removes · esc closes")

    def action_choose(self, verb: ServiceVerb) -> None:
        at = self.query_one(Menu).highlighted
        if at is not None:
            self.dismiss((verb, self._options[at].id))

    def on_option_list_option_selected(self, event: Menu.OptionSelected) -> None:
        self.dismiss(("connect", self._options[event.option_index].id))


class ServiceForm(Dialog[Profile]):
    """Returns a saved profile. The connection is tested before saving."""

    DEFAULT_CSS = """
    ServiceForm Label { color: $muted; padding: 0 1; }
    ServiceForm .dialog { padding: 0 1; }
    ServiceForm Choices { height: auto; margin: 1 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2,ctrl+s", "accept", "Save", id="service.connect")
    ]

    def __init__(self, profile: Profile | None = None) -> None:
        """Make the form, with `profile` to edit one."""
        super().__init__(f"Edit {profile.name}" if profile else "Connect to a service")
        self._edited = profile
        self._doubted: Profile | None = None
        self._plain: Profile | None = None
        self._trying = False

    def compose_content(self) -> ComposeResult:
        profile = self._edited or Profile("")
        yield Label("Address")
        yield Field(profile.url or "", id="url", placeholder="https://api.example.com")
        yield Label("API key")
        yield Field(profile.api_key or "", id="key", password=True)
        yield Label("Profile name")
        yield Field(profile.name, id="name", placeholder="such as work")
        yield Choices(Selection("Read-only: change nothing there", "read-only", profile.read_only))
        yield hint(HOW)
        yield buttons(("cancel", "Cancel"), ("connect", "F2 Connect"))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        fields = [*self.query(Field)]
        empty = next((field for field in fields if not field.value.strip()), None)
        if event.input is not fields[-1] and empty is not None:
            empty.focus()
        else:
            self.action_accept()

    def action_accept(self) -> None:
        if self._trying:
            return
        try:
            profile = self._profile()
        except ConfigError as error:
            self.refuse(str(error))
            return
        if profile == self._doubted:
            self._keep(profile)
        elif is_unencrypted(profile) and profile != self._plain:
            self._plain = profile
            self.refuse(PLAIN)
        else:
            self._trying = True
            self.query_one(".hint", Static).update(Content("Trying it …"))
            self.run_worker(self._try(profile), exit_on_error=False)

    def _profile(self) -> Profile:
        """Return the profile in the fields.

        Raises:
            ConfigError: the input is invalid, or its name is taken.
        """
        url, key, name = (field.value.strip() for field in self.query(Field))
        read_only = "read-only" in self.query_one(Choices).selected
        if name != self._old_name and name in {profile.name for profile in profiles()}:
            raise ConfigError(f"There is a profile “{name}” already. Choose another name.")
        profile = replace(
            self._edited or Profile(""),
            name=name,
            url=check_url(url),
            api_key=key or None,
            read_only=read_only,
        )
        check_name(profile, self._old_name)
        return profile

    @property
    def _old_name(self) -> str | None:
        return self._edited.name if self._edited else None

    async def _try(self, profile: Profile) -> None:
        try:
            problem = await probe(profile)
        finally:
            self._trying = False
        if not self.is_attached:
            return
        if problem is None:
            self._keep(profile)
        else:
            self._doubted = profile
            self.query_one("#url" if problem.lost else "#key").focus()
            self.refuse(f"{problem.title}. {problem.detail}\n{AGAIN}")

    def _keep(self, profile: Profile) -> None:
        try:
            add_profile(profile, self._old_name)
        except ConfigError as error:
            self.refuse(str(error))
        else:
            self.dismiss(load_profile(profile.name))
