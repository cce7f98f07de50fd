"""The app's themes: the available, the current, and the invalid ones."""

from collections.abc import Callable
from typing import Any

from textual.app import App

from carrel.config.profiles import ConfigError
from carrel.config.settings import save_settings
from carrel.store.core.problem import Problem
from carrel.tui.theme import themes
from carrel.tui.theme.themes import DEFAULT, LIGHT, ThemeError

LOOK = 1.0
"""Seconds between two checks of the user's folder."""


class Appearance:
    """Registers the shipped and the user's themes with the app, and reloads changed files."""

    def __init__(
        self, app: App[Any], wanted: str, say: Callable[[str], object], redraw: Callable[[], object]
    ) -> None:
        """Load the themes. `wanted` is the theme of the settings.

        `say` shows a failure; `redraw` redraws everything.
        """
        self.chosen = DEFAULT
        self.broken: tuple[ThemeError, ...] = ()
        self._app = app
        self._say = say
        self._redraw = redraw
        self.wanted = wanted
        self._stamps = themes.read_stamps(themes.user_folder())
        for theme in themes.find_themes(themes.shipped_folder()).themes:
            app.register_theme(theme)
        self._read_own()
        self.chosen = wanted if wanted in app.available_themes else DEFAULT
        app.theme = self.chosen

    def start(self) -> None:
        """Begin to watch the user's folder, and report present mistakes."""
        self._app.set_interval(LOOK, self._look)
        if self.broken:
            self._tell()
        elif self.wanted != self.chosen:
            self._say(f"There is no theme “{self.wanted}”: ctrl+p lists the themes.")

    def names(self) -> list[str]:
        """Return the names of all themes, shipped ones first."""
        return sorted(
            self._app.available_themes, key=lambda name: (not name.startswith("carrel"), name)
        )

    def choose(self, name: str) -> None:
        """Apply a theme, also for the next start."""
        self.chosen = self.wanted = self._app.theme = name
        try:
            save_settings({"theme": name})
        except ConfigError as error:
            self._say(str(error))

    def preview(self, name: str) -> None:
        """Apply a theme temporarily."""
        self._app.theme = name

    def restore(self) -> None:
        """End a preview."""
        self._app.theme = self.chosen

    def toggle(self) -> None:
        """Toggle between dark and light."""
        self.choose(LIGHT if self._app.current_theme.dark else DEFAULT)

    def problem(self) -> Problem:
        """Return the mistakes in the user's themes, with their remedies."""
        detail = "\n\n".join(str(error) for error in self.broken)
        advice = "Correct the lines named; a saved file is read again at once."
        return Problem("Themes that cannot be used", detail, advice)

    def _look(self) -> None:
        stamps = themes.read_stamps(themes.user_folder())
        if stamps == self._stamps:
            return
        self._stamps = stamps
        self._read_own()
        if self.wanted in self._app.available_themes and self.chosen == DEFAULT != self.wanted:
            self.chosen = self.wanted
        # The same name may stand for changed colours.
        self._app.theme = self.chosen
        self._redraw()
        if self.broken:
            self._tell()

    def _read_own(self) -> None:
        found = themes.find_themes(themes.user_folder())
        self.broken = found.broken
        for theme in found.themes:
            self._app.register_theme(theme)

    def _tell(self) -> None:
        files = ", ".join(error.path.name for error in self.broken)
        self._say(f"{files} cannot be used: ctrl+p “Problems of my themes”.")
