"""The app as its places, its dialogs and its flows know it."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from textual.binding import Binding

from carrel.config.profiles import Profile
from carrel.config.settings import Settings
from carrel.tui.terminal.typeahead import TypeAhead
from carrel.tui.theme.appearance import Appearance

if TYPE_CHECKING:
    from carrel.store.core.problem import Problem


class Workbench(Protocol):
    """The part of the app that modules below it may use."""

    @property
    def profile(self) -> Profile:
        """The profile that the app runs on."""

    @property
    def settings(self) -> Settings:
        """The settings that the app was started with."""

    @property
    def type_ahead(self) -> TypeAhead:
        """The keys that wait for what opens."""

    # Going to another place

    @property
    def came_from(self) -> str | None:
        """The place that esc goes back to; None where this one was not opened from another."""

    async def go_back(self) -> None:
        """Go back to the place from which this one was opened, else to what was shown before."""

    async def open_place(self, place: str) -> None:
        """Go to a place, from which esc comes back."""

    async def open_chat(self, opening: object) -> None:
        """Go to the field of the open chat and release the keys held back for `opening`."""

    async def open_version(self, agent_id: str, version: int | None) -> None:
        """Go to an agent and, with `version`, to one of its versions."""

    async def offer_folder(self, folder: Path) -> None:
        """Go to Libraries, which offers to sync a folder."""

    # Across all places

    def say(self, words: str, *, failed: bool = False) -> None:
        """Show a short line on the current place."""

    def show_problem(self, problem: "Problem") -> None:
        """Show a problem in a panel of its own."""

    def show_uploads(self) -> None:
        """Go to where uploads show."""

    def upload(self, files: Iterable[Path]) -> None:
        """Upload files and go to Files, which shows them."""

    def bindings_elsewhere(self, place: str) -> Iterator[tuple[str, Binding]]:
        """Return the bindings of every other place, each with its number and name ("2
        Libraries").
        """

    # The looks

    @property
    def appearance(self) -> Appearance:
        """The themes, and which is in force."""

    @property
    def hiding(self) -> bool:
        """Whether keys, ids and addresses are hidden."""

    def toggle_hiding(self) -> None:
        """Hide keys, ids and addresses, or show them again."""
