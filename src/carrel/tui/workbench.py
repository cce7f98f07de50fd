"""The app's interface for its screens, dialogs and flows."""

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from textual.content import Content

from carrel.config.settings import Settings
from carrel.store.core.problem import Problem
from carrel.tui.terminal.typeahead import TypeAhead
from carrel.tui.theme.appearance import Appearance


class Workbench(Protocol):
    """The part of the app that modules below it may use."""

    @property
    def settings(self) -> Settings:
        """The settings that the app was started with."""

    @property
    def type_ahead(self) -> TypeAhead:
        """The typeahead, which holds keys for opening targets."""

    # Navigation

    @property
    def came_from(self) -> str | None:
        """The screen to which esc returns, or None if this one was not opened from another."""

    async def go_back(self) -> None:
        """Return to the screen that opened this one, else go back in the navigation history."""

    async def open_place(self, place: str) -> None:
        """Open a screen, from which esc returns."""

    async def open_chat(self, opening: object) -> None:
        """Focus the field of the open chat and release the keys held back for `opening`."""

    async def open_version(self, agent_id: str, version: int | None) -> None:
        """Open an agent and, with `version`, one of its versions."""

    async def offer_folder(self, folder: Path) -> None:
        """Open Libraries, which offers to sync a folder."""

    # On any screen

    def show_notice(self, words: str, *, failed: bool = False) -> None:
        """Show a notice on the current screen."""

    def note(self, words: str, *, failed: bool) -> Content:
        """Return a notice as it is shown, and keep it to be read again."""

    def show_problem(self, problem: Problem) -> None:
        """Show a problem in a panel."""

    def upload(self, files: Iterable[Path]) -> None:
        """Upload files and go to Files, which shows them."""

    # Appearance

    @property
    def appearance(self) -> Appearance:
        """The themes, and the current one."""

    @property
    def hiding(self) -> bool:
        """Whether keys, ids and addresses are masked."""

    def toggle_hiding(self) -> None:
        """Toggle the masking of keys, ids and addresses."""
